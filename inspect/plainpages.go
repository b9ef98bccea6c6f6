package inspect

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// plainReader reads places with plain commands alone: IDs first, then the hashes
// of those that are wanted, a pipeline of HMGETs at a time. Nothing keeps
// Redis busy for longer than one short command.
type plainReader struct {
	client *Client
	size   *sizer
	lost   func(Ref) // told of a listed task that was gone when it was fetched
}

// want says whether a listed task is to be fetched.
type want func(Ref, State) bool

// emitFunc takes a page: how many IDs were read, and the tasks fetched.
type emitFunc func(ids int, tasks []Task) error

// read walks the place and hands every page to emit, with how many IDs were
// read for it. It ends early when emit returns an error.
func (r *plainReader) read(ctx context.Context, p place, wanted want, emit emitFunc) error {
	w := newWalk(p)
	for !w.done {
		members, err := w.next(ctx, r.client.redis)
		if err != nil {
			return err
		}
		for len(members) > 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			var picked []member
			read := len(members)
			picked, members = pick(p, members, wanted, r.size.next())
			read -= len(members)
			tasks, err := r.fetch(ctx, p, w.window(), picked)
			if err != nil {
				return err
			}
			if err := emit(read, tasks); err != nil {
				return err
			}
		}
	}
	return nil
}

// pick takes members from the front until limit of them are wanted.
func pick(p place, members []member, wanted want, limit int) (picked, rest []member) {
	for i, m := range members {
		if len(picked) == limit {
			return picked, members[i:]
		}
		if wanted(Ref{Queue: p.queue, ID: m.id}, p.state) {
			picked = append(picked, m)
		}
	}
	return picked, nil
}

// fetch reads the hashes of the members. A task that has moved on meanwhile is
// read again where it is now; one that is gone is left out, unless the place
// still holds its ID.
func (r *plainReader) fetch(ctx context.Context, p place, near window, members []member) ([]Task, error) {
	if len(members) == 0 {
		return nil, nil
	}
	records, err := r.ask(ctx, p, members)
	if err != nil {
		return nil, err
	}
	tasks := make([]Task, 0, len(members))
	var moved []Ref
	var missing []string
	for i, rec := range records {
		t := rec.task(&r.client.names)
		t.Listed = p.state
		switch {
		case t.Defect == DefectDangling:
			missing = append(missing, t.ID)
			continue
		case t.State == StateUnknown:
			t.State = p.state
		case t.State != p.state:
			moved = append(moved, t.Ref)
			continue
		}
		if !p.list() {
			t.setScore(p.state, members[i].score)
		}
		tasks = append(tasks, t)
	}
	r.size.note(tasks, 0)
	again, err := r.readMoved(ctx, p, moved)
	if err != nil {
		return nil, err
	}
	dangling, err := r.readMissing(ctx, p, near, missing)
	return append(append(tasks, again...), dangling...), err
}

func (r *plainReader) ask(ctx context.Context, p place, members []member) ([]record, error) {
	k := keysOf(p.queue)
	pipe := r.client.redis.Pipeline()
	records := make([]record, len(members))
	questions := newAsker(pipe, len(members))
	for i, m := range members {
		records[i] = questions.ask(ctx, Ref{Queue: p.queue, ID: m.id})
		if p.state == StateActive {
			records[i].lease = pipe.ZScore(ctx, k.lease(), m.id)
		}
	}
	return records, exec(ctx, pipe)
}

// readMoved reads the tasks whose hash says another state than the place.
func (r *plainReader) readMoved(ctx context.Context, p place, moved []Ref) ([]Task, error) {
	if len(moved) == 0 {
		return nil, nil
	}
	again, err := r.client.Read(ctx, moved)
	if err != nil {
		return nil, err
	}
	tasks := again[:0]
	for _, t := range again {
		if t.Defect == DefectDangling {
			r.lost(t.Ref)
			continue
		}
		t.Listed = p.state
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// readMissing returns a task for each ID that the place still holds and that
// still has no hash. A task that ended between the two reads, as most tasks do,
// is neither.
func (r *plainReader) readMissing(ctx context.Context, p place, near window, missing []string) ([]Task, error) {
	if len(missing) == 0 {
		return nil, nil
	}
	held, err := p.still(ctx, r.client.redis, near, missing)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for _, id := range missing {
		ref := Ref{Queue: p.queue, ID: id}
		if held[id] {
			refs = append(refs, ref)
		} else {
			r.lost(ref)
		}
	}
	tasks, err := r.client.Read(ctx, refs)
	for i := range tasks {
		tasks[i].Listed = p.state
		if tasks[i].State == StateUnknown {
			tasks[i].State = p.state
		}
	}
	return tasks, err
}

// places are the lists or sets of the queue that hold tasks of the state. The
// aggregation sets are looked up after the groups were read, as tasks go from a
// group to a set.
func (c *Client) places(ctx context.Context, queue string, s State, visit func(place) error) error {
	k := keysOf(queue)
	if s != StateAggregating {
		return visit(place{queue: queue, state: s, key: k.of(s)})
	}
	groups, err := c.redis.SMembers(ctx, k.groups()).Result()
	if failure(err) {
		return err
	}
	for _, g := range groups {
		if err := visit(place{queue: queue, state: s, key: k.group(g)}); err != nil {
			return err
		}
	}
	sets, err := c.aggregationSets(ctx, queue)
	if err != nil {
		return err
	}
	for _, set := range sets {
		if err := visit(place{queue: queue, state: s, key: set}); err != nil {
			return err
		}
	}
	return nil
}

// card is the number of IDs in the place.
func (c *Client) card(ctx context.Context, p place) (int, error) {
	var n *redis.IntCmd
	if p.list() {
		n = c.redis.LLen(ctx, p.key)
	} else {
		n = c.redis.ZCard(ctx, p.key)
	}
	if failure(n.Err()) {
		return 0, n.Err()
	}
	return int(n.Val()), nil
}
