package reconcile

import (
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// retryCodes says what is wrong with how a task is retried.
func retryCodes(e Evidence, v *Verdict, m Moment) []Code {
	t := e.Task
	if t.Defect != inspect.DefectNone {
		return nil
	}
	var codes []Code
	failed := t.State == inspect.StateRetry || t.State == inspect.StateArchived
	if failed && v.Cause == CauseDuplicate && (v.Status == StatusApplied || v.Status == StatusPartial) {
		// Without the row the constraint may be another table's.
		codes = append(codes, CodeRetryDuplicate)
	}
	if uncounted(t) {
		codes = append(codes, CodeRetryUncounted)
	}
	if declared(e.Rule) && drifts(t, e.Rule) {
		codes = append(codes, CodeRetryPolicyDrift)
	}
	waits := t.State == inspect.StatePending || t.State == inspect.StateScheduled || t.State == inspect.StateRetry
	if waits && !t.Deadline.IsZero() && t.Deadline.Before(m.Now) {
		codes = append(codes, CodeDeadlinePassed)
	}
	return codes
}

// uncounted says whether the last failure of a task in retry did not count:
// Config.IsFailure called it none (asynq rdb.go: Retry).
func uncounted(t inspect.Task) bool {
	return t.State == inspect.StateRetry && t.Retried == 0 && t.Defect == inspect.DefectNone
}

// observedDelay is how long the task waits from its last failure to its next
// attempt, as its worker decided it; false where it does not wait in retry.
func observedDelay(t inspect.Task) (time.Duration, bool) {
	if t.State != inspect.StateRetry || t.NextProcessAt.IsZero() || t.LastFailedAt.IsZero() {
		return 0, false
	}
	return t.NextProcessAt.Sub(t.LastFailedAt), true
}

// drifts says whether the observed delay of a task in retry lies outside the
// bounds of its policy. Redis does not say whether the last failure counted, so
// both readings have to fail; asynq cuts both times to whole seconds.
func drifts(t inspect.Task, b *Bound) bool {
	delay, ok := observedDelay(t)
	if !ok {
		return false
	}
	for _, n := range []int{t.Retried - 1, t.Retried} {
		if n < 0 {
			continue
		}
		low, high := b.policy().Bounds(n)
		if delay >= low-time.Second && delay <= sum(high, time.Second) {
			return false
		}
	}
	return true
}
