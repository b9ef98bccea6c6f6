package inspect

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// Listed is an ID that a list or set holds. Nothing is known of its hash, nor
// that there is one.
type Listed struct {
	Ref
	State State // the state that the list or set stands for
}

// IDs streams what the lists and sets of the queues hold, without reading a
// hash. nil queues are all that asynq knows of; a queue that is named need not be
// known. nil states are all seven. Aggregating tasks are those of the groups that the
// queue has registered and of the sets being aggregated; a group that is not
// registered is only to be found by Keys.
//
// The order is a listing's (see Client.Tasks): state by state across all queues,
// upstream first, retry twice, so that a task on its way is met again and not
// missed: an ID may come more than once. It is one pass: a task that goes back
// upstream meanwhile, from active or retry to pending, can be missed. A page has at most 4,000 IDs, all of one
// queue and state; none is empty. An error ends the stream; once ctx is done it
// is ctx.Err().
func (c *Client) IDs(ctx context.Context, queues []string, states []State) iter.Seq2[[]Listed, error] {
	return func(yield func([]Listed, error) bool) {
		err := c.listIDs(ctx, queues, states, func(page []Listed) error {
			if !yield(page, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, c.fault(ctx, "listing task IDs", err))
		}
	}
}

// errEnough ends a reading whose caller wants no more.
var errEnough = errors.New("the caller wants no more")

func (c *Client) listIDs(ctx context.Context, queues []string, states []State, emit func([]Listed) error) (err error) {
	if queues == nil {
		if queues, err = c.Queues(ctx); err != nil {
			return err
		}
	}
	for _, s := range flow {
		if len(states) > 0 && !slices.Contains(states, s) {
			continue
		}
		for _, q := range queues {
			if err := c.places(ctx, q, s, func(p place) error { return c.idsOf(ctx, p, emit) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// idsOf walks one list or set.
func (c *Client) idsOf(ctx context.Context, p place, emit func([]Listed) error) error {
	for w := newWalk(p); !w.done; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		members, err := w.next(ctx, c.redis)
		if err != nil {
			return err
		}
		if len(members) == 0 {
			continue
		}
		page := make([]Listed, len(members))
		for i, m := range members {
			page[i] = Listed{Ref: Ref{Queue: p.queue, ID: m.id}, State: p.state}
		}
		if err := emit(page); err != nil {
			return err
		}
		if err := c.pace.wait(ctx, len(members)); err != nil {
			return err
		}
	}
	return nil
}

// Placement says which sorted sets hold a task's ID. It does not say whether
// pending and active hold it: finding an ID in a list takes Redis as long as the
// list.
type Placement struct {
	In []State // of scheduled, retry, archived and completed; nil: none of them
	// Lease is when the task's lease ends, whole seconds; zero: it has none.
	Lease   time.Time
	Grouped bool // its group holds it
}

// placedSets are the states whose tasks are in a sorted set of the queue.
var placedSets = [...]State{StateScheduled, StateRetry, StateArchived, StateCompleted}

// Placements asks which sorted sets hold the tasks; result i belongs to refs[i].
// groups[i] is the group in which to look for it, without the name of a set
// being aggregated or with it; "" for none, and nil groups for none at all.
//
// Every answer is of its own instant, a few microseconds from the next: a task
// that is moving may be in none, or in two.
func (c *Client) Placements(ctx context.Context, refs []Ref, groups []string) ([]Placement, error) {
	if groups != nil && len(groups) != len(refs) {
		return nil, fmt.Errorf("%d groups for %d tasks: give one each, or none at all", len(groups), len(refs))
	}
	placements := make([]Placement, len(refs))
	for from := 0; from < len(refs); from += chunk {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		to := min(from+chunk, len(refs))
		var some []string
		if groups != nil {
			some = groups[from:to]
		}
		if err := c.place(ctx, placements[from:to], refs[from:to], some); err != nil {
			return nil, c.fault(ctx, "looking tasks up in sorted sets", err)
		}
	}
	return placements, nil
}

// place fills placements by one pipeline.
func (c *Client) place(ctx context.Context, placements []Placement, refs []Ref, groups []string) error {
	pipe := c.redis.Pipeline()
	sets := make([][len(placedSets)]*redis.FloatCmd, len(refs))
	leases := make([]*redis.FloatCmd, len(refs))
	grouped := make([]*redis.FloatCmd, len(refs))
	for i, r := range refs {
		k := keysOf(r.Queue)
		for j, s := range placedSets {
			sets[i][j] = pipe.ZScore(ctx, k.of(s), r.ID)
		}
		leases[i] = pipe.ZScore(ctx, k.lease(), r.ID)
		if i < len(groups) && groups[i] != "" {
			grouped[i] = pipe.ZScore(ctx, k.group(groups[i]), r.ID)
		}
	}
	if err := exec(ctx, pipe); err != nil {
		return err
	}
	for i := range refs {
		p := &placements[i]
		for j, s := range placedSets {
			if sets[i][j].Err() == nil {
				p.In = append(p.In, s)
			}
		}
		if leases[i].Err() == nil {
			p.Lease = scoreTime(leases[i].Val())
		}
		p.Grouped = grouped[i] != nil && grouped[i].Err() == nil
	}
	return nil
}
