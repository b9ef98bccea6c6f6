package inspect

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// The moves of archived tasks: Requeue has one run again, Resolve deletes one
// whose work is known to be done, Restore undoes a Resolve.
//
// Requeue and Resolve rest on two things: that the hash has the fingerprint,
// which includes its state, and that the archive holds the task since the same
// time, and no other sorted set does, nor a lease. They do not look through the
// pending and active lists, where Redis would take some 15 ms for every million
// of tasks. asynq's own RunTask and DeleteTask do not either (inspect.go:
// runTaskCmd, deleteTaskCmd), and need not: whatever in asynq writes "archived"
// takes the task off its list in the same script (rdb.go: archiveCmd; inspect.go:
// archiveTaskCmd), and whatever puts one on a list writes another state (rdb.go:
// dequeueCmd, forwardCmd; inspect.go: runTaskCmd). A list that names an archived
// task was written by something else, and is a finding of its own.

// Requeue says how a task is to run again. The zero value is what asynq's
// Inspector.RunTask does.
type Requeue struct {
	// Message is the message that the task is to have (see RewriteAttempts);
	// nil: the one it has.
	Message []byte
	// Relock is how long the task's own lock, Expect.Lock, is to live from now on,
	// rounded up to whole seconds; 0: the lock is left as it is. A lock that is the
	// task's own already and lives longer is not shortened.
	Relock time.Duration
	// HoldIfLocked are locks, of the task's queue, that no other task may hold:
	// those that asynq.Unique gives work with this task's type and payload, which
	// are two where the payload is empty (see UniqueKey).
	HoldIfLocked []string
}

// Requeue has an archived task run again: it goes to the end of pending, behind
// all that waits there, with its retried count, last error and payload as they
// are, unless o.Message has others. It refuses, and names the owner, if another
// task holds a lock that is to be taken or is among o.HoldIfLocked; and if a lock
// is to be taken that the task's message does not name, since its success would
// not release that.
//
// It costs Redis the same however long the lists are.
func (c *Client) Requeue(ctx context.Context, e Expect, o Requeue) (Change, error) {
	locks, err := o.locks(e)
	if err == nil && o.Message != nil {
		err = c.names.decodeMessage(o.Message, new(Task))
	}
	if err != nil {
		return Change{}, fmt.Errorf("requeueing task %.100q: %w", e.ID, err)
	}
	return c.moveArchived(ctx, "requeueing", requeue, e, locks, o.Message, wholeSeconds(o.Relock))
}

// locks are those that the script looks at, the one to take in front.
func (o Requeue) locks(e Expect) ([]string, error) {
	if o.Relock < 0 || o.Relock > 0 && e.Lock == "" {
		return nil, fmt.Errorf("it has no lock to take for %v", o.Relock)
	}
	var locks []string
	if o.Relock > 0 {
		locks = append(locks, e.Lock)
	}
	locks = append(locks, o.HoldIfLocked...)
	return locks, ownLocks(e.Queue, locks)
}

// Resolve deletes an archived task, and its lock e.Lock while that belongs to it:
// what asynq's Inspector.DeleteTask does, which leaves a grouped task's lock
// behind (inspect.go: deleteTaskCmd goes by the hash, and that lock is named in
// the message alone). Raw.Expect knows either lock. The task's ID is then free.
func (c *Client) Resolve(ctx context.Context, e Expect) (Change, error) {
	var locks []string
	if e.Lock != "" {
		locks = append(locks, e.Lock)
	}
	if err := ownLocks(e.Queue, locks); err != nil {
		return Change{}, fmt.Errorf("resolving task %.100q: %w", e.ID, err)
	}
	return c.moveArchived(ctx, "resolving", resolve, e, locks)
}

// moveArchived changes a task that was archived when it was read.
func (c *Client) moveArchived(ctx context.Context, op string, s *redis.Script, e Expect, locks []string, args ...any) (Change, error) {
	if e.Fingerprint == "" {
		return Change{Found: "the task was gone when it was read"}, nil
	}
	if e.State != StateArchived {
		return Change{Found: fmt.Sprintf("the task was %s when it was read, not archived", e.State)}, nil
	}
	return c.onLocks(ctx, op, s, e, locks, append([]any{scoreText(e.Score)}, args...)...)
}

// scoreText keeps every bit.
func scoreText(score float64) string { return strconv.FormatFloat(score, 'f', -1, 64) }

// ownLocks makes sure that the keys are locks of the queue.
func ownLocks(queue string, keys []string) error {
	for _, key := range keys {
		if !isLockOf(key, queue) {
			return fmt.Errorf("%.100q is no uniqueness lock of queue %.100q", key, queue)
		}
	}
	return nil
}

// Restore is an archived task as it was before it was deleted: what there is to
// put back.
type Restore struct {
	Ref
	Fields map[string][]byte // the whole hash, with the state archived
	Score  float64           // in the archive: seconds since 1970
	// Lock is the lock that the task held, "" for none, and LockUntil when it
	// runs out by Redis's clock, to the millisecond; zero: never.
	Lock      string
	LockUntil time.Time
}

// Restore is the task, as it was read at now by Redis's clock. Its lock is only
// part of it if the task held it.
func (r Raw) Restore(now time.Time) Restore {
	image := Restore{Ref: r.Ref, Fields: r.Fields, Score: r.Place.Score}
	if r.Lock.Held && r.Lock.Owner == r.ID && isLockOf(r.Lock.Key, r.Queue) {
		image.Lock = r.Lock.Key
		if r.Lock.TTL > 0 {
			image.LockUntil = now.Add(r.Lock.TTL)
		}
	}
	return image
}

// Restore puts a deleted task back into the archive: every field of its hash and
// its score, byte for byte (the order that Redis keeps fields in is its own), and
// its lock for the time that is left. Where that has
// run out, or another task holds the lock by now, the task is restored without it
// and Change.Note says so.
//
// It refuses if anything has the task's ID again. asynq trims the archive whenever
// it archives a task: an image older than 90 days, or among more than 9,999, is
// deleted then.
//
// The queue is registered first, by a command of its own as asynq's producers do
// (rdb.go: Enqueue): in a cluster the set of queues is in another slot. A queue
// that was removed meanwhile is therefore known again even if the task is then
// refused.
func (c *Client) Restore(ctx context.Context, image Restore) (Change, error) {
	op := fmt.Sprintf("restoring task %.100q of queue %.100q", image.ID, image.Queue)
	locks, err := image.locks()
	if err != nil {
		return Change{}, fmt.Errorf("%s: %w", op, err)
	}
	if err := c.redis.SAdd(ctx, keyQueues, image.Queue).Err(); err != nil {
		return Change{}, changeFault(c.fault(ctx, op, err))
	}
	e := Expect{Ref: image.Ref, State: StateArchived}
	return c.onLocks(ctx, "restoring", restore, e, locks, image.args()...)
}

// locks also says why the image is none.
func (r Restore) locks() ([]string, error) {
	if stateOf(string(r.Fields["state"])) != StateArchived {
		return nil, fmt.Errorf("its image says state %.100q, not archived", r.Fields["state"])
	}
	if math.IsNaN(r.Score) || r.Score == 0 {
		return nil, fmt.Errorf("its image says no score in the archive")
	}
	if r.Lock == "" {
		return nil, nil
	}
	locks := []string{r.Lock}
	return locks, ownLocks(r.Queue, locks)
}

// writtenFields are the fields of a task's hash in the order in which asynq
// writes them (rdb.go: enqueueUniqueCmd, addToGroupCmd, WriteResult).
var writtenFields = []string{"msg", "state", "pending_since", "unique_key", "group", "result"}

// args are the score, when the lock runs out, and the fields, those that asynq
// knows in front.
func (r Restore) args() []any {
	until := int64(0)
	if !r.LockUntil.IsZero() {
		until = max(r.LockUntil.UnixMilli(), 1) // 0 is for never
	}
	args := []any{scoreText(r.Score), until}
	for _, name := range writtenFields {
		if value, ok := r.Fields[name]; ok {
			args = append(args, name, value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Fields)) {
		if !slices.Contains(writtenFields, name) {
			args = append(args, name, r.Fields[name])
		}
	}
	return args
}

// wholeSeconds rounds up: a lock may live longer than was asked for, not shorter.
func wholeSeconds(d time.Duration) int64 {
	s := int64(d / time.Second)
	if d%time.Second > 0 {
		s++
	}
	return s
}
