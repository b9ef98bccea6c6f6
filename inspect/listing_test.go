package inspect_test

import (
	"context"
	"testing"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// everyState makes one task in each state and returns them by state.
func everyState(s *inspecttest.Server) map[inspect.State]inspect.Ref {
	refs := s.Make(
		inspecttest.Spec{Outcome: inspecttest.Active},
		inspecttest.Spec{Outcome: inspecttest.Pending},
		inspecttest.Spec{Outcome: inspecttest.Aggregating},
		inspecttest.Spec{Outcome: inspecttest.Scheduled},
		inspecttest.Spec{Outcome: inspecttest.Retry},
		inspecttest.Spec{Outcome: inspecttest.Archived},
		inspecttest.Spec{Outcome: inspecttest.Completed},
	)
	byState := make(map[inspect.State]inspect.Ref)
	for i, state := range inspect.States() {
		byState[state] = refs[i]
	}
	return byState
}

func TestTasksYieldsEveryState(t *testing.T) {
	s := inspecttest.Start(t)
	want := everyState(s)
	c := open(t, s)
	for _, plain := range []bool{true, false} {
		got := list(t, c, inspect.Listing{Plain: plain})
		if len(got) != len(want) {
			t.Errorf("plain=%v: %d tasks, want %d", plain, len(got), len(want))
		}
		for state, ref := range want {
			if got[ref].State != state {
				t.Errorf("plain=%v: task in state %v is listed as %v", plain, state, got[ref].State)
			}
		}
	}
}

func TestTasksRefusesUnknownQueue(t *testing.T) {
	c := open(t, inspecttest.Start(t))
	for _, err := range c.Tasks(context.Background(), inspect.Listing{Queues: []string{"nope"}}) {
		t.Log(err)
		return
	}
	t.Error("the listing of an unknown queue ended without an error")
}
