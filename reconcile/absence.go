package reconcile

import (
	"math"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// recoveryWait is the longest time from a worker's death to the recoverer's
// action: the lease's 30 s, the recoverer's 30 s of grace, and its 60 s period
// (asynq rdb.go: LeaseDuration; recoverer.go: recoverLeaseExpiredTasks).
const recoveryWait = 120 * time.Second

// statusOf reads the status from the sources and takes back every absence that
// the ledger cannot prove.
func statusOf(e Evidence, m Moment) (Status, Reason) {
	switch {
	case e.Task.Defect != inspect.DefectNone:
		return StatusUnknown, ReasonUndecodable
	case e.Rule == nil:
		return StatusUnknown, ReasonNoRule
	case len(e.Rule.witnesses()) == 0 && e.Rule.Class.Natural():
		return StatusNatural, ReasonNone
	case len(e.Rule.witnesses()) == 0:
		return StatusUnknown, ReasonNoSource
	case e.KeyProblem != "":
		return StatusUnknown, ReasonKeyMissing
	case e.Rows == nil:
		return StatusUnknown, ReasonLedger
	}
	status := statusOfRows(e.Rule, e.Rows)
	if reason := unprovable(status, e, m); reason != ReasonNone {
		return StatusUnknown, reason
	}
	return status, ReasonNone
}

// statusOfRows is the definition of the statuses. Inbox rows decide nothing.
func statusOfRows(b *Bound, rows []Row) Status {
	var witnesses, passing, present int
	for _, i := range b.witnesses() {
		witnesses++
		if rows[i].Passing > 0 {
			passing++
		}
		if rows[i].Count > 0 {
			present++
		}
	}
	switch {
	case passing == witnesses:
		return StatusApplied
	case passing > 0:
		return StatusPartial
	case present > 0:
		return StatusInProgress
	default:
		return StatusNotApplied
	}
}

// unprovable says why an absence in the status proves nothing, or that it does.
func unprovable(status Status, e Evidence, m Moment) Reason {
	if !status.Absent() {
		return ReasonNone
	}
	if e.Lagging {
		return ReasonReplica
	}
	if e.Rule.NotAtomic && status != StatusInProgress {
		return ReasonNotAtomic
	}
	for _, i := range e.Rule.witnesses() {
		if e.Rows[i].Count > 0 {
			continue // the row is there: nothing was pruned
		}
		if reason := forgotten(e, i, m); reason != ReasonNone {
			return reason
		}
	}
	return ReasonNone
}

// forgotten says whether source i may have held a row of the task's work that is
// not there any more.
func forgotten(e Evidence, i int, m Moment) Reason {
	s, age := e.Rule.Sources[i], (*e.Rule.ages.Load())[i]
	if s.Retention.Forever {
		return ReasonNone
	}
	if age.Empty {
		return ReasonEmptySource
	}
	if s.Retention.For <= 0 && age.Oldest.IsZero() {
		return ReasonNone // nothing is known of its memory
	}
	// What another source still holds was written by then.
	first := firstAttempt(e.Task, e.Rule, m.Now)
	for _, w := range e.Rule.witnesses() {
		if at := e.Rows[w].FirstAt; !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	if s.Retention.For > 0 && first.Before(m.Now.Add(-s.Retention.For).Add(m.Skew)) {
		return ReasonRetention
	}
	if !age.Oldest.IsZero() && first.Before(age.Oldest.Add(m.Skew)) {
		return ReasonRetention
	}
	return ReasonNone
}

// firstAttempt estimates the earliest instant at which an attempt of the task
// can have begun. Redis does not store it: it is the earliest sign of an attempt
// less the longest life that its counters allow.
func firstAttempt(t inspect.Task, b *Bound, now time.Time) time.Time {
	first := now
	for _, at := range []time.Time{t.LastFailedAt, t.CompletedAt, t.ArchivedAt} {
		if !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	return first.Add(-longestTried(t, b, now, recoveryWait))
}

// oldestRow is how long before its last sign of life a row of the task can have been
// written; 0 where it shows no sign. An older one is an earlier run's: what this
// says too much makes that one the task's. The wait for a recoverer is part of it
// only where one can have come: the error of an attempt that a worker survived says
// so, and there was no other.
func oldestRow(t inspect.Task, b *Bound, now time.Time) time.Duration {
	last := lastSign(t)
	if b == nil || last.IsZero() {
		return 0
	}
	if t.Retried > 0 || CauseOf(t) == CauseLease {
		return last.Sub(firstAttempt(t, b, now))
	}
	first := last
	for _, at := range []time.Time{t.LastFailedAt, t.CompletedAt} {
		if !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	return last.Sub(first) + sum(longestTried(t, b, now, 0), clockSlack)
}

// longestTried is the longest time from the beginning of the task's first attempt to
// the last sign of it that its counters allow, with a wait for a recoverer.
func longestTried(t inspect.Task, b *Bound, now time.Time, recovery time.Duration) time.Duration {
	retried := max(0, t.Retried) // a message may claim anything
	life := float64(retried+1)*attemptLimit(t, b, now).Seconds() +
		float64(retried)*b.Policy.QueueWait.Seconds() +
		recovery.Seconds()
	for n := range min(retried, maxCountedRetries) {
		_, longest := b.delays.Bounds(n)
		life += longest.Seconds()
	}
	if more := retried - maxCountedRetries; more > 0 {
		_, longest := b.delays.Bounds(retried)
		life += float64(more) * longest.Seconds()
	}
	return time.Duration(min(life, maxLife.Seconds()) * float64(time.Second))
}

const (
	// maxCountedRetries bounds how many delays are summed one by one: a message
	// may claim any count. Those beyond are taken for as long as the last.
	maxCountedRetries = 1000
	// maxLife keeps the estimate inside time.Duration.
	maxLife = 200 * 365 * 24 * time.Hour
)

// defaultTimeout is what asynq gives a task with neither timeout nor deadline
// (client.go: defaultTimeout; processor.go: computeDeadline).
const defaultTimeout = 30 * time.Minute

// attemptLimit is how long one attempt may run before its context ends.
func attemptLimit(t inspect.Task, b *Bound, now time.Time) time.Duration {
	switch {
	case t.Timeout > 0:
		return t.Timeout
	case !t.Deadline.IsZero():
		return deadlineDistance(t, now)
	case b != nil:
		// What is declared cannot shorten what asynq itself allows.
		return max(defaultTimeout, b.Policy.Timeout)
	default:
		return defaultTimeout
	}
}

// deadlineDistance is how far the deadline of a task without a timeout lies
// behind its last sign of life, or behind now where there is none; 0 when it had
// passed by then.
func deadlineDistance(t inspect.Task, now time.Time) time.Duration {
	from := lastSign(t)
	if from.IsZero() {
		from = now
	}
	return max(0, t.Deadline.Sub(from))
}

// sum adds durations and stops at the longest there is.
func sum(parts ...time.Duration) time.Duration {
	var total time.Duration
	for _, d := range parts {
		if d > 0 && total > math.MaxInt64-d {
			return math.MaxInt64
		}
		total += d
	}
	return total
}
