package reconcile

import (
	"context"
	"slices"

	"github.com/idemctl/idemctl/reconcile/journal"
)

// Review is a plan of moves as it stands now: every task that is to be moved is
// judged again, as Apply does, and held where it is not what it was when the plan
// was made. Nothing is changed. Queues are as they are now.
func (a *Auditor) Review(ctx context.Context, plan Plan) (Plan, error) {
	if plan.Moves == nil || plan.Moves.Action == ActionUnknown {
		return plan, nil
	}
	moves := *plan.Moves
	plan.Steps, plan.Moves = slices.Clone(plan.Steps), &moves
	a.hideKeys(plan.Steps)
	m := newMover(a, &plan)
	if err := m.look(ctx); err != nil {
		return plan, err
	}
	var at []int
	for i := range plan.Steps {
		if plan.Steps[i].Hold == "" {
			at = append(at, i)
		}
	}
	for part := range slices.Chunk(at, confirmSize) {
		items := make([]Applied, len(part))
		for n, i := range part {
			items[n] = Applied{Step: plan.Steps[i]}
		}
		if err := m.judgeAgain(ctx, items); err != nil {
			return plan, err
		}
		for n, i := range part {
			if items[n].Outcome != journal.OutcomeUnknown {
				plan.Steps[i].Hold, plan.Steps[i].Reason, plan.Steps[i].Forced = items[n].Found, HoldChanged, false
			}
		}
	}
	return plan, a.recount(ctx, &plan)
}

// hideKeys hides those keys that no output may show by now, whatever was known of
// that when the steps were planned.
func (a *Auditor) hideKeys(steps []Step) {
	for i := range steps {
		f := &steps[i].Finding
		f.KeyHidden = f.KeyHidden || f.Task.Type != "" && a.match(f.Task.Type, f.Task.Queue).HidesKey()
	}
}

// recount reads the plan's queues again.
func (a *Auditor) recount(ctx context.Context, plan *Plan) error {
	found := make([]candidate, len(plan.Steps))
	for i := range plan.Steps {
		found[i].Task.Ref = plan.Steps[i].Ref()
	}
	if err := a.noteQueues(ctx, found, plan.Moves); err != nil {
		return err
	}
	for i := range plan.Steps {
		if plan.Steps[i].Hold == "" {
			plan.Moves.queue(plan.Steps[i].Ref().Queue).Run++
		}
	}
	return nil
}
