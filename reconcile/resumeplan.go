package reconcile

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// likewise are intents whose changes are planned together: what they were asked
// for is the same.
type likewise struct {
	change         journal.Change
	attempts       int
	accepted, idle bool
	forced         inspect.Ref // a task that is let through has a plan of its own
}

// plans are made of what was not made. The last intent of a task counts.
func (p *resuming) plans(ctx context.Context) ([]Plan, error) {
	last := map[inspect.Ref]int{}
	for i := range p.intents {
		if p.intents[i].Again {
			last[refOf(&p.intents[i].Record)] = i
		}
	}
	var order []likewise
	groups := map[likewise][]kept{}
	for i := range p.intents {
		in := &p.intents[i]
		if at, ok := last[refOf(&in.Record)]; !ok || at != i {
			continue
		}
		k := keptIn(&in.Record)
		like := k.like()
		if groups[like] == nil {
			order = append(order, like)
		}
		groups[like] = append(groups[like], k)
	}
	var plans []Plan
	for _, like := range order {
		plan, err := p.planAgain(ctx, like, groups[like])
		if err != nil {
			return nil, err
		}
		p.hideKeys(plan.Steps)
		plans = append(plans, plan)
	}
	p.unplanned(plans)
	return plans, nil
}

// like is what the intent's change was asked to be.
func (k *kept) like() likewise {
	e := k.evidence
	like := likewise{change: k.rec.Change, accepted: e.Accepted, idle: e.Idle}
	if e.Attempts != nil {
		like.attempts = e.Attempts.Given
	}
	if e.Forced {
		like.forced = refOf(k.rec)
	}
	return like
}

func (p *resuming) planAgain(ctx context.Context, like likewise, tasks []kept) (Plan, error) {
	if like.change == journal.ChangeRestore {
		return p.planRestoreAgain(ctx, tasks)
	}
	var scope Scope
	moves := Moves{Action: ActionRun, Attempts: like.attempts}
	if like.change == journal.ChangeResolve {
		moves.Action = ActionResolve
	}
	for _, k := range tasks {
		scope.Queues, scope.IDs = append(scope.Queues, k.rec.Queue), append(scope.IDs, k.rec.TaskID)
		if like.accepted {
			moves.Unprotected = append(moves.Unprotected, k.task.Type)
		}
		if like.idle {
			moves.Idle = append(moves.Idle, k.rec.Queue)
		}
		if like.forced.ID != "" {
			moves.Force = k.rec.Reason
		}
	}
	one, err := p.narrowed(ctx, scope)
	if err != nil || one == nil {
		return Plan{Moves: &moves}, err
	}
	plan, report, err := one.planMoves(ctx, &findingList{}, moves)
	switch {
	case err == nil && !report.Complete:
		err = report.Problem
	case err == nil:
		return plan.only(tasks), nil
	}
	var ledger *LedgerError
	if !errors.As(err, &ledger) {
		return Plan{}, err
	}
	return unjudged(tasks, moves, err), nil
}

// only is the plan without tasks that nobody named: an ID may be in several queues.
func (p Plan) only(tasks []kept) Plan {
	steps := p.Steps
	p.Steps = nil
	for i := range p.Moves.Queues {
		p.Moves.Queues[i].Run = 0
	}
	for _, s := range steps {
		at := slices.IndexFunc(tasks, func(k kept) bool { return refOf(k.rec) == s.Ref() })
		if at < 0 {
			continue
		}
		if s.Hold == "" && s.Change == journal.ChangeRequeue {
			s.Relock = time.Duration(tasks[at].evidence.RelockSeconds * float64(time.Second))
		}
		if s.Hold == "" {
			p.Moves.queue(s.Ref().Queue).Run++
		}
		if s.Forced {
			s.because = tasks[at].rec.Reason
			if was := tasks[at].evidence.overridden(); len(was) > 0 && slices.ContainsFunc(append([]HoldReason{s.Reason}, s.Also...), was.lacks) {
				s.Forced, s.Hold = false, s.Overrides // it was let through for another reason
			}
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// unjudged holds all, since the ledger cannot be read.
func unjudged(tasks []kept, moves Moves, err error) Plan {
	plan := Plan{Moves: &moves}
	for _, k := range tasks {
		plan.Steps = append(plan.Steps, Step{
			Change: k.rec.Change, Finding: k.finding(time.Time{}), Reason: HoldUnknown,
			Hold: "nobody can say whether its work is done: " + err.Error(), never: true,
		})
	}
	return plan
}

func (p *resuming) planRestoreAgain(ctx context.Context, tasks []kept) (Plan, error) {
	var deletions []Deletion
	for i := range tasks {
		deletions = append(deletions, Deletion{Ref: refOf(tasks[i].rec), Intent: tasks[i].rec})
	}
	because := ""
	if tasks[0].evidence.Forced {
		because = tasks[0].rec.Reason
	}
	plan, err := p.PlanUndo(ctx, p.q, deletions, because)
	for i := range plan.Steps {
		if plan.Steps[i].Forced {
			plan.Steps[i].because = because
		}
	}
	return plan, err
}

// unplanned marks the intents for whose task no plan has a step: it left the
// archive since it was looked at.
func (p *resuming) unplanned(plans []Plan) {
	planned := map[inspect.Ref]bool{}
	for i := range plans {
		for _, s := range plans[i].Steps {
			planned[s.Ref()] = true
		}
	}
	for i := range p.intents {
		if in := &p.intents[i]; in.Again && !planned[refOf(&in.Record)] {
			in.Again = false
			in.Found += "; it has left the archive since"
		}
	}
}
