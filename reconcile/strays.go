package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// A task that a list names and whose hash says something else has nearly always
// just moved. Such strays are not judged when they are met: when everything was
// listed they are looked at twice again. One that has come to rest is judged as
// it is; one that its list still names while its hash, unchanged, says another
// state, or is not there at all, is a fault of the queue's structure.

// strays are tasks that were met out of place, by where they were listed. Prev is
// the state in which they were met in place, and so counted and judged;
// StateUnknown: not yet.
type strays map[inspect.Ref]inspect.Task

// count notes that a task is met in place, if it is among the strays.
func (s strays) count(t inspect.Task) {
	if before, ok := s[t.Ref]; ok {
		before.Prev = t.State
		s[t.Ref] = before
	}
}

// maxStrays bounds how many are kept until the end of the listing.
const maxStrays = 10_000

// structurePause is what lies between the two looks at a suspect of the queue's
// structure: any script of asynq's, and the reply that we wait for, is shorter.
const structurePause = 150 * time.Millisecond

// stray says whether the list that named the task contradicts its hash.
func stray(t inspect.Task) bool {
	return t.Listed != inspect.StateUnknown && (t.Defect == inspect.DefectDangling || t.State != t.Listed)
}

// resolve looks at the strays again. What has come to rest goes to the sorter;
// what is out of place is kept for the structure pass.
func (r *run) resolve(ctx context.Context, s *sorter) error {
	suspects := r.strays
	r.strays = strays{}
	for look := range 2 {
		if len(suspects) == 0 {
			return nil
		}
		if look > 0 {
			if err := pause(ctx); err != nil {
				return err
			}
		}
		settled, still, err := r.lookAtStrays(ctx, suspects)
		if err != nil {
			return err
		}
		for _, t := range settled {
			r.put(ctx, s, t)
		}
		suspects = still
	}
	for _, t := range suspects {
		r.misplaced = append(r.misplaced, t)
	}
	return nil
}

// put judges a task unless it was met in place before.
func (r *run) put(ctx context.Context, s *sorter, t inspect.Task) {
	if t.Prev != inspect.StateUnknown {
		return
	}
	rule, it := r.sort(t)
	if r.inScope(t) {
		r.cases.see(rule, t)
		r.age(t)
		if r.aim == aimArchived {
			r.putOff(t)
			return
		}
		if !r.aim.judges(t) {
			r.tally(t)
			return
		}
		s.put(ctx, rule, it)
	}
}

// lookAtStrays reads the strays once more: first where they are listed, then
// their hashes. What is not listed out of place any more is settled.
func (r *run) lookAtStrays(ctx context.Context, suspects strays) (settled []inspect.Task, still strays, err error) {
	listed, err := r.stillListed(ctx, suspects)
	if err != nil {
		return nil, nil, err
	}
	refs := make([]inspect.Ref, 0, len(suspects))
	for ref := range suspects {
		refs = append(refs, ref)
	}
	now, err := r.queue.Read(ctx, refs)
	if err != nil {
		return nil, nil, err
	}
	still = strays{}
	for _, t := range now {
		before := suspects[t.Ref]
		t.Prev = before.Prev
		vanished := t.Defect == inspect.DefectDangling
		switch {
		case listed[t.Ref] && vanished:
			still[t.Ref] = before
		case vanished:
		case listed[t.Ref] && t.State != before.Listed && t.State != inspect.StateUnknown:
			t.Listed = before.Listed
			still[t.Ref] = t
		default:
			settled = append(settled, t)
		}
	}
	return settled, still, nil
}

// stillListed says which strays are still where they were listed. Sorted sets
// are asked; lists, which have no index, are walked.
func (r *run) stillListed(ctx context.Context, suspects strays) (map[inspect.Ref]bool, error) {
	held := map[inspect.Ref]bool{}
	var sets []inspect.Ref
	lists := map[inspect.State]map[string]bool{}
	for ref, t := range suspects {
		switch t.Listed {
		case inspect.StatePending, inspect.StateActive, inspect.StateAggregating:
			if lists[t.Listed] == nil {
				lists[t.Listed] = map[string]bool{}
			}
			lists[t.Listed][ref.Queue] = true
		default:
			sets = append(sets, ref)
		}
	}
	places, err := r.queue.Placements(ctx, sets, make([]string, len(sets)))
	if err != nil {
		return nil, err
	}
	for i, p := range places {
		held[sets[i]] = slices.Contains(p.In, suspects[sets[i]].Listed)
	}
	for state, queues := range lists {
		err := r.walk(ctx, keysOf(queues), []inspect.State{state}, func(l inspect.Listed) {
			if t, ok := suspects[l.Ref]; ok && t.Listed == l.State {
				held[l.Ref] = true
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return held, nil
}

// walk visits the IDs of the queues' lists and sets.
func (r *run) walk(ctx context.Context, queues []string, states []inspect.State, visit func(inspect.Listed)) error {
	if len(queues) == 0 {
		return nil
	}
	for page, err := range r.queue.IDs(ctx, queues, states) {
		if err != nil {
			return err
		}
		for _, l := range page {
			visit(l)
		}
	}
	return ctx.Err()
}

func keysOf[K comparable](set map[K]bool) []K {
	keys := make([]K, 0, len(set))
	for k := range set {
		keys = append(keys, k)
	}
	return keys
}

// pause lets structurePause pass.
func pause(ctx context.Context) error {
	return sleepUntil(ctx, time.Now().Add(structurePause))
}
