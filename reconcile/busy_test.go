package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/reconcile"
)

// busySeconds is how long the busy-queue test runs; IDEMCTL_BUSY_SECONDS
// replaces it.
func busySeconds(t *testing.T) time.Duration {
	text := os.Getenv("IDEMCTL_BUSY_SECONDS")
	if text == "" {
		return 8 * time.Second
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("IDEMCTL_BUSY_SECONDS=%q: %v", text, err)
	}
	return time.Duration(n) * time.Second
}

// wrongWhenSound are the codes that nothing in a sound queue gives cause for,
// however fast it moves.
var wrongWhenSound = append([]reconcile.Code{
	reconcile.CodeLockOrphaned, reconcile.CodeLockPhantom, reconcile.CodeLockTaken, reconcile.CodeLockDrift,
	reconcile.CodeLockLost, reconcile.CodeLockTwin, reconcile.CodeLockCrossQueue,
	reconcile.CodeArchiveFull, reconcile.CodeArchiveExpiring, reconcile.CodeClockSkew,
}, allIntegrity...)

// A sound queue that never stands still: tasks of every kind are enqueued, run,
// fail, are grouped, retained and put back by restarts while audits run in a
// loop. Whatever those say of its structure or its locks is wrong.
func TestAuditBesideABusyQueueFindsNothingWrongWithItsStructure(t *testing.T) {
	w := newWorld(t)
	b := &busy{t: t, w: w, client: asynq.NewClient(w.redis.AsynqOpt()), ends: time.Now().Add(busySeconds(t))}
	defer b.client.Close()
	var audits, tasks int
	counts := map[reconcile.Code]int{}
	audit := func(wrong ...reconcile.Code) {
		var sink collector
		report, err := w.auditor(reconcile.Options{Rules: natural}).Run(t.Context(), &sink)
		if err != nil || !report.Complete {
			t.Errorf("audit %d: %v (complete %t, %v)", audits, err, report.Complete, report.Problem)
		}
		found(sink.findings).none(t, slices.Concat(wrong, wrongWhenSound)...)
		audits++
		tasks += report.Totals.Tasks
		for _, f := range sink.findings {
			counts[f.Code]++
		}
	}
	var traffic sync.WaitGroup
	defer func() {
		b.stop.Store(true)
		traffic.Wait()
	}()
	traffic.Go(b.produce)
	traffic.Go(b.serve)
	w.await("the first server's heartbeat", func() bool {
		servers, err := w.queue.Servers(t.Context())
		return err == nil && len(servers) > 0
	})
	const least, runs = 3, 1000 // audits and runs that show something
	enough := func() bool { return time.Now().After(b.ends) && audits >= least && b.runs.Load() >= runs }
	for end := b.ends.Add(2 * time.Minute); !enough() && time.Now().Before(end) && !t.Failed(); {
		audit(reconcile.CodeQueueUnserved)
	}
	b.stop.Store(true)
	traffic.Wait()
	audit() // nobody serves what is left
	t.Logf("%d audits judged %d tasks beside %d enqueues (%d refused) and %d runs; findings %v",
		audits, tasks, b.enqueued.Load(), b.refused.Load(), b.runs.Load(), counts)
	if audits < least || b.runs.Load() < runs {
		t.Errorf("%d audits beside %d runs: too few to show anything", audits, b.runs.Load())
	}
}

// busy is the traffic of the busy-queue test.
type busy struct {
	t      *testing.T
	w      *world
	client *asynq.Client
	ends   time.Time
	stop   atomic.Bool

	enqueued, refused, runs atomic.Int64
}

var busyQueues = map[string]int{"busy-a": 1, "busy-b": 1}

// produce enqueues well over a thousand tasks a second, as long as the machine
// can.
func (b *busy) produce() {
	var producers sync.WaitGroup
	for p := range 4 {
		producers.Go(func() {
			tick := time.NewTicker(2 * time.Millisecond)
			defer tick.Stop()
			for i := 0; !b.stop.Load(); i++ {
				<-tick.C
				b.enqueue(p, i)
			}
		})
	}
	producers.Wait()
}

// enqueue makes one task. No two that can live at the same time have equal
// content, and no lock runs out.
func (b *busy) enqueue(producer, i int) {
	queue := asynq.Queue([]string{"busy-a", "busy-b"}[i%2])
	content := fmt.Appendf(nil, "%d-%d", producer, i)
	lock := asynq.Unique(time.Hour)
	kind, opts := "ok", []asynq.Option{queue}
	switch i % 16 {
	case 0, 1:
		opts = append(opts, lock)
	case 2: // one content, over and over
		kind, content, opts = "hot", []byte{byte(i % 7)}, []asynq.Option{asynq.Queue("busy-a"), lock}
	case 3: // one ID and one content, over and over
		kind, content = "cycle", []byte{byte(i / 16 % 3)}
		opts = []asynq.Option{asynq.Queue("busy-b"), lock, asynq.TaskID(fmt.Sprint("cycle-", i/16%3))}
	case 4: // one ID without a lock
		kind, content = "fixed", []byte{byte(i / 16 % 3)}
		opts = []asynq.Option{asynq.Queue("busy-a"), asynq.TaskID(fmt.Sprint("fixed-", i/16%3))}
	case 5, 6:
		opts = append(opts, asynq.Group(fmt.Sprint("g", i%5)))
	case 7:
		kind, opts = "flaky", append(opts, lock, asynq.MaxRetry(50))
	case 8:
		kind, opts = "flaky", append(opts, asynq.MaxRetry(50))
	case 9:
		opts = append(opts, lock, asynq.Retention(time.Second))
	case 10:
		opts = append(opts, asynq.Retention(time.Second))
	case 11:
		opts = append(opts, asynq.ProcessIn(time.Second), lock)
	case 12:
		kind = "slow"
		if i%160 != 12 {
			kind = "ok"
		}
	case 13:
		if i%1600 == 13 {
			kind = "archived"
		}
	}
	_, err := b.client.Enqueue(asynq.NewTask(kind, content), opts...)
	switch {
	case err == nil:
		b.enqueued.Add(1)
	case errors.Is(err, asynq.ErrDuplicateTask), errors.Is(err, asynq.ErrTaskIDConflict):
		b.refused.Add(1)
	default:
		b.t.Errorf("enqueueing: %v", err)
	}
}

// serve runs workers and replaces them twice, as a deploy does: the new ones
// start before the old ones are told to end, so that the queues are served
// throughout.
func (b *busy) serve() {
	third := time.Until(b.ends) / 3
	old := b.start()
	for range 2 {
		for until := time.Now().Add(third); time.Now().Before(until) && !b.stop.Load(); {
			time.Sleep(20 * time.Millisecond)
		}
		next := b.start()
		b.await(2) // a server says in the background that it is there
		old.Shutdown()
		old = next
	}
	for !b.stop.Load() {
		time.Sleep(20 * time.Millisecond)
	}
	old.Shutdown()
}

// await waits until so many servers are known.
func (b *busy) await(servers int) {
	for !b.stop.Load() {
		known, err := b.w.queue.Servers(b.t.Context())
		if err != nil {
			b.t.Error(err)
			return
		}
		if len(known) >= servers {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (b *busy) start() *asynq.Server {
	srv := asynq.NewServer(b.w.redis.AsynqOpt(), asynq.Config{
		Concurrency: 20, Queues: busyQueues, Logger: mute{},
		TaskCheckInterval: 10 * time.Millisecond, DelayedTaskCheckInterval: 100 * time.Millisecond,
		RetryDelayFunc:  func(int, error, *asynq.Task) time.Duration { return time.Duration(rand.IntN(1500)) * time.Millisecond },
		ShutdownTimeout: 50 * time.Millisecond, JanitorInterval: time.Second,
		GroupGracePeriod: time.Second, GroupMaxSize: 10,
		GroupAggregator: asynq.GroupAggregatorFunc(func(_ string, tasks []*asynq.Task) *asynq.Task {
			return asynq.NewTask("ok", append([]byte("aggregate-"), tasks[0].Payload()...))
		}),
	})
	if err := srv.Start(asynq.HandlerFunc(b.handle)); err != nil {
		b.t.Error(err)
	}
	return srv
}

func (b *busy) handle(ctx context.Context, task *asynq.Task) error {
	b.runs.Add(1)
	switch task.Type() {
	case "flaky":
		if rand.IntN(2) == 0 {
			return errors.New("flaky upstream")
		}
	case "slow": // is put back by a restart
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	case "archived":
		return fmt.Errorf("refused: %w", asynq.SkipRetry)
	case "ok":
		if rand.IntN(4) == 0 {
			_, err := task.ResultWriter().Write([]byte("result"))
			return err
		}
	}
	return nil
}
