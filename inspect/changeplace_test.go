package inspect_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// leaseless makes an active task that no recoverer will take.
func leaseless(s *inspecttest.Server, opts ...asynq.Option) inspect.Ref {
	r := s.Make(inspecttest.Spec{Options: opts})[0]
	s.Orphan(r, time.Now())
	s.Unlease(r)
	return r
}

func TestExpireLeaseHasTheRecovererTakeTheTask(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r := leaseless(s)
	c := open(t, s)
	e := raw(t, c, r).Expect()
	done(t)(c.ExpireLease(ctx, e, time.Now().Add(-31*time.Second)))
	wantHolders(t, s, r, "active", "lease")
	refuses(t, s, "has a lease that ends at", func() (inspect.Change, error) { return c.ExpireLease(ctx, e, time.Now()) })
	recovered(t, s, r)
}

// leaselessTwins are those in which a lease-less active task is no longer one,
// apart from being held by the active list.
func leaselessTwins() []twin {
	twins := hashTwins()
	for _, w := range placeTwins() {
		if w.name != "active" {
			twins = append(twins, w)
		}
	}
	return twins
}

func TestChangesOfALeaselessTaskRefuseAnyOther(t *testing.T) {
	ctx := context.Background()
	for _, w := range leaselessTwins() {
		s := inspecttest.Start(t)
		r := leaseless(s)
		c := open(t, s)
		e := raw(t, c, r).Expect()
		w.make(s, r)
		t.Run(w.name, func(t *testing.T) {
			refuses(t, s, w.found, func() (inspect.Change, error) { return c.ExpireLease(ctx, e, time.Now()) })
			refuses(t, s, w.found, func() (inspect.Change, error) { return c.CloseTask(ctx, e) })
		})
	}
	s := inspecttest.Start(t)
	r := leaseless(s)
	s.Ghost(r)
	c := open(t, s)
	e := raw(t, c, r).Expect()
	refuses(t, s, "the active list does not hold", func() (inspect.Change, error) { return c.ExpireLease(ctx, e, time.Now()) })
}

func TestCloseTaskRemovesATaskAndItsOwnLock(t *testing.T) {
	ctx := context.Background()
	unique := asynq.Unique(time.Hour)
	for name, make := range map[string]func(s *inspecttest.Server) inspect.Ref{
		"leaseless": func(s *inspecttest.Server) inspect.Ref { return leaseless(s, unique) },
		"ghost": func(s *inspecttest.Server) inspect.Ref {
			r := s.Make(inspecttest.Spec{Outcome: inspecttest.Archived, Options: []asynq.Option{unique}})[0]
			s.Ghost(r)
			return r
		},
		"grouped": func(s *inspecttest.Server) inspect.Ref { // the lock is in the message alone
			r := s.Make(inspecttest.Spec{Outcome: inspecttest.Aggregating, Options: []asynq.Option{unique}})[0]
			vanish(s, r)
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := inspecttest.Start(t)
			r := make(s)
			c := open(t, s)
			e := raw(t, c, r).Expect()
			s.Client().LPush(ctx, "asynq:{default}:active", "another")
			done(t)(c.CloseTask(ctx, e))
			if n := s.Client().Exists(ctx, "asynq:{default}:t:"+r.ID, e.Lock).Val(); n != 0 || e.Lock == "" {
				t.Errorf("of task and lock %q, %d are left", e.Lock, n)
			}
			wantHolders(t, s, r)
			wantHolders(t, s, inspect.Ref{Queue: "default", ID: "another"}, "active")
			refuses(t, s, "gone", func() (inspect.Change, error) { return c.CloseTask(ctx, e) })
		})
	}
}

func TestCloseTaskKeepsTheLockOfAnother(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r := leaseless(s, asynq.Unique(time.Hour))
	c := open(t, s)
	e := raw(t, c, r).Expect()
	s.Client().Set(ctx, e.Lock, "another", 0)
	done(t)(c.CloseTask(ctx, e))
	if got := s.Client().Get(ctx, e.Lock).Val(); got != "another" {
		t.Errorf("the lock's owner is %q", got)
	}
}

func TestCloseTaskTakesNoOtherKeyForALock(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r := leaseless(s)
	s.Client().Set(ctx, "asynq:{other}:unique:t:", r.ID, 0)
	s.Client().Set(ctx, "asynq:{default}:paused", r.ID, 0)
	c := open(t, s)
	before := s.Snapshot()
	for _, key := range []string{"asynq:{other}:unique:t:", "asynq:{default}:paused", "session", "asynq:{default}:t:" + r.ID} {
		e := raw(t, c, r).Expect()
		e.Lock = key
		if got, err := c.CloseTask(ctx, e); err == nil {
			t.Errorf("%q: %+v", key, got)
		}
	}
	wantSnapshot(t, s, before)
}

// The half state that is left when the worker's archiving breaks off: the task
// is in the archive, and its hash says that it is active.
func TestSetStateCorrectsAHash(t *testing.T) {
	ctx := context.Background()
	for _, outcome := range []inspecttest.Outcome{inspecttest.Scheduled, inspecttest.Retry, inspecttest.Archived, inspecttest.Completed} {
		s := inspecttest.Start(t)
		r := s.Make(inspecttest.Spec{Outcome: outcome})[0]
		whole := s.Snapshot()
		c := open(t, s)
		to := raw(t, c, r).State
		refuses(t, s, "the "+to.String()+" set holds", func() (inspect.Change, error) { return c.SetState(ctx, raw(t, c, r).Expect(), other(to)) })
		for _, says := range inspect.States() {
			if says == to {
				continue
			}
			s.SetState(r, says)
			e := raw(t, c, r).Expect()
			done(t)(c.SetState(ctx, e, to))
			wantSnapshot(t, s, whole)
			refuses(t, s, "in state", func() (inspect.Change, error) { return c.SetState(ctx, e, to) })
		}
	}
}

// other is a sorted set that is not the given one.
func other(s inspect.State) inspect.State {
	if s == inspect.StateRetry {
		return inspect.StateArchived
	}
	return inspect.StateRetry
}

func TestSetStateRefusesATaskThatIsElsewhere(t *testing.T) {
	ctx := context.Background()
	twins := append(hashTwins(), twinOf("out of the archive", "the archived set does not hold", "zrem", "Q:archived", "ID"))
	for _, w := range placeTwins() {
		if w.name != "archived" {
			twins = append(twins, w)
		}
	}
	for _, w := range twins {
		s := inspecttest.Start(t)
		r := s.Make(inspecttest.Spec{Outcome: inspecttest.Archived})[0]
		s.SetState(r, inspect.StateActive)
		c := open(t, s)
		e := raw(t, c, r).Expect()
		w.make(s, r)
		t.Run(w.name, func(t *testing.T) {
			refuses(t, s, w.found, func() (inspect.Change, error) { return c.SetState(ctx, e, inspect.StateArchived) })
		})
	}
}

func TestRegisterGroupShowsItToTheAggregator(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	s.Make(inspecttest.Spec{Outcome: inspecttest.Aggregating}, inspecttest.Spec{Outcome: inspecttest.Aggregating})
	whole := s.Snapshot()
	s.Unregister("default", "g")
	c := open(t, s)
	done(t)(c.RegisterGroup(ctx, "default", "g"))
	wantSnapshot(t, s, whole)
	refuses(t, s, "registered already", func() (inspect.Change, error) { return c.RegisterGroup(ctx, "default", "g") })
	refuses(t, s, "empty", func() (inspect.Change, error) { return c.RegisterGroup(ctx, "default", "none") })
	set := inspect.ParseKey(s.Stage("default", "g"), nil)
	refuses(t, s, "being aggregated", func() (inspect.Change, error) { return c.RegisterGroup(ctx, "default", set.Group) })
	refuses(t, s, "empty", func() (inspect.Change, error) { return c.RegisterGroup(ctx, "default", "g") })
	s.Client().Set(ctx, "asynq:{default}:g:x", "no set", 0)
	refuses(t, s, "another type", func() (inspect.Change, error) { return c.RegisterGroup(ctx, "default", "x") })
}

func TestDeleteResultFreesTheID(t *testing.T) {
	ctx := context.Background()
	for _, result := range []string{"late", ""} {
		s := inspecttest.Start(t)
		r := inspect.Ref{Queue: "default", ID: "id"}
		s.Client().HSet(ctx, "asynq:{default}:t:id", "result", result)
		if err := enqueue(s, "t", asynq.TaskID("id")); !errors.Is(err, asynq.ErrTaskIDConflict) {
			t.Fatalf("the hash blocks nothing: %v", err)
		}
		c := open(t, s)
		before := raw(t, c, r)
		s.Client().HSet(ctx, "asynq:{default}:t:id", "result", "later")
		refuses(t, s, "fields have changed", func() (inspect.Change, error) { return c.DeleteResult(ctx, r, before.Fingerprint()) })
		now := raw(t, c, r)
		done(t)(c.DeleteResult(ctx, r, now.Fingerprint()))
		refuses(t, s, "gone", func() (inspect.Change, error) { return c.DeleteResult(ctx, r, now.Fingerprint()) })
		if err := enqueue(s, "t", asynq.TaskID("id")); err != nil {
			t.Errorf("the ID is still blocked: %v", err)
		}
		refuses(t, s, "a task has the ID", func() (inspect.Change, error) { return c.DeleteResult(ctx, r, raw(t, c, r).Fingerprint()) })
		s.Client().HDel(ctx, "asynq:{default}:t:id", "msg", "state")
		refuses(t, s, "no result", func() (inspect.Change, error) { return c.DeleteResult(ctx, r, raw(t, c, r).Fingerprint()) })
		refuses(t, s, "gone when it was read", func() (inspect.Change, error) { return c.DeleteResult(ctx, r, "") })
	}
}

func TestDropLeaseRemovesAStaleOne(t *testing.T) {
	ctx := context.Background()
	end := time.Now().Add(-time.Hour).Truncate(time.Second)
	stale := func(t *testing.T) (*inspecttest.Server, inspect.Ref, *inspect.Client) {
		s := inspecttest.Start(t)
		r := s.Make(inspecttest.Spec{})[0]
		s.Client().ZAdd(ctx, "asynq:{default}:lease", redis.Z{Score: float64(end.Unix()), Member: r.ID}, redis.Z{Score: 1, Member: "another"})
		return s, r, open(t, s)
	}
	s, r, c := stale(t)
	refuses(t, s, "ends at", func() (inspect.Change, error) { return c.DropLease(ctx, r, end.Add(time.Second)) })
	done(t)(c.DropLease(ctx, r, end))
	wantHolders(t, s, r, "pending")
	wantHolders(t, s, inspect.Ref{Queue: "default", ID: "another"}, "lease")
	refuses(t, s, "no lease", func() (inspect.Change, error) { return c.DropLease(ctx, r, end) })
	done(t)(c.DropLease(ctx, inspect.Ref{Queue: "default", ID: "another"}, time.Unix(1, 0))) // without a hash
	for _, w := range []twin{
		twinOf("active", `in state "active"`, "hset", "KEY", "state", "active"),
		twinOf("in the active list", "the active list holds", "lpush", "Q:active", "ID"),
		twinOf("extended", "ends at", "zadd", "Q:lease", time.Now().Unix(), "ID"),
		twinOf("hash of another type", "another type", "set", "KEY", "x"),
	} {
		t.Run(w.name, func(t *testing.T) {
			s, r, c := stale(t)
			w.make(s, r)
			refuses(t, s, w.found, func() (inspect.Change, error) { return c.DropLease(ctx, r, end) })
		})
	}
}

func TestDropDanglingRemovesIDsWithoutAHash(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	c := open(t, s)
	for state, r := range ghosts(s) {
		group := ""
		if state == inspect.StateAggregating {
			group = "g"
		}
		refuses(t, s, "has a hash", func() (inspect.Change, error) { return c.DropDangling(ctx, r, state, group) })
		s.Dangle(r)
		if state == inspect.StatePending {
			s.Client().LPush(ctx, "asynq:{default}:pending", r.ID, "another", r.ID)
		}
		refuses(t, s, "no longer among", func() (inspect.Change, error) { return c.DropDangling(ctx, r, other(state), group) })
		done(t)(c.DropDangling(ctx, r, state, group))
		wantHolders(t, s, r)
		refuses(t, s, "no longer among", func() (inspect.Change, error) { return c.DropDangling(ctx, r, state, group) })
	}
	wantHolders(t, s, inspect.Ref{Queue: "default", ID: "another"}, "pending")
	if n := s.Client().SCard(ctx, "asynq:{default}:groups").Val(); n != 0 {
		t.Errorf("%d groups are registered, and empty", n)
	}
}

// A handler that fails writes the task's hash anew (rdb.go: retryCmd).
func TestDropDanglingKeepsATaskThatAWorkerMayBeRunning(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r := s.Make(inspecttest.Spec{})[0]
	s.Orphan(r, time.Now().Add(time.Minute)) // a worker that lives would write beside the test
	s.Dangle(r)
	c := open(t, s)
	refuses(t, s, "a worker may be running", func() (inspect.Change, error) { return c.DropDangling(ctx, r, inspect.StateActive, "") })
}

func TestDropDanglingKeepsAGroupThatHoldsOthers(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	refs := s.Make(inspecttest.Spec{Outcome: inspecttest.Aggregating}, inspecttest.Spec{Outcome: inspecttest.Aggregating})
	s.Dangle(refs[0])
	c := open(t, s)
	done(t)(c.DropDangling(ctx, refs[0], inspect.StateAggregating, "g"))
	wantHolders(t, s, refs[1], "g:g")
	if !s.Client().SIsMember(ctx, "asynq:{default}:groups", "g").Val() {
		t.Error("the group is no longer registered")
	}
}
