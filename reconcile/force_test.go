package reconcile_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// unsettledWithATwin is an archived task whose last attempt may still write, and a
// live one of equal content that holds the lock.
func unsettledWithATwin(t *testing.T) (*workshop, reconcile.Options) {
	t.Helper()
	w := newWorkshop(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "old", Payload: []byte("1")})
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "twin", Payload: []byte("1"), Options: []asynq.Option{asynq.Unique(time.Hour)}})
	return w, reconcile.Options{Scope: reconcile.Scope{IDs: []string{"old"}}, Settle: time.Hour}
}

// The first reason to hold a task hides no other: the operator is told of all that
// the word overrides.
func TestForcedTaskNamesEveryReasonToHoldIt(t *testing.T) {
	t.Parallel()
	w, o := unsettledWithATwin(t)
	plan := w.requeue(o, reconcile.Moves{Force: "because"})
	s := stepOn(t, plan, "old")
	if !s.Forced || s.Reason != reconcile.HoldUnsettled || !slices.Equal(s.Also, []reconcile.HoldReason{reconcile.HoldTwin, reconcile.HoldUnserved}) {
		t.Fatalf("forced %t over %s and %v", s.Forced, s.Reason, s.Also)
	}
	for _, want := range []string{"may still be writing", `task "twin", which is scheduled, holds the lock`, "no live server"} {
		if !strings.Contains(s.Overrides, want) {
			t.Errorf("%q is not in %q", want, s.Overrides)
		}
	}
	out, err := w.perform(o, plan, reconcile.Application{})
	if err != nil || out["old"].Outcome != journal.OutcomeDone {
		t.Errorf("%v; %s (%s): all of it was said", err, out["old"].Outcome, out["old"].Found)
	}
}

// A twin that comes after the plan was never spoken of.
func TestForcedTaskIsHeldForATwinThatCameSince(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "old", Payload: []byte("1")})
	o := reconcile.Options{Scope: reconcile.Scope{IDs: []string{"old"}}, Settle: time.Hour}
	plan := w.requeue(o, idle(reconcile.Moves{Force: "because"}))
	if s := stepOn(t, plan, "old"); !s.Forced || len(s.Also) > 0 {
		t.Fatalf("forced %t over %v besides", s.Forced, s.Also)
	}
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "twin", Payload: []byte("1"), Options: []asynq.Option{asynq.Unique(time.Hour)}})
	out, err := w.perform(o, plan, reconcile.Application{})
	if err != nil || out["old"].Outcome != journal.OutcomeRefused || !strings.Contains(out["old"].Found, `"twin"`) {
		t.Errorf("%v; %s (%s)", err, out["old"].Outcome, out["old"].Found)
	}
}

func TestExplainKnowsTheTwinThatRequeueWouldHoldFor(t *testing.T) {
	t.Parallel()
	w, o := unsettledWithATwin(t)
	o.Scope, o.Settle = reconcile.Scope{}, time.Second
	settleDown()
	d, err := w.auditor(o).Explain(t.Context(), inspect.Ref{Queue: "default", ID: "old"})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(d.Choices, func(c reconcile.Choice) bool { return c.Verb == "run" })
	if c := d.Choices[i]; c.Safe || !strings.Contains(c.Outcome, "requeue holds it") {
		t.Errorf("running it is called safe (%t): %s", c.Safe, c.Outcome)
	}
	stop := w.redis.Serve(map[string]int{"default": 1}, 1, asynq.NotFound)
	defer stop()
	if d, err = w.auditor(o).Explain(t.Context(), inspect.Ref{Queue: "default", ID: "old"}); err != nil {
		t.Fatal(err)
	}
	if c := d.Choices[i]; c.Safe || !strings.Contains(c.Outcome, `task "twin", which is scheduled, holds the lock of its work`) {
		t.Errorf("running it is called safe (%t): %s", c.Safe, c.Outcome)
	}
}

// A row of a minute ago is no attempt's of a task that was tried once, for three
// seconds: its ID was used before, and deleting it would lose its work.
func TestResolveHoldsATaskWhoseRowNoAttemptCanHaveWritten(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(inspecttest.Spec{
		Outcome: inspecttest.Archived, ID: "nightly", Payload: []byte("1"), Options: []asynq.Option{asynq.Timeout(3 * time.Second), asynq.MaxRetry(0)},
	})
	w.db.Exec(`INSERT INTO processed_tasks VALUES ('nightly', now() - interval '1 minute')`)
	settleDown()
	o := reconcile.Options{Scope: reconcile.Scope{IDs: []string{"nightly"}}}
	holds(t, w.resolve(o, reconcile.Moves{}), "nightly", reconcile.HoldStaleMark, "may be an earlier run's")
	holds(t, w.requeue(o, idle(reconcile.Moves{})), "nightly", reconcile.HoldStaleMark, "may be an earlier run's")
	d, err := w.auditor(reconcile.Options{}).Explain(t.Context(), inspect.Ref{Queue: "default", ID: "nightly"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Choices {
		if c.Safe {
			t.Errorf("%s is called safe: %s", c.Verb, c.Outcome)
		}
	}
}
