package reconcile

import (
	"context"
	"errors"
	"slices"

	"github.com/idemctl/idemctl/inspect"
)

// placed is one task with every list and set that holds its ID.
type placed struct {
	task   inspect.Task
	states []inspect.State // of the lists and sets that hold it
	leased bool
	// unregistered says that its group holds it, and the queue does not know the
	// group.
	unregistered bool
}

// placeOf finds out where a task is. It walks the lists, which have no index.
func (r *run) placeOf(ctx context.Context, ref inspect.Ref) (placed, error) {
	tasks, err := r.queue.Read(ctx, []inspect.Ref{ref})
	if err != nil {
		return placed{}, err
	}
	p := placed{task: tasks[0]}
	sets, err := r.queue.Placements(ctx, []inspect.Ref{ref}, []string{p.task.Group})
	if err != nil {
		return p, err
	}
	p.states, p.leased = sets[0].In, !sets[0].Lease.IsZero()
	lists := []inspect.State{inspect.StatePending, inspect.StateActive, inspect.StateAggregating}
	err = r.walk(ctx, []string{ref.Queue}, lists, func(l inspect.Listed) {
		if l.Ref == ref && !slices.Contains(p.states, l.State) {
			p.states = append(p.states, l.State)
		}
	})
	if sets[0].Grouped && !slices.Contains(p.states, inspect.StateAggregating) {
		p.states = append(p.states, inspect.StateAggregating)
		p.unregistered = true
	}
	if err == nil && p.task.Defect == inspect.DefectDangling {
		return p, &TaskError{Ref: ref, HeldIn: p.names()}
	}
	return p, err
}

// stuck is the fault of the structure that keeps the task from ever running, or
// from being reached; "" where there is none.
func (p placed) stuck() Code {
	switch {
	case p.task.Defect == inspect.DefectUndecodable:
		return CodeUndecodable
	case p.task.Defect == inspect.DefectResultOnly:
		return CodeResultOnly
	case len(p.states) == 0:
		return CodeGhost
	case p.unregistered:
		return CodeGroupUnregistered
	case p.task.State == inspect.StateActive && !p.leased && slices.Contains(p.states, inspect.StateActive):
		return CodeNoLease
	case !p.sound():
		return CodeStateMismatch
	}
	return ""
}

// stuckTwice is what stuck says, if it says so twice with a pause between.
func (r *run) stuckTwice(ctx context.Context, ref inspect.Ref) (Code, error) {
	var first Code
	for look := range 2 {
		p, err := r.placeOf(ctx, ref)
		var gone *TaskError
		if errors.As(err, &gone) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		code := p.stuck()
		if code == "" || look == 1 && code != first {
			return "", nil
		}
		first = code
		if look == 0 {
			if err := pause(ctx); err != nil {
				return "", err
			}
		}
	}
	return first, nil
}

// sound says whether the task is where its hash says, and nowhere else. A task
// on the move may not seem so.
func (p placed) sound() bool {
	if p.task.State == inspect.StateUnknown && p.task.Defect == inspect.DefectUndecodable {
		return len(p.states) == 1 // it says nothing that could be wrong
	}
	return len(p.states) == 1 && p.states[0] == p.task.State && p.leased == (p.task.State == inspect.StateActive) ||
		len(p.states) == 1 && p.states[0] == inspect.StateActive && p.task.State == inspect.StateActive
}

// tellPlace looks again at a task that is out of place, and reports what stands.
func (r *run) tellPlace(ctx context.Context, first placed) error {
	if err := pause(ctx); err != nil {
		return err
	}
	p, err := r.placeOf(ctx, first.task.Ref)
	if err != nil {
		return err
	}
	if p.sound() || !sameHash(first.task, p.task) {
		return r.judgeOne(ctx)
	}
	t := p.task
	switch {
	case t.Defect == inspect.DefectResultOnly:
		return r.tellStructure(ctx, CodeResultOnly, []inspect.Task{t})
	case len(p.states) == 0:
		if err := r.tellStructure(ctx, CodeGhost, []inspect.Task{t}); err != nil {
			return err
		}
	default:
		for _, s := range p.states {
			if s != t.State {
				t.Listed = s
				if err := r.tellStructure(ctx, CodeStateMismatch, []inspect.Task{t}); err != nil {
					return err
				}
				break
			}
		}
	}
	if p.leased && !slices.Contains(p.states, inspect.StateActive) {
		return r.tellStructure(ctx, CodeStaleLease, []inspect.Task{t})
	}
	return nil
}

// names are the structures as people call them.
func (p placed) names() []string {
	var names []string
	for _, s := range p.states {
		names = append(names, s.String())
	}
	if p.leased {
		names = append(names, "lease")
	}
	return names
}
