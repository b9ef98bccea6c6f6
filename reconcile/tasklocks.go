package reconcile

import (
	"context"

	"github.com/idemctl/idemctl/inspect"
)

// locks reads the uniqueness locks of the items' tasks, in pipelines: one entry
// for each, nil where the task has none or it could not be read. A completed
// task has given its lock back.
func (r *run) locks(ctx context.Context, items []item) []*Lock {
	out := make([]*Lock, len(items))
	var keys []string
	var at []int
	for i, it := range items {
		if it.task.UniqueKey != "" && it.task.State != inspect.StateCompleted {
			keys = append(keys, it.task.UniqueKey)
			at = append(at, i)
		}
	}
	if len(keys) == 0 {
		return out
	}
	locks, err := r.queue.Locks(ctx, keys)
	if err != nil {
		if ctx.Err() == nil {
			r.fail(err)
		}
		return out
	}
	for k, l := range locks {
		out[at[k]] = lockOf(items[at[k]].task, l)
	}
	return out
}

func lockOf(t inspect.Task, l inspect.Lock) *Lock {
	lock := Lock{Key: t.UniqueKey, Owner: l.Owner, TTL: l.TTL, State: LockFree}
	switch {
	case !l.Held:
	case l.Owner == t.ID:
		lock.State = LockHeld
	default:
		lock.State = LockTaken
	}
	return &lock
}

// ownerStates adds to the locks that other tasks hold the states of those. What
// cannot be read stays unknown: it is evidence beside the verdict.
func (r *run) ownerStates(ctx context.Context, suspects []suspect) {
	var refs []inspect.Ref
	var locks []*Lock
	for _, s := range suspects {
		switch {
		case s.lock == nil:
		case s.lock.State == LockHeld:
			s.lock.OwnerState = s.task.State
		case s.lock.State == LockTaken:
			refs = append(refs, inspect.Ref{Queue: s.task.Queue, ID: s.lock.Owner})
			locks = append(locks, s.lock)
		}
	}
	owners, err := r.queue.Read(ctx, refs)
	if err != nil {
		return
	}
	for i, t := range owners {
		locks[i].OwnerState = t.State
	}
}
