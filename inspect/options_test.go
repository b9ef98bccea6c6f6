package inspect_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2" //nolint:depguard // what the demonstration runs on has to be readable
	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

func TestListingGoesUpstreamFirstAcrossQueues(t *testing.T) {
	s := inspecttest.Start(t)
	for _, q := range []string{"a", "b"} {
		s.Make(
			inspecttest.Spec{Queue: q, Outcome: inspecttest.Archived}, inspecttest.Spec{Queue: q, Outcome: inspecttest.Completed},
			inspecttest.Spec{Queue: q, Outcome: inspecttest.Retry}, inspecttest.Spec{Queue: q, Outcome: inspecttest.Active},
			inspecttest.Spec{Queue: q, Outcome: inspecttest.Scheduled}, inspecttest.Spec{Queue: q, Outcome: inspecttest.Pending},
			inspecttest.Spec{Queue: q, Outcome: inspecttest.Aggregating},
		)
	}
	c := open(t, s)
	var want []inspect.State
	for _, state := range []inspect.State{
		inspect.StateAggregating, inspect.StateScheduled, inspect.StateRetry, inspect.StatePending,
		inspect.StateActive, inspect.StateCompleted, inspect.StateArchived,
	} {
		want = append(want, state, state)
	}
	for _, plain := range []bool{true, false} {
		var got, looks []inspect.State
		l := inspect.Listing{Plain: plain, Passes: 1, OnPage: func(p inspect.Page) { looks = append(looks, p.State) }}
		for task, err := range c.Tasks(context.Background(), l) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, task.State)
		}
		if !slices.Equal(got, want) {
			t.Errorf("plain=%v: order %v, want %v", plain, got, want)
		}
		// What was active and failed meanwhile is in retry.
		again := slices.Insert(slices.Clone(want), 10, inspect.StateRetry, inspect.StateRetry)
		if !slices.Equal(looks, again) {
			t.Errorf("plain=%v: looked at %v, want %v", plain, looks, again)
		}
	}
}

func TestListingShowsNewestArchivedFirst(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	refs := s.Make(inspecttest.Spec{Outcome: inspecttest.Archived}, inspecttest.Spec{Outcome: inspecttest.Archived}, inspecttest.Spec{Outcome: inspecttest.Archived})
	for i, r := range refs {
		s.Client().ZIncrBy(ctx, "asynq:{default}:archived", float64(-100*i), r.ID)
	}
	var got []inspect.Ref
	for task, err := range open(t, s).Tasks(ctx, inspect.Listing{Plain: true, PageSize: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, task.Ref)
	}
	if !slices.Equal(got, refs) {
		t.Errorf("order %v, want %v", got, refs)
	}
}

func TestListingKeepsToStatesAndQueues(t *testing.T) {
	s := inspecttest.Start(t)
	everyState(s)
	s.Make(inspecttest.Spec{Outcome: inspecttest.Retry, Queue: "other"}, inspecttest.Spec{Outcome: inspecttest.Archived, Queue: "other"})
	c := open(t, s)
	got := list(t, c, inspect.Listing{Queues: []string{"other"}, States: []inspect.State{inspect.StateRetry}})
	if len(got) != 1 {
		t.Errorf("tasks %v, want the one in retry of queue other", got)
	}
	if got := list(t, c, inspect.Listing{Queues: []string{}}); len(got) != 0 {
		t.Errorf("no queues were asked for and %d tasks listed", len(got))
	}
}

// The caller's index says what has been seen, so that a second listing shows
// only what is new.
func TestListingShowsOnlyWhatTheIndexHasNotSeen(t *testing.T) {
	s := inspecttest.Start(t)
	refs := s.Make(inspecttest.Spec{Outcome: inspecttest.Archived}, inspecttest.Spec{Outcome: inspecttest.Archived})
	c := open(t, s)
	l := inspect.Listing{Plain: true, Index: inspect.NewIndex()}
	if got := list(t, c, l); len(got) != 2 {
		t.Fatalf("%d tasks, want 2", len(got))
	}
	s.Make(inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "new"})
	if err := s.Inspector().RunTask("default", refs[0].ID); err != nil {
		t.Fatal(err)
	}
	got := list(t, c, l)
	if len(got) != 2 || got[refs[0]].State != inspect.StatePending || got[inspect.Ref{Queue: "default", ID: "new"}].State != inspect.StateScheduled {
		t.Errorf("tasks %v, want the one that moved and the new one", got)
	}
}

func TestListingAsksBeforeItFetches(t *testing.T) {
	s := inspecttest.Start(t)
	refs := s.Make(inspecttest.Spec{Outcome: inspecttest.Archived}, inspecttest.Spec{Outcome: inspecttest.Archived})
	asked := make(map[inspect.Ref]inspect.State)
	got := list(t, open(t, s), inspect.Listing{Plain: true, Passes: 1, Want: func(r inspect.Ref, state inspect.State) bool {
		asked[r] = state
		return r == refs[1]
	}})
	if len(got) != 1 || got[refs[1]].State != inspect.StateArchived || asked[refs[0]] != inspect.StateArchived {
		t.Errorf("tasks %v, asked for %v", got, asked)
	}
}

func TestListingEndsAfterAPassWithoutNews(t *testing.T) {
	s := inspecttest.Start(t)
	everyState(s)
	c := open(t, s)
	for passes, want := range map[int]int{0: 2, 1: 1, 9: 2} {
		last := 0
		read := make(map[int]int)
		list(t, c, inspect.Listing{Passes: passes, OnPage: func(p inspect.Page) {
			last = p.Pass
			read[p.Pass] += p.Tasks
			if p.Card != 1 || p.IDs > p.Card || p.Queue != "default" || p.State == inspect.StateUnknown {
				t.Errorf("page %+v", p)
			}
		}})
		if last != want || read[1] != 7 || read[2] != 0 {
			t.Errorf("passes=%d: %d passes with %v tasks, want %d", passes, last, read, want)
		}
	}
}

// The demonstration runs on miniredis, which is asked for no more than it knows.
func TestListingReadsMiniredis(t *testing.T) {
	mr := miniredis.RunT(t)
	client := asynq.NewClient(asynq.RedisClientOpt{Addr: mr.Addr()})
	defer client.Close()
	rounded := time.Unix(1_900_000_000, 0) // a score that its scripts print as 1.9e+09
	for _, o := range []asynq.Option{asynq.ProcessAt(rounded), asynq.Group("g"), asynq.MaxRetry(1), asynq.Unique(time.Hour)} {
		if _, err := client.Enqueue(asynq.NewTask("test:task", []byte(o.String())), o); err != nil {
			t.Fatal(err)
		}
	}
	c := openWith(t, inspect.Options{URI: mr.Addr()})
	readAll(t, c)
	mustList(t, c, 4)
	facts, err := c.Redis(context.Background())
	if err != nil || facts.MaxmemoryPolicy != "" || facts.Mode != "standalone" {
		t.Errorf("facts %+v, error %v", facts, err)
	}
}
