package inspect

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Queue is what a queue holds at one instant, give or take the writes between
// the commands of one pipeline.
type Queue struct {
	Name   string
	Paused bool
	// PausedAt is when PauseQueue was called, whole seconds; zero when not paused.
	PausedAt time.Time

	// Counts of tasks by state. Aggregating counts the groups that the queue
	// knows of and the sets that are being aggregated.
	Active, Pending, Aggregating, Scheduled, Retry, Archived, Completed int

	Groups []string // names, sorted

	// OldestPending is the pending-since of the task that is next in line; zero
	// when nothing is pending or the task does not say (it was run by hand, or
	// put back at a shutdown).
	OldestPending time.Time
}

// Count is the number of tasks in the state.
func (q Queue) Count(s State) int {
	switch s {
	case StateActive:
		return q.Active
	case StatePending:
		return q.Pending
	case StateAggregating:
		return q.Aggregating
	case StateScheduled:
		return q.Scheduled
	case StateRetry:
		return q.Retry
	case StateArchived:
		return q.Archived
	case StateCompleted:
		return q.Completed
	default:
		return 0
	}
}

// Size is the number of tasks in all states.
func (q Queue) Size() int {
	n := 0
	for _, s := range States() {
		n += q.Count(s)
	}
	return n
}

// Queues lists the queues that asynq knows of, sorted by name.
func (c *Client) Queues(ctx context.Context) ([]string, error) {
	names, err := c.redis.SMembers(ctx, keyQueues).Result()
	if err != nil {
		return nil, c.fault(ctx, "listing queues", err)
	}
	slices.Sort(names)
	return names, nil
}

// Queue counts what is in the queue. It asks for counts alone, so that a broken
// task cannot make it fail as it does asynq's GetQueueInfo. The error wraps
// ErrQueueNotFound when asynq does not know the queue.
func (c *Client) Queue(ctx context.Context, name string) (Queue, error) {
	if err := c.mustExist(ctx, name); err != nil {
		return Queue{}, err
	}
	q := Queue{Name: name}
	if err := c.count(ctx, &q); err != nil {
		return Queue{}, c.fault(ctx, fmt.Sprintf("counting queue %q", name), err)
	}
	return q, nil
}

// mustExist looks every queue up in asynq:queues.
func (c *Client) mustExist(ctx context.Context, names ...string) error {
	for _, name := range names {
		known, err := c.redis.SIsMember(ctx, keyQueues, name).Result()
		if err != nil {
			return c.fault(ctx, fmt.Sprintf("looking up queue %q", name), err)
		}
		if !known {
			return fmt.Errorf("queue %q: %w", name, ErrQueueNotFound)
		}
	}
	return nil
}

func (c *Client) count(ctx context.Context, q *Queue) error {
	k := keysOf(q.Name)
	pipe := c.redis.Pipeline()
	active, pending := pipe.LLen(ctx, k.of(StateActive)), pipe.LLen(ctx, k.of(StatePending))
	scheduled, retry := pipe.ZCard(ctx, k.of(StateScheduled)), pipe.ZCard(ctx, k.of(StateRetry))
	archived, completed := pipe.ZCard(ctx, k.of(StateArchived)), pipe.ZCard(ctx, k.of(StateCompleted))
	paused := pipe.Get(ctx, k.paused())
	next := pipe.LRange(ctx, k.of(StatePending), -1, -1)
	groups, sets := pipe.SMembers(ctx, k.groups()), pipe.ZRange(ctx, k.aggregationSets(), 0, -1)
	if err := exec(ctx, pipe); err != nil {
		return err
	}
	q.Active, q.Pending = int(active.Val()), int(pending.Val())
	q.Scheduled, q.Retry = int(scheduled.Val()), int(retry.Val())
	q.Archived, q.Completed = int(archived.Val()), int(completed.Val())
	q.Groups = groups.Val()
	slices.Sort(q.Groups)
	q.Paused = paused.Err() == nil
	q.PausedAt = unixSeconds(paused.Val())
	return c.countMore(ctx, q, next.Val(), sets.Val())
}

// countMore asks what the first pipeline made known to ask for.
func (c *Client) countMore(ctx context.Context, q *Queue, next, sets []string) error {
	k := keysOf(q.Name)
	pipe := c.redis.Pipeline()
	var cards []*redis.IntCmd
	for _, g := range q.Groups {
		cards = append(cards, pipe.ZCard(ctx, k.group(g)))
	}
	for _, set := range sets {
		if k.owns(set) {
			cards = append(cards, pipe.ZCard(ctx, set))
		}
	}
	var since *redis.StringCmd
	for _, id := range next {
		since = pipe.HGet(ctx, k.task(id), "pending_since")
	}
	if err := exec(ctx, pipe); err != nil {
		return err
	}
	for _, card := range cards {
		q.Aggregating += int(card.Val())
	}
	if since != nil {
		q.OldestPending = unixNanos(since.Val())
	}
	return nil
}

// unixSeconds reads what asynq wrote with Time.Unix; zero for anything else.
func unixSeconds(s string) time.Time {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n == 0 {
		return time.Time{}
	}
	return time.Unix(n, 0)
}

// unixNanos reads what asynq wrote with Time.UnixNano; zero for anything else.
func unixNanos(s string) time.Time {
	if s == "" {
		return time.Time{} // the common case, without the cost of an error
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}
