package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// TestListingMissesNoTaskOfAMovingQueue lists while real workers drain the
// queue: every task that never vanishes has to be yielded at least once, in
// whatever state.
func TestListingMissesNoTaskOfAMovingQueue(t *testing.T) {
	const rounds = 2
	for _, plain := range []bool{true, false} {
		for round := range rounds {
			t.Run(fmt.Sprintf("plain=%v/%d", plain, round), func(t *testing.T) {
				t.Parallel()
				s := inspecttest.Start(t)
				refs := enqueueMoving(t, s, 2000)
				o := s.Options()
				o.Rate = 4000 // the queue is to move between pages
				c := openWith(t, o)
				drainSlowly(s, 500*time.Millisecond)
				seen := make(map[inspect.Ref]bool)
				moved := 0
				for task, err := range c.Tasks(context.Background(), inspect.Listing{Plain: plain, InFlight: 2, PageSize: 100}) {
					if err != nil {
						t.Fatal(err)
					}
					if seen[task.Ref] {
						moved++
					}
					if task.Defect != inspect.DefectNone {
						t.Errorf("task %v has defect %v", task.Ref, task.Defect)
					}
					seen[task.Ref] = true
				}
				missed := 0
				for _, ref := range refs {
					if !seen[ref] {
						missed++
					}
				}
				if missed > 0 {
					t.Errorf("missed %d of %d tasks; %d were seen again elsewhere", missed, len(refs), moved)
				}
				t.Logf("%d seen again elsewhere", moved)
			})
		}
	}
}

// Tasks that end are deleted: between the reading of an ID and of its hash most
// of what a busy queue loses is done, not broken.
func TestListingTakesNoEndedTaskForBroken(t *testing.T) {
	for _, plain := range []bool{true, false} {
		t.Run(fmt.Sprintf("plain=%v", plain), func(t *testing.T) {
			s := inspecttest.Start(t)
			s.Fill("default", inspect.StatePending, 20_000, nil)
			c := open(t, s)
			ended := make(chan struct{}, 20_000)
			s.Serve(map[string]int{"default": 1}, 8, func(context.Context, *asynq.Task) error {
				ended <- struct{}{}
				return nil
			})
			<-ended
			for len(ended) < 4000 {
				for task, err := range c.Tasks(context.Background(), inspect.Listing{Plain: plain, Passes: 1}) {
					if err != nil {
						t.Fatal(err)
					}
					if task.Defect != inspect.DefectNone {
						t.Fatalf("task %v has defect %v", task.Ref, task.Defect)
					}
				}
			}
		})
	}
}

// enqueueMoving enqueues tasks that are retained: most are pending, a third
// falls due within the next two seconds.
func enqueueMoving(t *testing.T, s *inspecttest.Server, n int) []inspect.Ref {
	t.Helper()
	client := asynq.NewClient(s.AsynqOpt())
	defer client.Close()
	refs := make([]inspect.Ref, n)
	for i := range refs {
		refs[i] = inspect.Ref{Queue: "default", ID: fmt.Sprintf("task-%d", i)}
		opts := []asynq.Option{asynq.TaskID(refs[i].ID), asynq.Retention(time.Hour)}
		if i%3 == 0 {
			opts = append(opts, asynq.ProcessIn(time.Duration(1+i%2)*time.Second))
		}
		if _, err := client.Enqueue(asynq.NewTask("test:task", nil), opts...); err != nil {
			t.Fatal(err)
		}
	}
	return refs
}

// drainSlowly runs workers that fail a quarter of the tasks once, to be retried
// after the delay.
func drainSlowly(s *inspecttest.Server, delay time.Duration) {
	s.ServeConfig(asynq.Config{
		Concurrency: 8, Queues: map[string]int{"default": 1}, DelayedTaskCheckInterval: 100 * time.Millisecond,
		RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return delay },
	}, func(ctx context.Context, t *asynq.Task) error {
		retried, _ := asynq.GetRetryCount(ctx)
		id, _ := asynq.GetTaskID(ctx)
		h := fnv.New32a()
		h.Write([]byte(id))
		if retried == 0 && h.Sum32()%4 == 0 {
			return errors.New("not yet")
		}
		return nil
	})
}
