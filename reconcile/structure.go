package reconcile

import (
	"cmp"
	"context"
	"slices"

	"github.com/idemctl/idemctl/inspect"
)

// The structure pass comes after the listing. One sweep over the keys meets what
// no list shows: hashes that nothing holds, locks whose owners are gone, groups
// that no aggregator knows, and keys of removed queues. It only runs where
// nothing was left out that could hold a task.

// HashCount is what the task hashes of one queue turned out to be.
type HashCount struct {
	Queue string
	// Total = Indexed + Ghosts + ResultOnly.
	Total, Indexed, Ghosts, ResultOnly int
}

// hashCounts are the hashes met by a sweep, by queue.
type hashCounts map[string]*HashCount

func (h hashCounts) count(queue string) *HashCount {
	if h[queue] == nil {
		h[queue] = &HashCount{Queue: queue}
	}
	return h[queue]
}

// sorted drops nothing and orders by queue.
func (h hashCounts) sorted() []HashCount {
	var out []HashCount
	for _, c := range h {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b HashCount) int { return cmp.Compare(a.Queue, b.Queue) })
	return out
}

// noteSwept marks, in the caller's bits of the index, a hash that the sweep has
// met: SCAN may show a key twice. No status has this value.
const noteSwept = 0b1111

// whole says whether every list and set of the queues in scope was read.
func (r *run) whole() bool {
	return len(r.opt.Scope.States) == 0 && len(r.opt.Scope.IDs) == 0
}

// structure tells what the queues' own lists hide.
func (r *run) structure(ctx context.Context) error {
	if !r.whole() {
		return r.misplacedTasks(ctx)
	}
	for _, phase := range []func(context.Context) error{r.misplacedTasks, r.staleLeases, r.sweep, r.schedulers} {
		if err := phase(ctx); err != nil {
			return err
		}
	}
	return r.queueFindings(ctx)
}

// misplacedTasks tells what stayed out of place while the listing was read.
func (r *run) misplacedTasks(ctx context.Context) error {
	var dangling, mismatched []inspect.Task
	for _, t := range r.misplaced {
		if t.Defect == inspect.DefectDangling {
			dangling = append(dangling, t)
		} else {
			mismatched = append(mismatched, t)
		}
	}
	r.misplaced = nil
	if err := r.tellStructure(ctx, CodeDangling, dangling); err != nil {
		return err
	}
	return r.tellStructure(ctx, CodeStateMismatch, mismatched)
}

// sweep goes over the keys once.
func (r *run) sweep(ctx context.Context) error {
	r.hashes = hashCounts{}
	w := &sweeper{run: r, residue: map[string]*residue{}, groups: map[string]map[string]bool{}}
	if err := w.readGroups(ctx); err != nil {
		return err
	}
	for page, err := range r.queue.Keys(ctx, inspect.Sweep{Queues: r.sweptQueues(), Known: append(slices.Clone(r.queues), r.others...)}) {
		if err != nil {
			return err
		}
		if err := w.page(ctx, page); err != nil {
			return err
		}
		r.progress("sweeping", nil)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.exorcise(ctx); err != nil {
		return err
	}
	return w.finish(ctx)
}

// sweptQueues is nil, for all, unless the scope names queues.
func (r *run) sweptQueues() []string {
	if len(r.opt.Scope.Queues) == 0 {
		return nil
	}
	return r.queues
}

// swept notes that a hash was met, and says whether it is the first time.
func (r *run) swept(ref inspect.Ref) bool {
	return r.index.Note(ref, noteSwept) != noteSwept
}

// uncount takes back a hash that was gone when it was looked at.
func (r *run) uncount(ref inspect.Ref) { r.hashes.count(ref.Queue).Total-- }

// tellStructure reports tasks that are out of place, with the status of their
// effects. Each is read once more after its ledger, and left out if it changed.
func (r *run) tellStructure(ctx context.Context, code Code, tasks []inspect.Task) error {
	byRule := map[*Bound][]inspect.Task{}
	for _, t := range tasks {
		if r.wantsType(t) {
			byRule[r.ruleOf(t)] = append(byRule[r.ruleOf(t)], t)
		}
	}
	for b, group := range byRule {
		for part := range slices.Chunk(group, confirmSize) {
			if err := r.tellPart(ctx, code, b, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// ruleOf is the rule of a task whose type is known; nil for others.
func (r *run) ruleOf(t inspect.Task) *Bound {
	if t.Defect != inspect.DefectNone {
		return nil
	}
	return r.match(t.Type, t.Queue)
}

func (r *run) tellPart(ctx context.Context, code Code, b *Bound, tasks []inspect.Task) error {
	suspects := make([]suspect, len(tasks))
	for i, t := range tasks {
		suspects[i] = suspect{item: item{task: t}}
		suspects[i].key, suspects[i].keyProblem, suspects[i].hash = r.keyAgain(b, t)
	}
	now, err := r.queue.Now(ctx)
	if err != nil {
		return err
	}
	items := itemsOf(suspects)
	f := r.lookUpFenced(ctx, b, items, true)
	locks := r.locks(ctx, items)
	again, err := r.queue.Read(ctx, refsOf(suspects))
	if err != nil {
		return err
	}
	for i, s := range suspects {
		if !sameHash(s.task, again[i]) {
			continue
		}
		s.rows, s.lagging, s.unread, s.lock = f.rows[i], f.lagging, f.unread, locks[i]
		m := Moment{Now: now, Skew: r.clocks.skew, Settle: r.opt.Settle}
		s.verdict = Judge(r.evidence(b, &s, m), r.around(m, s.task))
		s.verdict.Codes = []Code{code}
		r.tell(b, s, now)
	}
	return nil
}

// sameHash says whether a hash is what it was. That a lease or a score is there
// now and was not before makes it another.
func sameHash(before, now inspect.Task) bool {
	if before.Defect == inspect.DefectDangling || now.Defect == inspect.DefectDangling {
		return before.Defect == now.Defect
	}
	before.LeaseExpiresAt, before.Listed = now.LeaseExpiresAt, now.Listed
	return before.Unmoved(now)
}

// wantsType says whether the scope's types let the task through. A task whose
// type nobody knows passes only where no type is asked for.
func (r *run) wantsType(t inspect.Task) bool {
	types := r.opt.Scope.Types
	return len(types) == 0 || t.Type != "" && slices.ContainsFunc(types, func(glob string) bool {
		return glob == t.Type || MatchGlob(glob, t.Type)
	})
}
