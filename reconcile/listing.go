package reconcile

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// list streams every task through the lookups. Listing and lookups overlap; the
// channel between them holds one batch, so that memory stays bounded.
func (r *run) list(ctx context.Context) error {
	work := make(chan batch, 1)
	var workers sync.WaitGroup
	for range r.opt.Concurrency {
		workers.Go(func() {
			for b := range work {
				r.judge(ctx, b)
			}
		})
	}
	err := r.produce(ctx, work)
	close(work)
	workers.Wait()
	r.release(ctx)
	return errors.Join(err, ctx.Err())
}

// produce lists, matches, builds keys, and fills batches.
func (r *run) produce(ctx context.Context, work chan<- batch) error {
	s := newSorter(work)
	for page, err := range r.pages(ctx) {
		if err != nil {
			return err
		}
		for _, t := range page {
			if before, ok := r.strays[t.Ref]; ok {
				t.Prev = before.Prev // as a stray it was not counted
			}
			if stray(t) {
				if r.strays[t.Ref] = t; len(r.strays) >= maxStrays {
					if err := r.resolve(ctx, s); err != nil {
						return err
					}
				}
				continue
			}
			if t.State == inspect.StateUnknown && t.Defect != inspect.DefectResultOnly {
				continue // gone between its list and its hash
			}
			r.strays.count(t)
			rule, it := r.sort(t)
			if r.inScope(t) {
				r.cases.see(rule, t)
				r.age(t)
				switch {
				case r.aim == aimArchived:
					r.putOff(t)
				case r.aim.judges(t):
					s.put(ctx, rule, it)
				default:
					r.tally(t)
				}
			}
		}
		r.progress("listing", page)
		if time.Since(s.flushed) >= flushInterval {
			s.flush(ctx) // slow listings are judged as they go, too
		}
	}
	if err := r.resolve(ctx, s); err != nil {
		return err
	}
	s.flush(ctx)
	return nil
}

// flushInterval is how long a task that was listed waits for company at most.
const flushInterval = time.Second

// pages is the listing, or, for a few tasks named by ID whose keys nobody else
// can bear, those tasks alone.
func (r *run) pages(ctx context.Context) func(func([]inspect.Task, error) bool) {
	if ids := r.opt.Scope.IDs; len(ids) > 0 && !r.keyed() {
		return func(yield func([]inspect.Task, error) bool) {
			var refs []inspect.Ref
			for _, q := range r.queues {
				for _, id := range ids {
					refs = append(refs, inspect.Ref{Queue: q, ID: id})
				}
			}
			yield(r.queue.Read(ctx, refs))
		}
	}
	queues, states := r.reach()
	// Plain commands read each hash whole in one step, run no scripts, and cost
	// about half of what the Inspector's pages cost; the two are held equal by
	// inspect's own tests.
	return r.queue.Pages(ctx, inspect.Listing{
		Lenient: true,
		Queues:  queues, States: states, PageSize: r.opt.PageSize, Index: r.index, Plain: true, InFlight: 2,
	})
}

// sort finds a task's rule and key, and counts the key.
func (r *run) sort(t inspect.Task) (*Bound, item) {
	rule := r.cases.match(t.Type, t.Queue)
	it := item{task: t}
	if rule == nil || len(rule.witnesses()) == 0 || t.Defect != inspect.DefectNone {
		r.alike(rule, it)
		return rule, it
	}
	if !r.aim.judges(t) {
		return rule, it
	}
	it.key, it.keyProblem = rule.keyFor(t)
	if r.keys == nil || it.keyProblem != "" {
		r.alike(rule, it)
		return rule, it
	}
	it.hash = r.keys.hash(r.space(rule), rule.canonical(it.key))
	first, unfinished, alive := counted(t, r.young(rule, t))
	c := r.keys.add(it.hash, first, unfinished, alive)
	if unfinished && c.Unfinished > 1 || first && c.Any > 1 {
		r.collided(rule, it)
	}
	r.alike(rule, it)
	return rule, it
}

// young says whether a task that is not live is too young to be settled.
func (r *run) young(b *Bound, t inspect.Task) bool {
	if t.State != inspect.StateArchived && t.State != inspect.StateCompleted {
		return false
	}
	now := r.now()
	settle := settleOf(Evidence{Task: t, Rule: b}, Moment{Now: now, Settle: r.opt.Settle})
	return now.Sub(lastSign(t)) < sum(settle, time.Second, r.clocks.skew)
}
