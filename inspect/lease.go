package inspect

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Lease is a worker's claim to a task that it is running (asynq internal/rdb/rdb.go:
// dequeueCmd, ExtendLease). It says nothing of whether the task is active.
type Lease struct {
	ID string
	// ExpiresAt is in whole seconds. asynq's recoverer takes the task 30 s later
	// (recoverer.go: recoverLeaseExpiredTasks).
	ExpiresAt time.Time
}

// scanStep is how many members of a set one command reads.
const scanStep = 1000

// Leases reads all leases of the queue, sorted by ID. It goes by ZSCAN, for
// which it does not matter that workers raise the scores meanwhile: a lease that
// is there throughout is found. A queue that asynq does not know has none.
func (c *Client) Leases(ctx context.Context, queue string) ([]Lease, error) {
	ends := make(map[string]time.Time)
	iter := c.redis.ZScan(ctx, keysOf(queue).lease(), 0, "", scanStep).Iterator()
	for iter.Next(ctx) {
		id := iter.Val()
		if !iter.Next(ctx) {
			break
		}
		score, _ := strconv.ParseFloat(iter.Val(), 64)
		ends[id] = scoreTime(score)
	}
	if err := iter.Err(); failure(err) {
		return nil, c.fault(ctx, fmt.Sprintf("reading leases of queue %q", queue), err)
	}
	leases := make([]Lease, 0, len(ends))
	for id, end := range ends {
		leases = append(leases, Lease{ID: id, ExpiresAt: end})
	}
	slices.SortFunc(leases, func(a, b Lease) int { return strings.Compare(a.ID, b.ID) })
	return leases, nil
}

// Groups are the groups that the queue has registered, sorted: those that
// aggregators look at (asynq internal/rdb/rdb.go: ListGroups). A group may hold tasks
// without being among them, and may be among them and be empty. A queue that
// asynq does not know has none.
func (c *Client) Groups(ctx context.Context, queue string) ([]string, error) {
	var names []string
	iter := c.redis.SScan(ctx, keysOf(queue).groups(), 0, "", scanStep).Iterator()
	for iter.Next(ctx) {
		names = append(names, iter.Val())
	}
	if err := iter.Err(); failure(err) {
		return nil, c.fault(ctx, fmt.Sprintf("reading groups of queue %q", queue), err)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// GroupSizes counts the tasks in the groups; result i belongs to groups[i]. A
// name:set counts a set being aggregated.
func (c *Client) GroupSizes(ctx context.Context, queue string, groups []string) ([]int, error) {
	k := keysOf(queue)
	sizes := make([]int, 0, len(groups))
	for some := range slices.Chunk(groups, chunk) {
		pipe := c.redis.Pipeline()
		cards := make([]*redis.IntCmd, len(some))
		for i, g := range some {
			cards[i] = pipe.ZCard(ctx, k.group(g))
		}
		if err := exec(ctx, pipe); err != nil {
			return nil, c.fault(ctx, fmt.Sprintf("counting groups of queue %q", queue), err)
		}
		for _, card := range cards {
			sizes = append(sizes, int(card.Val()))
		}
	}
	return sizes, nil
}

// AggregationSets are the keys of the queue's sets that are being aggregated
// (asynq internal/rdb/rdb.go: aggregationCheckCmd), as Key.Name has them. What
// is no key of one of the queue's groups is left out.
func (c *Client) AggregationSets(ctx context.Context, queue string) ([]string, error) {
	sets, err := c.aggregationSets(ctx, queue)
	return sets, c.fault(ctx, fmt.Sprintf("reading aggregation sets of queue %q", queue), err)
}

// scoreTime is the time that a score stands for, in whole seconds. Scores that
// are no time at all become one in the year 1 or 9999, which every format can
// show; it is never the zero time.
func scoreTime(score float64) time.Time {
	const first, last = -62135596799, 253402300799
	return time.Unix(int64(max(first, min(last, score))), 0)
}
