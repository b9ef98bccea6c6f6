package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// A ghost is a task's hash that nothing holds. A sweep over the keys meets every
// hash; one that the listing has not seen is looked at by itself:
//
//  1. its hash: gone, it was done meanwhile; its state's sorted set has it: new,
//     or it has moved;
//  2. all sorted sets, then the lists, walked once for many suspects;
//  3. all of it again after a pause. A hash that has not changed, and that no
//     structure held in either look, is a ghost.
//
// No step of asynq's leaves a task's hash outside of every structure, even for
// an instant: each is one script.

// ghostBatch is how many suspects share one walk over the lists.
const ghostBatch = 4096

// haunt looks at hashes that the listing has not seen and keeps those that are
// out of place for the next walk.
func (r *run) haunt(ctx context.Context, refs []inspect.Ref) error {
	tasks, err := r.queue.Read(ctx, refs)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		switch {
		case t.Defect == inspect.DefectDangling:
			r.uncount(t.Ref)
		case t.Defect == inspect.DefectResultOnly, !inPlace(t):
			r.suspects = append(r.suspects, t)
			r.suspectBytes += len(t.Payload) + len(t.LastErr)
		default:
			r.hashes.count(t.Queue).Indexed++
		}
	}
	if len(r.suspects) >= ghostBatch || r.suspectBytes >= batchBytes {
		return r.exorcise(ctx)
	}
	return nil
}

// inPlace says whether the sorted set of the task's state was seen to hold it.
func inPlace(t inspect.Task) bool {
	switch t.State {
	case inspect.StateScheduled, inspect.StateRetry:
		return !t.NextProcessAt.IsZero()
	case inspect.StateArchived:
		return !t.ArchivedAt.IsZero()
	case inspect.StateCompleted:
		return !t.ExpiresAt.IsZero()
	case inspect.StateAggregating:
		return !t.GroupedAt.IsZero()
	}
	return false
}

// exorcise looks twice at all suspects and tells the ghosts among them.
func (r *run) exorcise(ctx context.Context) error {
	suspects := r.suspects
	r.suspects, r.suspectBytes = nil, 0
	for look := range 2 {
		if look > 0 {
			if err := pause(ctx); err != nil {
				return err
			}
		}
		var err error
		if suspects, err = r.unheld(ctx, suspects); err != nil || len(suspects) == 0 {
			return err
		}
	}
	var ghosts, results []inspect.Task
	for _, t := range suspects {
		if t.Defect == inspect.DefectResultOnly {
			r.hashes.count(t.Queue).ResultOnly++
			results = append(results, t)
		} else {
			r.hashes.count(t.Queue).Ghosts++
			ghosts = append(ghosts, t)
		}
	}
	if err := r.tellStructure(ctx, CodeResultOnly, results); err != nil {
		return err
	}
	return r.tellStructure(ctx, CodeGhost, ghosts)
}

// unheld returns the suspects that no structure holds and whose hashes stand.
func (r *run) unheld(ctx context.Context, suspects []inspect.Task) ([]inspect.Task, error) {
	refs := make([]inspect.Ref, len(suspects))
	groups := make([]string, len(suspects))
	wanted := make(map[inspect.Ref]bool, len(suspects))
	queues := map[string]bool{}
	for i, t := range suspects {
		refs[i], groups[i] = t.Ref, t.Group
		wanted[t.Ref] = true
		queues[t.Queue] = true
	}
	places, err := r.queue.Placements(ctx, refs, groups)
	if err != nil {
		return nil, err
	}
	held := map[inspect.Ref]bool{}
	for i, p := range places {
		held[refs[i]] = len(p.In) > 0 || p.Grouped
	}
	lists := []inspect.State{inspect.StatePending, inspect.StateActive, inspect.StateAggregating}
	err = r.walk(ctx, keysOf(queues), lists, func(l inspect.Listed) {
		if wanted[l.Ref] {
			held[l.Ref] = true
		}
	})
	if err != nil {
		return nil, err
	}
	now, err := r.queue.Read(ctx, refs)
	if err != nil {
		return nil, err
	}
	still := suspects[:0]
	for i, t := range now {
		switch {
		case t.Defect == inspect.DefectDangling:
			r.uncount(t.Ref)
		case held[t.Ref], inPlace(t), !suspects[i].Unmoved(t):
			// It is somewhere, or it moves. Where it is in a place that its state does
			// not name, the listing has met it.
			r.hashes.count(t.Queue).Indexed++
		default:
			still = append(still, t)
		}
	}
	return still, nil
}

// staleLeases tells the leases of tasks that are not active. They are read
// before the active lists, and everything again after a pause. A lease that
// still runs may be that of a task that came back under its ID and within the
// second, since leases end at whole seconds: it is read once more when that
// second is over.
func (r *run) staleLeases(ctx context.Context) error {
	var suspects []inspect.Task
	for _, q := range r.queues {
		stale, err := r.leasesWithoutActive(ctx, q)
		if err != nil {
			return err
		}
		suspects = append(suspects, stale...)
	}
	for _, wait := range []time.Duration{structurePause, time.Second} {
		runs := slices.ContainsFunc(suspects, func(t inspect.Task) bool { return t.LeaseValid(r.now()) })
		if len(suspects) == 0 || wait == time.Second && !runs {
			break
		}
		if err := sleepUntil(ctx, time.Now().Add(wait)); err != nil {
			return err
		}
		var err error
		if suspects, err = r.stillStale(ctx, suspects); err != nil {
			return err
		}
	}
	return r.tellStructure(ctx, CodeStaleLease, suspects)
}

// stillStale are those of the leases that stand as they were, and whose tasks
// are still not active.
func (r *run) stillStale(ctx context.Context, suspects []inspect.Task) ([]inspect.Task, error) {
	var still []inspect.Task
	for _, q := range r.queues {
		if !slices.ContainsFunc(suspects, func(t inspect.Task) bool { return t.Queue == q }) {
			continue
		}
		again, err := r.leasesWithoutActive(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, t := range again {
			if slices.ContainsFunc(suspects, func(s inspect.Task) bool {
				return s.Ref == t.Ref && s.LeaseExpiresAt.Equal(t.LeaseExpiresAt)
			}) {
				still = append(still, t)
			}
		}
	}
	return still, nil
}

// leasesWithoutActive reads the leases of a queue, and then which of them no
// entry of the active list answers to.
func (r *run) leasesWithoutActive(ctx context.Context, queue string) ([]inspect.Task, error) {
	leases, err := r.queue.Leases(ctx, queue)
	if err != nil || len(leases) == 0 {
		return nil, err
	}
	active := map[string]bool{}
	err = r.walk(ctx, []string{queue}, []inspect.State{inspect.StateActive}, func(l inspect.Listed) { active[l.ID] = true })
	if err != nil {
		return nil, err
	}
	var refs []inspect.Ref
	var stale []inspect.Lease
	for _, l := range leases {
		if !active[l.ID] {
			refs = append(refs, inspect.Ref{Queue: queue, ID: l.ID})
			stale = append(stale, l)
		}
	}
	tasks, err := r.queue.Read(ctx, refs)
	for i := range tasks {
		tasks[i].LeaseExpiresAt = stale[i].ExpiresAt
	}
	return tasks, err
}
