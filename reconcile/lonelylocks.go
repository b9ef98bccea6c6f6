package reconcile

import (
	"context"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// A lock that a sweep met is judged by its owner. Taking a lock and writing its
// task is one script, and so is deleting both (asynq rdb.go: enqueueUniqueCmd,
// doneUniqueCmd), so that a lock whose owner is gone, and still is when both are
// read again, has been left behind.

// judgeLock says how a held lock stands to its owner as it was read.
func judgeLock(l inspect.Lock, owner inspect.Task) LockVerdict {
	switch {
	case l.Owner == "":
		return LockForeign
	case owner.Defect == inspect.DefectDangling:
		return LockOrphaned
	case owner.Defect == inspect.DefectUndecodable && owner.UniqueKey == "":
		// Its message would have to say.
		return LockUnclear
	case owner.UniqueKey != l.Key:
		return LockPhantom
	case drifted(owner):
		return LockDrifted
	case owner.State == inspect.StateArchived:
		return LockBlocks
	}
	return LockGuards
}

// heldLock is a lock with its owner, read one after the other.
type heldLock struct {
	key     inspect.Key
	lock    inspect.Lock
	owner   inspect.Task
	verdict LockVerdict
}

// readOwned reads locks and their owners; those that are not held any more are
// left out.
func (r *run) readOwned(ctx context.Context, keys []inspect.Key) ([]heldLock, error) {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	locks, err := r.queue.Locks(ctx, names)
	if err != nil {
		return nil, err
	}
	var held []heldLock
	var refs []inspect.Ref
	for i, l := range locks {
		if l.Held {
			held = append(held, heldLock{key: keys[i], lock: l})
			refs = append(refs, inspect.Ref{Queue: keys[i].Queue, ID: l.Owner})
		}
	}
	owners, err := r.queue.Read(ctx, refs)
	if err != nil {
		return nil, err
	}
	for i := range held {
		held[i].owner = owners[i]
		held[i].verdict = judgeLock(held[i].lock, owners[i])
	}
	return held, nil
}

// lonelyLocks tells which of the locks were left behind: orphaned and phantom
// ones, after a second look. What else can be wrong with a lock is seen from its
// task.
func (r *run) lonelyLocks(ctx context.Context, keys []inspect.Key) error {
	if len(keys) == 0 || !r.aim.tells(CodeLockOrphaned) {
		return nil
	}
	first, err := r.readOwned(ctx, keys)
	if err != nil {
		return err
	}
	var suspects []inspect.Key
	before := map[string]heldLock{}
	for _, h := range first {
		if h.verdict == LockOrphaned || h.verdict == LockPhantom {
			suspects = append(suspects, h.key)
			before[h.key.Name] = h
		}
	}
	if len(suspects) == 0 {
		return nil
	}
	now, err := r.queue.Now(ctx)
	if err != nil {
		return err
	}
	again, err := r.readOwned(ctx, suspects)
	if err != nil {
		return err
	}
	for _, h := range again {
		old := before[h.key.Name]
		if h.verdict == old.verdict && h.lock.Owner == old.lock.Owner && r.firstSight(h.key) {
			r.tellLock(h, now)
		}
	}
	return nil
}

// firstSight says whether a lock is reported for the first time: SCAN may show a
// key twice.
func (r *run) firstSight(k inspect.Key) bool {
	if r.toldLocks == nil {
		r.toldLocks = inspect.NewIndex()
	}
	return r.toldLocks.Note(inspect.Ref{Queue: k.Queue, ID: k.Name}, 1) == 0
}

// tellLock reports a lock that was left behind.
func (r *run) tellLock(h heldLock, now time.Time) {
	task := h.owner
	detail := ""
	code := CodeLockOrphaned
	if h.verdict == LockPhantom {
		code = CodeLockPhantom
		detail = phantomWords(h.owner)
	} else {
		task = inspect.Task{Ref: inspect.Ref{Queue: h.key.Queue, ID: h.lock.Owner}, Type: h.key.Type}
	}
	if !r.wantsType(inspect.Task{Type: h.key.Type}) {
		return
	}
	r.publish(r.match(h.key.Type, h.key.Queue), Finding{
		Code: code, Severity: code.Severity(), Task: task, Detail: detail, ConfirmedAt: now,
		Lock: &Lock{
			Key: h.key.Name, Owner: h.lock.Owner, TTL: h.lock.TTL, State: LockHeld, OwnerState: h.owner.State,
		},
	})
}

// phantomWords say which lock the owner of a phantom was enqueued with.
func phantomWords(owner inspect.Task) string {
	switch {
	case owner.Defect == inspect.DefectResultOnly:
		return "a result is all that is left of it"
	case owner.UniqueKey == "":
		return "it was enqueued without a lock"
	}
	return "the lock it was enqueued with is " + owner.UniqueKey
}
