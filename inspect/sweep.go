package inspect

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Sweep says which keys to look for. The zero value is the keys of all queues,
// of those too that asynq does not know.
type Sweep struct {
	Queues []string // nil: every queue
	// Known are the queues that asynq knows: they settle where a name that holds
	// "}:" ends (see ParseKey). Queues are taken to be known as well.
	Known []string
}

const (
	// scanCount is how many keys of the database one SCAN looks at: about half a
	// millisecond of Redis's time.
	scanCount = 1000
	// scanRestarts bounds how often a sweep of a server begins again because
	// its connection broke.
	scanRestarts = 3
)

// Keys streams the names of the queues' keys, a page for each SCAN that found
// some, on one master of a cluster after the other. It asks for nothing but
// names, and needs no more than a user's right to read.
//
// A key that is there throughout is yielded at least once, and may be yielded
// more than once: SCAN repeats keys when Redis resizes its table, and a
// connection that breaks makes the sweep of that server begin again, since
// another server, or the same after a restart, would understand the place
// reached differently. A key that came or went meanwhile may be yielded or not. In a
// cluster, keys of a slot that moves from a master not yet swept to one that was
// are missed.
//
// An error ends the stream; once ctx is done it is ctx.Err().
func (c *Client) Keys(ctx context.Context, s Sweep) iter.Seq2[[]Key, error] {
	return func(yield func([]Key, error) bool) {
		masters, err := c.masters(ctx)
		for _, node := range masters {
			var more bool
			if more, err = c.sweepNode(ctx, node, s, yield); err != nil || !more {
				break
			}
		}
		if err != nil {
			yield(nil, c.fault(ctx, "looking for keys", err))
		}
	}
}

// masters are the servers that hold keys, in a fixed order.
func (c *Client) masters(ctx context.Context) ([]*redis.Client, error) {
	switch rdb := c.redis.(type) {
	case *redis.Client:
		return []*redis.Client{rdb}, nil
	case *redis.ClusterClient:
		var mu sync.Mutex
		var nodes []*redis.Client
		err := rdb.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			nodes = append(nodes, node)
			return nil
		})
		slices.SortFunc(nodes, func(a, b *redis.Client) int { return strings.Compare(a.Options().Addr, b.Options().Addr) })
		return nodes, err
	default:
		return nil, errors.New("this kind of client cannot be swept")
	}
}

// sweepNode sweeps one server. more is false when the caller wants no more.
func (c *Client) sweepNode(ctx context.Context, node *redis.Client, s Sweep, yield func([]Key, error) bool) (more bool, err error) {
	for range scanRestarts {
		more, err = c.sweepOnce(ctx, node, s, yield)
		if err == nil || isReply(err) || ctx.Err() != nil {
			return more, err
		}
	}
	return false, err
}

// sweepOnce keeps to one connection, for which a cursor stays what it is.
func (c *Client) sweepOnce(ctx context.Context, node *redis.Client, s Sweep, yield func([]Key, error) bool) (more bool, err error) {
	conn := node.Conn()
	defer func() { _ = conn.Close() }()
	match, known := s.pattern(), slices.Concat(s.Known, s.Queues)
	for cursor := uint64(0); ; {
		names, next, err := conn.Scan(ctx, cursor, match, scanCount).Result()
		if err != nil {
			return false, err
		}
		if keys := s.pick(names, known); len(keys) > 0 && !yield(keys, nil) {
			return false, nil
		}
		if err := c.pace.wait(ctx, len(names)); err != nil {
			return false, err
		}
		if next == 0 {
			return true, nil
		}
		cursor = next
	}
}

// pattern matches every key that is wanted, and perhaps others.
func (s Sweep) pattern() string {
	if len(s.Queues) == 1 {
		return escapeGlob(keysOf(s.Queues[0]).prefix) + "*"
	}
	return keysOf("*").prefix + "*"
}

// pick reads the names, and leaves out those of queues that are not wanted.
func (s Sweep) pick(names, known []string) []Key {
	keys := make([]Key, 0, len(names))
	for _, name := range names {
		k := ParseKey(name, known)
		if s.Queues == nil || slices.Contains(s.Queues, k.Queue) {
			keys = append(keys, k)
		}
	}
	return keys
}

var globEscaper = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

// escapeGlob makes a pattern that matches s alone.
func escapeGlob(s string) string { return globEscaper.Replace(s) }
