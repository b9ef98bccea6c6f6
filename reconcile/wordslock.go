package reconcile

import (
	"fmt"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// lockWords says what is wrong with a lock, and what comes of it.
func (f *Finding) lockWords() (message, consequence string) {
	var lock Lock
	if f.Lock != nil {
		lock = *f.Lock
	}
	switch f.Code {
	case CodeLockBlocks:
		return fmt.Sprintf("archived (%s), and it still holds its lock, which ends %s%s", f.cause(), f.ends(), f.effect()),
			"every enqueue of this type and payload is refused " + f.until() + ", unless the task is deleted"
	case CodeLockExpiresEarly:
		return fmt.Sprintf("its lock ends %s, and it can still live for %s", f.ends(), Span(lock.Needed)),
			"from then on an equal task is accepted beside it, and both run"
	case CodeLockLost:
		return fmt.Sprintf("it is unique and %s, and its lock is gone", lives(f.Task.State)),
			"an equal task is accepted at once, and both run"
	case CodeLockTaken:
		return fmt.Sprintf("it is unique and %s, and its lock belongs to task %q%s", lives(f.Task.State), lock.Owner, f.ownerState()),
			"two tasks of the same content are under way, and only the handler's own check stops the second"
	case CodeLockTwin:
		return fmt.Sprintf("%d live tasks of type %s in queue %s have the same payload", f.TaskCount, f.Task.Type, f.Task.Queue),
			"each of them runs; only the handler's own check stops the second"
	case CodeLockOrphaned:
		return fmt.Sprintf("a lock whose task %q is gone; it ends %s", lock.Owner, f.ends()),
			"enqueues of this type and payload are refused " + f.until() + ", though nothing will run; unless it was in a group, whose aggregate may do its work yet"
	case CodeLockPhantom:
		return fmt.Sprintf("a lock that task %q holds without being its work%s: %s; it ends %s", lock.Owner, f.ownerState(), f.Detail, f.ends()),
			"enqueues of this type and payload are refused " + f.until() + ", though nobody will do that work"
	case CodeLockDrift:
		return fmt.Sprintf("its payload was changed after its lock was taken, which ends %s: it guards the old content", f.ends()),
			"its own content can be enqueued a second time, and the old content is refused"
	case CodeLockTicking:
		return fmt.Sprintf("queue %s is paused, and the locks of %s run out, the first %s",
				f.Task.Queue, plural(f.TaskCount, "waiting task"), f.ends()),
			"equal tasks are accepted from then on, and all of them run when the queue goes on"
	case CodeLockCrossQueue:
		return fmt.Sprintf("%d unique tasks of type %s and equal payload live in queues %s: each has a lock of its own", f.TaskCount, f.Task.Type, list(f.Queues)),
			"each of them runs: a lock guards one queue"
	}
	return string(f.Code), ""
}

// ends says when the finding's lock ends by itself.
func (f *Finding) ends() string {
	if end := f.lockEnd(); !end.IsZero() {
		return "at " + stamp(end)
	}
	return "never: it was given no time to live"
}

// lives says what a live task is doing.
func lives(s inspect.State) string {
	switch s {
	case inspect.StateRetry:
		return "in retry"
	case inspect.StateAggregating:
		return "in a group"
	default:
		return s.String()
	}
}

// lockEnd is when the finding's lock ends by itself; zero when it does not.
func (f *Finding) lockEnd() time.Time {
	if f.Lock == nil || f.Lock.TTL <= 0 || f.ConfirmedAt.IsZero() {
		return time.Time{}
	}
	return f.ConfirmedAt.Add(f.Lock.TTL)
}

func (f *Finding) until() string {
	if end := f.lockEnd(); !end.IsZero() {
		return "until " + stamp(end)
	}
	return "for ever"
}

// effect is the status of the task's effect, as an insertion where it is known.
func (f *Finding) effect() string {
	switch f.Status {
	case StatusApplied:
		return "; its effect is applied"
	case StatusNotApplied:
		return "; its effect is not applied"
	case StatusInProgress, StatusPartial:
		return "; its effect is in doubt"
	}
	return ""
}

func (f *Finding) ownerState() string {
	if f.Lock == nil || f.Lock.OwnerState == inspect.StateUnknown {
		return ""
	}
	return " (" + f.Lock.OwnerState.String() + ")"
}

// Span writes a duration as people do, in its two largest units.
func Span(d time.Duration) string {
	if d < 0 {
		return "-" + Span(-d)
	}
	const day = 24 * time.Hour
	units := []struct {
		size time.Duration
		name string
	}{{365 * day, "y"}, {day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}}
	for i, u := range units {
		if d < u.size {
			continue
		}
		text := fmt.Sprintf("%d%s", d/u.size, u.name)
		if i+1 < len(units) {
			if rest := d % u.size / units[i+1].size; rest > 0 {
				text += fmt.Sprintf("%d%s", rest, units[i+1].name)
			}
		}
		return text
	}
	if d == 0 {
		return "0s"
	}
	return "<1s"
}
