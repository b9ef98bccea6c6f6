package reconcile

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// What one look cannot settle gets another one later: pairs in the moment between
// commit and acknowledgement, once that moment must have passed, and absences,
// once every task that can share their key has been listed.

// recheck looks again at the pairs that were in the moment between commit and
// acknowledgement, once that moment must have passed.
func (r *run) recheck(ctx context.Context) error {
	for {
		r.mu.Lock()
		waiting := r.rechecks
		r.rechecks = nil
		r.mu.Unlock()
		if len(waiting) == 0 {
			return nil
		}
		byRule := map[*Bound][]suspect{}
		var latest time.Time
		for _, s := range waiting {
			b := r.match(s.task.Type, s.task.Queue)
			after := s.seen.Add(r.confirmAfter(b))
			if after.After(latest) {
				latest = after
			}
			byRule[b] = append(byRule[b], s)
		}
		if err := sleepUntil(ctx, latest); err != nil {
			return err
		}
		for b, suspects := range byRule {
			if err := r.recheckRule(ctx, b, suspects); err != nil {
				return err
			}
		}
	}
}

func (r *run) confirmAfter(b *Bound) time.Duration {
	if b != nil && b.ConfirmAfter > 0 {
		return b.ConfirmAfter
	}
	return r.opt.ConfirmAfter
}

// recheckRule keeps what persists: the same attempt, still active.
func (r *run) recheckRule(ctx context.Context, b *Bound, suspects []suspect) error {
	for len(suspects) > 0 {
		n := min(confirmSize, len(suspects))
		now, err := r.queue.Read(ctx, refsOf(suspects[:n]))
		if err != nil {
			return err
		}
		for i := range suspects[:n] {
			suspects[i].persisted = suspects[i].task.Unmoved(now[i])
		}
		r.confirm(ctx, b, suspects[:n], false)
		suspects = suspects[n:]
	}
	return ctx.Err()
}

func sleepUntil(ctx context.Context, t time.Time) error {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// settle looks again at every task whose absence was put off. By now every task
// that can share its key has been listed.
func (r *run) settle(ctx context.Context) error {
	deferred := inspect.Listing{
		Lenient: true,
		Queues:  r.queues,
		States:  []inspect.State{inspect.StateCompleted, inspect.StateArchived},
		Plain:   true, Passes: 1, PageSize: r.opt.PageSize,
		Want: func(ref inspect.Ref, _ inspect.State) bool {
			return r.index.Noted(ref)&noteDeferred != 0
		},
	}
	work := make(chan second)
	var workers sync.WaitGroup
	for range r.opt.Concurrency {
		workers.Go(func() {
			for w := range work {
				r.confirm(ctx, w.rule, w.suspects, true)
			}
		})
	}
	err := r.collect(ctx, deferred, work)
	close(work)
	workers.Wait()
	return errors.Join(err, ctx.Err())
}

// second is the second look that tasks of one rule get together.
type second struct {
	rule     *Bound
	suspects []suspect
}

// collect lists the tasks whose absence was put off.
func (r *run) collect(ctx context.Context, l inspect.Listing, work chan<- second) error {
	byRule := map[*Bound][]suspect{}
	for page, err := range r.queue.Pages(ctx, l) {
		if err != nil {
			return err
		}
		for _, t := range page {
			b := r.match(t.Type, t.Queue)
			if b == nil && r.aim != aimArchived || gone(t) || !r.inScope(t) || !r.undefer(t.Ref) {
				continue
			}
			s := suspect{item: item{task: t}, verdict: Verdict{Status: StatusNotApplied}}
			s.key, s.keyProblem, s.hash = r.keyAgain(b, t)
			if byRule[b] = append(byRule[b], s); len(byRule[b]) >= confirmSize {
				work <- second{b, byRule[b]}
				byRule[b] = nil
			}
		}
		r.progress("settling", page)
	}
	for b, suspects := range byRule {
		work <- second{b, suspects}
	}
	return nil
}

// undefer takes the mark off a task and says whether it bore one: the listing
// may show an ID twice.
func (r *run) undefer(ref inspect.Ref) bool {
	bits := r.index.Noted(ref)
	r.index.Note(ref, bits&^noteDeferred)
	return bits&noteDeferred != 0
}
