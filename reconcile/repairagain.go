package reconcile

import (
	"context"
	"fmt"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// judgeAgain refuses the steps whose reason has gone: another status, or a
// worker that runs the task after all.
func (a *Auditor) judgeAgain(ctx context.Context, q Structure, items []Applied) error {
	running := map[inspect.Ref]bool{}
	servers, err := q.Servers(ctx)
	if err != nil {
		return err
	}
	for _, s := range servers {
		for _, w := range s.Workers {
			running[w.Ref] = true
		}
	}
	byRule := map[*Bound][]*Applied{}
	for i := range items {
		it := &items[i]
		if it.Step.Change != journal.ChangeReleaseLock && running[it.Step.Ref()] {
			it.Outcome, it.Found = journal.OutcomeRefused, "a worker runs it now"
			continue
		}
		if it.Step.depends {
			t := it.Step.Finding.Task
			b := a.match(t.Type, t.Queue)
			byRule[b] = append(byRule[b], it)
		}
	}
	r := &run{Auditor: a, out: &findingList{}, aim: aimStructure}
	for b, group := range byRule {
		if err := r.statusAgain(ctx, b, group); err != nil {
			return err
		}
	}
	return nil
}

// statusAgain looks the effects up once more.
func (r *run) statusAgain(ctx context.Context, b *Bound, items []*Applied) error {
	suspects := make([]suspect, len(items))
	for i, it := range items {
		suspects[i].task = it.Step.Finding.Task
		suspects[i].key, suspects[i].keyProblem, _ = r.keyAgain(b, suspects[i].task)
	}
	now, err := r.queue.Now(ctx)
	if err != nil {
		return err
	}
	f := r.lookUpFenced(ctx, b, itemsOf(suspects), true)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, it := range items {
		s := &suspects[i]
		s.rows, s.lagging, s.unread = f.rows[i], f.lagging, f.unread
		v := Judge(r.evidence(b, s, Moment{Now: now}), Moment{Now: now})
		if v.Status != it.Step.Finding.Status {
			it.Outcome = journal.OutcomeRefused
			it.Found = fmt.Sprintf("its effect is %s now, and was %s when this was planned", v.Status, it.Step.Finding.Status)
		}
	}
	return nil
}
