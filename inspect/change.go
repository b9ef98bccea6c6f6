package inspect

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// This file and move.go, with the scripts in lua/, are all that changes anything
// in Redis: this one mends what is broken, move.go moves archived tasks.
// Every change is one script in one queue's slot: it compares what is there with
// what the caller has read, and does nothing where they differ. It keeps to
// asynq's layout (internal/rdb/rdb.go, inspect.go).
//
// A change is sent once. An error that is Redis's own answer (see Refused) says
// that nothing was changed; after any other, a broken connection or a deadline,
// the change may have been made or not, and the caller has to look. To try it again is
// safe: a change that was made already finds the world different.
//
// The user needs the right to run scripts and the commands in them, on the
// queue's keys. Redis 6.2 is the oldest that has them all.

// Change is what came of one change.
type Change struct {
	Done bool
	// Found is why nothing was changed, in words, such as `the task is in state
	// "pending" now`; "" when it was. Names from Redis are quoted in it.
	Found string
	// Note is what is not as it was asked for although the change was made, such
	// as a lock that is another task's now; "" for nothing. Names are quoted in it.
	Note string
}

// Expect is a task as the caller has read it, by Client.Raw.
type Expect struct {
	Ref
	State       State
	Fingerprint string // of the hash (see Raw.Fingerprint); "" is never met
	// Lock is the lock that the task was enqueued with, for CloseTask and Resolve
	// to release and for Requeue to take; "": none. It must be a lock of the
	// task's queue.
	Lock string
	// Score is that of an archived task in the archive, in seconds since 1970, for
	// Requeue and Resolve; 0: any.
	Score float64
}

// ReleaseReason is why a lock guards nothing. The zero value is ReleaseUnknown,
// for which no lock is released.
type ReleaseReason uint8

// Why a lock guards nothing.
const (
	ReleaseUnknown ReleaseReason = iota
	OwnerAbsent                  // the task that took it no longer exists
	OwnerElsewhere               // that task exists, but was enqueued with another lock or none
)

// Release says why a lock may be released.
type Release struct {
	Why ReleaseReason
	// Fingerprint is, for OwnerElsewhere, the owner's as the caller has read it.
	Fingerprint string
}

// ReleaseLock deletes a uniqueness lock while it belongs to the owner: for
// OwnerAbsent, as long as that task has no hash and no lease that a worker may
// be running it under; for OwnerElsewhere, as long as its hash has the
// fingerprint and does not name the lock. asynq's producers take a lock and
// write its task in one step, so a lock in use is never met without its task
// (rdb.go: enqueueUniqueCmd, scheduleUniqueCmd, addToGroupUniqueCmd). But a
// task that was aggregated is gone as soon as its group's one task is enqueued,
// which may still be running.
func (c *Client) ReleaseLock(ctx context.Context, key, owner string, because Release) (Change, error) {
	why, ok := map[ReleaseReason]string{OwnerAbsent: "absent", OwnerElsewhere: "elsewhere"}[because.Why]
	if !ok {
		return Change{}, fmt.Errorf("no reason to release lock %.100q", key)
	}
	lock, err := c.parseLock(ctx, key)
	if err != nil {
		return Change{}, err
	}
	k := keysOf(lock.Queue)
	return c.change(ctx, fmt.Sprintf("releasing lock %.100q", key), releaseLock,
		[]string{key, k.task(owner), k.lease()}, owner, why, because.Fingerprint)
}

// parseLock asks for the queues where the name alone does not settle whose lock
// it is: in another queue its owner would seem to be gone.
func (c *Client) parseLock(ctx context.Context, key string) (Key, error) {
	lock := ParseKey(key, nil)
	if lock.ambiguous() {
		known, err := c.Queues(ctx)
		if err != nil {
			return Key{}, err
		}
		lock = ParseKey(key, known)
	}
	if lock.Kind != KeyLock {
		return Key{}, fmt.Errorf("%.100q is no uniqueness lock of one queue", key)
	}
	return lock, nil
}

// PutBack puts a ghost, a task that no list or set holds, back where its state
// says: to the end of pending, into its set with the score at, or into its
// group. An active one becomes active with a lease that ended at at, if it has
// none, so that asynq's recoverer takes it: that should be 31 s ago or earlier. A
// pending task needs no at.
//
// It refuses if anything holds the task, or if a worker may be running it under
// a lease. It looks through the pending and active lists for that, which takes Redis
// as long as they are: some 30 ms for a million tasks.
func (c *Client) PutBack(ctx context.Context, e Expect, at time.Time) (Change, error) {
	if e.State != StatePending && at.IsZero() {
		return Change{}, fmt.Errorf("putting back %s task %.100q: no time was given for its score", e.State, e.ID)
	}
	return c.changeTask(ctx, "putting back", putBack, e, score(at))
}

// Archive puts a ghost into the archive instead, as of at, and leaves the rest
// of it as asynq's Inspector does (inspect.go: archiveTaskCmd). It refuses what PutBack
// refuses, and costs the same. An archive that is full is trimmed by asynq, not
// by this.
func (c *Client) Archive(ctx context.Context, e Expect, at time.Time) (Change, error) {
	if at.IsZero() {
		return Change{}, fmt.Errorf("archiving task %.100q: no time was given for its score", e.ID)
	}
	return c.changeTask(ctx, "archiving", archive, e, score(at))
}

// ExpireLease gives an active task that has no lease one that ended at at, so
// that asynq's recoverer takes it: that should be 31 s ago or earlier. It refuses
// if there is a lease, if the active list does not hold the task, or if anything
// else does. It costs what PutBack costs.
func (c *Client) ExpireLease(ctx context.Context, e Expect, at time.Time) (Change, error) {
	if e.State != StateActive || at.IsZero() {
		return Change{}, fmt.Errorf("expiring the lease of task %.100q: it needs an active task and a time", e.ID)
	}
	return c.changeTask(ctx, "expiring the lease of", expireLease, e, score(at))
}

// SetState corrects a hash that says another state than the sorted set that
// holds its task: to is scheduled, retry, archived or completed. It refuses if
// that set does not hold the task, or anything else does, or it has a lease. It
// costs what PutBack costs.
func (c *Client) SetState(ctx context.Context, e Expect, to State) (Change, error) {
	switch to {
	case StateScheduled, StateRetry, StateArchived, StateCompleted:
	default:
		return Change{}, fmt.Errorf("correcting the state of task %.100q: %s tasks are in no sorted set of the queue", e.ID, to)
	}
	return c.changeTask(ctx, "correcting the state of", setState, e, to.String())
}

// CloseTask removes a task whose work is known to be done: a ghost, or an active
// task without a lease. It releases e.Lock if that belongs to the task. It
// refuses if the task has a lease, or anything else holds it. It costs what
// PutBack costs.
func (c *Client) CloseTask(ctx context.Context, e Expect) (Change, error) {
	if e.Lock != "" && !isLockOf(e.Lock, e.Queue) {
		return Change{}, fmt.Errorf("closing task %.100q: %.100q is no uniqueness lock of queue %.100q", e.ID, e.Lock, e.Queue)
	}
	return c.changeTask(ctx, "closing", closeTask, e)
}

// RegisterGroup adds a group that holds tasks to those that aggregators look at.
// It refuses if the group is empty, is a set being aggregated, or is registered.
func (c *Client) RegisterGroup(ctx context.Context, queue, group string) (Change, error) {
	k := keysOf(queue)
	return c.change(ctx, fmt.Sprintf("registering group %.100q of queue %.100q", group, queue), registerGroup,
		[]string{k.group(group), k.groups(), k.aggregationSets()}, group)
}

// DeleteResult deletes a hash that has a result, neither a message nor a state,
// and the fingerprint: one with DefectResultOnly. A task may then have that ID
// again.
func (c *Client) DeleteResult(ctx context.Context, r Ref, fingerprint string) (Change, error) {
	e := Expect{Ref: r, State: StateUnknown, Fingerprint: fingerprint}
	return c.changeTask(ctx, "deleting the result of", deleteResult, e)
}

// DropLease removes the lease of a task that is not active, if it still ends at
// expiresAt. It refuses if the task's hash or the active list says that it is
// active. It looks through the active list.
func (c *Client) DropLease(ctx context.Context, r Ref, expiresAt time.Time) (Change, error) {
	return c.onTask(ctx, "dropping the lease of", dropLease, Expect{Ref: r}, score(expiresAt))
}

// DropDangling removes every occurrence of an ID without a hash from the list or
// set of the state. For aggregating ones group is the group, or name:set of a
// set being aggregated; an emptied group is no longer registered. It refuses if
// the ID has a hash; and for an active one while a worker may be running it under a
// lease, since that worker can still write the hash anew. An active one's lease
// goes with it. It looks through the list, where there is one.
func (c *Client) DropDangling(ctx context.Context, r Ref, s State, group string) (Change, error) {
	if s == StateUnknown || s == StateAggregating && group == "" {
		return Change{}, fmt.Errorf("dropping dangling task %.100q: it needs a state, and a group if it is aggregating", r.ID)
	}
	return c.onTask(ctx, "dropping dangling", dropDangling, Expect{Ref: r, State: s}, group)
}

// score is how asynq writes a time.
func score(at time.Time) int64 { return at.Unix() }

// changeTask changes a task that is to be as it was read.
func (c *Client) changeTask(ctx context.Context, op string, s *redis.Script, e Expect, args ...any) (Change, error) {
	if e.Fingerprint == "" {
		return Change{Found: "the task was gone when it was read"}, nil
	}
	if e.State == StateUnknown && s != deleteResult {
		return Change{Found: "the task was in no known state when it was read"}, nil
	}
	return c.onTask(ctx, op, s, e, args...)
}

// onTask hands a script the keys and arguments that lua/common.lua names.
func (c *Client) onTask(ctx context.Context, op string, s *redis.Script, e Expect, args ...any) (Change, error) {
	var locks []string
	if s == closeTask && e.Lock != "" {
		locks = append(locks, e.Lock)
	}
	return c.onLocks(ctx, op, s, e, locks, args...)
}

// onLocks is onTask with the locks that the script is to see.
func (c *Client) onLocks(ctx context.Context, op string, s *redis.Script, e Expect, locks []string, args ...any) (Change, error) {
	k := keysOf(e.Queue)
	keys := append([]string{
		k.task(e.ID), k.of(StatePending), k.of(StateActive), k.lease(),
		k.of(StateScheduled), k.of(StateRetry), k.of(StateArchived), k.of(StateCompleted),
		k.groups(), k.aggregationSets(),
	}, locks...)
	args = append([]any{e.ID, k.groupPrefix(), e.Fingerprint, e.State.String()}, args...)
	return c.change(ctx, fmt.Sprintf("%s task %.100q of queue %.100q", op, e.ID, e.Queue), s, keys, args...)
}
