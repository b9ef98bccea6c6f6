package inspect_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

func TestRequeueTakesTheLockAgain(t *testing.T) {
	ctx := context.Background()
	for name, w := range map[string]struct {
		have, ask time.Duration // have: -1 no lock, 0 one that never runs out
		atLeast   time.Duration
		atMost    time.Duration // 0: it never runs out
	}{
		"gone":           {have: -1, ask: 90 * time.Minute, atLeast: 89 * time.Minute, atMost: 90 * time.Minute},
		"shorter":        {have: time.Minute, ask: 90 * time.Minute, atLeast: 89 * time.Minute, atMost: 90 * time.Minute},
		"longer":         {have: 3 * time.Hour, ask: 90 * time.Minute, atLeast: 179 * time.Minute, atMost: 3 * time.Hour},
		"never runs out": {have: 0, ask: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			s := inspecttest.Start(t)
			r, lock := archived(s)
			if s.Client().Del(ctx, lock); w.have >= 0 {
				s.Client().Set(ctx, lock, r.ID, w.have)
			}
			c := open(t, s)
			done(t)(c.Requeue(ctx, raw(t, c, r).Expect(), inspect.Requeue{Relock: w.ask, HoldIfLocked: []string{lock}}))
			left := s.Client().PTTL(ctx, lock).Val()
			if s.Client().Get(ctx, lock).Val() != r.ID || w.atMost == 0 && left != -1 || w.atMost > 0 && (left < w.atLeast || left > w.atMost) {
				t.Errorf("%v left, want %v to %v", left, w.atLeast, w.atMost)
			}
			wantHolders(t, s, r, "pending")
			if err := enqueuePay(s); !errors.Is(err, asynq.ErrDuplicateTask) {
				t.Errorf("a twin is not refused: %v", err)
			}
			// The lock is the task's own: its success releases it.
			s.Serve(map[string]int{r.Queue: 1}, 1, func(context.Context, *asynq.Task) error { return nil })
			awaitState(t, s, r, "")
			if err := enqueuePay(s); err != nil {
				t.Errorf("after its success: %v", err)
			}
		})
	}
}

// enqueuePay is a producer of the same work as the task that archived makes.
func enqueuePay(s *inspecttest.Server) error {
	client := asynq.NewClient(s.AsynqOpt())
	defer client.Close()
	_, err := client.Enqueue(asynq.NewTask("pay", []byte(`{"a":1}`)), asynq.Unique(time.Hour), asynq.TaskID("twin"))
	return err
}

func TestRequeueLeavesTheLockUnlessAsked(t *testing.T) {
	ctx := context.Background()
	for _, held := range []bool{false, true} {
		s := inspecttest.Start(t)
		r, lock := archived(s)
		if !held {
			s.Client().Del(ctx, lock)
		}
		ends := s.Client().PExpireTime(ctx, lock).Val()
		c := open(t, s)
		done(t)(c.Requeue(ctx, raw(t, c, r).Expect(), inspect.Requeue{HoldIfLocked: []string{lock}}))
		if got := s.Client().PExpireTime(ctx, lock).Val(); got != ends {
			t.Errorf("the lock runs out at %v, want %v", got, ends)
		}
	}
}

func TestRequeueHoldsATaskWhoseLockIsAnothers(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r, lock := archived(s)
	s.Client().Del(ctx, lock)
	if err := enqueuePay(s); err != nil {
		t.Fatal(err)
	}
	c := open(t, s)
	e := raw(t, c, r).Expect()
	for _, o := range []inspect.Requeue{
		{Relock: time.Hour},
		{HoldIfLocked: []string{lock}},
		{Relock: time.Hour, HoldIfLocked: []string{lock}},
		{HoldIfLocked: []string{inspect.UniqueKey("default", "pay", nil), lock}},
	} {
		refuses(t, s, `belongs to "twin"`, func() (inspect.Change, error) { return c.Requeue(ctx, e, o) })
	}
	// The task's own lock is free, and that of its content is not.
	other := inspect.UniqueKey("default", "pay", []byte("moved"))
	s.Client().Rename(ctx, lock, other)
	refuses(t, s, `belongs to "twin"`, func() (inspect.Change, error) {
		return c.Requeue(ctx, e, inspect.Requeue{Relock: time.Hour, HoldIfLocked: []string{other}})
	})
	done(t)(c.Requeue(ctx, e, inspect.Requeue{})) // as was asked for
}

// Success releases the lock that the message names (rdb.go: Done), and no other.
func TestRequeueTakesNoLockThatSuccessWouldKeep(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r := s.Make(inspecttest.Spec{Outcome: inspecttest.Archived, Type: "pay"})[0]
	c := open(t, s)
	e := raw(t, c, r).Expect()
	if got, err := c.Requeue(ctx, e, inspect.Requeue{Relock: time.Hour}); err == nil {
		t.Errorf("a task without a lock takes one: %+v", got)
	}
	e.Lock = inspect.UniqueKey("default", "pay", nil)
	refuses(t, s, "message does not name", func() (inspect.Change, error) {
		return c.Requeue(ctx, e, inspect.Requeue{Relock: time.Hour})
	})
}

// archivedInGroup is a grouped unique task in the archive: its lock is in the
// message alone.
func archivedInGroup(t testing.TB, s *inspecttest.Server) (r inspect.Ref, lock string) {
	t.Helper()
	r = s.Make(inspecttest.Spec{Outcome: inspecttest.Aggregating, Type: "pay", Options: []asynq.Option{asynq.Unique(time.Hour)}})[0]
	if err := s.Inspector().ArchiveTask(r.Queue, r.ID); err != nil {
		t.Fatal(err)
	}
	return r, inspect.UniqueKey("default", "pay", nil)
}

func TestMovesKnowTheLockOfAGroupedTask(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r, lock := archivedInGroup(t, s)
	s.Client().Expire(ctx, lock, time.Minute)
	c := open(t, s)
	done(t)(c.Requeue(ctx, raw(t, c, r).Expect(), inspect.Requeue{Relock: time.Hour}))
	if left := s.Client().TTL(ctx, lock).Val(); left < 59*time.Minute {
		t.Errorf("%v left", left)
	}
	wantHolders(t, s, r, "pending")
	if err := s.Inspector().ArchiveTask(r.Queue, r.ID); err != nil {
		t.Fatal(err)
	}
	done(t)(c.Resolve(ctx, raw(t, c, r).Expect()))
	if got := s.Client().Get(ctx, lock).Val(); got != "" {
		t.Errorf("the lock still belongs to %q", got)
	}
	if err := enqueue(s, "pay", asynq.Unique(time.Hour), asynq.TaskID(r.ID)); err != nil {
		t.Errorf("ID and lock are not free: %v", err)
	}
}

func TestResolveKeepsALockThatIsNotTheTasksOwn(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r, lock := archived(s)
	s.Client().Set(ctx, lock, "another", time.Hour)
	c := open(t, s)
	done(t)(c.Resolve(ctx, raw(t, c, r).Expect()))
	if got := s.Client().Get(ctx, lock).Val(); got != "another" {
		t.Errorf("the lock belongs to %q", got)
	}
	wantHolders(t, s, r)
}
