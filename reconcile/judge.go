package reconcile

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// The judge is pure: one task, the rows of its key, and the moment they were
// read give one verdict. What it may conclude:
//
//   - a status comes from the sources alone, and an absence counts only where
//     the ledger can prove one (absence.go);
//   - state and status give the effect code (the table in effectCode);
//   - lost and unmarked need a settled key: nothing of it is live, and the last
//     sign of life is older than any attempt can be (settle.go);
//   - what the judge cannot know it calls unknown or unsettled, never lost.

// Evidence is all that a verdict on one task rests on.
type Evidence struct {
	Task inspect.Task
	Rule *Bound // nil: no rule matches
	// Key is "" when KeyProblem says why there is none.
	Key        string
	KeyProblem string
	// Rows has one entry for each of the rule's sources, in order; nil when they
	// were not read, and then Unread may say why.
	Rows   []Row
	Unread string
	// Lagging says that rows came from a replica that need not have seen all.
	Lagging bool
	// Lock is the task's own uniqueness lock; nil when it has none, or when it
	// was not read.
	Lock *Lock
}

// Moment is when and beside what the evidence was read.
type Moment struct {
	Now  time.Time     // Redis TIME
	Skew time.Duration // the largest measured difference between the clocks
	// Settle is the audit's own; 0 means the default. A rule's own goes first.
	Settle time.Duration
	// Twin says that another task of the same key is live or unsettled.
	Twin bool
	// Writer is the start of the oldest transaction of others that may still
	// write to a source; zero when there is none.
	Writer time.Time
	// Held says that a live worker names the task as running.
	Held bool
	// Persisted says that the pair was seen before, at least the confirmation
	// time ago.
	Persisted bool
	// Paused and Unserved say that the task's queue is paused, or that no live
	// server consumes it.
	Paused, Unserved bool
}

// Verdict is what the judge concludes of one task.
type Verdict struct {
	Status      Status
	Reason      Reason
	Cause       Cause
	Attribution Attribution
	AppliedAt   time.Time
	Settle      time.Duration
	SettlesAt   time.Time // set with effect/unsettled, reason settling
	Codes       []Code
	// Recheck says that the pair is the normal moment between commit and
	// acknowledgement, and has to be looked at again before it means anything.
	Recheck bool
}

// Has says whether the verdict carries the code.
func (v Verdict) Has(c Code) bool {
	for _, have := range v.Codes {
		if have == c {
			return true
		}
	}
	return false
}

// rests says whether a code rests on more than the task and its rows: on a lock
// that can run out, or on a list that has to hold the task.
func (v Verdict) rests() bool {
	for _, c := range v.Codes {
		if c.Family() == "lock" || c == CodeNoLease {
			return true
		}
	}
	return false
}

// unsettle takes back what was said of the effect: for now nobody can.
func (v *Verdict) unsettle(because Reason) {
	v.Codes = slices.DeleteFunc(v.Codes, func(c Code) bool { return c.Family() == "effect" || c == CodeRetryDuplicate })
	v.Codes = slices.Insert(v.Codes, 0, CodeUnsettled)
	v.Reason = because
}

// drop takes a code back.
func (v *Verdict) drop(c Code) {
	v.Codes = slices.DeleteFunc(v.Codes, func(have Code) bool { return have == c })
}

// Severity is what a code weighs on this task. A doubt about a task that still
// waits can resolve itself, and is only a warning.
func (v Verdict) Severity(c Code, s inspect.State) Severity {
	if c == CodeInDoubt && s.Live() && s != inspect.StateActive {
		return SeverityWarning
	}
	return c.Severity()
}

// Judge concludes. It asks nobody and reads no clock.
func Judge(e Evidence, m Moment) Verdict {
	v := Verdict{Cause: CauseOf(e.Task)}
	v.Status, v.Reason = statusOf(e, m)
	if e.Rows != nil {
		v.AppliedAt = appliedAt(e)
		v.Attribution = attribute(e, v, m)
	}
	v.Settle = settleOf(e, m)
	v.Codes = append(effectCodes(e, &v, m), identityCodes(e)...)
	v.Codes = append(v.Codes, retryCodes(e, &v, m)...)
	v.Codes = append(v.Codes, lockCodes(e)...)
	v.Codes = append(v.Codes, structureCodes(e.Task)...)
	return v
}

// effectCodes are the codes of the task's key and of its effect.
func effectCodes(e Evidence, v *Verdict, m Moment) []Code {
	var codes []Code
	if v.Reason == ReasonKeyMissing {
		codes = append(codes, CodeKeyMissing)
	}
	if duplicated(e) {
		codes = append(codes, CodeDuplicated)
	}
	if mismatched(e) {
		// The row is another payload's, so it says nothing of this work: no
		// reading of the status stands beside it.
		return append(codes, CodeMismatch)
	}
	if c := effectCode(e, v, m); c != "" {
		codes = append(codes, c)
	}
	return codes
}

// effectCode is the table of state against status.
func effectCode(e Evidence, v *Verdict, m Moment) Code {
	t := e.Task
	if t.State == inspect.StateActive && t.LeaseExpiresAt.IsZero() {
		// Active without a lease is a fault of the queue's structure, and stands
		// alone: nothing the table says of leases holds for it.
		return CodeNoLease
	}
	if t.State == inspect.StateArchived {
		if v.Status == StatusNatural {
			return CodeRerunnable
		}
		if v.Status == StatusUnknown {
			return CodeUnknown
		}
	}
	if v.Status == StatusNatural || v.Status == StatusUnknown {
		return ""
	}
	if v.Status == StatusInProgress && staleClaim(e, m) {
		return CodeStaleClaim
	}
	switch t.State {
	case inspect.StateActive:
		return activeCode(t, v, m)
	case inspect.StatePending, inspect.StateScheduled, inspect.StateAggregating:
		return waitingCode(v, CodeAppliedWaiting)
	case inspect.StateRetry:
		return waitingCode(v, CodeAppliedRetry)
	case inspect.StateArchived:
		return archivedCode(e, v, m)
	case inspect.StateCompleted:
		return completedCode(e, v, m)
	case inspect.StateUnknown:
	}
	return ""
}

func activeCode(t inspect.Task, v *Verdict, m Moment) Code {
	if t.LeaseValid(m.Now) {
		switch v.Status {
		case StatusApplied:
			v.Recheck = !m.Persisted
			return CodeAppliedActive
		case StatusPartial:
			v.Recheck = !m.Persisted
			return CodePartial
		case StatusNotApplied, StatusInProgress, StatusNatural, StatusUnknown:
		}
		return ""
	}
	switch v.Status {
	case StatusApplied:
		return CodeAppliedOrphaned
	case StatusNotApplied:
		return CodeOrphaned
	case StatusInProgress:
		return CodeInDoubt
	case StatusPartial:
		return CodePartial
	case StatusNatural, StatusUnknown:
	}
	return ""
}

func waitingCode(v *Verdict, applied Code) Code {
	switch v.Status {
	case StatusApplied:
		if v.Attribution == AttributionBefore {
			return CodeStaleMark
		}
		return applied
	case StatusInProgress:
		return CodeInDoubt
	case StatusPartial:
		return CodePartial
	case StatusNotApplied, StatusNatural, StatusUnknown:
	}
	return ""
}

func archivedCode(e Evidence, v *Verdict, m Moment) Code {
	t := e.Task
	succeeded := archivedAfterSuccess(t)
	switch v.Status {
	case StatusApplied:
		if succeeded {
			return ""
		}
		return CodeAppliedArchived
	case StatusNotApplied:
		if succeeded {
			return settledOr(e, v, m, CodeUnmarked)
		}
		if t.LastFailedAt.IsZero() {
			return CodeParked
		}
		return settledOr(e, v, m, CodeLost)
	case StatusInProgress:
		return CodeInDoubt
	case StatusPartial:
		return CodePartial
	case StatusNatural, StatusUnknown:
	}
	return ""
}

func completedCode(e Evidence, v *Verdict, m Moment) Code {
	switch v.Status {
	case StatusNotApplied:
		return settledOr(e, v, m, CodeUnmarked)
	case StatusInProgress:
		return CodeInDoubt
	case StatusPartial:
		return CodePartial
	case StatusApplied, StatusNatural, StatusUnknown:
	}
	return ""
}

// archivedAfterSuccess says whether an archived task was moved there by hand
// after it had succeeded: asynq's ArchiveTask takes retained completed tasks. A
// re-run keeps the old completion time (inspect.go: runTaskCmd), so a failure
// after it means that the archive is that failure's.
func archivedAfterSuccess(t inspect.Task) bool {
	return !t.CompletedAt.IsZero() && !t.LastFailedAt.After(t.CompletedAt)
}

// duplicated says whether an effect source holds more finished rows of the key
// than the rule allows.
func duplicated(e Evidence) bool {
	for i, row := range e.Rows {
		if e.Rule.Sources[i].Role == RoleEffect && row.Passing > e.Rule.Effects() {
			return true
		}
	}
	return false
}

// mismatched says whether a row stores the hash of another payload.
func mismatched(e Evidence) bool {
	for i, row := range e.Rows {
		s := e.Rule.Sources[i]
		if s.Fingerprint == "" || row.Fingerprint == "" {
			continue
		}
		if row.Fingerprint != fingerprint(s.FingerprintHash, e.Task.Payload) {
			return true
		}
	}
	return false
}

// fingerprint is the lower-case hex hash of a raw payload.
func fingerprint(hash string, payload []byte) string {
	if hash == "sha256" {
		sum := sha256.Sum256(payload)
		return hex.EncodeToString(sum[:])
	}
	sum := md5.Sum(payload)
	return hex.EncodeToString(sum[:])
}

// staleClaim says whether the row in progress is the claim of a dead attempt:
// older than the task's timeout and the settle time together, while neither
// asynq nor a worker runs the task. Claims whose age nobody knows are not stale.
func staleClaim(e Evidence, m Moment) bool {
	if e.Task.State == inspect.StateActive || m.Held {
		return false
	}
	var newest time.Time
	for _, i := range e.Rule.witnesses() {
		row := e.Rows[i]
		if row.Count == row.Passing {
			continue
		}
		if row.ClaimedAt.IsZero() {
			return false
		}
		if row.ClaimedAt.After(newest) {
			newest = row.ClaimedAt
		}
	}
	if newest.IsZero() {
		return false
	}
	return m.Now.Sub(newest) > sum(attemptLimit(e.Task, e.Rule, m.Now), settleOf(e, m), m.Skew)
}
