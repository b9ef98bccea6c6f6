package inspect

import (
	"context"
	"errors"
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
	pipe := c.redis.Pipeline()
	owners := make([]*redis.StringCmd, len(keys))
	ttls := make([]*redis.DurationCmd, len(keys))
	for i, key := range keys {
		if isQueueKey(key) {
			owners[i], ttls[i] = pipe.Get(ctx, key), pipe.PTTL(ctx, key)
		}
	}
	if err := exec(ctx, pipe); err != nil {
		return nil, err
	}
	locks := make([]Lock, len(keys))
	for i, key := range keys {
		locks[i] = lockOf(key, owners[i], ttls[i])
	}
	return locks, nil
}

// pttlGone and pttlForever are PTTL's answers that are no duration.
const (
	pttlGone    = -2
	pttlForever = -1
)

// lockOf reads both answers, which are nil for a key that was not asked for.
func lockOf(key string, owner *redis.StringCmd, ttl *redis.DurationCmd) Lock {
	lock := Lock{Key: key}
	if owner == nil || errors.Is(owner.Err(), redis.Nil) || ttl.Val() == pttlGone {
		return lock
	}
	lock.Held, lock.Owner = true, owner.Val()
	if ttl.Val() != pttlForever {
		lock.TTL = ttl.Val()
	}
	return lock
}
