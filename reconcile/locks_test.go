package reconcile_test

import (
	"slices"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

func unique(ttl time.Duration, more ...asynq.Option) []asynq.Option {
	return append(more, asynq.Unique(ttl))
}

// allLocks are the codes that speak of one task and its lock.
var allLocks = []reconcile.Code{
	reconcile.CodeLockBlocks, reconcile.CodeLockExpiresEarly, reconcile.CodeLockLost, reconcile.CodeLockTaken,
	reconcile.CodeLockOrphaned, reconcile.CodeLockPhantom, reconcile.CodeLockDrift,
}

func TestAuditFindsTheLocksThatArchivedTasksKeep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "blocks", Payload: []byte("1"), Options: unique(time.Hour)},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "plain", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "ended", Payload: []byte("3"), Options: unique(time.Second)},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "kept", Payload: []byte("4"), Options: unique(time.Hour)},
	)
	settleDown()
	fs := w.find(reconcile.Options{})
	f := fs.only(t, reconcile.CodeLockBlocks, reconcile.SeverityWarning, "blocks")["blocks"]
	if f.Lock.Owner != "blocks" || f.Lock.State != reconcile.LockHeld || f.Lock.OwnerState != inspect.StateArchived {
		t.Errorf("lock %+v, want one held by blocks, which is archived", *f.Lock)
	}
	if f.Lock.Key != inspect.UniqueKey("default", "test:task", []byte("1")) {
		t.Errorf("lock key %q is not that of the content", f.Lock.Key)
	}
	if f.Status != reconcile.StatusNotApplied {
		t.Errorf("status %v, want not-applied", f.Status)
	}
	within(t, "the TTL left", f.Lock.TTL, 59*time.Minute, time.Hour)
	fs.none(t, reconcile.CodeLockLost, reconcile.CodeLockTaken, reconcile.CodeLockOrphaned, reconcile.CodeLockPhantom, reconcile.CodeLockDrift)

	w.refused(asynq.ErrDuplicateTask, "test:task", []byte("1"), asynq.Unique(time.Hour))
	for _, payload := range []string{"2", "3", "4"} {
		w.mustEnqueue("test:task", []byte(payload), asynq.Unique(time.Hour))
	}
}

// A lock that ended while its task still waits no longer guards it. Who takes it
// next owns it.
func TestAuditFindsLocksThatEndedBeforeTheirTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: "lost-retry", Payload: []byte("1"), Options: unique(time.Second)},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "rerun", Payload: []byte("2"), Options: unique(time.Second)},
		hog("default"),
		inspecttest.Spec{ID: "lost", Payload: []byte("3"), Options: unique(time.Second)},
		inspecttest.Spec{ID: "taken", Payload: []byte("4"), Options: unique(time.Second)},
		inspecttest.Spec{ID: "plain", Payload: []byte("5")},
		inspecttest.Spec{ID: "held", Payload: []byte("6"), Options: unique(time.Hour, asynq.MaxRetry(0))},
		// The lock of a scheduled task lives until after it is due.
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "scheduled", Payload: []byte("7"), Options: unique(time.Hour, asynq.MaxRetry(0))},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "lost-in-group", Payload: []byte("8"), Options: unique(time.Second)},
	)
	settleDown()
	if err := w.redis.Inspector().RunTask("default", "rerun"); err != nil {
		t.Fatal(err)
	}
	w.redis.Make(inspecttest.Spec{ID: "taker", Payload: []byte("4"), Options: unique(time.Hour, asynq.MaxRetry(0))})
	fs := w.find(reconcile.Options{})

	for id, f := range fs.only(t, reconcile.CodeLockLost, reconcile.SeverityHigh, "lost", "lost-retry", "rerun", "lost-in-group") {
		if f.Lock.State != reconcile.LockFree || f.Lock.Owner != "" || f.Lock.TTL != 0 {
			t.Errorf("lock of %s: %+v, want a free one", id, *f.Lock)
		}
	}
	f := fs.only(t, reconcile.CodeLockTaken, reconcile.SeverityHigh, "taken")["taken"]
	if f.Lock.State != reconcile.LockTaken || f.Lock.Owner != "taker" || f.Lock.OwnerState != inspect.StatePending {
		t.Errorf("lock %+v, want one that taker, which is pending, has", *f.Lock)
	}
	within(t, "the TTL left", f.Lock.TTL, 59*time.Minute, time.Hour)
	twin := fs.only(t, reconcile.CodeLockTwin, reconcile.SeverityHigh, "taken")["taken"]
	if want := []inspect.Ref{taskRef("default", "taken"), taskRef("default", "taker")}; !slices.Equal(twin.Tasks, want) || twin.TaskCount != 2 {
		t.Errorf("twins %v (%d), want %v", twin.Tasks, twin.TaskCount, want)
	}
	fs.none(t, reconcile.CodeLockExpiresEarly, reconcile.CodeLockOrphaned, reconcile.CodeLockPhantom, reconcile.CodeLockDrift)
}

// A unique task that was done gives its lock back, and the next one of its
// content has it: there is nothing to report.
func TestAuditPassesAUniqueTaskThatWasEnqueuedAgain(t *testing.T) {
	w := newWorld(t)
	again := inspecttest.Spec{
		Outcome: inspecttest.Completed, Payload: []byte("1"),
		Options: []asynq.Option{asynq.Unique(time.Hour), asynq.MaxRetry(0), asynq.Retention(0)},
	}
	w.redis.Make(again)
	w.redis.Make(again)
	again.Outcome, again.ID = inspecttest.Scheduled, "again"
	w.redis.Make(again)
	fs := w.find(reconcile.Options{})
	fs.none(t, allLocks...)
	fs.none(t, reconcile.CodeLockTwin)
	w.refused(asynq.ErrDuplicateTask, "test:task", []byte("1"), asynq.Unique(time.Hour))
}

func TestAuditFindsLocksOfTasksThatWereDeleted(t *testing.T) {
	w := newWorld(t)
	inspector := w.redis.Inspector()
	w.redis.Make(
		inspecttest.Spec{ID: "swept", Queue: "a", Type: "email:send:now", Payload: []byte("1"), Options: unique(time.Hour)},
		inspecttest.Spec{ID: "deleted", Queue: "b", Payload: []byte("2"), Options: unique(time.Hour)},
		inspecttest.Spec{ID: "waits", Queue: "b", Payload: []byte("3"), Options: unique(time.Hour)},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "grouped", Queue: "c", Payload: []byte("4"), Options: unique(time.Hour)},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "group-deleted", Queue: "c", Payload: []byte("5"), Options: unique(time.Hour)},
	)
	if _, err := inspector.DeleteAllPendingTasks("a"); err != nil {
		t.Fatal(err)
	}
	for _, r := range []inspect.Ref{taskRef("b", "deleted"), taskRef("c", "group-deleted")} {
		if err := inspector.DeleteTask(r.Queue, r.ID); err != nil {
			t.Fatal(err)
		}
	}
	fs := w.find(reconcile.Options{})
	for id, f := range fs.only(t, reconcile.CodeLockOrphaned, reconcile.SeverityWarning, "swept", "group-deleted") {
		if f.Lock.Owner != id || f.Lock.OwnerState != inspect.StateUnknown || f.Lock.State != reconcile.LockHeld {
			t.Errorf("lock %+v, want one that %s has left behind", *f.Lock, id)
		}
		within(t, "the TTL left", f.Lock.TTL, 59*time.Minute, time.Hour)
		if f.OfEffect() {
			t.Errorf("%s on %s speaks of an effect, and nobody asked for it", f.Code, id)
		}
	}
	if f := fs.of(reconcile.CodeLockOrphaned)[0]; f.Task.Queue != "a" || f.Task.Type != "email:send:now" {
		t.Errorf("the lock is said to be of %s in queue %s, want email:send:now in a", f.Task.Type, f.Task.Queue)
	}
	fs.none(t, reconcile.CodeLockPhantom, reconcile.CodeLockDrift, reconcile.CodeLockLost, reconcile.CodeLockTaken)
	w.refused(asynq.ErrDuplicateTask, "email:send:now", []byte("1"), asynq.Queue("a"), asynq.Unique(time.Hour))
	w.mustEnqueue("test:task", []byte("2"), asynq.Queue("b"), asynq.Unique(time.Hour))
}

// asynq takes the lock before it looks whether the ID is free, and does not give
// it back.
func TestAuditFindsLocksThatATaskIDConflictLeft(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{ID: "plain", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "unique", Payload: []byte("2"), Options: unique(time.Hour)},
	)
	for id, payload := range map[string]string{"plain": "10", "unique": "20"} {
		w.refused(asynq.ErrTaskIDConflict, "test:task", []byte(payload), asynq.TaskID(id), asynq.Unique(time.Hour))
	}
	w.redis.ResultOnly(taskRef("default", "gone"))
	w.refused(asynq.ErrTaskIDConflict, "test:task", []byte("30"), asynq.TaskID("gone"), asynq.Unique(time.Hour))
	fs := w.find(reconcile.Options{})
	byID := fs.only(t, reconcile.CodeLockPhantom, reconcile.SeverityWarning, "plain", "unique", "gone")
	for id, want := range map[string]struct {
		payload, detail string
		state           inspect.State
	}{
		"plain":  {"10", "it was enqueued without a lock", inspect.StatePending},
		"unique": {"20", "the lock it was enqueued with is " + inspect.UniqueKey("default", "test:task", []byte("2")), inspect.StateScheduled},
		"gone":   {"30", "a result is all that is left of it", inspect.StateUnknown},
	} {
		f := byID[id]
		if f.Lock.Key != inspect.UniqueKey("default", "test:task", []byte(want.payload)) || f.Lock.Owner != id || f.Lock.OwnerState != want.state {
			t.Errorf("lock of %s: %+v, want that of payload %s, whose owner is %s", id, *f.Lock, want.payload, want.state)
		}
		if f.Detail != want.detail {
			t.Errorf("detail of %s %q, want %q", id, f.Detail, want.detail)
		}
		within(t, "the TTL left", f.Lock.TTL, 59*time.Minute, time.Hour)
		w.refused(asynq.ErrDuplicateTask, "test:task", []byte(want.payload), asynq.Unique(time.Hour))
	}
	fs.none(t, reconcile.CodeLockOrphaned, reconcile.CodeLockDrift, reconcile.CodeLockTaken)
}

func TestAuditFindsALockWhoseTaskHasAnotherPayloadNow(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "changed", Type: "a:b", Payload: []byte("old"), Options: unique(24 * time.Hour * 30)},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "same", Type: "a:b", Payload: []byte("same"), Options: unique(24 * time.Hour * 30)},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "plain", Type: "a:b", Payload: []byte("plain")},
		// Their locks differ, and their messages do not.
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "nil", Type: "a:nil", Options: unique(24 * time.Hour * 30)},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "empty", Type: "a:empty", Payload: []byte{}, Options: unique(24 * time.Hour * 30)},
	)
	for id, payload := range map[string]string{"changed": "new", "same": "same", "plain": "other"} {
		if err := w.redis.Inspector().UpdateTaskPayload("default", id, []byte(payload)); err != nil {
			t.Fatal(err)
		}
	}
	fs := w.find(reconcile.Options{})
	f := fs.only(t, reconcile.CodeLockDrift, reconcile.SeverityWarning, "changed")["changed"]
	if f.Lock.Key != inspect.UniqueKey("default", "a:b", []byte("old")) || f.Lock.Owner != "changed" {
		t.Errorf("lock %+v, want that of the old payload", *f.Lock)
	}
	fs.none(t, reconcile.CodeLockPhantom, reconcile.CodeLockOrphaned, reconcile.CodeLockLost, reconcile.CodeLockTaken)
	w.mustEnqueue("a:b", []byte("new"), asynq.Unique(time.Hour))
	w.refused(asynq.ErrDuplicateTask, "a:b", []byte("old"), asynq.Unique(time.Hour))
}
