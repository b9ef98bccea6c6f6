package reconcile_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

func TestAuditFindsHandlersThatCallDoneWorkAFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	violation := errors.New(`ERROR: duplicate key value violates unique constraint "payments_task_id_key" (SQLSTATE 23505)`)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: "retry", Payload: []byte("1"), Err: violation},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "archived", Payload: []byte("2"), Err: violation},
		// The constraint that was violated may be another table's.
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: "no-row", Payload: []byte("3"), Err: violation},
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: "other-error", Payload: []byte("4")},
		// Run again, it waits in pending with the old error.
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "rerun", Payload: []byte("5"), Err: violation},
	)
	if err := w.redis.Inspector().RunTask("default", "rerun"); err != nil {
		t.Fatal(err)
	}
	w.apply("retry", "archived", "other-error", "rerun")
	settleDown()
	for id, f := range w.find(reconcile.Options{}).only(t, reconcile.CodeRetryDuplicate, reconcile.SeverityHigh, "retry", "archived") {
		if f.Status != reconcile.StatusApplied || f.Cause != reconcile.CauseDuplicate || f.AppliedAt.IsZero() {
			t.Errorf("%s: status %s, cause %s, applied at %v; want applied, duplicate-effect and a time", id, f.Status, f.Cause, f.AppliedAt)
		}
	}
}

// fail has a real worker fail the tasks once, by its own reading of failure and
// of delays.
func (w *world) fail(config asynq.Config, kind string, ids ...string) {
	w.t.Helper()
	for _, id := range ids {
		w.mustEnqueue(kind, []byte(id), asynq.TaskID(id), asynq.Queue(kind))
	}
	var left sync.WaitGroup
	left.Add(len(ids))
	config.Queues, config.Concurrency = map[string]int{kind: 1}, 1
	stop := w.redis.ServeConfig(config, func(context.Context, *asynq.Task) error {
		defer left.Done()
		return errors.New("not now")
	})
	left.Wait()
	stop()
}

func TestAuditFindsFailuresThatDoNotCount(t *testing.T) {
	w := newWorld(t)
	hour := func(int, error, *asynq.Task) time.Duration { return time.Hour }
	w.fail(asynq.Config{IsFailure: func(error) bool { return false }, RetryDelayFunc: hour}, "uncounted", "u1", "u2")
	w.fail(asynq.Config{RetryDelayFunc: hour}, "counted", "c1")
	fs := w.find(reconcile.Options{})
	for id, f := range fs.only(t, reconcile.CodeRetryUncounted, reconcile.SeverityWarning, "u1", "u2") {
		if f.Cause != reconcile.CauseUncounted || f.Task.Retried != 0 {
			t.Errorf("%s: cause %s after %d failures, want uncounted after 0", id, f.Cause, f.Task.Retried)
		}
	}
}

func TestAuditFindsDelaysOutsideTheDeclaredPolicy(t *testing.T) {
	w := newWorld(t)
	after := func(d time.Duration) asynq.Config {
		return asynq.Config{RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return d }}
	}
	w.fail(after(time.Minute), "fixed-in", "fixed-in")
	w.fail(after(63*time.Second), "fixed-out", "fixed-out")
	w.fail(after(57*time.Second), "fixed-under", "fixed-under")
	w.fail(asynq.Config{}, "default-in", "default-in") // asynq's own function
	w.fail(after(10*time.Minute), "default-out", "default-out")
	w.fail(after(10*time.Minute), "undeclared", "undeclared")
	// The second delay of a linear policy, though only one failure is counted:
	// Redis does not say whether the last one was.
	w.fail(after(2*time.Minute), "linear-in", "linear-in")
	w.fail(after(3*time.Minute), "linear-out", "linear-out")
	rule := func(kind, policy string) reconcile.Rule {
		return reconcile.Rule{Type: kind, Class: reconcile.ClassOverwrite, Policy: reconcile.Policy{Retry: policy, Set: policy != ""}}
	}
	fs := w.find(reconcile.Options{Rules: []reconcile.Rule{
		rule("fixed-*", "fixed(60s)"), rule("default-*", "default"), rule("linear-*", "linear(base=1m, step=1m)"), rule("*", ""),
	}})
	byID := fs.only(t, reconcile.CodeRetryPolicyDrift, reconcile.SeverityWarning, "fixed-out", "fixed-under", "default-out", "linear-out")
	for id, want := range map[string]string{
		"fixed-out":  "1m (fixed(60s))",
		"linear-out": "1m to 2m (linear(base=1m, step=1m))",
		// 15 + [0, 29] s after the first failure, 16 + 2·[0, 29] s if it did not count.
		"default-out": "15s to 1m14s (default)",
	} {
		if byID[id].Detail != want {
			t.Errorf("detail of %s %q, want %q", id, byID[id].Detail, want)
		}
	}
}

func TestAuditFindsTasksThatOutlivedTheirDeadline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	later := []asynq.Option{asynq.Deadline(time.Now().Add(time.Hour))}
	refs := w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "archived", Payload: []byte("1"), Options: later},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "completed", Payload: []byte("2"), Options: later},
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: "retry", Payload: []byte("3"), Options: later},
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: "retry-ok", Payload: []byte("4"), Options: later},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "pending", Payload: []byte("6"), Options: later},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "pending-ok", Payload: []byte("7"), Options: later},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "scheduled", Payload: []byte("8"), Options: later},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "scheduled-ok", Payload: []byte("9")},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "grouped", Payload: []byte("10"), Options: later},
	)
	for _, r := range refs { // no worker would have begun a task whose deadline is past
		if !strings.HasSuffix(r.ID, "-ok") {
			w.redis.SetDeadline(r, time.Now())
		}
	}
	settleDown()
	fs := w.find(reconcile.Options{})
	for id, f := range fs.only(t, reconcile.CodeDeadlinePassed, reconcile.SeverityWarning, "retry", "pending", "scheduled") {
		if !f.Task.Deadline.Before(f.ConfirmedAt) {
			t.Errorf("deadline of %s, %v, is not before %v", id, f.Task.Deadline, f.ConfirmedAt)
		}
	}
}
