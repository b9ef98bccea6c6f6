package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/reconcile"
)

// A few tasks that are enqueued again the moment they are done, with the same
// IDs and contents: whatever is read of them at two instants may be of two
// tasks, and none of it is a fault.
func TestAuditBesideTasksThatComeBackAtOnceFindsNothing(t *testing.T) {
	w := newWorld(t)
	client := asynq.NewClient(w.redis.AsynqOpt())
	defer client.Close()
	var runs atomic.Int64
	stopServer := w.redis.ServeConfig(asynq.Config{
		Queues: map[string]int{"cycle": 1}, Concurrency: 8, TaskCheckInterval: time.Millisecond,
	}, func(context.Context, *asynq.Task) error {
		runs.Add(1)
		return nil
	})
	var done atomic.Bool
	var producers sync.WaitGroup
	defer func() {
		done.Store(true)
		producers.Wait()
	}()
	for p := range 3 {
		producers.Go(func() {
			for i := 0; !done.Load(); i++ {
				n := i%2 + 2*p
				opts := []asynq.Option{asynq.Queue("cycle"), asynq.TaskID(fmt.Sprint("cycle-", n))}
				if p > 0 {
					opts = append(opts, asynq.Unique(time.Hour), asynq.MaxRetry(0))
				}
				_, err := client.Enqueue(asynq.NewTask("cycle", []byte{byte(n)}), opts...)
				if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) && !errors.Is(err, asynq.ErrDuplicateTask) {
					t.Errorf("enqueueing: %v", err)
				}
			}
		})
	}
	const least, many = 5, 500 // audits and runs that show something
	ends := time.Now().Add(busySeconds(t))
	audits := 0
	enough := func() bool { return time.Now().After(ends) && audits >= least && runs.Load() >= many }
	for end := ends.Add(2 * time.Minute); !enough() && time.Now().Before(end) && !t.Failed(); audits++ {
		w.find(reconcile.Options{Rules: natural}).none(t, wrongWhenSound...)
	}
	done.Store(true)
	producers.Wait()
	stopServer()
	t.Logf("%d audits beside %d runs", audits, runs.Load())
	if audits < least || runs.Load() < many {
		t.Errorf("%d audits beside %d runs: too few to show anything", audits, runs.Load())
	}
}
