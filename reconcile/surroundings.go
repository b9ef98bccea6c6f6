package reconcile

import (
	"context"
	"slices"

	"github.com/idemctl/idemctl/inspect"
)

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
