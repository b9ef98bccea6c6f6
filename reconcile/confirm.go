package reconcile

import (
	"context"
	"slices"

	"github.com/idemctl/idemctl/inspect"
)

// A verdict joins two systems that move on their own, so whatever would be
// reported is read again in one fixed order:
//
//	the task; then, where the verdict rests on an absence or on a lock, the
//	active tasks of the same key, the ledger, the lock, and the task once more.
//
// A task that did not move between two reads was in that state when the ledger
// was read between them. One that did is judged afresh, a few times, and then
// called unsettled. An effect that was there before the task was read needs no
// second look at the ledger: rows do not go away.

// confirm reads the suspects of one rule again and tells what holds. With final,
// every twin that was listed is known, and lost or unmarked may be said;
// otherwise such verdicts are put off.
func (r *run) confirm(ctx context.Context, b *Bound, suspects []suspect, final bool) {
	for round := 0; len(suspects) > 0; round++ {
		if round == confirmRounds {
			for _, s := range suspects {
				r.changing(b, s)
			}
			return
		}
		look := r.confirmOnce
		if final && round == 0 {
			look = r.confirmAbsent // they were read just now
		}
		moved, err := look(ctx, b, suspects, final)
		if err != nil {
			if ctx.Err() == nil {
				r.fail(err)
			}
			return
		}
		suspects = moved
	}
}

// changing reports a suspect that would not hold still: what was to be said of
// its effect cannot be said, and the rest was not confirmed.
func (r *run) changing(b *Bound, s suspect) {
	if r.aim == aimArchived {
		s.verdict.Codes = nil
		s.verdict.unsettle(ReasonChanging)
		r.decide(b, &s, r.now())
		return
	}
	if !slices.ContainsFunc(s.verdict.Codes, func(c Code) bool { return c.Family() == "effect" }) {
		return
	}
	s.verdict.Codes = nil
	s.verdict.unsettle(ReasonChanging)
	r.tell(b, s, r.now())
}

// confirmOnce is one round. It returns the suspects that moved meanwhile.
func (r *run) confirmOnce(ctx context.Context, b *Bound, suspects []suspect, final bool) ([]suspect, error) {
	// The instant a finding speaks of lies inside what was seen: after the first
	// look at the task and before the last one.
	now, err := r.queue.Now(ctx)
	if err != nil {
		return nil, err
	}
	before, err := r.queue.Read(ctx, refsOf(suspects))
	if err != nil {
		return nil, err
	}
	var steady, again []suspect
	for i, s := range suspects {
		t := before[i]
		if gone(t) {
			continue
		}
		t.Prev = s.task.Prev
		fresh := s.task.Unmoved(t)
		s.task = t
		if fresh && s.rows != nil && !s.verdict.Status.Absent() && s.verdict.Status != StatusUnknown && !s.verdict.rests() {
			steady = append(steady, s)
			continue
		}
		s.key, s.keyProblem, s.hash = r.keyAgain(b, t)
		again = append(again, s)
	}
	m := moment{Moment: Moment{Now: now, Skew: r.clocks.skew, Settle: r.opt.Settle}}
	r.conclude(ctx, b, steady, m, final)
	if len(again) == 0 {
		return nil, nil
	}
	return r.confirmAbsent(ctx, b, again, final)
}

// confirmAbsent looks at the active tasks, the ledger, and the tasks once more.
func (r *run) confirmAbsent(ctx context.Context, b *Bound, suspects []suspect, final bool) ([]suspect, error) {
	m, err := r.surroundings(ctx, b, suspects)
	if err != nil {
		return nil, err
	}
	// Not applied as of an instant is only true when the ledger is read after it.
	if m.Now, err = r.queue.Now(ctx); err != nil {
		return nil, err
	}
	items := itemsOf(suspects)
	f := r.lookUpFenced(ctx, b, items, true)
	r.forget(ctx, b, suspects)
	locks := r.locks(ctx, items)
	after, err := r.queue.Read(ctx, refsOf(suspects))
	if err != nil {
		return nil, err
	}
	var steady, moved []suspect
	for i, s := range suspects {
		t := after[i]
		if gone(t) {
			continue
		}
		t.Prev = s.task.Prev
		unmoved := s.task.Unmoved(t)
		s.task, s.rows, s.lagging, s.unread, s.lock = t, f.rows[i], f.lagging, f.unread, locks[i]
		if unmoved {
			steady = append(steady, s)
		} else {
			moved = append(moved, s)
		}
	}
	r.conclude(ctx, b, steady, m, final)
	return moved, nil
}

// gone says whether the task has left the queue: it was done, or deleted.
func gone(t inspect.Task) bool { return t.State == inspect.StateUnknown }

// keyAgain builds the key of a task that may have changed.
func (r *run) keyAgain(b *Bound, t inspect.Task) (key, problem string, hash uint64) {
	if b == nil || len(b.witnesses()) == 0 || t.Defect != inspect.DefectNone {
		return "", "", 0
	}
	key, problem = b.keyFor(t)
	if r.keys != nil && problem == "" {
		hash = r.keys.hash(r.space(b), b.canonical(key))
	}
	return key, problem, hash
}

// conclude judges suspects that held still and tells what is found.
func (r *run) conclude(ctx context.Context, b *Bound, suspects []suspect, m moment, final bool) {
	var report []suspect
	for _, s := range suspects {
		r.restate(s.task, s.conclude(r, b, m))
		if !final && r.aim == aimAudit && (s.verdict.Has(CodeLost) || s.verdict.Has(CodeUnmarked)) {
			r.index.Note(s.task.Ref, r.index.Noted(s.task.Ref)|noteDeferred)
			continue
		}
		if s.verdict.Recheck {
			r.mu.Lock()
			r.rechecks = append(r.rechecks, s)
			r.mu.Unlock()
			continue
		}
		report = append(report, s)
	}
	r.ownerStates(ctx, report)
	for _, s := range report {
		if r.aim == aimArchived {
			r.decide(b, &s, m.Now)
			continue
		}
		r.tell(b, s, m.Now)
	}
}

// conclude judges the suspect as it stands and returns its status.
func (s *suspect) conclude(r *run, b *Bound, m moment) Status {
	one := m.Moment
	var active bool
	one.Twin, active = r.twin(b, *s, m)
	one.Held = m.held[s.task.Ref]
	s.held, s.twin, s.shared = one.Held, one.Twin, m.shared[s.task.Ref]
	one.Persisted = s.persisted
	s.verdict = Judge(r.evidence(b, s, one), r.around(one, s.task))
	if s.verdict.Has(CodeNoLease) && !m.listed[s.task.Ref] {
		// Its hash says active and no list holds it: the structure pass tells it.
		s.verdict.drop(CodeNoLease)
	}
	if active && (s.verdict.Has(CodeInDoubt) || s.verdict.Has(CodePartial) || s.verdict.Has(CodeStaleClaim)) {
		// The row may be the one that the active twin is writing.
		s.verdict.unsettle(ReasonTwin)
	}
	return s.verdict.Status
}

func refsOf(suspects []suspect) []inspect.Ref {
	refs := make([]inspect.Ref, len(suspects))
	for i, s := range suspects {
		refs[i] = s.task.Ref
	}
	return refs
}

func itemsOf(suspects []suspect) []item {
	items := make([]item, len(suspects))
	for i, s := range suspects {
		items[i] = s.item
	}
	return items
}
