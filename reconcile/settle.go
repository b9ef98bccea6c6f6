package reconcile

import (
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// DefaultSettle is the least time after a task's last sign of life before an
// absence of its effect is believed.
const DefaultSettle = 2 * time.Minute

// lastSign is the latest of last failure, archive score and completion time.
func lastSign(t inspect.Task) time.Time {
	last := t.LastFailedAt
	for _, at := range []time.Time{t.ArchivedAt, t.CompletedAt} {
		if at.After(last) {
			last = at
		}
	}
	return last
}

// settleOf is how long after the last sign of life no attempt is taken to live:
// the operator's word, else the larger of DefaultSettle and the task's own
// timeout, whatever the cause: a handler that ignores its cancelled context
// still commits, and the last error hides the attempts before it.
func settleOf(e Evidence, m Moment) time.Duration {
	if e.Rule != nil && e.Rule.Settle > 0 {
		return e.Rule.Settle
	}
	if m.Settle > 0 {
		return m.Settle
	}
	return max(DefaultSettle, attemptLimit(e.Task, e.Rule, m.Now))
}

// settledOr gives the code when the key is settled, and effect/unsettled with
// its reason when it is not. asynq cuts times to whole seconds, hence the
// second on top.
func settledOr(e Evidence, v *Verdict, m Moment, settled Code) Code {
	last := lastSign(e.Task)
	wait := sum(v.Settle, time.Second, m.Skew)
	switch {
	case last.IsZero() || m.Now.Sub(last) < wait:
		v.Reason = ReasonSettling
		if !last.IsZero() && wait < maxLife {
			v.SettlesAt = last.Add(wait)
		}
	case m.Twin:
		v.Reason = ReasonTwin
	case !m.Writer.IsZero() && m.Writer.Sub(last) < wait:
		v.Reason = ReasonWriter
	default:
		return settled
	}
	return CodeUnsettled
}

// appliedAt is when the key's effect was written: the first passing row of the
// last source to have one; marks before effects where both have times. Zero
// when no source says.
func appliedAt(e Evidence) time.Time {
	var at time.Time
	for _, role := range []Role{RoleMark, RoleEffect} {
		for i, row := range e.Rows {
			if e.Rule.Sources[i].Role == role && row.Passing > 0 && at.IsZero() {
				at = row.FirstAt
			}
		}
	}
	return at
}

// clockSlack is how far the clocks of a producer and a ledger may differ before
// a row is called older than its task.
const clockSlack = 5 * time.Second

// attribute says which attempt can have written the row, if that can be told.
func attribute(e Evidence, v Verdict, m Moment) Attribution {
	t, at := e.Task, v.AppliedAt
	if at.IsZero() {
		return AttributionUnknown
	}
	if born := enqueuedAt(t); !born.IsZero() {
		if at.Before(born.Add(-clockSlack - m.Skew)) {
			return AttributionBefore
		}
		return AttributionUnknown
	}
	if t.LastFailedAt.IsZero() {
		return AttributionUnknown
	}
	// asynq cuts the failure time to whole seconds, so the attempt may have
	// ended up to a second later.
	end := t.LastFailedAt.Add(time.Second)
	if !at.Before(end.Add(m.Skew)) {
		if triedSince(t) {
			return AttributionUnknown
		}
		return AttributionAfter
	}
	if m.Skew > 0 && at.After(end.Add(-m.Skew)) {
		return AttributionUnknown // closer than the clocks agree
	}
	if t.Timeout <= 0 && !t.Deadline.IsZero() {
		// Only a deadline: the attempt's start cannot be told from its end.
		return AttributionUnknown
	}
	start := t.LastFailedAt.Add(-attemptLimit(t, e.Rule, m.Now))
	if v.Cause == CauseLease {
		start = start.Add(-recoveryWait) // the failure time is the recoverer's
	}
	switch {
	case at.Before(start.Add(-m.Skew)):
		return AttributionEarlier
	case at.Before(start.Add(m.Skew)):
		return AttributionUnknown
	case v.Cause == CauseDuplicate:
		return AttributionUnknown // the last attempt found the row there
	}
	return AttributionLast
}

// triedSince says whether an attempt may have followed the last failure: one
// under way, one that succeeded, or one that a shutdown put back into pending
// without a trace (asynq rdb.go: Requeue).
func triedSince(t inspect.Task) bool {
	return t.State == inspect.StateActive || t.State == inspect.StatePending ||
		t.State == inspect.StateCompleted || t.State == inspect.StateArchived && archivedAfterSuccess(t)
}

// enqueuedAt is when the task was enqueued, where that can be known: of a task
// that bears no trace of an earlier run, by its pending_since when it is pending,
// and by its group score when it is aggregating. Zero otherwise.
func enqueuedAt(t inspect.Task) time.Time {
	untouched := t.Retried == 0 && t.LastErr == "" && t.LastFailedAt.IsZero() && t.CompletedAt.IsZero()
	if t.State == inspect.StatePending && untouched {
		return t.PendingSince
	}
	if t.State == inspect.StateAggregating && untouched {
		return t.GroupedAt
	}
	return time.Time{}
}
