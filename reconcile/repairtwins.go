package reconcile

import (
	"context"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// runsWork says whether the step has a task run that is not done: then nobody else
// may be at its work.
func (s *Step) runsWork() bool {
	if s.Hold != "" || s.Finding.Status == StatusApplied {
		return false
	}
	switch s.Change {
	case journal.ChangeExpireLease:
		return true
	case journal.ChangePutBack:
		return s.Finding.Task.State.Live()
	}
	return false
}

const anotherOfItsKey = "another live task has its key, and may do this work"

// minding changes the steps that would run work which another live task may do: a
// ghost goes into the archive instead, from where requeue looks again, and the
// other steps are held.
func (a *Auditor) minding(ctx context.Context, steps []Step) error {
	var at []int
	for i := range steps {
		if steps[i].runsWork() {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return nil
	}
	all := &Auditor{queue: a.queue, opt: a.opt, rules: a.rules}
	all.opt.Scope, all.opt.Where, all.opt.OnJudged = Scope{}, nil, nil
	r := &run{Auditor: all, out: &findingList{}, aim: aimArchived}
	if err := r.open(ctx); err != nil {
		return err
	}
	if r.keys == nil {
		return nil // no two tasks can share a key
	}
	if err := r.list(ctx); err != nil {
		return err
	}
	for _, i := range at {
		s := &steps[i]
		t := s.Finding.Task
		_, problem, hash := r.keyAgain(r.match(t.Type, t.Queue), t)
		if problem != "" || hash == 0 {
			continue
		}
		own := 0
		if _, seen := r.index.Seen(t.Ref); seen && t.State.Live() {
			own = 1 // a list holds it, as it does an active task without a lease
		}
		if r.keys.of(hash).Alive > own {
			s.giveWay()
		}
	}
	return nil
}

func (s *Step) giveWay() {
	if s.Change == journal.ChangePutBack && s.Finding.Task.State != inspect.StateUnknown {
		s.Change, s.depends, s.note = journal.ChangeArchive, false, anotherOfItsKey
		return
	}
	s.Hold = anotherOfItsKey
}
