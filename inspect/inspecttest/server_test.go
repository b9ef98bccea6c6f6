package inspecttest_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

func TestMain(m *testing.M) { inspecttest.Main(m) }

func TestStartGivesEveryTestADatabaseOfItsOwn(t *testing.T) {
	ctx := context.Background()
	a, b := inspecttest.Start(t), inspecttest.Start(t)
	if err := a.Client().Set(ctx, "k", "a", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if n := b.Client().DBSize(ctx).Val(); n != 0 {
		t.Errorf("another test's database holds %d keys", n)
	}
}

func TestStartGivesAnEmptyDatabaseAgain(t *testing.T) {
	ctx := context.Background()
	t.Run("first", func(t *testing.T) {
		inspecttest.Start(t).Client().Set(ctx, "k", "v", 0)
	})
	if n := inspecttest.Start(t).Client().DBSize(ctx).Val(); n != 0 {
		t.Errorf("database holds %d keys of an earlier test", n)
	}
}

// verdict is a test that notes how it failed.
type verdict struct {
	testing.TB
	failure string
}

func (v *verdict) Helper() {}

func (v *verdict) Fatal(args ...any) {
	v.failure = fmt.Sprint(args...)
	runtime.Goexit()
}

// Without a server there is nothing to prove: a test must fail, in one line that
// says what to install, and not be skipped.
func TestStartFailsWithoutAServer(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	v := &verdict{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		inspecttest.StartServer(v)
	}()
	<-done
	if strings.Contains(v.failure, "\n") || !strings.Contains(v.failure, "install the package redis-server") {
		t.Errorf("the test failed with %q", v.failure)
	}
}

func TestMakeLeavesEveryTaskInItsState(t *testing.T) {
	s := inspecttest.Start(t)
	specs := []inspecttest.Spec{
		{Outcome: inspecttest.Active},
		{Outcome: inspecttest.Pending},
		{Outcome: inspecttest.Scheduled},
		{Outcome: inspecttest.Aggregating},
		{Outcome: inspecttest.Retry},
		{Outcome: inspecttest.Archived},
		{Outcome: inspecttest.Completed},
	}
	want := []string{"active", "pending", "scheduled", "aggregating", "retry", "archived", "completed"}
	i := s.Inspector()
	for n, ref := range s.Make(specs...) {
		info, err := i.GetTaskInfo(ref.Queue, ref.ID)
		if err != nil || info.State.String() != want[n] {
			t.Errorf("task %d is %v, error %v; want %s", n, info, err, want[n])
		}
	}
}

// Fill writes by hand what asynq would have written: asynq has to read it.
func TestFillWritesWhatAsynqReads(t *testing.T) {
	s := inspecttest.Start(t)
	i := s.Inspector()
	for _, state := range inspect.States() {
		refs := s.Fill(state.String(), state, 3, func(n int, m *inspecttest.Message) {
			m.Headers = map[string]string{"trace": "1"}
			m.Retried, m.LastErr, m.LastFailedAt = n, "boom", 1_700_000_000
		})
		for n, ref := range refs {
			info, err := i.GetTaskInfo(ref.Queue, ref.ID)
			if err != nil || info.State.String() != state.String() || info.Retried != n || info.LastErr != "boom" || info.Headers["trace"] != "1" {
				t.Errorf("task %d in %v: %+v, error %v", n, state, info, err)
			}
		}
		if q, err := i.GetQueueInfo(state.String()); err != nil || q.Size != 3 {
			t.Errorf("queue in %v: %+v, error %v", state, q, err)
		}
	}
}
