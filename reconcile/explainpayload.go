package reconcile

import (
	"bytes"
	"context"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/payload"
)

// formLock reads the lock that the same work takes when it is written canonically.
// It is the one other spelling that can be asked for without reading the queue. The
// owner's state is left unknown where the owner is not that work.
func (r *run) formLock(ctx context.Context, t inspect.Task) (*Lock, error) {
	if t.UniqueKey == "" || t.Defect != inspect.DefectNone || len(t.Payload) == 0 {
		return nil, nil
	}
	form, err := payload.Canonical(t.Payload)
	if err != nil {
		return nil, nil //nolint:nilerr // a payload without a canonical form has no such lock
	}
	key := payload.UniqueKey(t.Queue, t.Type, form)
	if key == t.UniqueKey {
		return nil, nil
	}
	locks, err := r.queue.Locks(ctx, []string{key})
	if err != nil {
		return nil, err
	}
	other := t
	other.UniqueKey = key
	lock := lockOf(other, locks[0])
	if lock.State != LockTaken {
		return lock, nil
	}
	owners, err := r.queue.Read(ctx, []inspect.Ref{{Queue: t.Queue, ID: lock.Owner}})
	if err != nil {
		return nil, err
	}
	if bytes.Equal(owners[0].Payload, form) {
		lock.OwnerState = owners[0].State
	}
	return lock, nil
}
