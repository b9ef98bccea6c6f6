package inspect

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// rereads bounds how often a task is read again because it moved between the
// reading of its hash and of its score. One that still moves is returned as it
// was last seen, without a score.
const rereads = 4

// Read reads what is true of the given tasks now; result i belongs to refs[i]. A
// task's hash is read in one command, so its state, message and unique key
// are of one instant; its score follows, and if the state changed meanwhile the
// task is read again. A task that is gone has StateUnknown and DefectDangling.
func (c *Client) Read(ctx context.Context, refs []Ref) ([]Task, error) {
	tasks := make([]Task, len(refs))
	size := newSizer(chunk)
	for from := 0; from < len(refs); {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		to := min(from+size.next(), len(refs))
		if err := c.readInto(ctx, tasks[from:to], refs[from:to]); err != nil {
			return nil, c.fault(ctx, "reading tasks", err)
		}
		size.note(tasks[from:to], 0)
		from = to
	}
	return tasks, nil
}

// readInto fills tasks, and again those of them that were moving.
func (c *Client) readInto(ctx context.Context, tasks []Task, refs []Ref) error {
	todo := make([]int, len(refs))
	for i := range refs {
		todo[i] = i
	}
	for range rereads {
		if err := c.readHashes(ctx, tasks, refs, todo); err != nil {
			return err
		}
		moved, err := c.readScores(ctx, tasks, todo)
		if err != nil {
			return err
		}
		if len(moved) == 0 {
			return nil
		}
		todo = moved
	}
	return nil
}

func (c *Client) readHashes(ctx context.Context, tasks []Task, refs []Ref, todo []int) error {
	pipe := c.redis.Pipeline()
	records := make([]record, len(todo))
	questions := newAsker(pipe, len(todo))
	for i, at := range todo {
		records[i] = questions.ask(ctx, refs[at])
	}
	if err := exec(ctx, pipe); err != nil {
		return err
	}
	for i, at := range todo {
		tasks[at] = records[i].task(&c.names)
	}
	return nil
}

// readScores adds the scores, and returns the tasks whose state is no longer
// the one that the score was read for.
func (c *Client) readScores(ctx context.Context, tasks []Task, todo []int) (moved []int, err error) {
	pipe := c.redis.Pipeline()
	scores := make([]*redis.FloatCmd, len(todo))
	states := make([]*redis.StringCmd, len(todo))
	for i, at := range todo {
		if key := tasks[at].scoreKey(); key != "" {
			scores[i] = pipe.ZScore(ctx, key, tasks[at].ID)
			states[i] = pipe.HGet(ctx, keysOf(tasks[at].Queue).task(tasks[at].ID), "state")
		}
	}
	if err := exec(ctx, pipe); err != nil {
		return nil, err
	}
	for i, at := range todo {
		if scores[i] == nil {
			continue
		}
		t := &tasks[at]
		if stateOf(states[i].Val()) != t.State {
			moved = append(moved, at)
			continue
		}
		t.setScore(t.State, scores[i].Val())
		if t.State == StateAggregating && t.GroupedAt.IsZero() {
			if err := c.readAggregation(ctx, t); err != nil {
				return nil, err
			}
		}
	}
	return moved, nil
}

// scoreKey is the sorted set that holds the task's score; "" for a task that
// has none.
func (t *Task) scoreKey() string {
	k := keysOf(t.Queue)
	switch t.State {
	case StateScheduled, StateRetry, StateArchived, StateCompleted:
		return k.of(t.State)
	case StateActive:
		return k.lease()
	case StateAggregating:
		return k.group(t.Group)
	default:
		return ""
	}
}

// readAggregation looks for the task in the sets that are being aggregated.
func (c *Client) readAggregation(ctx context.Context, t *Task) error {
	sets, err := c.aggregationSets(ctx, t.Queue)
	if err != nil {
		return err
	}
	for _, set := range sets {
		score, err := c.redis.ZScore(ctx, set, t.ID).Result()
		if failure(err) {
			return err
		}
		if err == nil {
			t.setScore(StateAggregating, score)
			return nil
		}
	}
	return nil
}

// aggregationSets are the keys of the sets that are being aggregated.
func (c *Client) aggregationSets(ctx context.Context, queue string) ([]string, error) {
	k := keysOf(queue)
	members, err := c.redis.ZRange(ctx, k.aggregationSets(), 0, -1).Result()
	if failure(err) {
		return nil, err
	}
	var sets []string
	for _, set := range members {
		if k.owns(set) {
			sets = append(sets, set)
		}
	}
	return sets, nil
}

// Active reads the active lists of the queues whole, to find tasks that do the
// same work at the same time. Queues that asynq does not know have none.
func (c *Client) Active(ctx context.Context, queues []string) ([]Task, error) {
	reader := plainReader{client: c, size: newSizer(chunk), lost: func(Ref) {}}
	var all []Task
	for _, q := range queues {
		p := place{queue: q, state: StateActive, key: keysOf(q).of(StateActive)}
		seen := make(map[string]bool)
		err := reader.read(ctx, p,
			func(r Ref, _ State) bool { known := seen[r.ID]; seen[r.ID] = true; return !known },
			func(_ int, tasks []Task) error { all = append(all, tasks...); return nil })
		if err != nil {
			return nil, c.fault(ctx, fmt.Sprintf("reading active tasks of queue %q", q), err)
		}
	}
	return all, nil
}
