package inspect_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// specs draws tasks of every kind that asynq's client takes.
func specs() *rapid.Generator[[]inspecttest.Spec] {
	return rapid.Custom(func(t *rapid.T) []inspecttest.Spec {
		out := make([]inspecttest.Spec, rapid.IntRange(1, 40).Draw(t, "n"))
		for i := range out {
			out[i] = spec(t, i)
		}
		return out
	})
}

func spec(t *rapid.T, i int) inspecttest.Spec {
	s := inspecttest.Spec{
		Outcome: inspecttest.Outcome(rapid.IntRange(0, int(inspecttest.Active)).Draw(t, "outcome")),
		Queue:   rapid.SampledFrom([]string{"default", "}x", "low:priority", "q{a}b", "日本\n\x1b[31m"}).Draw(t, "queue"),
		ID:      fmt.Sprintf("%s#%d", rapid.String().Draw(t, "id"), i),
		Type:    fmt.Sprintf("%s:%d", rapid.String().Draw(t, "type"), i),
		Payload: rapid.SampledFrom([][]byte{nil, {}, []byte(`{"a":1}`), {0, 255}, bytes.Repeat([]byte("x"), 3000)}).Draw(t, "payload"),
		Headers: rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).Draw(t, "headers"),
	}
	if s.Outcome == inspecttest.Retry || s.Outcome == inspecttest.Archived {
		s.Err = fmt.Errorf("%s", rapid.String().Draw(t, "error"))
	}
	s.Result = rapid.SampledFrom([][]byte{nil, {}, []byte("done")}).Draw(t, "result")
	if rapid.Bool().Draw(t, "unique") {
		s.Options = append(s.Options, asynq.Unique(time.Hour))
	}
	if rapid.Bool().Draw(t, "deadline") {
		s.Options = append(s.Options, asynq.Deadline(time.Now().Add(48*time.Hour)))
	}
	if rapid.Bool().Draw(t, "more") {
		hours := time.Duration(rapid.IntRange(1, 100).Draw(t, "hours")) * time.Hour
		s.Options = append(s.Options, asynq.Timeout(hours), asynq.Retention(hours), asynq.MaxRetry(rapid.IntRange(1, 1000).Draw(t, "retry")))
	}
	switch s.Outcome {
	case inspecttest.Aggregating:
		s.Options = append(s.Options, asynq.Group(rapid.SampledFrom([]string{"g", "g:h", " "}).Draw(t, "group")+"x"))
	case inspecttest.Scheduled: // with a group it is scheduled all the same
		if rapid.Bool().Draw(t, "grouped") {
			s.Options = append(s.Options, asynq.Group("later"))
		}
	}
	return s
}

// TestBothPathsShowWhatTheInspectorShows holds the plain path, the path through
// the Inspector, and reading by ID equal to each other and to the Inspector.
func TestBothPathsShowWhatTheInspectorShows(t *testing.T) {
	for seed := range 25 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := inspecttest.Start(t)
			refs := s.Make(specs().Example(seed)...)
			c := open(t, s)
			plain := list(t, c, inspect.Listing{Plain: true, PageSize: 7})
			scripted := list(t, c, inspect.Listing{PageSize: 7})
			shown := inspectorTasks(t, s.Inspector())
			if len(plain) != len(refs) || len(scripted) != len(refs) || len(shown) != len(refs) {
				t.Fatalf("made %d tasks; plain shows %d, scripted %d, the Inspector %d", len(refs), len(plain), len(scripted), len(shown))
			}
			read, err := c.Read(context.Background(), refs)
			if err != nil {
				t.Fatal(err)
			}
			for i, ref := range refs {
				samePaths(t, plain[ref], scripted[ref], read[i])
				sameInfo(t, plain[ref], shown[ref])
			}
		})
	}
}

// samePaths compares but for what a path cannot know: the Inspector hides the
// message, and reading by ID finds a task without a list.
func samePaths(t *testing.T, plain, scripted, read inspect.Task) {
	t.Helper()
	if plain.Digest != read.Digest || plain.Digest == [16]byte{} {
		t.Errorf("task %q: digests %x and %x", plain.ID, plain.Digest, read.Digest)
	}
	if read.Listed != inspect.StateUnknown {
		t.Errorf("task %q: read by ID, but listed as %v", plain.ID, read.Listed)
	}
	read.Listed, read.Digest, scripted.Digest = plain.Listed, plain.Digest, plain.Digest
	// A lease is extended every few seconds.
	if !plain.LeaseExpiresAt.IsZero() && !scripted.LeaseExpiresAt.IsZero() && !read.LeaseExpiresAt.IsZero() {
		scripted.LeaseExpiresAt, read.LeaseExpiresAt = plain.LeaseExpiresAt, plain.LeaseExpiresAt
	}
	if !reflect.DeepEqual(plain, scripted) {
		t.Errorf("plain:\n%+v\nscripted:\n%+v", plain, scripted)
	}
	if !reflect.DeepEqual(plain, read) {
		t.Errorf("plain:\n%+v\nread by ID:\n%+v", plain, read)
	}
}

func sameInfo(t *testing.T, got inspect.Task, info *asynq.TaskInfo) {
	t.Helper()
	want := inspect.Task{
		Ref: inspect.Ref{Queue: info.Queue, ID: info.ID}, Type: info.Type, Payload: info.Payload, Headers: info.Headers,
		Retried: info.Retried, MaxRetry: info.MaxRetry, LastErr: info.LastErr, LastFailedAt: info.LastFailedAt,
		Timeout: info.Timeout, Deadline: info.Deadline, Retention: info.Retention, CompletedAt: info.CompletedAt,
		Group: info.Group, ResultSize: len(info.Result),
	}
	if info.State == asynq.TaskStateScheduled || info.State == asynq.TaskStateRetry {
		want.NextProcessAt = info.NextProcessAt
	}
	if got.State.String() != info.State.String() {
		t.Errorf("task %q: state %v, the Inspector says %v", got.ID, got.State, info.State)
	}
	// What the Inspector does not show is not compared.
	want.State, want.Listed, want.Digest, want.UniqueKey = got.State, got.Listed, got.Digest, got.UniqueKey
	want.ArchivedAt, want.ExpiresAt, want.GroupedAt = got.ArchivedAt, got.ExpiresAt, got.GroupedAt
	want.PendingSince, want.LeaseExpiresAt = got.PendingSince, got.LeaseExpiresAt
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got:\n%+v\nthe Inspector:\n%+v", got, want)
	}
}

// inspectorTasks lists everything by asynq's own means.
func inspectorTasks(t *testing.T, i *asynq.Inspector) map[inspect.Ref]*asynq.TaskInfo {
	t.Helper()
	all := make(map[inspect.Ref]*asynq.TaskInfo)
	add := func(infos []*asynq.TaskInfo, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			all[inspect.Ref{Queue: info.Queue, ID: info.ID}] = info
		}
	}
	queues, err := i.Queues()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queues {
		for _, f := range []func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error){
			i.ListActiveTasks, i.ListPendingTasks, i.ListScheduledTasks, i.ListRetryTasks, i.ListArchivedTasks, i.ListCompletedTasks,
		} {
			add(f(q, asynq.PageSize(0)))
		}
		groups, err := i.Groups(q)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			add(i.ListAggregatingTasks(q, g.Group, asynq.PageSize(0)))
		}
	}
	return all
}

// TestUniqueKeyIsTheOneThatAsynqTook compares with the keys that are in Redis.
func TestUniqueKeyIsTheOneThatAsynqTook(t *testing.T) {
	s := inspecttest.Start(t)
	unique := []asynq.Option{asynq.Unique(time.Hour)}
	refs := s.Make(
		inspecttest.Spec{Outcome: inspecttest.Pending, Payload: []byte("a"), Options: unique},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, Payload: []byte("b"), Options: unique},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, Payload: []byte("c"), Options: unique},
		inspecttest.Spec{Outcome: inspecttest.Retry, Payload: []byte("d"), Options: unique},
		inspecttest.Spec{Outcome: inspecttest.Archived, Type: "a:b:c", Payload: []byte{}, Options: unique},
		inspecttest.Spec{Outcome: inspecttest.Active, Payload: nil, Options: unique},
	)
	c := open(t, s)
	for _, plain := range []bool{true, false} {
		tasks := list(t, c, inspect.Listing{Plain: plain})
		keys := make(map[string]string)
		for _, ref := range refs {
			keys[tasks[ref].UniqueKey] = ref.ID
		}
		held := heldLocks(t, s)
		if !maps.Equal(keys, held) {
			t.Errorf("plain=%v: unique keys by owner are\n%v\nRedis holds\n%v", plain, keys, held)
		}
	}
}

// A grouped task's unique key is in its message alone, which the Inspector hides;
// run by hand, the task is pending and still grouped.
func TestUniqueKeyOfAGroupedTaskComesFromItsMessage(t *testing.T) {
	s := inspecttest.Start(t)
	ref := s.Make(inspecttest.Spec{Outcome: inspecttest.Aggregating, Payload: []byte("c"), Options: []asynq.Option{asynq.Unique(time.Hour)}})[0]
	if err := s.Inspector().RunTask(ref.Queue, ref.ID); err != nil {
		t.Fatal(err)
	}
	onBothPaths(t, s, func(t *testing.T, tasks map[inspect.Ref]inspect.Task) {
		task := tasks[ref]
		if task.State != inspect.StatePending || task.Group != "g" || task.UniqueKey != inspect.UniqueKey("default", "test:task", []byte("c")) {
			t.Errorf("task %+v", task)
		}
	})
}

func heldLocks(t *testing.T, s *inspecttest.Server) map[string]string {
	t.Helper()
	ctx := context.Background()
	held := make(map[string]string)
	for _, key := range s.Client().Keys(ctx, "asynq:*:unique:*").Val() {
		held[key] = s.Client().Get(ctx, key).Val()
	}
	return held
}
