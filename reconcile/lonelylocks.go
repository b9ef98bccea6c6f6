package reconcile

import (
	"context"
	"slices"
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
	case owner.Defect == inspect.DefectUndecodable:
		return LockUnclear // what its work is, and whether it is this lock's, only its message says
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
	// asked and answered are when the lock was read, by this machine's clock.
	asked, answered time.Time
}

// readOwned reads locks and their owners; those that are not held any more are
// left out.
func (r *run) readOwned(ctx context.Context, keys []inspect.Key) ([]heldLock, error) {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	asked := time.Now()
	locks, err := r.queue.Locks(ctx, names)
	if err != nil {
		return nil, err
	}
	answered := time.Now()
	var held []heldLock
	var refs []inspect.Ref
	for i, l := range locks {
		if l.Held {
			held = append(held, heldLock{key: keys[i], lock: l, asked: asked, answered: answered})
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

// lonelyLocks looks at locks for the first time, and keeps those that seem to
// have been left behind: orphaned and phantom ones. What else can be wrong with
// a lock is seen from its task.
func (r *run) lonelyLocks(ctx context.Context, keys []inspect.Key) error {
	keys = slices.DeleteFunc(keys, r.guarded)
	if len(keys) == 0 || !r.aim.tells(CodeLockOrphaned) {
		return nil
	}
	first, err := r.readOwned(ctx, keys)
	if err != nil {
		return err
	}
	for _, h := range first {
		if h.verdict == LockOrphaned || h.verdict == LockPhantom {
			r.lonely = append(r.lonely, h)
		}
	}
	if len(r.lonely) >= ghostBatch {
		return r.tellLonely(ctx)
	}
	return nil
}

// owned notes the locks that tasks hold themselves, as the listing saw it: the
// sweep need not ask for their owners again. A lock that is left behind after
// that is the next audit's.
func (r *run) owned(items []item, locks []*Lock) {
	if r.aim != aimAudit {
		return
	}
	for i, l := range locks {
		if l != nil && l.State == LockHeld && items[i].task.Defect == inspect.DefectNone {
			r.ownLocks.add(r.ownLocks.hashName(l.Key))
		}
	}
}

// guarded says whether the lock was seen in the hands of its own task.
func (r *run) guarded(k inspect.Key) bool { return r.ownLocks.has(r.ownLocks.hashName(k.Name)) }

// tellLonely looks again, after a pause, at the locks that seemed left behind,
// and tells those that still are.
func (r *run) tellLonely(ctx context.Context) error {
	suspects := r.lonely
	r.lonely = nil
	if len(suspects) == 0 {
		return nil
	}
	if err := pause(ctx); err != nil {
		return err
	}
	now, err := r.queue.Now(ctx)
	if err != nil {
		return err
	}
	keys := make([]inspect.Key, len(suspects))
	before := make(map[string]heldLock, len(suspects))
	for i, h := range suspects {
		keys[i] = h.key
		before[h.key.Name] = h
	}
	again, err := r.readOwned(ctx, keys)
	if err != nil {
		return err
	}
	for _, h := range again {
		old := before[h.key.Name]
		if h.verdict == old.verdict && h.sameAs(old) && r.firstSight(h.key) {
			r.tellLock(h, now)
		}
	}
	return nil
}

// ttlSlack is how far Redis's count of a lock's time may be off.
const ttlSlack = 5 * time.Millisecond

// sameAs says whether the lock is the one that was seen before, and not one that
// the next task of the same ID and content has taken: all the time in between
// has run off it.
func (h heldLock) sameAs(before heldLock) bool {
	if h.lock.Owner != before.lock.Owner || h.lock.TTL == 0 || before.lock.TTL == 0 {
		return h.lock == before.lock
	}
	return before.lock.TTL-h.lock.TTL >= h.asked.Sub(before.answered)-ttlSlack
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
		task = inspect.Task{Ref: inspect.Ref{Queue: h.key.Queue, ID: h.lock.Owner}, Type: h.key.Type, Defect: inspect.DefectDangling}
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
