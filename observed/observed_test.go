package observed_test

import (
	"context"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/observed"
)

func TestMain(m *testing.M) { inspecttest.Main(m) }

func declaring(t testing.TB, policy string) func(observed.Kind) retry.Params {
	t.Helper()
	p := retry.DefaultParams()
	var err error
	if p.Delay, err = retry.Parse(policy); err != nil {
		t.Fatal(err)
	}
	return func(observed.Kind) retry.Params { return p }
}

func all(observed.Kind) bool { return true }

// collect reads everything there is in a Redis.
func collect(t testing.TB, s *inspecttest.Server, policy string) map[observed.Kind]*observed.Facts {
	t.Helper()
	ctx := context.Background()
	client, err := inspect.Open(ctx, s.Options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	c := observed.NewCollector(declaring(t, policy))
	for task, err := range client.Tasks(ctx, inspect.Listing{Plain: true}) {
		if err != nil {
			t.Fatal(err)
		}
		var lock *inspect.Lock
		if task.UniqueKey != "" {
			locks, err := client.Locks(ctx, []string{task.UniqueKey})
			if err != nil {
				t.Fatal(err)
			}
			lock = &locks[0]
		}
		now, err := client.Now(ctx)
		if err != nil {
			t.Fatal(err)
		}
		c.Task(task, lock, now)
	}
	now, err := client.Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	servers, err := client.Servers(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c.Servers(servers, now, all)
	schedules, err := client.Schedules(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c.Schedules(schedules, all)
	facts := map[observed.Kind]*observed.Facts{}
	for _, f := range c.Facts() {
		facts[f.Kind] = f
	}
	return facts
}

func unique(ttl time.Duration) []asynq.Option { return []asynq.Option{asynq.Unique(ttl)} }

func TestTTLAskedForIsSeenInTasksNotYetTried(t *testing.T) {
	s := inspecttest.Start(t)
	s.Make(
		inspecttest.Spec{Type: "now", Outcome: inspecttest.Pending, Payload: []byte("1"), Options: unique(2 * time.Hour)},
		inspecttest.Spec{Type: "later", Outcome: inspecttest.Scheduled, Payload: []byte("2"), Options: unique(30 * time.Minute)},
		inspecttest.Spec{Type: "failed", Queue: "other", Outcome: inspecttest.Retry, Payload: []byte("3"), Options: unique(time.Hour)},
	)
	facts := collect(t, s, "default")
	for kind, ttl := range map[observed.Kind]time.Duration{
		{Type: "now", Queue: "default"}: 2 * time.Hour, {Type: "later", Queue: "default"}: 30 * time.Minute,
	} {
		locks := facts[kind].Locks
		if locks.Asked.Count != 1 || !observed.Alike(locks.Asked.Max, ttl) || observed.Likely(locks.Asked.Max) != ttl {
			t.Errorf("%v: asked %+v, likely %v, want %v", kind, locks.Asked, observed.Likely(locks.Asked.Max), ttl)
		}
	}
	failed := facts[observed.Kind{Type: "failed", Queue: "other"}].Locks
	if failed.Asked.Count != 0 || failed.Left.Count != 1 {
		t.Errorf("a task that failed tells when it was enqueued: %+v", failed)
	}
}

// Its lock's TTL is what is left of the lock, and no guess may make it more.
func TestTaskThatOutlivesItsLockIsNamed(t *testing.T) {
	s := inspecttest.Start(t)
	refs := s.Make(
		inspecttest.Spec{Type: "short", Outcome: inspecttest.Retry, Payload: []byte("1"), Options: append(unique(10*time.Minute), asynq.MaxRetry(3))},
		inspecttest.Spec{Type: "long", Outcome: inspecttest.Retry, Payload: []byte("2"), Options: append(unique(90*24*time.Hour), asynq.MaxRetry(3))},
		inspecttest.Spec{Type: "gone", Outcome: inspecttest.Retry, Payload: []byte("3"), Options: append(unique(time.Hour), asynq.MaxRetry(3))},
	)
	s.Client().Del(t.Context(), inspect.UniqueKey("default", "gone", []byte("3")))
	facts := collect(t, s, "fixed(1h)")
	for i, want := range map[string]int{"short": 1, "long": 0, "gone": 1} {
		locks := facts[observed.Kind{Type: i, Queue: "default"}].Locks
		if locks.Unique != 1 || locks.Short != want || len(locks.First) != want {
			t.Errorf("%s: %+v, want %d", i, locks, want)
		}
	}
	first := facts[observed.Kind{Type: "short", Queue: "default"}].Locks.First[0]
	if first.Ref != refs[0] || !first.Held || first.Left > 10*time.Minute || first.Life < 3*time.Hour {
		t.Errorf("%+v", first)
	}
	if gone := facts[observed.Kind{Type: "gone", Queue: "default"}].Locks.First[0]; gone.Held || gone.Left != 0 {
		t.Errorf("a lock that is gone: %+v", gone)
	}
}

// A wrong declaration must not accuse tasks: where the delay contradicts the
// policy, nobody knows how long the task can live.
func TestContradictedPolicyJudgesNoLock(t *testing.T) {
	s := inspecttest.Start(t)
	s.Make(inspecttest.Spec{Type: "t", Outcome: inspecttest.Retry, Payload: []byte("1"), Options: unique(time.Minute)})
	f := collect(t, s, "default")[observed.Kind{Type: "t", Queue: "default"}]
	if f.Locks.Short != 0 {
		t.Errorf("%+v", f.Locks)
	}
	if seen, inside := f.Seen(); seen != 1 || inside != 0 {
		t.Errorf("%d of %d delays agree with the default, which is an hour", inside, seen)
	}
	fit, ok := f.Fit(retry.Default())
	if !ok || fit.Policy.String() != "fixed(1h)" || fit.Delays != 1 {
		t.Errorf("fit %+v, %v", fit, ok)
	}
}

func TestPeriodicEntryTellsItsOptions(t *testing.T) {
	s := inspecttest.Start(t)
	scheduler := asynq.NewScheduler(s.AsynqOpt(), &asynq.SchedulerOpts{Logger: quiet{}})
	if _, err := scheduler.Register("@every 1h", asynq.NewTask("report", nil),
		asynq.Queue("low"), asynq.Unique(2*time.Hour), asynq.MaxRetry(3), asynq.Timeout(90*time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := scheduler.Register("0 3 * * *", asynq.NewTask("bare", nil)); err != nil {
		t.Fatal(err)
	}
	if err := scheduler.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(scheduler.Shutdown)
	eventually(t, "the scheduler's entries", func() bool {
		return s.Client().ZCard(context.Background(), "asynq:schedulers").Val() > 0
	})
	facts := collect(t, s, "default")
	f := facts[observed.Kind{Type: "report", Queue: "low"}]
	if f == nil || len(f.Entries) != 1 {
		t.Fatalf("%+v", facts)
	}
	want := observed.Entry{Spec: "@every 1h", Unique: 2 * time.Hour, MaxRetry: 3, Timeout: 90 * time.Second, Interval: time.Hour}
	if f.Entries[0] != want || f.ScheduledTTL() != 2*time.Hour || f.Interval() != time.Hour {
		t.Errorf("%+v, want %+v", f.Entries[0], want)
	}
	all := f.Params(retry.DefaultParams())
	if len(all) != 1 || all[0].MaxRetry != 3 || *all[0].Timeout != 90 {
		t.Errorf("params %+v", all)
	}
	bare := facts[observed.Kind{Type: "bare", Queue: "default"}]
	if bare == nil || bare.Entries[0].MaxRetry != -1 || bare.Entries[0].Unique != 0 || bare.Interval() != 24*time.Hour {
		t.Errorf("%+v", bare)
	}
}

func TestRunsAndServersAreCounted(t *testing.T) {
	s := inspecttest.Start(t)
	s.Make(inspecttest.Spec{Type: "busy", Outcome: inspecttest.Active})
	var f *observed.Facts
	eventually(t, "the worker's record", func() bool {
		f = collect(t, s, "default")[observed.Kind{Type: "busy", Queue: "default"}]
		return f != nil && f.Runs.Count == 1
	})
	if f.Servers != 1 || f.ByState[inspect.StateActive] != 1 {
		t.Errorf("%+v", f)
	}
}

// eventually waits for what another process will have done.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come", what)
		}
	}
}

type quiet struct{}

func (quiet) Debug(...any) {}
func (quiet) Info(...any)  {}
func (quiet) Warn(...any)  {}
func (quiet) Error(...any) {}
func (quiet) Fatal(...any) {}
