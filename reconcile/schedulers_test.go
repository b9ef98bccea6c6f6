package reconcile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/reconcile"
)

func TestAuditFindsPeriodicEntriesOfTwoSchedulers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	low := []asynq.Option{asynq.Queue("low"), asynq.MaxRetry(3)}
	w.schedule(
		entry{"@every 24h", "report:build", "1", low},
		entry{"@every 24h", "report:other-spec", "1", low},
		entry{"@every 24h", "report:other-payload", "1", low},
		entry{"@every 24h", "report:other-options", "1", low},
	)
	stop := w.schedule(
		// Options in another order are the same options.
		entry{"@every 24h", "report:build", "1", []asynq.Option{low[1], low[0]}},
		entry{"@every 25h", "report:other-spec", "1", low},
		entry{"@every 24h", "report:other-payload", "2", low},
		entry{"@every 24h", "report:other-options", "1", low[:1]},
	)
	fs := w.find(reconcile.Options{})
	got := fs.of(reconcile.CodeSchedulerDuplicate)
	if len(got) != 1 {
		t.Fatalf("%d findings, want 1: %v", len(got), got)
	}
	f := got[0]
	if f.Severity != reconcile.SeverityHigh || f.Task.Type != "report:build" || string(f.Task.Payload) != "1" || f.Key != "@every 24h" {
		t.Errorf("%s on %s with payload %q at %q; want high on report:build, 1, @every 24h", f.Severity, f.Task.Type, f.Task.Payload, f.Key)
	}
	if f.TaskCount != 2 || len(f.Queues) != 1 || f.Queues[0] != "low" {
		t.Errorf("%d entries in %v, want 2 in low", f.TaskCount, f.Queues)
	}
	all, err := w.queue.Schedules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Type == "report:build" && !strings.Contains(f.Detail, s.Scheduler) {
			t.Errorf("detail %q does not name %s", f.Detail, s.Scheduler)
		}
	}

	t.Run("not once one of them has ended", func(t *testing.T) {
		stop()
		w.find(reconcile.Options{}).none(t, reconcile.CodeSchedulerDuplicate)
	})
}

// A scheduler that died leaves its entries until they expire by its own last
// word; from then on they are nobody's.
func TestAuditLeavesOutEntriesOfASchedulerThatExpired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := entry{"@every 24h", "report:build", "", nil}
	stop := w.schedule(e)
	c, ctx := w.redis.Client(), context.Background()
	keys := c.ZRange(ctx, "asynq:schedulers", 0, -1).Val()
	if len(keys) != 1 {
		t.Fatalf("schedulers %v, want one", keys)
	}
	entries := c.Dump(ctx, keys[0]).Val()
	stop() // takes its entries with it, which a death does not
	if err := c.Restore(ctx, keys[0], 0, entries).Err(); err != nil {
		t.Fatal(err)
	}
	expire := func(at time.Time) {
		if err := c.ZAdd(ctx, "asynq:schedulers", redis.Z{Score: float64(at.Unix()), Member: keys[0]}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	expire(time.Now().Add(time.Minute))
	w.schedule(e)
	if n := len(w.find(reconcile.Options{}).of(reconcile.CodeSchedulerDuplicate)); n != 1 {
		t.Fatalf("%d findings before it expires, want 1", n)
	}
	expire(time.Now().Add(-time.Second))
	w.find(reconcile.Options{}).none(t, reconcile.CodeSchedulerDuplicate)
}

func TestAuditFindsAnEntryThatOneSchedulerRegisteredTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.schedule(
		entry{"*/5 * * * *", "sync:run", "", nil}, entry{"*/5 * * * *", "sync:run", "", nil},
		entry{"*/5 * * * *", "sync:run", "", []asynq.Option{asynq.Queue("other")}},
	)
	fs := w.find(reconcile.Options{})
	got := fs.of(reconcile.CodeSchedulerDuplicate)
	if len(got) != 1 || got[0].TaskCount != 2 || !strings.HasSuffix(got[0].Detail, "(2 times)") {
		t.Fatalf("findings %+v, want one of 2 entries that says (2 times)", got)
	}
	if got[0].Queues[0] != "default" {
		t.Errorf("queues %v, want default, where asynq puts it", got[0].Queues)
	}
}
