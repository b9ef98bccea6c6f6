package reconcile

import (
	"fmt"

	"github.com/idemctl/idemctl/inspect"
)

// holdWords say why a task is held, and what lets it through where something
// does.
var holdWords = map[HoldReason]string{
	HoldNotApplied:  "its work is not done: there is nothing to resolve (idemctl requeue)",
	HoldInProgress:  "a row was begun and never finished: nobody can say how far its work came",
	HoldPartial:     "half of its work is done: finish or undo it by hand",
	HoldKeyMissing:  "it has no usable key",
	HoldIDShared:    "another queue has a task of the same ID, and both mean the same row",
	HoldMismatch:    "the row under its key was written for another payload",
	HoldDuplicated:  "its effect is there more often than it may be",
	HoldUnmarked:    "asynq calls it done, and no row says so",
	HoldTwin:        "a live or unsettled task has the same key: that one will do the work",
	HoldUnprotected: "nothing stops a second effect of its type (--accept-unprotected TYPE runs it all the same)",
	HoldNoIndex:     "no unique index stops a second row of its key (--accept-unprotected TYPE runs it all the same)",
	HoldUndecodable: "its message cannot be read",
	HoldNatural:     "no row says whether it was done; repeating it is harmless (idemctl requeue)",
	HoldPaused:      "its queue is paused: nothing would take it (unpause the queue, or --accept-idle QUEUE)",
	HoldUnserved:    "no live server takes tasks of its queue (start one, or --accept-idle QUEUE)",
	HoldUnbounded:   "nothing bounds how long it can still live, so that no lock is long enough (--relock TTL sets one)",
	HoldLimit:       "beyond --max",
	HoldChanged:     "it changed since it was planned",
	HoldUnsettled:   "an attempt of it may still be writing",
	HoldUnknown:     "nobody can say whether its work is done",
	HoldApplied:     "its work is done (idemctl resolve)",
	HoldStaleMark:   "the row under its key may be an earlier run's",
	HoldLocked:      "the lock of its work is another task's",
	HoldDeadline:    "its deadline has passed: its handler would never be called",
}

// Words says the reason as a clause; "" for none.
func (r HoldReason) Words() string { return holdWords[r] }

// hold says why this task is held, with its own facts.
func (a *Archived) hold(reason HoldReason) string {
	v := a.Verdict
	switch reason {
	case HoldApplied:
		if !v.AppliedAt.IsZero() {
			return "its work was done at " + stamp(v.AppliedAt) + " (idemctl resolve)"
		}
	case HoldStaleMark:
		if v.AppliedAt.IsZero() {
			return "the row under its key bears no time, and the key may have been used before"
		}
		return fmt.Sprintf("the row under its key is of %s, and may be an earlier run's", stamp(v.AppliedAt))
	case HoldUnsettled:
		words := v.Reason.Words()
		if !v.SettlesAt.IsZero() {
			words += ": it can be judged after " + stamp(v.SettlesAt)
		}
		return words
	case HoldUnknown:
		if v.Reason != ReasonNone {
			return "nobody can say whether its work is done: " + v.Reason.Words()
		}
	case HoldKeyMissing:
		if a.KeyProblem != "" {
			return "it has no usable key: " + a.KeyProblem
		}
	case HoldTwin:
		if l := a.Lock; l != nil && l.State == LockTaken && l.OwnerState.Live() {
			_, words := lockedWords(inspect.Task{Ref: inspect.Ref{ID: l.Owner}, State: l.OwnerState})
			return words
		}
	case HoldLocked:
		if l := a.Lock; l != nil {
			_, words := lockedWords(inspect.Task{Ref: inspect.Ref{ID: l.Owner}, State: l.OwnerState})
			return words
		}
	case HoldDeadline:
		return fmt.Sprintf("its deadline passed at %s: its handler would never be called", stamp(a.Task.Deadline))
	}
	return reason.Words()
}

// finding is the verdict as a finding: what the plan shows, and what a journal
// keeps of why.
func (a *Archived) finding() Finding {
	v := a.Verdict
	code := CodeUnknown
	if v.Status == StatusApplied {
		code = CodeAppliedArchived
	}
	for _, c := range v.Codes {
		if c.Family() == "effect" || c == CodeStaleMark || c == CodeKeyMissing {
			code = c
			break
		}
	}
	return Finding{
		Code: code, Severity: v.Severity(code, a.Task.State), Task: a.Task,
		Key: a.Key, KeyHidden: a.Rule.HidesKey(), Status: v.Status, Reason: v.Reason, Cause: v.Cause, Attribution: v.Attribution,
		AppliedAt: v.AppliedAt, SettlesAt: v.SettlesAt, Settle: v.Settle, Lock: a.Lock,
		ConfirmedAt: a.Now, longest: a.StaleAfter,
	}
}
