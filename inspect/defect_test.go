package inspect_test

import (
	"context"
	"testing"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// A handler that writes its result after its task was deleted makes a hash that
// blocks the ID and that the Inspector does not delete.
func TestReadTellsAResultThatCameTooLate(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	started, goOn, wrote := make(chan struct{}), make(chan struct{}), make(chan error)
	s.Serve(map[string]int{"default": 1}, 1, func(_ context.Context, task *asynq.Task) error {
		close(started)
		<-goOn
		_, err := task.ResultWriter().Write([]byte("late"))
		wrote <- err
		return nil
	})
	if err := enqueue(s, "t", asynq.TaskID("id")); err != nil {
		t.Fatal(err)
	}
	<-started
	r := inspect.Ref{Queue: "default", ID: "id"}
	s.Ghost(r) // as if the lease had run out, and another worker had done the task
	s.Dangle(r)
	close(goOn)
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	c := open(t, s)
	tasks, err := c.Read(ctx, []inspect.Ref{r})
	if err != nil || tasks[0].Defect != inspect.DefectResultOnly || tasks[0].State != inspect.StateUnknown || tasks[0].ResultSize != 4 {
		t.Errorf("%+v, error %v", tasks, err)
	}
}

func TestReadTellsAResultFromABrokenTask(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	c := open(t, s)
	for i, want := range []struct {
		fields []any
		defect inspect.Defect
		state  inspect.State
	}{
		{[]any{"result", "late"}, inspect.DefectResultOnly, inspect.StateUnknown},
		{[]any{"result", "late", "pending_since", "1"}, inspect.DefectResultOnly, inspect.StateUnknown},
		{[]any{"result", "late", "state", "retry"}, inspect.DefectUndecodable, inspect.StateRetry},
		{[]any{"result", "late", "state", ""}, inspect.DefectUndecodable, inspect.StateUnknown},
		{[]any{"result", "late", "msg", ""}, inspect.DefectUndecodable, inspect.StateUnknown},
		{[]any{"state", "active"}, inspect.DefectUndecodable, inspect.StateActive},
		{[]any{"group", "g"}, inspect.DefectUndecodable, inspect.StateUnknown},
	} {
		s.Client().Del(ctx, "asynq:{default}:t:id")
		s.Client().HSet(ctx, "asynq:{default}:t:id", want.fields...)
		tasks, err := c.Read(ctx, []inspect.Ref{{Queue: "default", ID: "id"}})
		if err != nil || tasks[0].Defect != want.defect || tasks[0].State != want.state {
			t.Errorf("%d: %+v, error %v", i, tasks, err)
		}
	}
}

// An ID in a list keeps a result-only hash from being all there is of it.
func TestListingShowsAListedResultInItsPlace(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r := s.Make(inspecttest.Spec{})[0]
	s.Client().HDel(ctx, "asynq:{default}:t:"+r.ID, "msg", "state", "pending_since")
	s.ResultOnly(r)
	onBothPaths(t, s, func(t *testing.T, tasks map[inspect.Ref]inspect.Task) {
		if got := tasks[r]; got.Defect != inspect.DefectResultOnly || got.State != inspect.StatePending || got.Listed != inspect.StatePending {
			t.Errorf("%+v", got)
		}
	})
}
