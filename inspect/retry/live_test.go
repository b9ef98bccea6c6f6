package retry_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/inspect/retry"
)

func TestMain(m *testing.M) { inspecttest.Main(m) }

// starts are the moments at which a task's attempts began, from its enqueue.
type starts struct {
	mu       sync.Mutex
	enqueued map[string]time.Time
	of       map[string][]time.Duration
	open     int
	done     chan struct{} // closed when no task is open
}

func (s *starts) attempt(id string, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[id] = append(s.of[id], time.Since(s.enqueued[id]))
	if last {
		if s.open--; s.open == 0 {
			close(s.done)
		}
	}
}

// TestRealAttemptsStayInTheirWindows has a real server fail tasks under short
// policies. The earliest starts are asynq's own and hold on any machine; how long
// a task may wait for a worker is a parameter, and says here how slow the machine
// may be.
func TestRealAttemptsStayInTheirWindows(t *testing.T) {
	const tasks = 40
	for _, spec := range []string{"table(1s, 2s, 3s)", "linear(step=1s)", "fixed(1s)"} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			policy, err := retry.Parse(spec)
			if err != nil {
				t.Fatal(err)
			}
			p := retry.DefaultParams()
			longest := retry.Seconds(1)
			p.MaxRetry, p.Delay, p.ForwardInterval = 3, policy, 1
			p.QueueWait, p.Exec.Max = retry.Range{Max: 15}, &longest
			windows, err := p.Attempts()
			if err != nil {
				t.Fatal(err)
			}
			for id, at := range failAll(t, p, tasks) {
				if len(at) != len(windows) {
					t.Fatalf("task %s was tried %d times, want %d", id, len(at), len(windows))
				}
				for i, began := range at {
					w := windows[i]
					if s := retry.SecondsOf(began); s < w.EarliestTruncated || s > w.Latest {
						t.Errorf("attempt %d of task %s began after %v, window is %v to %v", i+1, id, s, w.EarliestTruncated, w.Latest)
					}
				}
			}
		})
	}
}

// failAll enqueues tasks that fail every attempt, and gives the moments of their
// starts.
func failAll(t *testing.T, p retry.Params, tasks int) map[string][]time.Duration {
	t.Helper()
	server := inspecttest.StartServer(t)
	s := &starts{enqueued: map[string]time.Time{}, of: map[string][]time.Duration{}, open: tasks, done: make(chan struct{})}
	client := asynq.NewClient(server.AsynqOpt())
	t.Cleanup(func() { _ = client.Close() })
	for i := range tasks {
		id := string(rune('A'+i/10)) + string(rune('0'+i%10))
		s.mu.Lock()
		s.enqueued[id] = time.Now()
		s.mu.Unlock()
		if _, err := client.Enqueue(asynq.NewTask("t", nil), asynq.TaskID(id), asynq.MaxRetry(p.MaxRetry)); err != nil {
			t.Fatal(err)
		}
	}
	stop := server.ServeConfig(asynq.Config{
		Concurrency:              tasks,
		DelayedTaskCheckInterval: p.ForwardInterval.Duration(),
		RetryDelayFunc: func(n int, _ error, _ *asynq.Task) time.Duration {
			d, _ := p.Delay.Bounds(n)
			return d
		},
	}, func(ctx context.Context, task *asynq.Task) error {
		id, _ := asynq.GetTaskID(ctx)
		n, _ := asynq.GetRetryCount(ctx)
		s.attempt(id, n == p.MaxRetry)
		return errors.New("always")
	})
	select {
	case <-s.done:
	case <-t.Context().Done():
	case <-time.After(2 * time.Minute):
		t.Fatal("the tasks are not over")
	}
	stop()
	return s.of
}

// TestRealLocksGetTheComputedTTL asks Redis for the lock that asynq took.
func TestRealLocksGetTheComputedTTL(t *testing.T) {
	server := inspecttest.Start(t)
	client := asynq.NewClient(server.AsynqOpt())
	t.Cleanup(func() { _ = client.Close() })
	for i, c := range []struct{ ttl, in time.Duration }{
		{time.Hour, 0}, {90*time.Second + 700*time.Millisecond, 0}, {time.Hour, 30 * time.Second}, {1500 * time.Millisecond, time.Hour},
	} {
		id := string(rune('a' + i))
		opts := []asynq.Option{asynq.TaskID(id), asynq.Unique(c.ttl)}
		if c.in > 0 {
			opts = append(opts, asynq.ProcessIn(c.in))
		}
		before := time.Now()
		if _, err := client.Enqueue(asynq.NewTask("t", []byte(id)), opts...); err != nil {
			t.Fatal(err)
		}
		key := server.Client().Keys(t.Context(), "asynq:{default}:unique:t:*").Val()
		left := time.Duration(0)
		for _, k := range key {
			if server.Client().Get(t.Context(), k).Val() == id {
				left = server.Client().PTTL(t.Context(), k).Val()
			}
		}
		passed := time.Since(before)
		want, _, err := retry.LockTTL(retry.SecondsOf(c.ttl), retry.SecondsOf(c.in))
		if err != nil {
			t.Fatal(err)
		}
		// Redis has counted down since, by no more than has passed.
		if got := retry.SecondsOf(left); got > want || got < want-retry.SecondsOf(passed)-0.001 {
			t.Errorf("Unique(%v), due in %v: %v are left after %v, computed %v", c.ttl, c.in, left, passed, want)
		}
	}
	if _, err := client.Enqueue(asynq.NewTask("t", nil), asynq.Unique(900*time.Millisecond)); err == nil || err.Error() != retry.ErrUniqueTTL.Error() {
		t.Errorf("asynq says %v of a TTL below a second", err)
	}
}
