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

// moment is the judge's Moment with what differs from task to task.
type moment struct {
	Moment
	active map[string][]inspect.Ref // active tasks by key, within the rule's key space
	held   map[inspect.Ref]bool     // tasks that a live worker names
	listed map[inspect.Ref]bool     // tasks that the active lists hold
	probed map[inspect.Ref]bool     // task IDs that live in another queue
	shared map[inspect.Ref]bool     // task IDs that another queue has, in any state
}

// surroundings reads what a verdict on an absence depends on besides the task
// and its rows: the active tasks of the same keys, the workers, the writers, and
// for keys that are task IDs, the other queues.
func (r *run) surroundings(ctx context.Context, b *Bound, suspects []suspect) (moment, error) {
	m := moment{
		Moment: Moment{Skew: r.clocks.skew, Settle: r.opt.Settle},
		active: map[string][]inspect.Ref{}, held: map[inspect.Ref]bool{}, listed: map[inspect.Ref]bool{},
	}
	unleased := slices.ContainsFunc(suspects, func(s suspect) bool { return s.verdict.Has(CodeNoLease) })
	witnessed := b != nil && len(b.witnesses()) > 0
	if witnessed || unleased {
		if err := r.activeTwins(ctx, b, &m); err != nil {
			return m, err
		}
	}
	claimed := slices.ContainsFunc(suspects, func(s suspect) bool { return s.verdict.Status == StatusInProgress })
	if unleased || witnessed && claimed {
		servers, err := r.queue.Servers(ctx)
		if err != nil {
			return m, err
		}
		for _, server := range servers {
			for _, w := range server.Workers {
				m.held[w.Ref] = true
			}
		}
	}
	if !witnessed {
		return m, nil
	}
	if err := r.probe(ctx, b, suspects, &m); err != nil {
		return m, err
	}
	r.writers(ctx, b, &m)
	return m, nil
}

// activeTwins notes the active tasks of every rule that shares a source with b.
func (r *run) activeTwins(ctx context.Context, b *Bound, m *moment) error {
	queues := append(slices.Clone(r.queues), r.others...)
	active, err := r.queue.Active(ctx, queues)
	if err != nil {
		return err
	}
	for _, t := range active {
		m.listed[t.Ref] = true
		rule := r.match(t.Type, t.Queue)
		if b == nil || rule == nil || t.Defect != inspect.DefectNone || !share(rule, b) {
			continue
		}
		if key, problem := rule.keyFor(t); problem == "" {
			key = rule.canonical(key)
			m.active[key] = append(m.active[key], t.Ref)
		}
	}
	return nil
}

// probe asks the other queues for tasks of the same ID, where IDs are the keys
// of one source: the key table knows only the queues and states that were listed.
func (r *run) probe(ctx context.Context, b *Bound, suspects []suspect, m *moment) error {
	queues := r.others
	if len(r.opt.Scope.States) > 0 {
		queues = append(slices.Clone(r.others), r.queues...)
	}
	if !b.key.TaskID() || len(queues) == 0 {
		return nil
	}
	var refs []inspect.Ref
	var owners []inspect.Ref
	for _, s := range suspects {
		for _, q := range queues {
			if q == s.task.Queue {
				continue
			}
			refs = append(refs, inspect.Ref{Queue: q, ID: s.task.ID})
			owners = append(owners, s.task.Ref)
		}
	}
	tasks, err := r.queue.Read(ctx, refs)
	if err != nil {
		return err
	}
	m.probed, m.shared = map[inspect.Ref]bool{}, map[inspect.Ref]bool{}
	for i, t := range tasks {
		if gone(t) || t.Defect != inspect.DefectNone {
			continue
		}
		rule := r.match(t.Type, t.Queue)
		if rule == nil || !rule.key.TaskID() || !share(rule, b) {
			continue
		}
		m.shared[owners[i]] = true
		if t.State.Live() || r.young(rule, t) {
			m.probed[owners[i]] = true
		}
	}
	return nil
}

// writers notes the oldest transaction of others that may still write to a
// source of the rule.
func (r *run) writers(ctx context.Context, b *Bound, m *moment) {
	for n := range b.parts {
		p := &b.parts[n]
		if r.ledgers.problem(p.ledger) != nil {
			continue
		}
		w, err := p.lookup.Writers(ctx, r.now().Add(r.clocks.skew))
		if err != nil {
			r.ledgers.note(ctx, p.ledger, err)
			continue
		}
		if w.Count > 0 && (m.Writer.IsZero() || w.Oldest.Before(m.Writer)) {
			m.Writer = w.Oldest
		}
	}
}

// forget reads again how far back the sources remember, after their rows were
// read: pruning may have gone on meanwhile.
func (r *run) forget(ctx context.Context, b *Bound, suspects []suspect) {
	if b == nil || !slices.ContainsFunc(suspects, func(s suspect) bool { return s.verdict.Status.Absent() }) {
		return
	}
	for n := range b.parts {
		p := &b.parts[n]
		if r.ledgers.problem(p.ledger) != nil {
			continue
		}
		ages, err := p.lookup.Oldest(ctx)
		if err != nil {
			r.ledgers.note(ctx, p.ledger, err)
			continue
		}
		b.remember(p, ages)
	}
}

// twin says whether another task of the suspect's key is alive: listed,
// probed, or active just now.
func (r *run) twin(b *Bound, s suspect, m moment) (alive, active bool) {
	if b == nil || s.keyProblem != "" {
		return false, false
	}
	for _, ref := range m.active[b.canonical(s.key)] {
		if ref != s.task.Ref {
			active = true
		}
	}
	alive = active || m.probed[s.task.Ref]
	if r.keys != nil && s.hash != 0 && !s.task.State.Live() {
		// A task that settled before it was listed is not among the living
		// itself, so whoever is counted is another.
		alive = alive || r.keys.of(s.hash).Alive > 0
	}
	return alive, active
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
