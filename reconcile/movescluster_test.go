package reconcile_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// In a cluster the queues of one plan lie in several slots, and so do their locks.
func TestRequeueAndResolveWorkInACluster(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	cluster := inspecttest.StartCluster(t)
	queue, err := inspect.Open(t.Context(), cluster.Options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { queue.Close() })
	w.queue = queue
	client := asynq.NewClient(cluster.AsynqOpt())
	defer client.Close()
	queues := map[string]int{"a": 1, "b": 1, "c": 1, "d": 1}
	var failed sync.WaitGroup
	for q := range queues {
		for n := range 3 {
			failed.Add(1)
			task := asynq.NewTask("t", fmt.Appendf(nil, "%s%d", q, n))
			if _, err := client.Enqueue(task, asynq.Queue(q), asynq.TaskID(fmt.Sprint(q, n)), asynq.Unique(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
	server := asynq.NewServer(cluster.AsynqOpt(), asynq.Config{Queues: queues, LogLevel: asynq.FatalLevel, TaskCheckInterval: 10 * time.Millisecond})
	if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		defer failed.Done()
		return asynq.SkipRetry
	})); err != nil {
		t.Fatal(err)
	}
	failed.Wait()
	server.Shutdown()
	for q := range queues {
		w.apply(q + "0") // of each queue one is done
	}
	settleDown()
	m := reconcile.Moves{Idle: []string{"a", "b", "c", "d"}}
	out, err := w.perform(reconcile.Options{}, w.requeue(reconcile.Options{}, m), reconcile.Application{})
	if err != nil || len(out) != 8 {
		t.Fatal(err, len(out))
	}
	done, err := w.perform(reconcile.Options{}, w.resolve(reconcile.Options{}, reconcile.Moves{}), reconcile.Application{})
	if err != nil || len(done) != 4 {
		t.Fatal(err, len(done))
	}
	for q := range queues {
		for n, want := range []inspect.State{inspect.StateUnknown, inspect.StatePending, inspect.StatePending} {
			id := fmt.Sprint(q, n)
			tasks, err := queue.Read(t.Context(), []inspect.Ref{{Queue: q, ID: id}})
			if err != nil || tasks[0].State != want {
				t.Errorf("%s: %v, %s, want %s", id, err, tasks[0].State, want)
			}
			locks, err := queue.Locks(t.Context(), []string{inspect.UniqueKey(q, "t", fmt.Appendf(nil, "%s%d", q, n))})
			if err != nil || locks[0].Held != (n > 0) {
				t.Errorf("%s: lock held: %v, %v", id, locks[0].Held, err)
			}
		}
	}
	for _, a := range out {
		if a.Outcome != journal.OutcomeDone {
			t.Errorf("%s: %s (%s)", a.Step.Ref().ID, a.Outcome, a.Found)
		}
	}
	who, err := queue.Identity(t.Context())
	if err != nil || who.Mode != "cluster" || len(who.RunIDs) < 3 {
		t.Errorf("%v: %+v", err, who)
	}
}
