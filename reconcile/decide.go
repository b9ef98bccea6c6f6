package reconcile

import (
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// What is decided about an archived task before anything is changed. "This work
// was not done" is the dangerous sentence: everything here makes it true, or
// holds the task with the reason why nobody can say it.

// Action is what a plan does with an archived task. The zero value is
// ActionUnknown.
type Action string

const (
	ActionUnknown Action = ""
	ActionRun     Action = "run"     // enqueue it again, as it is
	ActionResolve Action = "resolve" // delete it, since its work is done
	ActionHold    Action = "hold"    // leave it
)

// HoldReason says why a task is held. The zero value is none.
type HoldReason string

const (
	HoldNone        HoldReason = ""
	HoldApplied     HoldReason = "applied"         // its work is done
	HoldNotApplied  HoldReason = "not-applied"     // its work is not done: nothing to resolve
	HoldStaleMark   HoldReason = "stale-mark"      // the row may be an earlier run's
	HoldInProgress  HoldReason = "in-progress"     // a row was begun and never finished
	HoldPartial     HoldReason = "partial"         // half of it is done
	HoldUnknown     HoldReason = "unknown"         // nobody can say
	HoldUnsettled   HoldReason = "unsettled"       // an attempt may still be writing
	HoldKeyMissing  HoldReason = "key-missing"     // it has no usable key
	HoldIDShared    HoldReason = "id-shared"       // another queue's task has the same ID and source
	HoldMismatch    HoldReason = "mismatch"        // the row under its key is another payload's
	HoldDuplicated  HoldReason = "duplicated"      // its effect is there more often than it may
	HoldUnmarked    HoldReason = "unmarked"        // asynq calls it done, and no row says so
	HoldTwin        HoldReason = "twin"            // another task does the same work
	HoldLocked      HoldReason = "locked"          // its lock is another task's
	HoldUnprotected HoldReason = "unprotected"     // nothing stops a second effect of its type
	HoldNoIndex     HoldReason = "no-unique-index" // the database would take a second row
	HoldDeadline    HoldReason = "deadline-passed" // its handler would never be called
	HoldUndecodable HoldReason = "undecodable"     // its message cannot be read
	HoldNatural     HoldReason = "natural"         // no row says whether it was done, and repeating is harmless
	HoldPaused      HoldReason = "paused"          // its queue is paused
	HoldUnserved    HoldReason = "unserved"        // no live server takes tasks of its queue
	HoldUnbounded   HoldReason = "unbounded"       // nothing bounds its life, so no lock is long enough
	HoldLimit       HoldReason = "beyond-max"      // enough others are moved already
	HoldChanged     HoldReason = "changed"         // it is not what it was when it was planned
)

// Archived is one archived task with all that a decision rests on.
type Archived struct {
	Task inspect.Task
	Rule *Bound // nil: none matches
	Key  string
	// KeyProblem says why there is no key.
	KeyProblem string
	Verdict    Verdict
	Readings   []Reading
	Lock       *Lock
	// Twin says that a live or unsettled task has the same key, or holds the same
	// lock.
	Twin bool
	// Shared says that another task, in any state and another queue, has the same
	// ID where IDs are the keys of one source.
	Shared bool
	Now    time.Time
	// StaleAfter is how long before its last sign of life a row of the task can have
	// been written: an older one may be an earlier run's.
	StaleAfter time.Duration
	// Accepted says that the operator accepts the type though nothing stops a
	// second effect of it.
	Accepted bool
}

// DecideRequeue says whether the task may run again. Several archived tasks of
// one key are not its concern: see Plan.
func DecideRequeue(a Archived) (Action, HoldReason) {
	if hold := doubt(a); hold != HoldNone {
		return ActionHold, hold
	}
	mute := a.Verdict.Reason == ReasonNoSource && a.Accepted
	switch a.Verdict.Status {
	case StatusApplied:
		if stale(a) {
			return ActionHold, HoldStaleMark
		}
		return ActionHold, HoldApplied
	case StatusNatural, StatusNotApplied:
	default:
		if !mute {
			return ActionHold, HoldUnknown
		}
	}
	switch {
	case mute && a.Now.Sub(lastSign(a.Task)) < sum(a.Verdict.Settle, time.Second):
		return ActionHold, HoldUnsettled // no row will say so, but an attempt may still be at it
	case a.Verdict.Has(CodeParked) && a.Now.Sub(lastSign(a.Task)) < sum(a.Verdict.Settle, time.Second):
		// It may have been tried before, without a trace: a shutdown puts a task
		// back into pending while its handler goes on (asynq rdb.go: Requeue).
		return ActionHold, HoldUnsettled
	case a.Twin:
		return ActionHold, HoldTwin
	case a.Lock != nil && a.Lock.State == LockTaken:
		return ActionHold, HoldLocked
	case !a.Task.Deadline.IsZero() && !a.Task.Deadline.After(a.Now):
		return ActionHold, HoldDeadline
	case a.Verdict.Status == StatusNatural || a.Accepted:
		return ActionRun, HoldNone
	case a.Rule == nil || !a.Rule.stopsSecondRow():
		return ActionHold, HoldNoIndex
	}
	return ActionRun, HoldNone
}

// DecideResolve says whether the task may be deleted because its work is done.
func DecideResolve(a Archived) (Action, HoldReason) {
	if hold := doubt(a); hold != HoldNone {
		return ActionHold, hold
	}
	switch a.Verdict.Status {
	case StatusApplied:
		if stale(a) {
			return ActionHold, HoldStaleMark
		}
		return ActionResolve, HoldNone
	case StatusNotApplied:
		return ActionHold, HoldNotApplied
	case StatusNatural:
		return ActionHold, HoldNatural
	default:
		return ActionHold, HoldUnknown
	}
}

// doubt is why nobody can say whether the work of an archived task is done.
func doubt(a Archived) HoldReason {
	v := a.Verdict
	switch {
	case a.Task.Defect != inspect.DefectNone:
		return HoldUndecodable
	case v.Reason == ReasonKeyMissing:
		return HoldKeyMissing
	case a.Shared:
		return HoldIDShared
	case v.Has(CodeMismatch):
		return HoldMismatch
	case v.Has(CodeDuplicated):
		return HoldDuplicated
	case v.Has(CodeUnsettled) && v.Reason == ReasonTwin:
		return HoldTwin
	case v.Has(CodeUnsettled):
		return HoldUnsettled
	case v.Has(CodeUnmarked):
		return HoldUnmarked
	case v.Has(CodeStaleMark):
		return HoldStaleMark
	case v.Status == StatusInProgress:
		return HoldInProgress
	case v.Status == StatusPartial:
		return HoldPartial
	case v.Reason == ReasonNoSource && a.Accepted:
		return HoldNone
	case v.Reason == ReasonNoSource:
		return HoldUnprotected
	case v.Status == StatusUnknown:
		return HoldUnknown
	}
	return HoldNone
}

// stale says whether the row under a key that can be used again may be an
// earlier run's: it was written before the task's first attempt can have begun.
func stale(a Archived) bool {
	if !ExplicitID(a.Key) {
		return false
	}
	last := lastSign(a.Task)
	return a.Verdict.AppliedAt.IsZero() || last.IsZero() || a.Verdict.AppliedAt.Before(last.Add(-a.StaleAfter))
}
