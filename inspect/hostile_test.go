package inspect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// onBothPaths lists everything by either path, and hands the result to check.
func onBothPaths(t *testing.T, s *inspecttest.Server, check func(*testing.T, map[inspect.Ref]inspect.Task)) {
	t.Helper()
	c := open(t, s)
	for _, plain := range []bool{true, false} {
		t.Run(fmt.Sprintf("plain=%v", plain), func(t *testing.T) {
			check(t, list(t, c, inspect.Listing{Plain: plain}))
		})
	}
}

// asynq's own lists show a blank task for an ID without a hash and nothing at
// all for a message that cannot be decoded.
func TestListingShowsWhatTheInspectorHides(t *testing.T) {
	s := inspecttest.Start(t)
	outcomes := []inspecttest.Outcome{
		inspecttest.Pending, inspecttest.Scheduled, inspecttest.Aggregating, inspecttest.Retry, inspecttest.Archived, inspecttest.Completed,
	}
	want := make(map[inspect.Ref]inspect.Defect)
	for _, o := range outcomes {
		q := fmt.Sprintf("q%d", o)
		refs := s.Make(
			inspecttest.Spec{Outcome: o, Queue: q, ID: "dangling"}, inspecttest.Spec{Outcome: o, Queue: q, ID: "undecodable"},
			inspecttest.Spec{Outcome: o, Queue: q, ID: "empty"}, inspecttest.Spec{Outcome: o, Queue: q, ID: "sound"},
		)
		s.Dangle(refs[0])
		s.Corrupt(refs[1])
		s.SetMessage(refs[2], nil)
		want[refs[0]], want[refs[1]], want[refs[2]], want[refs[3]] = inspect.DefectDangling, inspect.DefectUndecodable, inspect.DefectUndecodable, inspect.DefectNone
	}
	onBothPaths(t, s, func(t *testing.T, tasks map[inspect.Ref]inspect.Task) {
		got := make(map[inspect.Ref]inspect.Defect)
		for ref, task := range tasks {
			got[ref] = task.Defect
			if task.State == inspect.StateUnknown || task.State != task.Listed {
				t.Errorf("task %v: state %v, listed as %v", ref, task.State, task.Listed)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("defects\n%v, want\n%v", got, want)
		}
	})
}

// A hash that the dequeuing of a hashless ID leaves behind has a state and
// nothing else; a task without a lease is never recovered.
func TestListingShowsCrashedActiveTasks(t *testing.T) {
	s := inspecttest.Start(t)
	refs := s.Make(
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "expired"}, inspecttest.Spec{Outcome: inspecttest.Pending, ID: "leaseless"},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "stateonly"},
	)
	leaseEnd := time.Now().Add(-time.Minute).Truncate(time.Second)
	for _, r := range refs {
		s.Orphan(r, leaseEnd)
	}
	s.Unlease(refs[1])
	s.Client().HDel(context.Background(), "asynq:{default}:t:stateonly", "msg", "pending_since")
	onBothPaths(t, s, func(t *testing.T, tasks map[inspect.Ref]inspect.Task) {
		now := time.Now()
		if task := tasks[refs[0]]; !task.LeaseExpiresAt.Equal(leaseEnd) || task.LeaseValid(now) || task.State != inspect.StateActive {
			t.Errorf("task with an expired lease: %+v", task)
		}
		if task := tasks[refs[1]]; !task.LeaseExpiresAt.IsZero() || task.State != inspect.StateActive {
			t.Errorf("task without a lease: %+v", task)
		}
		if task := tasks[refs[2]]; task.Defect != inspect.DefectUndecodable || task.State != inspect.StateActive {
			t.Errorf("task that is a state only: %+v", task)
		}
	})
}

func TestListingShowsBothStatesOfAMisplacedTask(t *testing.T) {
	s := inspecttest.Start(t)
	refs := s.Make(inspecttest.Spec{Outcome: inspecttest.Archived}, inspecttest.Spec{Outcome: inspecttest.Pending})
	s.SetState(refs[0], inspect.StatePending)
	s.SetState(refs[1], inspect.StateRetry)
	onBothPaths(t, s, func(t *testing.T, tasks map[inspect.Ref]inspect.Task) {
		if task := tasks[refs[0]]; task.State != inspect.StatePending || task.Listed != inspect.StateArchived {
			t.Errorf("state %v, listed as %v", task.State, task.Listed)
		}
		if task := tasks[refs[1]]; task.State != inspect.StateRetry || task.Listed != inspect.StatePending || !task.NextProcessAt.IsZero() {
			t.Errorf("state %v, listed as %v, next %v", task.State, task.Listed, task.NextProcessAt)
		}
	})
}

// A task that was moved while its list was read is shown with the times of where
// it is now.
func TestListingReadsMovedTasksAgain(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	refs := s.Make(inspecttest.Spec{Outcome: inspecttest.Archived}, inspecttest.Spec{Outcome: inspecttest.Retry})
	for _, r := range refs {
		s.Client().LPush(ctx, "asynq:{default}:pending", r.ID) // as if the list had been read before the move
	}
	c := open(t, s)
	for _, plain := range []bool{true, false} {
		tasks := list(t, c, inspect.Listing{Plain: plain, States: []inspect.State{inspect.StatePending}})
		if a := tasks[refs[0]]; a.State != inspect.StateArchived || a.ArchivedAt.IsZero() {
			t.Errorf("plain=%v: archived task %+v", plain, a)
		}
		if r := tasks[refs[1]]; r.State != inspect.StateRetry || r.NextProcessAt.IsZero() {
			t.Errorf("plain=%v: task in retry %+v", plain, r)
		}
	}
}

// The hash's unique key is the one that asynq's own deletion goes by.
func TestListingPrefersTheUniqueKeyOfTheHash(t *testing.T) {
	s := inspecttest.Start(t)
	refs := s.Fill("default", inspect.StateArchived, 1, func(_ int, m *inspecttest.Message) { m.UniqueKey = "asynq:{default}:unique:hash" })
	m := inspecttest.Message{Type: "t", ID: refs[0].ID, Queue: "default", UniqueKey: "asynq:{default}:unique:message"}
	s.SetMessage(refs[0], m.Encode())
	onBothPaths(t, s, func(t *testing.T, tasks map[inspect.Ref]inspect.Task) {
		if got := tasks[refs[0]].UniqueKey; got != "asynq:{default}:unique:hash" {
			t.Errorf("unique key %q", got)
		}
	})
}

func TestListingFindsTasksBeingAggregated(t *testing.T) {
	s := inspecttest.Start(t)
	refs := s.Make(inspecttest.Spec{Outcome: inspecttest.Aggregating}, inspecttest.Spec{Outcome: inspecttest.Aggregating})
	s.Stage("default", "g")
	s.Make(inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "later"})
	s.Client().ZAdd(context.Background(), "asynq:{default}:aggregation_sets", redis.Z{Score: 1, Member: "elsewhere"})
	onBothPaths(t, s, func(t *testing.T, tasks map[inspect.Ref]inspect.Task) {
		if len(tasks) != 3 {
			t.Errorf("%d tasks, want 3", len(tasks))
		}
		for _, r := range refs {
			if tasks[r].GroupedAt.IsZero() || tasks[r].Group != "g" {
				t.Errorf("task being aggregated: %+v", tasks[r])
			}
		}
	})
	read, err := open(t, s).Read(context.Background(), refs)
	if err != nil || read[0].GroupedAt.IsZero() {
		t.Errorf("read by ID: %+v, error %v", read, err)
	}
}

// The key decides which task it is: the message may say anything.
func TestListingTrustsTheKeyMoreThanTheMessage(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	refs := s.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "liar", Type: "lie"}, inspecttest.Spec{Outcome: inspecttest.Archived, ID: "honest", Type: "truth"})
	msg := s.Client().HGet(ctx, "asynq:{default}:t:honest", "msg").Val()
	s.SetMessage(refs[0], []byte(msg)) // now both say that they are the honest one
	onBothPaths(t, s, func(t *testing.T, tasks map[inspect.Ref]inspect.Task) {
		if len(tasks) != 2 || tasks[refs[0]].Type != "truth" || tasks[refs[0]].Ref != refs[0] || tasks[refs[1]].Type != "truth" {
			t.Errorf("tasks %+v", tasks)
		}
	})
}

func TestListingReadsLargeMessages(t *testing.T) {
	s := inspecttest.Start(t)
	var specs []inspecttest.Spec
	for i := range 40 {
		specs = append(specs, inspecttest.Spec{Outcome: inspecttest.Scheduled, Payload: bytes.Repeat([]byte{byte(i)}, 1<<20)})
	}
	refs := s.Make(specs...)
	onBothPaths(t, s, func(t *testing.T, tasks map[inspect.Ref]inspect.Task) {
		for i, r := range refs {
			if !bytes.Equal(tasks[r].Payload, specs[i].Payload) {
				t.Errorf("payload %d has %d bytes", i, len(tasks[r].Payload))
			}
		}
	})
}

// Keys that hold another type than asynq's must not end an audit of the rest.
func TestListingPassesOverKeysOfAnotherType(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	refs := s.Make(inspecttest.Spec{Outcome: inspecttest.Pending}, inspecttest.Spec{Outcome: inspecttest.Archived, ID: "string"})
	rdb := s.Client()
	rdb.Set(ctx, "asynq:{default}:retry", "no set", 0)
	rdb.Set(ctx, "asynq:{default}:groups", "no set", 0)
	rdb.Del(ctx, "asynq:{default}:t:string")
	rdb.Set(ctx, "asynq:{default}:t:string", "no hash", 0)
	onBothPaths(t, s, func(t *testing.T, tasks map[inspect.Ref]inspect.Task) {
		if len(tasks) != 2 || tasks[refs[1]].Defect != inspect.DefectDangling {
			t.Errorf("tasks %+v", tasks)
		}
	})
	if _, err := open(t, s).Queue(ctx, "default"); err != nil {
		t.Error(err)
	}
}

// Thousands of equal scores: asynq writes whole seconds.
func TestListingPagesThroughEqualScores(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	ref := s.Make(inspecttest.Spec{Outcome: inspecttest.Archived})[0]
	msg := s.Client().HGet(ctx, "asynq:{default}:t:"+ref.ID, "msg").Val()
	const n = 3500
	pipe := s.Client().Pipeline()
	for i := range n {
		id := fmt.Sprintf("same-%d", i)
		pipe.HSet(ctx, "asynq:{default}:t:"+id, "msg", msg, "state", "archived")
		pipe.ZAdd(ctx, "asynq:{default}:archived", redis.Z{Score: float64(1_700_000_000 + i/3000), Member: id})
	}
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	onBothPaths(t, s, func(t *testing.T, tasks map[inspect.Ref]inspect.Task) {
		if len(tasks) != n+1 {
			t.Errorf("%d tasks, want %d", len(tasks), n+1)
		}
	})
}

func TestReadTellsGoneTasks(t *testing.T) {
	s := inspecttest.Start(t)
	refs := s.Make(inspecttest.Spec{Outcome: inspecttest.Archived}, inspecttest.Spec{Outcome: inspecttest.Pending, ID: "ghost"})
	s.Ghost(refs[1])
	s.ResultOnly(inspect.Ref{Queue: "default", ID: "result"})
	refs = append(refs, inspect.Ref{Queue: "default", ID: "never"}, inspect.Ref{Queue: "default", ID: "result"}, inspect.Ref{Queue: "elsewhere", ID: refs[0].ID})
	tasks, err := open(t, s).Read(context.Background(), refs)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, task := range tasks {
		got = append(got, fmt.Sprint(task.State, task.Defect))
	}
	want := []string{"archived 0", "pending 0", "unknown 1", "unknown 3", "unknown 1"}
	if !slices.Equal(got, want) {
		t.Errorf("states and defects %q, want %q", got, want)
	}
	if tasks[3].ResultSize != len("late") {
		t.Errorf("result of %d bytes", tasks[3].ResultSize)
	}
}

func TestListingStopsBetweenPagesWhenCancelled(t *testing.T) {
	s := inspecttest.Start(t)
	var specs []inspecttest.Spec
	for range 30 {
		specs = append(specs, inspecttest.Spec{Outcome: inspecttest.Scheduled})
	}
	s.Make(specs...)
	c := open(t, s)
	for _, plain := range []bool{true, false} {
		ctx, cancel := context.WithCancel(context.Background())
		pages := 0
		var last error
		for _, err := range c.Pages(ctx, inspect.Listing{Plain: plain, PageSize: 5}) {
			if last = err; err == nil {
				pages++
				cancel()
			}
		}
		cancel()
		if !errors.Is(last, context.Canceled) || pages > 2 {
			t.Errorf("plain=%v: %d pages, then error %v", plain, pages, last)
		}
	}
}

func TestListingEndsWhenTheCallerLeaves(t *testing.T) {
	s := inspecttest.Start(t)
	s.Make(inspecttest.Spec{Outcome: inspecttest.Scheduled}, inspecttest.Spec{Outcome: inspecttest.Scheduled})
	c := open(t, s)
	for _, err := range c.Tasks(context.Background(), inspect.Listing{PageSize: 1, InFlight: 4}) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if got := list(t, c, inspect.Listing{}); len(got) != 2 {
		t.Errorf("a second listing shows %d tasks, want 2", len(got))
	}
}
