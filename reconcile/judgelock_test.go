package reconcile_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

// brief are the options of a task that lives a minute at most, once it is
// taken: one attempt.
func brief(more ...asynq.Option) []asynq.Option {
	return append(more, asynq.MaxRetry(0), asynq.Timeout(time.Minute))
}

// once are those of a task with one retry: two attempts of a minute, asynq's
// longest first delay, 44 s, and five for the forwarder.
func once(more ...asynq.Option) []asynq.Option {
	return append(more, asynq.MaxRetry(1), asynq.Timeout(time.Minute))
}

const (
	briefLife = time.Minute
	onceLife  = (60 + 44 + 5 + 60) * time.Second
)

// The queue is served and waits are declared to be none, so that the longest
// life of each task is a sum that can be done by hand.
func TestAuditFindsLocksThatEndBeforeTheirTasksCan(t *testing.T) {
	w := newWorld(t)
	const spare = 30 * time.Second // what this test may take, and more
	began := time.Now()
	w.redis.Make(
		inspecttest.Spec{
			Outcome: inspecttest.Active, ID: "running", Type: "test:hog", Payload: []byte("hog"),
			Options: brief(asynq.Unique(briefLife - time.Second)),
		},
		inspecttest.Spec{ID: "brief", Payload: []byte("1"), Options: brief(asynq.Unique(briefLife))},
		inspecttest.Spec{ID: "brief-ok", Payload: []byte("2"), Options: brief(asynq.Unique(briefLife + spare))},
		inspecttest.Spec{ID: "once", Payload: []byte("3"), Options: once(asynq.Unique(onceLife))},
		inspecttest.Spec{ID: "once-ok", Payload: []byte("4"), Options: once(asynq.Unique(onceLife + spare))},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "due", Payload: []byte("5"), Options: brief(asynq.ProcessIn(100*time.Second), asynq.Unique(briefLife))},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "due-ok", Payload: []byte("6"), Options: brief(asynq.ProcessIn(100*time.Second), asynq.Unique(briefLife+2*spare))},
		inspecttest.Spec{ID: "plain", Payload: []byte("7"), Options: brief()},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "grouped", Payload: []byte("8"), Options: brief(asynq.Unique(50 * time.Second))},
		// An attempt cannot run past its deadline.
		inspecttest.Spec{ID: "deadline-ok", Payload: []byte("9"), Options: brief(asynq.Deadline(time.Now().Add(45*time.Second)), asynq.Unique(55*time.Second))},
	)
	fs := w.find(reconcile.Options{})
	slack := time.Since(began) + 2*time.Second // whole seconds
	byID := fs.only(t, reconcile.CodeLockExpiresEarly, reconcile.SeverityWarning, "running", "brief", "once", "due")
	for id, want := range map[string]struct{ low, high, ttl time.Duration }{
		"running": {briefLife, briefLife, briefLife},
		"brief":   {briefLife, briefLife, briefLife},
		"once":    {onceLife, onceLife, onceLife},
		"due":     {(100+5+60)*time.Second - slack, (100 + 5 + 60) * time.Second, (100+60)*time.Second - time.Second},
	} {
		f := byID[id]
		within(t, "what "+id+" needs", f.Lock.Needed, want.low, want.high)
		within(t, "the TTL left of "+id, f.Lock.TTL, want.ttl-slack, want.ttl)
		if f.Lock.Owner != id || f.Lock.OwnerState != f.Task.State {
			t.Errorf("lock of %s: %+v, want its own", id, *f.Lock)
		}
	}
}

// What nobody can bound is not said to outlive its lock.
func TestAuditSaysNothingOfALockWhoseTaskHasNoBound(t *testing.T) {
	w := newWorld(t)
	began := time.Now()
	w.redis.Make(hog("halted"), inspecttest.Spec{ID: "a", Queue: "halted", Payload: []byte("1"), Options: brief(asynq.Unique(55 * time.Second))},
		inspecttest.Spec{ID: "b", Queue: "halted", Payload: []byte("2"), Options: brief(asynq.Unique(45 * time.Second))},
		inspecttest.Spec{ID: "plain", Queue: "halted", Payload: []byte("3")},
	)
	w.redis.Make(inspecttest.Spec{ID: "c", Queue: "nobody", Payload: []byte("1"), Options: brief(asynq.Unique(45 * time.Second))})
	w.redis.Make(hog("served"), inspecttest.Spec{ID: "d", Queue: "served", Payload: []byte("1"), Options: brief(asynq.Unique(45 * time.Second))})
	if err := w.redis.Inspector().PauseQueue("halted"); err != nil {
		t.Fatal(err)
	}
	fs := w.find(reconcile.Options{})
	fs.only(t, reconcile.CodeLockExpiresEarly, reconcile.SeverityWarning, "d")
	f := fs.only(t, reconcile.CodeLockTicking, reconcile.SeverityWarning, "b")["b"]
	if f.TaskCount != 2 || f.Task.Queue != "halted" {
		t.Errorf("%d locks tick in %s, want 2 in halted", f.TaskCount, f.Task.Queue)
	}
	if f.Lock.Owner != "b" || f.Lock.OwnerState != inspect.StatePending {
		t.Errorf("lock %+v, want b's, which ends first", *f.Lock)
	}
	within(t, "the TTL left", f.Lock.TTL, 45*time.Second-time.Since(began), 45*time.Second)

	t.Run("nor ticks where the queue goes on", func(t *testing.T) {
		if err := w.redis.Inspector().UnpauseQueue("halted"); err != nil {
			t.Fatal(err)
		}
		fs := w.find(reconcile.Options{})
		fs.none(t, reconcile.CodeLockTicking)
		fs.only(t, reconcile.CodeLockExpiresEarly, reconcile.SeverityWarning, "a", "b", "d")
	})
}

// A paused queue whose waiting tasks have no locks, or whose locks are gone, has
// nothing that ticks.
func TestAuditHearsNoTickingWithoutLocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "archived", Payload: []byte("1"), Options: unique(time.Hour)},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "completed", Payload: []byte("2"), Options: unique(time.Hour)},
		inspecttest.Spec{Outcome: inspecttest.Active, ID: "active", Payload: []byte("3"), Options: unique(time.Hour)},
		inspecttest.Spec{ID: "plain", Payload: []byte("4")},
		inspecttest.Spec{ID: "lost", Payload: []byte("5"), Options: unique(time.Second)},
	)
	settleDown()
	if err := w.redis.Inspector().PauseQueue("default"); err != nil {
		t.Fatal(err)
	}
	fs := w.find(reconcile.Options{})
	fs.none(t, reconcile.CodeLockTicking)
	fs.only(t, reconcile.CodeLockLost, reconcile.SeverityHigh, "lost")
}

// Delays that were declared are believed. asynq's own are only assumed: a task
// that waits otherwise shows that they are not in use.
func TestAuditBelievesDeclaredDelaysAndDoubtsAssumedOnes(t *testing.T) {
	w := newWorld(t)
	retries := func(id, kind string, ttl time.Duration) inspecttest.Spec {
		return inspecttest.Spec{
			Outcome: inspecttest.Retry, ID: id, Type: kind, Payload: []byte(id), // fails, and waits an hour
			Options: []asynq.Option{asynq.MaxRetry(2), asynq.Timeout(time.Minute), asynq.Unique(ttl)},
		}
	}
	const life = (3600 + 5 + 60 + 3600 + 5 + 60) * time.Second
	w.redis.Make(
		retries("declared", "declared:a", life-time.Minute),
		retries("declared-ok", "declared:b", life+time.Minute),
		retries("assumed", "assumed:a", time.Hour/2),
		hog("default"),
	)
	fs := w.find(reconcile.Options{Rules: []reconcile.Rule{
		{Type: "declared:*", Class: reconcile.ClassOverwrite, Policy: reconcile.Policy{Retry: "fixed(1h)", Set: true}},
		{Class: reconcile.ClassOverwrite},
	}})
	f := fs.only(t, reconcile.CodeLockExpiresEarly, reconcile.SeverityWarning, "declared")["declared"]
	within(t, "what it needs", f.Lock.Needed, life-time.Minute, life)
}

// An operator who says how long a queue makes its tasks wait has them wait that
// long before each attempt.
func TestAuditAddsTheDeclaredQueueWait(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(hog("default"))
	for i, ttl := range []time.Duration{briefLife + 100*time.Second, briefLife + 3*time.Minute} {
		w.redis.Make(inspecttest.Spec{ID: fmt.Sprint("t", i), Payload: []byte{byte(i)}, Options: brief(asynq.Unique(ttl))})
	}
	fs := w.find(reconcile.Options{Rules: []reconcile.Rule{
		{Class: reconcile.ClassOverwrite, Policy: reconcile.Policy{QueueWait: 2 * time.Minute, Set: true}},
	}})
	f := fs.only(t, reconcile.CodeLockExpiresEarly, reconcile.SeverityWarning, "t0")["t0"]
	if f.Lock.Needed != briefLife+2*time.Minute {
		t.Errorf("it needs %v, want %v", f.Lock.Needed, briefLife+2*time.Minute)
	}
}
