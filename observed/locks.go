package observed

import (
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
)

// note compares a live task's lock with what is left of the task's life.
func (l *Locks) note(t inspect.Task, lock *inspect.Lock, p retry.Params, now time.Time) {
	l.Unique++
	if lock == nil {
		return
	}
	own := lock.Held && lock.Owner == t.ID && lock.TTL > 0
	if own {
		l.Left.add(lock.TTL)
		if from, ok := countedFrom(t); ok {
			l.Asked.add((lock.TTL + now.Sub(from)).Round(time.Second))
		}
	}
	life, ok := longestLife(t, p, now)
	if !ok || lock.Held && lock.Owner == t.ID && lock.TTL == 0 { // a lock that never ends
		return
	}
	s := Short{Ref: t.Ref, State: t.State, Held: own, Life: life}
	if own {
		s.Left = lock.TTL
	}
	if s.Left < life {
		l.short(s)
	}
}

// countedFrom is the moment that a lock's TTL is counted from, of a task that no
// attempt was made of: when it is due (client.go: schedule), else when it went to
// pending. The forwarder moves a due task up to an interval later, so that what
// follows from it is no more than was asked for.
func countedFrom(t inspect.Task) (time.Time, bool) {
	if t.Retried > 0 || !t.LastFailedAt.IsZero() {
		return time.Time{}, false
	}
	switch t.State {
	case inspect.StateScheduled:
		return t.NextProcessAt, !t.NextProcessAt.IsZero()
	case inspect.StatePending:
		return t.PendingSince, !t.PendingSince.IsZero()
	case inspect.StateAggregating:
		return t.GroupedAt, !t.GroupedAt.IsZero()
	default:
		return time.Time{}, false
	}
}

// longestLife is the longest that a task can still live; false where nothing
// bounds it or nobody can say: in a group, after a failure that was not counted,
// or where its own last delay contradicts the policy.
func longestLife(t inspect.Task, p retry.Params, now time.Time) (time.Duration, bool) {
	if t.State == inspect.StateAggregating || t.State == inspect.StateRetry && t.Retried == 0 {
		return 0, false
	}
	if t.State == inspect.StateRetry && !t.LastFailedAt.IsZero() {
		d := t.NextProcessAt.Sub(t.LastFailedAt)
		if !agrees(p.Delay, t.Retried-1, d) && !agrees(p.Delay, t.Retried, d) {
			return 0, false
		}
	}
	p.MaxRetry = max(0, t.MaxRetry)
	p.Timeout = nil
	if t.Timeout > 0 {
		timeout := retry.SecondsOf(t.Timeout)
		p.Timeout = &timeout
	}
	if !t.Deadline.IsZero() {
		deadline := retry.SecondsOf(t.Deadline.Sub(now))
		p.Deadline = &deadline
	}
	left, because, err := p.RemainingBounds(seenAs(t, now))
	if err != nil || len(because) > 0 {
		return 0, false
	}
	return left.Max.Duration(), true
}

// seenAs is the task as package retry sees it.
func seenAs(t inspect.Task, now time.Time) retry.Seen {
	state, _ := retry.ParseState(t.State.String())
	seen := retry.Seen{State: state, Retried: max(0, t.Retried)}
	if t.State == inspect.StateActive && !t.LeaseExpiresAt.IsZero() && !t.LeaseValid(now) {
		ago := retry.SecondsOf(now.Sub(t.LeaseExpiresAt))
		seen.Orphaned, seen.LeaseExpiredAgo = true, &ago
	}
	if !t.NextProcessAt.IsZero() {
		seen.NextProcessIn = retry.SecondsOf(t.NextProcessAt.Sub(now))
	}
	return seen
}
