package inspect_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// archived makes a unique task that has failed for good, and says its lock.
func archived(s *inspecttest.Server) (r inspect.Ref, lock string) {
	r = s.Make(inspecttest.Spec{
		Outcome: inspecttest.Archived, Type: "pay", Payload: []byte(`{"a":1}`), Headers: map[string]string{"h": "v"},
		Options: []asynq.Option{asynq.Unique(time.Hour), asynq.MaxRetry(3)},
	})[0]
	return r, inspect.UniqueKey("default", "pay", []byte(`{"a":1}`))
}

// move is a change of an archived task.
type move struct {
	name string
	make func(c *inspect.Client, e inspect.Expect) (inspect.Change, error)
}

func moves() []move {
	ctx := context.Background()
	return []move{
		{"Requeue", func(c *inspect.Client, e inspect.Expect) (inspect.Change, error) {
			return c.Requeue(ctx, e, inspect.Requeue{})
		}},
		{"Resolve", func(c *inspect.Client, e inspect.Expect) (inspect.Change, error) { return c.Resolve(ctx, e) }},
	}
}

// archivedTwins are those in which the task is not as it was read.
func archivedTwins() []twin {
	twins := hashTwins()
	for _, w := range placeTwins() {
		switch w.name {
		case "archived", "pending", "active", "pending of another type": // as it is, not looked through, and one move's alone
		default:
			twins = append(twins, w)
		}
	}
	return append(twins,
		twinOf("out of the archive", "archived set does not hold", "zrem", "Q:archived", "ID"),
		twinOf("archived again", "archived again since", "zadd", "Q:archived", 1_700_000_000, "ID"),
		twinOf("its group", `its group "g" holds`, "zadd", "Q:g:g", 1, "ID"),
	)
}

func TestMovesRefuseATaskThatIsNoLongerTheOneRead(t *testing.T) {
	for _, w := range archivedTwins() {
		s := inspecttest.Start(t)
		r, _ := archived(s)
		if w.name == "its group" {
			s.Client().HSet(context.Background(), inspect.TaskKey(r), "group", "g")
		}
		c := open(t, s)
		e := raw(t, c, r).Expect()
		w.make(s, r)
		for _, m := range moves() {
			t.Run(w.name+"/"+m.name, func(t *testing.T) {
				refuses(t, s, w.found, func() (inspect.Change, error) { return m.make(c, e) })
			})
		}
	}
}

// What others do to an archived task through asynq itself.
func TestMovesRefuseATaskThatAnotherHasMoved(t *testing.T) {
	for _, other := range []struct {
		name, found string
		act         func(s *inspecttest.Server, c *inspect.Client, r inspect.Ref) error
	}{
		{"run", `in state "pending" now`, func(s *inspecttest.Server, _ *inspect.Client, r inspect.Ref) error {
			return s.Inspector().RunTask(r.Queue, r.ID)
		}},
		{"deleted", "the task is gone", func(s *inspecttest.Server, _ *inspect.Client, r inspect.Ref) error {
			return s.Inspector().DeleteTask(r.Queue, r.ID)
		}},
		{"requeued", `in state "pending" now`, func(_ *inspecttest.Server, c *inspect.Client, r inspect.Ref) error {
			_, err := c.Requeue(context.Background(), raw(t, c, r).Expect(), inspect.Requeue{})
			return err
		}},
		{"resolved", "the task is gone", func(_ *inspecttest.Server, c *inspect.Client, r inspect.Ref) error {
			_, err := c.Resolve(context.Background(), raw(t, c, r).Expect())
			return err
		}},
		{"run and failed again", "fields have changed", func(s *inspecttest.Server, _ *inspect.Client, r inspect.Ref) error {
			if err := s.Inspector().RunTask(r.Queue, r.ID); err != nil {
				return err
			}
			stop := s.Serve(map[string]int{r.Queue: 1}, 1, func(context.Context, *asynq.Task) error { return fmt.Errorf("again: %w", asynq.SkipRetry) })
			awaitState(t, s, r, "archived")
			stop() // its heartbeat would change the database between two looks
			return nil
		}},
		{"run and parked again", "archived again since", func(s *inspecttest.Server, _ *inspect.Client, r inspect.Ref) error {
			if err := s.Inspector().RunTask(r.Queue, r.ID); err != nil {
				return err
			}
			s.Client().ZAdd(context.Background(), "asynq:{default}:archived", redis.Z{Score: 1, Member: "oldest"})
			defer s.Client().ZIncrBy(context.Background(), "asynq:{default}:archived", 1, r.ID) // not of the same second
			return s.Inspector().ArchiveTask(r.Queue, r.ID)
		}},
		{"run and done", "in state \"completed\" now", func(s *inspecttest.Server, _ *inspect.Client, r inspect.Ref) error {
			s.SetState(r, inspect.StateCompleted)
			return nil
		}},
	} {
		s := inspecttest.Start(t)
		r, _ := archived(s)
		c := open(t, s)
		e := raw(t, c, r).Expect()
		if err := other.act(s, c, r); err != nil {
			t.Fatal(err)
		}
		for _, m := range moves() {
			t.Run(other.name+"/"+m.name, func(t *testing.T) {
				refuses(t, s, other.found, func() (inspect.Change, error) { return m.make(c, e) })
			})
		}
	}
}

func awaitState(t testing.TB, s *inspecttest.Server, r inspect.Ref, state string) {
	t.Helper()
	eventually(t, "the task to be "+state, func() bool {
		return s.Client().HGet(context.Background(), inspect.TaskKey(r), "state").Val() == state
	})
}

// Half a requeue would be a task that is in no place, or in two.
func TestRequeueStopsBeforeAPendingThatIsNoList(t *testing.T) {
	s := inspecttest.Start(t)
	r, lock := archived(s)
	c := open(t, s)
	e := raw(t, c, r).Expect()
	s.Client().Set(context.Background(), "asynq:{default}:pending", "x", 0)
	s.Client().Del(context.Background(), lock) // which must not be taken either
	refuses(t, s, "another type", func() (inspect.Change, error) {
		return c.Requeue(context.Background(), e, inspect.Requeue{Relock: 2 * time.Hour})
	})
	s.Client().Del(context.Background(), "asynq:{default}:pending")
	s.Client().HSet(context.Background(), lock, "x", "y")
	for _, o := range []inspect.Requeue{{Relock: time.Hour}, {HoldIfLocked: []string{lock}}} {
		refuses(t, s, "another type", func() (inspect.Change, error) { return c.Requeue(context.Background(), e, o) })
	}
	refuses(t, s, "another type", func() (inspect.Change, error) { return c.Resolve(context.Background(), e) })
}

func TestMovesRefuseATaskThatWasNotReadAsArchived(t *testing.T) {
	s := inspecttest.Start(t)
	r, _ := archived(s)
	c := open(t, s)
	e := raw(t, c, r).Expect()
	for _, m := range moves() {
		for _, state := range append(inspect.States(), inspect.StateUnknown) {
			if state != inspect.StateArchived {
				refuses(t, s, "was "+state.String()+" when it was read", func() (inspect.Change, error) {
					return m.make(c, inspect.Expect{Ref: r, State: state, Fingerprint: e.Fingerprint})
				})
			}
		}
		refuses(t, s, "gone when it was read", func() (inspect.Change, error) {
			return m.make(c, inspect.Expect{Ref: r, State: inspect.StateArchived})
		})
	}
	// A retained task that has succeeded would run again by RunTask.
	done := s.Make(inspecttest.Spec{Outcome: inspecttest.Completed})[0]
	for _, m := range moves() {
		e := raw(t, c, done).Expect()
		refuses(t, s, "was completed", func() (inspect.Change, error) { return m.make(c, e) })
		e.State = inspect.StateArchived
		refuses(t, s, `in state "completed" now`, func() (inspect.Change, error) { return m.make(c, e) })
	}
}

// Any other key's value could be the task's ID, too.
func TestMovesTakeNothingButLocksOfTheQueue(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r, _ := archived(s)
	c := open(t, s)
	e := raw(t, c, r).Expect()
	before := s.Snapshot()
	for _, key := range []string{
		"session", "asynq:{default}:t:" + r.ID, "asynq:{default}:pending", "asynq:{default}:unique:x", "asynq:queues",
		inspect.UniqueKey("other", "pay", nil), "",
	} {
		foreign := e
		foreign.Lock = key
		if got, err := c.Requeue(ctx, foreign, inspect.Requeue{Relock: time.Hour}); err == nil {
			t.Errorf("taking %q: %+v", key, got)
		}
		if got, err := c.Requeue(ctx, e, inspect.Requeue{HoldIfLocked: []string{key}}); err == nil {
			t.Errorf("looking at %q: %+v", key, got)
		}
		if key == "" {
			continue // which is no lock to release
		}
		if got, err := c.Resolve(ctx, foreign); err == nil {
			t.Errorf("releasing %q: %+v", key, got)
		}
	}
	for _, o := range []inspect.Requeue{{Relock: -time.Second}, {Message: []byte{}}, {Message: []byte("\x0a\x05t")}} {
		if got, err := c.Requeue(ctx, e, o); err == nil {
			t.Errorf("%+v: %+v", o, got)
		}
	}
	wantSnapshot(t, s, before)
}

func TestRequeueLooksThroughNoList(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.StartServer(t)
	refs := s.Fill("default", inspect.StateArchived, 2, nil)
	s.Fill("default", inspect.StatePending, 2000, nil)
	c := open(t, s)
	requeued, resolved := raw(t, c, refs[0]).Expect(), raw(t, c, refs[1]).Expect()
	s.Client().ConfigResetStat(ctx)
	done(t)(c.Requeue(ctx, requeued, inspect.Requeue{}))
	done(t)(c.Resolve(ctx, resolved))
	stats := s.Client().Info(ctx, "commandstats").Val()
	if !strings.Contains(stats, "cmdstat_lpush:calls=1,") {
		t.Errorf("scripts' commands are not counted: %s", stats)
	}
	for _, slow := range []string{"lpos", "lrange", "lrem", "linsert", "lindex"} {
		if strings.Contains(stats, "cmdstat_"+slow+":") {
			t.Errorf("%s is used, which takes as long as the list is", slow)
		}
	}
}

// A task that is requeued waits behind all others, as asynq's own does.
func TestRequeueWaitsBehindWhatIsPending(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	first := s.Fill("default", inspect.StateArchived, 3, nil)
	waiting := s.Fill("default", inspect.StatePending, 2, nil)
	c := open(t, s)
	want := []string{waiting[0].ID, waiting[1].ID}
	for _, r := range first {
		done(t)(c.Requeue(ctx, raw(t, c, r).Expect(), inspect.Requeue{}))
		want = append(want, r.ID)
	}
	var order []string
	for range want {
		order = append(order, s.Client().RPop(ctx, "asynq:{default}:pending").Val())
	}
	if !slices.Equal(order, want) {
		t.Errorf("workers take %q, want %q", order, want)
	}
}

// The whole of it, with asynq's own worker: so many attempts, and the last one is
// where the count has reached the maximum.
func TestRequeueGivesTheAttemptsAskedFor(t *testing.T) {
	ctx := context.Background()
	for _, attempts := range []int{1, 3} {
		s := inspecttest.Start(t)
		r, _ := archived(s) // by SkipRetry, with 3 retries left
		c := open(t, s)
		was := raw(t, c, r)
		msg, before, after, err := inspect.RewriteAttempts(was.Fields["msg"], attempts)
		if err != nil || before.Attempts() != 4 {
			t.Fatalf("%+v, error %v", before, err)
		}
		done(t)(c.Requeue(ctx, was.Expect(), inspect.Requeue{Message: msg}))
		info, err := s.Inspector().GetTaskInfo(r.Queue, r.ID)
		if err != nil || info.Retried != after.Retried || info.MaxRetry != after.MaxRetry || string(info.Payload) != `{"a":1}` || info.Headers["h"] != "v" {
			t.Errorf("asynq reads %+v, want %+v; error %v", info, after, err)
		}
		var ran atomic.Int64
		s.ServeConfig(asynq.Config{
			Queues: map[string]int{r.Queue: 1}, DelayedTaskCheckInterval: time.Second,
			RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return 0 },
		}, func(context.Context, *asynq.Task) error { ran.Add(1); return fmt.Errorf("no") })
		awaitState(t, s, r, "archived")
		info, err = s.Inspector().GetTaskInfo(r.Queue, r.ID)
		if err != nil || ran.Load() != int64(attempts) || info.Retried != info.MaxRetry || info.LastErr != "no" {
			t.Errorf("it ran %d times, want %d: %+v, error %v", ran.Load(), attempts, info, err)
		}
	}
}

func TestMovesNeedNoMoreThanTheirCommands(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r, lock := archived(s)
	c := open(t, s.AddUser("changer", "pw", changer))
	image := raw(t, c, r).Restore(time.Now())
	done(t)(c.Resolve(ctx, raw(t, c, r).Expect()))
	done(t)(c.Restore(ctx, image))
	s.Client().Del(ctx, lock)
	done(t)(c.Requeue(ctx, raw(t, c, r).Expect(), inspect.Requeue{Relock: time.Hour}))
}

// A user who lacks a right half-way must not lose the task.
func TestMovesHalfDoneLoseNoTask(t *testing.T) {
	s := inspecttest.Start(t)
	for i, w := range []struct {
		lacks, move string
		holders     []string
	}{
		{"+zrem", "Requeue", []string{"archived", "pending"}},
		{"+hset", "Requeue", []string{"archived", "pending"}},
		{"+lpush", "Requeue", []string{"archived"}},
		{"+zrem", "Resolve", []string{"archived"}},
		{"+del", "Resolve", nil}, // a ghost
	} {
		r := s.Fill("default", inspect.StateArchived, 1, nil)[0]
		user := fmt.Sprint("user", i)
		c := open(t, s.AddUser(user, "pw", strings.ReplaceAll(changer, w.lacks, "")))
		e := raw(t, c, r).Expect()
		for _, m := range moves() {
			if m.name != w.move {
				continue
			}
			if got, err := m.make(c, e); err == nil || got.Done || inspect.Refused(err) {
				t.Errorf("%+v, error %v, refused %v", got, err, inspect.Refused(err))
			}
		}
		wantHolders(t, s, r, w.holders...)
		if now := raw(t, c, r); string(now.Fields["msg"]) == "" {
			t.Errorf("without %s, %s lost the task", w.lacks, w.move)
		}
	}
}
