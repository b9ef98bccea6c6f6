package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
	"github.com/idemctl/idemctl/tui"
)

// changer makes changes for the browser on the way that requeue, resolve and
// journal restore go.
type changer struct{ *browser }

func (b *browser) Changes() tui.Changer { return changer{b} }

// planned is what a plan of the browser stands for.
type planned struct {
	plan    reconcile.Plan
	auditor *reconcile.Auditor
	command string // for the journal
}

// planExpiry is how long a plan that is looked at may be applied.
const planExpiry = time.Hour

func (c changer) Plan(ctx context.Context, a tui.Ask, tell func(reconcile.Progress)) (*tui.Plan, error) {
	if a.Verb == tui.VerbRestore {
		return c.planRestore(ctx, a)
	}
	options, moves, err := c.selection(a)
	if err != nil {
		return nil, err
	}
	auditor, err := c.s.auditor(options)
	if err != nil {
		return nil, err
	}
	plan := auditor.PlanRequeue
	if a.Verb == tui.VerbResolve {
		plan = auditor.PlanResolve
	}
	made, report, err := plan(ctx, planProgress(tell), moves)
	switch {
	case err != nil:
		return c.unplanned(a), err
	case !report.Complete:
		return c.unplanned(a), fmt.Errorf("nothing was planned: not all could be read (%w)", report.Problem)
	case a.Signature != nil && len(made.Steps) > mostPlanned:
		return c.unplanned(a), fmt.Errorf("%d archived tasks have this signature now, and a plan here holds %d at most: @ shows the command, which plans them all", len(made.Steps), mostPlanned)
	}
	asked := map[inspect.Ref]bool{}
	for _, r := range a.Refs {
		asked[r] = true
	}
	made.Steps = slices.DeleteFunc(made.Steps, func(s reconcile.Step) bool { return a.Signature == nil && !asked[s.Ref()] })
	out := c.shown(a, auditor, made)
	if n, err := auditor.Filter().Failures(); n > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d archived tasks are left out: %v", n, err))
	}
	out.Canary = a.Verb == tui.VerbRequeue
	for i := range made.Steps {
		delete(asked, made.Steps[i].Ref())
	}
	for _, r := range a.Refs { // those that are not in the archive are not planned for
		if asked[r] {
			out.Items = append(out.Items, tui.PlanItem{Ref: r, Action: "hold", Reason: "not-archived", Words: "it is not in the archive: only archived tasks are run again or resolved"})
		}
	}
	return out, nil
}

// mostPlanned bounds a plan that is looked at, which is held in memory beside all
// that is shown.
const mostPlanned = 10_000

// unplanned names what would have been planned.
func (c changer) unplanned(a tui.Ask) *tui.Plan { return &tui.Plan{Ask: a, Command: c.commandOf(a)} }

// selection is what a plan is asked for.
func (c changer) selection(a tui.Ask) (o reconcile.Options, m reconcile.Moves, err error) {
	m.Order = reconcile.OrderOldest
	if s := a.Signature; s != nil {
		if o.Where, err = reconcile.CompileFilter(s.Where()); err != nil {
			return o, m, err
		}
		m.Codes = []reconcile.Code{s.Code}
		return o, m, nil
	}
	if len(a.Refs) == 0 {
		return o, m, errors.New("no task was chosen")
	}
	for _, r := range a.Refs {
		o.Scope.IDs = append(o.Scope.IDs, r.ID)
	}
	o.Scope.Queues, o.Scope.Exact = queuesOfRefs(a.Refs), true
	return o, m, nil
}

// planProgress is an observer of a plan in the making.
type planProgress func(reconcile.Progress)

func (planProgress) Finding(reconcile.Finding)        {}
func (p planProgress) Progress(at reconcile.Progress) { p(at) }

// shown is a plan as the browser shows it.
func (c changer) shown(a tui.Ask, auditor *reconcile.Auditor, plan reconcile.Plan) *tui.Plan {
	out := &tui.Plan{Ask: a, MadeAt: plan.MadeAt, Until: time.Now().Add(planExpiry)}
	for i := range plan.Steps {
		s := &plan.Steps[i]
		item := tui.PlanItem{
			Ref: s.Ref(), Type: s.Finding.Task.Type, Status: s.Finding.Status,
			Runs: s.Hold == "", Action: actionOf(s), Reason: string(s.Reason), Words: s.Hold,
		}
		if item.Runs {
			item.Words = s.Words()
		}
		out.Items = append(out.Items, item)
	}
	if plan.Moves != nil {
		for _, q := range plan.Moves.Queues {
			if q.Run > 0 && q.Pending > 0 {
				out.Notes = append(out.Notes, fmt.Sprintf("queue %q has %s before those that are run", q.Name, plural(q.Pending, "pending task")))
			}
		}
	}
	if a.Verb == tui.VerbRequeue && slices.ContainsFunc(out.Items, func(i tui.PlanItem) bool { return i.Runs }) {
		out.Notes = append(out.Notes, "between the last look and the worker's start a producer can enqueue the same work: only the handler's unique index stops that")
	}
	if out.Command = c.commandOf(a); out.Command == "" {
		out.NoCommand = noCommand(a)
	}
	out.Private = &planned{plan: plan, auditor: auditor, command: commandForJournal(a)}
	return out
}

// actionOf is what a step does, in a word.
func actionOf(s *reconcile.Step) string {
	switch {
	case s.Hold != "":
		return "hold"
	case s.Change == journal.ChangeRequeue:
		return "run"
	}
	return string(s.Change)
}
