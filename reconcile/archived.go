package reconcile

import (
	"context"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// Archived tells every archived task in scope with the verdict that an audit
// would give it: read in the order that cannot lie, with every twin known. A task
// that would not hold still is told as unsettled. Tasks come in no order, from one
// goroutine at a time.
func (a *Auditor) Archived(ctx context.Context, o Observer, tell func(Archived)) (Report, error) {
	one := &Auditor{queue: a.queue, opt: a.opt, rules: a.rules}
	one.opt.Scope.States = []inspect.State{inspect.StateArchived}
	r := &run{Auditor: one, out: o, aim: aimArchived, decided: tell}
	report, err := r.all(ctx, r.list, r.settle)
	report.Rules = nil
	return report, err
}

// putOff counts an archived task and puts it off until every twin was listed.
func (r *run) putOff(t inspect.Task) {
	r.tally(t)
	r.index.Note(t.Ref, noteDeferred)
}

// decide hands a judged archived task on.
func (r *run) decide(b *Bound, s *suspect, now time.Time) {
	a := s.archived(b, now)
	r.mu.Lock()
	defer r.mu.Unlock()
	j := Judged{Task: s.task, Rule: b, Key: s.key, Verdict: s.verdict, Readings: a.Readings, Lock: s.lock, At: now}
	if r.opt.Where.Passes(Subject{Judged: &j}) {
		r.decided(a)
	}
}

// archived is the suspect as a plan decides on it.
func (s *suspect) archived(b *Bound, now time.Time) Archived {
	a := Archived{
		Task: s.task, Rule: b, Key: s.key, Verdict: s.verdict, Lock: s.lock, Now: now,
		Twin: s.twin, Shared: s.shared, StaleAfter: oldestRow(s.task, b, now),
		Readings: readings(b, s.rows), KeyProblem: s.keyProblem,
	}
	if l := s.lock; l != nil && l.State == LockTaken && l.OwnerState.Live() {
		a.Twin = true
	}
	return a
}

// stays says whether an archived task is held by requeue and by resolve, for a
// reason that none of their flags lifts.
func stays(a Archived) bool {
	if action, _ := DecideResolve(a); action == ActionResolve {
		return false
	}
	switch action, reason := DecideRequeue(a); {
	case action == ActionRun, reason == HoldNoIndex, reason == HoldUnprotected:
		return false
	}
	return true
}
