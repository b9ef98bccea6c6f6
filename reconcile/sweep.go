package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/inspect"
)

// sweeper sorts the keys that one sweep meets.
type sweeper struct {
	run     *run
	groups  map[string]map[string]bool // groups and sets that a queue knows, by queue
	strange []inspect.Ref              // groups that it does not, as queue and group
	residue map[string]*residue
}

// residue counts the keys of a queue that asynq does not know.
type residue struct {
	kinds map[inspect.KeyKind]int
}

// maxStrange bounds how many unregistered groups one audit follows up.
const maxStrange = 10_000

// readGroups notes the groups that each queue knows before the sweep begins.
func (w *sweeper) readGroups(ctx context.Context) error {
	for _, q := range w.run.queues {
		known, err := w.known(ctx, q)
		if err != nil {
			return err
		}
		w.groups[q] = known
	}
	return nil
}

// known are the names of the queue's groups and of its sets being aggregated.
func (w *sweeper) known(ctx context.Context, queue string) (map[string]bool, error) {
	groups, err := w.run.queue.Groups(ctx, queue)
	if err != nil {
		return nil, err
	}
	sets, err := w.run.queue.AggregationSets(ctx, queue)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(groups)+len(sets))
	for _, g := range groups {
		known[g] = true
	}
	for _, set := range sets {
		known[strings.TrimPrefix(set, "asynq:{"+queue+"}:g:")] = true
	}
	return known, nil
}

// page sorts a page of keys.
func (w *sweeper) page(ctx context.Context, page []inspect.Key) error {
	r := w.run
	var unseen []inspect.Ref
	var locks []inspect.Key
	for _, k := range page {
		if k.Kind == inspect.KeyLock {
			locks = append(locks, k)
		}
		if _, known := slices.BinarySearch(r.queues, k.Queue); !known {
			w.left(k)
			continue
		}
		switch k.Kind {
		case inspect.KeyTask:
			ref := inspect.Ref{Queue: k.Queue, ID: k.ID}
			state, listed := r.index.Seen(ref)
			if !r.swept(ref) {
				continue
			}
			r.hashes.count(k.Queue).Total++
			if listed && state != inspect.StateUnknown {
				r.hashes.count(k.Queue).Indexed++
			} else {
				unseen = append(unseen, ref)
			}
		case inspect.KeyGroup:
			if !w.groups[k.Queue][k.Group] && len(w.strange) < maxStrange {
				w.strange = append(w.strange, inspect.Ref{Queue: k.Queue, ID: k.Group})
			}
		}
	}
	if len(unseen) > 0 {
		if err := r.haunt(ctx, unseen); err != nil {
			return err
		}
	}
	return r.lonelyLocks(ctx, locks)
}

// left counts a key of a queue that was not listed. Only where all queues are in
// scope does that make it residue.
func (w *sweeper) left(k inspect.Key) {
	if k.Queue == "" || len(w.run.opt.Scope.Queues) > 0 || k.Kind == inspect.KeyUnknown {
		return
	}
	res := w.residue[k.Queue]
	if res == nil {
		if len(w.residue) >= maxStrange {
			return
		}
		res = &residue{kinds: map[inspect.KeyKind]int{}}
		w.residue[k.Queue] = res
	}
	res.kinds[k.Kind]++
}

// finish tells what the sweep as a whole has shown. Groups and removed queues are
// of no type, and stay out where the scope asks for some.
func (w *sweeper) finish(ctx context.Context) error {
	if err := w.run.tellLonely(ctx); err != nil {
		return err
	}
	if len(w.run.opt.Scope.Types) > 0 {
		return nil
	}
	if err := w.tellGroups(ctx); err != nil {
		return err
	}
	return w.tellResidue(ctx)
}

// tellGroups reports groups that hold tasks and that their queue still does not
// know: a group's tasks and its name are written by one script (asynq rdb.go:
// addToGroupCmd), and one that became a set being aggregated is known as that.
func (w *sweeper) tellGroups(ctx context.Context) error {
	byQueue := map[string][]string{}
	for _, ref := range w.strange {
		if !slices.Contains(byQueue[ref.Queue], ref.ID) {
			byQueue[ref.Queue] = append(byQueue[ref.Queue], ref.ID)
		}
	}
	for _, q := range slices.Sorted(maps.Keys(byQueue)) {
		known, err := w.known(ctx, q)
		if err != nil {
			return err
		}
		groups := slices.DeleteFunc(byQueue[q], func(g string) bool { return known[g] })
		slices.Sort(groups)
		sizes, err := w.run.queue.GroupSizes(ctx, q, groups)
		if err != nil {
			return err
		}
		// Known first, then its size: a group that was handed over meanwhile has
		// none.
		for i, g := range groups {
			if sizes[i] > 0 {
				w.run.publish(nil, Finding{
					Code: CodeGroupUnregistered, Severity: CodeGroupUnregistered.Severity(),
					Task:      inspect.Task{Ref: inspect.Ref{Queue: q}, Group: g, State: inspect.StateAggregating},
					TaskCount: sizes[i], ConfirmedAt: w.run.now(),
				})
			}
		}
	}
	return nil
}

// tellResidue reports queues whose keys were met and that asynq still does not
// know: Client.Enqueue names the queue before it writes to it (asynq rdb.go:
// Enqueue).
func (w *sweeper) tellResidue(ctx context.Context) error {
	if len(w.residue) == 0 {
		return nil
	}
	known, err := w.run.queue.Queues(ctx)
	if err != nil {
		return err
	}
	for _, q := range slices.Sorted(maps.Keys(w.residue)) {
		if slices.Contains(known, q) {
			continue
		}
		w.run.publish(nil, Finding{
			Code: CodeResidue, Severity: CodeResidue.Severity(),
			Task:   inspect.Task{Ref: inspect.Ref{Queue: q}},
			Detail: w.residue[q].words(), TaskCount: w.residue[q].kinds[inspect.KeyTask],
			ConfirmedAt: w.run.now(),
		})
	}
	return nil
}

// residueWords name the kinds of keys, in the order of their weight.
var residueWords = []struct {
	kind inspect.KeyKind
	noun string
}{
	{inspect.KeyTask, "task"},
	{inspect.KeyLock, "lock"},
	{inspect.KeyPlace, "task list"},
	{inspect.KeyGroup, "group"},
	{inspect.KeyGroups, "set of groups"},
	{inspect.KeyAggregationSets, "set of aggregations"},
	{inspect.KeyLease, "set of leases"},
	{inspect.KeyPaused, "pause mark"},
	{inspect.KeyCounter, "counter"},
}

func (r *residue) words() string {
	var parts []string
	for _, w := range residueWords {
		if n := r.kinds[w.kind]; n > 0 {
			noun := w.noun
			if n > 1 && strings.HasPrefix(noun, "set of") {
				parts = append(parts, fmt.Sprintf("%d sets%s", n, strings.TrimPrefix(noun, "set")))
				continue
			}
			parts = append(parts, plural(n, noun))
		}
	}
	return strings.Join(parts, ", ")
}
