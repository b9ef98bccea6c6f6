package inspect

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Lock is one uniqueness lock.
type Lock struct {
	Key  string
	Held bool
	// Owner is the ID of the task that took it. It is "" when the lock is not
	// held, and when the key holds something else than a lock, which refuses
	// enqueues all the same.
	Owner string
	// TTL is what is left of it, in milliseconds; 0 when it is not held or does
	// not expire (asynq's locks always do).
	TTL time.Duration
}

// Locks reads the locks of the given keys, in their order. A lock that runs out
// between its two commands is not held. Keys come from messages, which anybody
// may have written: one that is no key of asynq's is not asked for and not held.
func (c *Client) Locks(ctx context.Context, keys []string) ([]Lock, error) {
	locks := make([]Lock, 0, len(keys))
	for len(keys) > 0 {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		n := min(chunk, len(keys))
		part, err := c.readLocks(ctx, keys[:n])
		if err != nil {
			return nil, c.fault(ctx, "reading locks", err)
		}
		locks, keys = append(locks, part...), keys[n:]
	}
	return locks, nil
}

func (c *Client) readLocks(ctx context.Context, keys []string) ([]Lock, error) {
	owners, err := c.readOwners(ctx, keys)
	if err != nil {
		return nil, err
	}
	pipe := c.redis.Pipeline()
	ttls := make([]*redis.DurationCmd, len(keys))
	strange := make([]*redis.StringCmd, len(keys))
	for i, key := range keys {
		switch {
		case !isQueueKey(key):
		case owners[i] != nil:
			ttls[i] = pipe.PTTL(ctx, key)
		default:
			// MGET does not tell a key that is not there from one that is no string.
			strange[i], ttls[i] = pipe.Get(ctx, key), pipe.PTTL(ctx, key)
		}
	}
	if err := exec(ctx, pipe); err != nil {
		return nil, err
	}
	locks := make([]Lock, len(keys))
	for i, key := range keys {
		locks[i] = lockOf(key, owners[i], strange[i], ttls[i])
	}
	return locks, nil
}

// readOwners reads who holds the locks, all of one queue in one command: they
// are in one slot. nil is nobody, or a key that holds something else.
func (c *Client) readOwners(ctx context.Context, keys []string) ([]*string, error) {
	byTag := map[string][]int{}
	for i, key := range keys {
		if isQueueKey(key) {
			tag, _, _ := strings.Cut(key, "}")
			byTag[tag] = append(byTag[tag], i)
		}
	}
	pipe := c.redis.Pipeline()
	answers := make(map[string]*redis.SliceCmd, len(byTag))
	for tag, at := range byTag {
		names := make([]string, len(at))
		for n, i := range at {
			names[n] = keys[i]
		}
		answers[tag] = pipe.MGet(ctx, names...)
	}
	if err := exec(ctx, pipe); err != nil {
		return nil, err
	}
	owners := make([]*string, len(keys))
	for tag, at := range byTag {
		for n, v := range answers[tag].Val() {
			if owner, ok := v.(string); ok {
				owners[at[n]] = &owner
			}
		}
	}
	return owners, nil
}

// pttlGone and pttlForever are PTTL's answers that are no duration.
const (
	pttlGone    = -2
	pttlForever = -1
)

// lockOf reads the answers: the owner, or what GET says of a key that has none,
// and the time left, which is nil for a key that was not asked for.
func lockOf(key string, owner *string, strange *redis.StringCmd, ttl *redis.DurationCmd) Lock {
	lock := Lock{Key: key}
	if ttl == nil || ttl.Val() == pttlGone || strange != nil && errors.Is(strange.Err(), redis.Nil) {
		return lock
	}
	lock.Held = true
	switch {
	case owner != nil:
		lock.Owner = *owner
	case strange != nil:
		lock.Owner = strange.Val()
	}
	if ttl.Val() != pttlForever {
		lock.TTL = ttl.Val()
	}
	return lock
}
