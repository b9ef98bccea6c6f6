package reconcile

import (
	"fmt"

	"github.com/idemctl/idemctl/inspect"
)

// tellLock puts into words when the lock goes, and what to do.
func (f *Refusal) tellLock(q queueFacts) {
	owner := fmt.Sprintf("task %q (%s)", f.Task.ID, lives(f.Task.State))
	f.Why = "it ends " + f.ends()
	switch f.Verdict {
	case LockGuards, LockEarly, LockDrifted:
		f.Why += ", or earlier, as soon as " + owner + " succeeds"
		f.Next = "wait: " + owner + " does this work" + unserved(q)
		if f.Verdict == LockDrifted {
			f.Next = "wait, or enqueue with another content: " + owner + " will run with the content it was given since" + unserved(q)
		}
		f.Command = f.explain()
	case LockBlocks:
		f.Why += ", or with the deletion of " + owner
		f.archived()
	case LockOrphaned:
		f.Next = "release it, unless tasks of this type go into groups: then an aggregate may be doing this work"
		f.Command = releaseCommand(f.Lock.Key)
	case LockPhantom:
		f.Next = "release it: nobody will do this work"
		f.Command = releaseCommand(f.Lock.Key)
	default:
		f.Next = "look at the key by hand: asynq writes no such lock"
	}
}

// archived says what is safe with an archived task that is in the way.
func (f *Refusal) archived() {
	f.Command = f.explain()
	switch f.Status {
	case StatusApplied:
		f.Next = "its work is done: the task can be deleted, which frees the way"
	case StatusNotApplied:
		f.Next = "its work seems not to be done: have explain confirm that, then run the archived task again instead of a new one"
	case StatusNatural:
		f.Next = "repeating it is harmless: run the archived task again"
	default:
		f.Next = "nobody can say whether its work is done: find out before either is run"
	}
}

// tellID puts into words when the ID is free again, and what to do.
func (f *Refusal) tellID(q queueFacts) {
	t := f.Task
	f.Command = f.explain()
	switch {
	case t.Defect == inspect.DefectResultOnly:
		f.Why = "a result without a task: nothing deletes it"
		f.Next = "delete the leftover result"
		f.Command = repairCommand(t.Ref)
	case t.State == inspect.StateArchived:
		f.Why = "until the archived task is deleted; asynq does that after 90 days at the earliest, or when the archive is full"
		f.archived()
	case t.State == inspect.StateCompleted:
		f.Until = t.ExpiresAt
		f.Why = "it is kept after its success until " + stamp(t.ExpiresAt)
		if !t.ExpiresAt.IsZero() && t.ExpiresAt.Before(f.ConfirmedAt) {
			f.Why = "its retention ended at " + stamp(t.ExpiresAt) + "; a server's janitor deletes it within seconds"
			if !q.served {
				f.Why = "its retention ended at " + stamp(t.ExpiresAt) + ", and no live server serves the queue to delete it"
			}
		}
		f.Next = "wait, or use a new ID: its work is done"
		if f.Status == StatusNotApplied {
			f.Next = "asynq calls it done and no row says so: find out before it is enqueued again"
		}
	default:
		f.Why = "until the task has succeeded or was deleted"
		f.Next = fmt.Sprintf("wait: the task of this ID is %s%s", lives(t.State), unserved(q))
		if t.State == inspect.StateUnknown {
			f.Next = "look at it: its hash names no state"
		}
	}
}

func unserved(q queueFacts) string {
	switch {
	case q.Paused:
		return "; but the queue is paused"
	case !q.served:
		return "; but no live server serves the queue"
	}
	return ""
}
