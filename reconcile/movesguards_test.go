package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// archivedTasks makes n of them, and waits until they can be judged.
func (w *workshop) archivedTasks(n int) {
	w.t.Helper()
	var specs []inspecttest.Spec
	for i := range n {
		specs = append(specs, inspecttest.Spec{Outcome: inspecttest.Archived, ID: fmt.Sprint("t", i), Payload: fmt.Append(nil, i)})
	}
	w.redis.Make(specs...)
	settleDown()
}

// The operator said that nobody serves the queue, and never that the work is done.
func TestForceOverridesTheHoldThatWasShownAndNoOther(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.archivedTasks(1)
	o := reconcile.Options{Scope: reconcile.Scope{IDs: []string{"t0"}}}
	plan := w.requeue(o, reconcile.Moves{Force: "a worker comes in a minute"})
	s := stepOn(t, plan, "t0")
	if !s.Forced || s.Hold != "" || s.Reason != reconcile.HoldUnserved || !strings.Contains(s.Overrides, "no live server") {
		t.Fatalf("forced %v, held %q, overrides %s: %q", s.Forced, s.Hold, s.Reason, s.Overrides)
	}
	w.apply("t0")
	out, err := w.perform(o, plan, reconcile.Application{})
	if err != nil || out["t0"].Outcome != journal.OutcomeRefused || !strings.Contains(out["t0"].Found, "its work was done at") {
		t.Errorf("%v; %s (%s)", err, out["t0"].Outcome, out["t0"].Found)
	}
}

// A type without a table says nothing of its effects; accepted by its name, it runs.
func TestAcceptedTypesRunThoughNoTableSpeaksOfThem(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.archivedTasks(1)
	o := reconcile.Options{Rules: []reconcile.Rule{{Class: reconcile.ClassIncrement}}}
	holds(t, w.requeue(o, idle(reconcile.Moves{})), "t0", reconcile.HoldUnprotected, "--accept-unprotected")
	plan := w.requeue(o, idle(reconcile.Moves{Unprotected: []string{"test:task"}}))
	if s := stepOn(t, plan, "t0"); s.Hold != "" {
		t.Fatal("held:", s.Hold)
	}
	out, err := w.perform(o, plan, reconcile.Application{})
	if err != nil || out["t0"].Outcome != journal.OutcomeDone {
		t.Errorf("%v; %s (%s)", err, out["t0"].Outcome, out["t0"].Found)
	}
}

// However fast tasks may be moved, no more than a few are on their way while
// failures are counted.
func TestStopAfterFailuresBoundsWhatIsOnItsWay(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.archivedTasks(90)
	stop := w.redis.Serve(map[string]int{"default": 1}, 4, func(context.Context, *asynq.Task) error { return asynq.SkipRetry })
	defer stop()
	out, err := w.perform(reconcile.Options{}, w.requeue(reconcile.Options{}, reconcile.Moves{}), reconcile.Application{StopAfterFailures: 3})
	var stopped *reconcile.StoppedError
	if !errors.As(err, &stopped) || len(out) > 40 {
		t.Errorf("%d of 90 were moved: %v", len(out), err)
	}
	few := newWorkshop(t)
	few.archivedTasks(5)
	also := few.redis.Serve(map[string]int{"default": 1}, 4, func(context.Context, *asynq.Task) error { return asynq.SkipRetry })
	defer also()
	if _, err := few.perform(reconcile.Options{}, few.requeue(reconcile.Options{}, reconcile.Moves{}), reconcile.Application{StopAfterFailures: 3}); !errors.As(err, &stopped) {
		t.Errorf("the failures of the last tasks are not seen: %v", err)
	}
}

func TestReviewHoldsWhatChangedSinceThePlan(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.archivedTasks(3)
	plan := w.requeue(reconcile.Options{}, idle(reconcile.Moves{}))
	w.apply("t0")
	if err := w.redis.Inspector().DeleteTask("default", "t1"); err != nil {
		t.Fatal(err)
	}
	now, err := w.auditor(reconcile.Options{}).Review(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, now, "t0", reconcile.HoldChanged, "its work was done at")
	holds(t, now, "t1", reconcile.HoldChanged, "the task is gone")
	if s := stepOn(t, now, "t2"); s.Hold != "" || now.Moves.Queues[0].Run != 1 {
		t.Errorf("t2 is held: %q; %d are to run", s.Hold, now.Moves.Queues[0].Run)
	}
	if plan.Runnable() != 3 {
		t.Error("the plan itself was changed")
	}
}

// What nobody could look up is no canary that failed: it is the ledger that was lost.
func TestLedgerThatIsLostWhileACanaryRunsIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.archivedTasks(2)
	lost := sync.OnceFunc(func() {
		w.must(w.redis.Inspector().DeleteTask("default", "t0")) // it is done, as far as the queue says
		w.db.Exec(`ALTER TABLE processed_tasks RENAME TO elsewhere`)
	})
	out, err := w.perform(reconcile.Options{}, w.requeue(reconcile.Options{}, idle(reconcile.Moves{})), reconcile.Application{
		Canary: 1, CanaryWait: time.Minute, Waits: func(what string) {
			if strings.Contains(what, "canary") {
				lost()
			}
		},
	})
	var canary *reconcile.CanaryError
	var ledger *reconcile.LedgerError
	if errors.As(err, &canary) || !errors.As(err, &ledger) || len(out) != 1 {
		t.Errorf("%d were run: %v", len(out), err)
	}
}
