package reconcile

import (
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
)

// How a task stands to its own uniqueness lock. asynq takes the lock before the
// task (rdb.go: enqueueUniqueCmd), never extends it, and frees it early only
// at a success or a deletion, if it is still the task's own (doneUniqueCmd).

// lockCodes says what is wrong between a task and its lock. Nothing is, where
// the task was enqueued without one or the lock was not read.
func lockCodes(e Evidence) []Code {
	t, l := e.Task, e.Lock
	if l == nil || l.State == LockUnread || t.Defect == inspect.DefectResultOnly {
		return nil
	}
	var codes []Code
	switch {
	case t.State == inspect.StateArchived && l.State == LockHeld:
		codes = append(codes, CodeLockBlocks)
	case t.State.Live() && l.State == LockFree:
		codes = append(codes, CodeLockLost)
	case t.State.Live() && l.State == LockTaken:
		codes = append(codes, CodeLockTaken)
	case t.State.Live() && l.Needed > 0 && l.TTL > 0 && l.TTL < l.Needed:
		codes = append(codes, CodeLockExpiresEarly)
	}
	if l.State == LockHeld && drifted(t) {
		codes = append(codes, CodeLockDrift)
	}
	return codes
}

// drifted says whether the task's payload is no longer the one that its lock was
// taken for: Inspector.UpdateTaskPayload changes the message and keeps the lock
// (asynq inspect.go: updateTaskPayloadCmd).
func drifted(t inspect.Task) bool {
	if t.UniqueKey == "" || t.Defect != inspect.DefectNone {
		return false
	}
	if t.UniqueKey == inspect.UniqueKey(t.Queue, t.Type, t.Payload) {
		return false
	}
	// The message does not tell a nil payload from an empty one, and their locks
	// differ.
	return len(t.Payload) > 0 ||
		t.UniqueKey != inspect.UniqueKey(t.Queue, t.Type, nil) && t.UniqueKey != inspect.UniqueKey(t.Queue, t.Type, []byte{})
}

// longestLife is the longest that the task can still live if every attempt of
// it fails; 0 where nothing bounds it, or nobody can say: in a group, a paused
// or unserved queue, after a failure that was not counted, or where asynq's
// default delays were assumed and the task's own last delay contradicts them.
func longestLife(t inspect.Task, b *Bound, m Moment) time.Duration {
	if endless(t, b, m) != "" {
		return 0
	}
	p := retry.DefaultParams()
	p.MaxRetry = max(0, t.MaxRetry)
	p.Delay = b.policy()
	if b != nil {
		p.QueueWait.Max = retry.SecondsOf(b.Policy.QueueWait)
	}
	if t.Timeout > 0 {
		timeout := retry.SecondsOf(t.Timeout)
		p.Timeout = &timeout
	}
	if !t.Deadline.IsZero() {
		deadline := retry.SecondsOf(t.Deadline.Sub(m.Now))
		p.Deadline = &deadline
	}
	left, because, err := p.RemainingBounds(seenAs(t, m))
	if err != nil || len(because) > 0 {
		return 0
	}
	return min(left.Max.Duration(), maxLife)
}

// endless says why nothing bounds the life that a task has left, or why nobody
// can say; "" where it has a bound.
func endless(t inspect.Task, b *Bound, m Moment) string {
	switch {
	case t.Defect != inspect.DefectNone || !t.State.Live():
		return "it is not live"
	case t.State == inspect.StateAggregating:
		return "it waits in a group, and its aggregate is another task"
	case m.Paused:
		return "its queue is paused"
	case m.Unserved:
		return "no live server serves its queue"
	case uncounted(t):
		return "its failures are not counted"
	case !declared(b) && drifts(t, b):
		return "no retry policy is declared, and its delay is not asynq's default"
	}
	return ""
}

// seenAs is the task as package retry sees it.
func seenAs(t inspect.Task, m Moment) retry.Seen {
	seen := retry.Seen{Retried: max(0, t.Retried)}
	switch t.State {
	case inspect.StateActive:
		seen.State = retry.StateActive
		if !t.LeaseExpiresAt.IsZero() && !t.LeaseValid(m.Now) {
			ago := retry.SecondsOf(m.Now.Sub(t.LeaseExpiresAt))
			seen.Orphaned, seen.LeaseExpiredAgo = true, &ago
		}
	case inspect.StatePending:
		seen.State = retry.StatePending
	case inspect.StateScheduled:
		seen.State = retry.StateScheduled
	case inspect.StateRetry:
		seen.State = retry.StateRetry
	default:
		seen.State = retry.StateUnknown // nothing bounds the others
	}
	if !t.NextProcessAt.IsZero() {
		seen.NextProcessIn = retry.SecondsOf(t.NextProcessAt.Sub(m.Now))
	}
	return seen
}

// policy is the rule's delays; asynq's default where no rule matches.
func (b *Bound) policy() retry.Policy {
	if b == nil {
		return retry.Default()
	}
	return b.delays
}

// declared says whether the operator wrote down how the tasks are retried.
func declared(b *Bound) bool { return b != nil && b.Policy.Retry != "" }
