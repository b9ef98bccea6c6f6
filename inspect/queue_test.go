package inspect_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

func TestQueueCountsEveryState(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	everyState(s)
	s.Make(inspecttest.Spec{Outcome: inspecttest.Aggregating}, inspecttest.Spec{Outcome: inspecttest.Archived, Queue: "other"})
	s.Stage("default", "g") // both aggregating tasks
	c := open(t, s)
	q, err := c.Queue(ctx, "default")
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range inspect.States() {
		want := 1
		if state == inspect.StateAggregating {
			want = 2
		}
		if got := q.Count(state); got != want {
			t.Errorf("%v: counted %d, want %d", state, got, want)
		}
	}
	if q.Size() != 8 || q.Paused {
		t.Errorf("size %d, paused %v; want 8, false", q.Size(), q.Paused)
	}
	if names, err := c.Queues(ctx); err != nil || !slices.Equal(names, []string{"default", "other"}) {
		t.Errorf("queues %q, error %v", names, err)
	}
}

func TestQueueTellsPauseAndOldestPending(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	before := time.Now().Add(-time.Second)
	refs := s.Make(inspecttest.Spec{Outcome: inspecttest.Pending}, inspecttest.Spec{Outcome: inspecttest.Pending})
	if err := s.Inspector().PauseQueue("default"); err != nil {
		t.Fatal(err)
	}
	q, err := open(t, s).Queue(ctx, "default")
	if err != nil || !q.Paused || q.PausedAt.Before(before.Truncate(time.Second)) {
		t.Errorf("queue %+v, error %v; want it paused now", q, err)
	}
	since := s.Client().HGet(ctx, "asynq:{default}:t:"+refs[0].ID, "pending_since").Val()
	if q.OldestPending.Before(before) || since == "" {
		t.Errorf("oldest pending since %v; the first task says %s", q.OldestPending, since)
	}
}

// asynq's GetQueueInfo fails on an ID without a hash; counting must not.
func TestQueueCountsBesideDanglingTasks(t *testing.T) {
	s := inspecttest.Start(t)
	refs := s.Make(inspecttest.Spec{Outcome: inspecttest.Pending}, inspecttest.Spec{Outcome: inspecttest.Scheduled})
	for _, r := range refs {
		s.Dangle(r)
	}
	q, err := open(t, s).Queue(context.Background(), "default")
	if err != nil || q.Size() != 2 {
		t.Errorf("size %d, error %v; want 2", q.Size(), err)
	}
}

func TestQueueNamesTheUnknownQueue(t *testing.T) {
	_, err := open(t, inspecttest.Start(t)).Queue(context.Background(), "no\nsuch")
	if !errors.Is(err, inspect.ErrQueueNotFound) || !strings.Contains(err.Error(), `"no\nsuch"`) {
		t.Errorf("error %v", err)
	}
}

func TestLocksTellOwnerAndTimeLeft(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	rdb := s.Client()
	rdb.Set(ctx, "asynq:{q}:unique:a:1", "owner", time.Hour)
	rdb.Set(ctx, "asynq:{q}:unique:a:2", "owner", 0)
	rdb.HSet(ctx, "asynq:{q}:unique:a:3", "no", "lock")
	rdb.Set(ctx, "elsewhere", "secret", time.Hour)
	keys := []string{"asynq:{q}:unique:a:0", "asynq:{q}:unique:a:1", "asynq:{q}:unique:a:2", "asynq:{q}:unique:a:3", "elsewhere", ""}
	locks, err := open(t, s).Locks(ctx, keys)
	if err != nil || len(locks) != len(keys) {
		t.Fatalf("%d locks, error %v", len(locks), err)
	}
	if l := locks[1]; l.TTL > time.Hour || l.TTL < time.Hour-time.Minute {
		t.Errorf("time left %v, want nearly an hour", l.TTL)
	}
	locks[1].TTL = 0
	want := []inspect.Lock{
		{Key: keys[0]},
		{Key: keys[1], Held: true, Owner: "owner"},
		{Key: keys[2], Held: true, Owner: "owner"},
		{Key: keys[3], Held: true},
		{Key: keys[4]},
		{Key: keys[5]},
	}
	if !slices.Equal(locks, want) {
		t.Errorf("locks\n%+v, want\n%+v", locks, want)
	}
}

func TestLocksReadsMoreThanAPipeline(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	var keys []string
	for i := range 1203 {
		keys = append(keys, inspect.UniqueKey("q", "t", []byte{byte(i), byte(i >> 8)}))
	}
	s.Client().Set(ctx, keys[1202], "last", time.Hour)
	locks, err := open(t, s).Locks(ctx, keys)
	if err != nil || len(locks) != len(keys) || locks[1202].Owner != "last" || locks[1201].Held {
		t.Errorf("%d locks, error %v, last %+v", len(locks), err, locks[len(locks)-1])
	}
}
