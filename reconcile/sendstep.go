package reconcile

import (
	"context"
	"fmt"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// apply sends the change.
func (s *Step) apply(ctx context.Context, q Structure) (inspect.Change, error) {
	t := s.Finding.Task
	switch s.Change {
	case journal.ChangeReleaseLock:
		because := inspect.Release{Why: inspect.OwnerAbsent}
		if s.Finding.Code == CodeLockPhantom {
			because.Why = inspect.OwnerElsewhere
			if s.expect == nil {
				return inspect.Change{Found: "its owner is gone"}, nil
			}
			because.Fingerprint = s.expect.Fingerprint
		}
		return q.ReleaseLock(ctx, s.Target, s.Finding.Lock.Owner, because)
	case journal.ChangeRegisterGroup:
		return q.RegisterGroup(ctx, t.Queue, s.Target)
	case journal.ChangeDropLease:
		return q.DropLease(ctx, t.Ref, t.LeaseExpiresAt)
	case journal.ChangeDropDangling:
		return q.DropDangling(ctx, t.Ref, t.State, t.Group)
	case journal.ChangeRestore:
		return q.Restore(ctx, *s.restore)
	}
	if s.expect == nil {
		return inspect.Change{Found: "the task is gone"}, nil
	}
	switch s.Change {
	case journal.ChangeRequeue:
		return q.Requeue(ctx, *s.expect, s.requeue)
	case journal.ChangeResolve:
		return q.Resolve(ctx, *s.expect)
	case journal.ChangePutBack:
		return q.PutBack(ctx, *s.expect, s.Score)
	case journal.ChangeArchive:
		return q.Archive(ctx, *s.expect, s.Score)
	case journal.ChangeExpireLease:
		return q.ExpireLease(ctx, *s.expect, s.Score)
	case journal.ChangeDeleteResult:
		return q.DeleteResult(ctx, t.Ref, s.expect.Fingerprint)
	case journal.ChangeSetState:
		return q.SetState(ctx, *s.expect, t.Listed)
	case journal.ChangeClose:
		return q.CloseTask(ctx, *s.expect)
	}
	return inspect.Change{}, fmt.Errorf("no such change: %q", s.Change)
}
