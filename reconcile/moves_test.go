package reconcile_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// idle lets tasks run in the queue of a test that has no workers.
func idle(m reconcile.Moves) reconcile.Moves {
	m.Idle = []string{"default", "low"}
	return m
}

func (w *workshop) requeue(o reconcile.Options, m reconcile.Moves) reconcile.Plan {
	w.t.Helper()
	plan, report, err := w.auditor(o).PlanRequeue(w.t.Context(), &collector{}, m)
	if err != nil || !report.Complete {
		w.t.Fatal(err, report.Problem)
	}
	return plan
}

func (w *workshop) resolve(o reconcile.Options, m reconcile.Moves) reconcile.Plan {
	w.t.Helper()
	plan, report, err := w.auditor(o).PlanResolve(w.t.Context(), &collector{}, m)
	if err != nil || !report.Complete {
		w.t.Fatal(err, report.Problem)
	}
	return plan
}

// perform applies the plan by an auditor of the options and gives the outcomes by
// task ID.
func (w *workshop) perform(o reconcile.Options, plan reconcile.Plan, how reconcile.Application) (map[string]reconcile.Applied, error) {
	w.t.Helper()
	out := map[string]reconcile.Applied{}
	how.Tell = func(a reconcile.Applied) { out[a.Step.Ref().ID] = a }
	j, err := journal.Open(w.t.Context(), w.path, journal.Options{Operator: "tester", Host: "here"})
	if err != nil {
		w.t.Fatal(err)
	}
	defer j.Close()
	err = w.auditor(o).Apply(w.t.Context(), w.queue, j, journal.Run{Command: "test"}, plan, how)
	return out, err
}

// holds fails unless the task is held for the reason, with the words.
func holds(t *testing.T, plan reconcile.Plan, id string, reason reconcile.HoldReason, words string) {
	t.Helper()
	s := stepOn(t, plan, id)
	if s.Reason != reason || !strings.Contains(s.Hold, words) || s.Hold == "" {
		t.Errorf("%s is held as %q: %q, want %q: …%s…", id, s.Reason, s.Hold, reason, words)
	}
}

func TestRequeueRunsWhatIsLostAndHoldsTheRest(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "lost", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "done", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "late", Payload: []byte("3"), Options: []asynq.Option{asynq.Deadline(time.Now().Add(time.Hour))}},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "shared", Payload: []byte("4")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "shared", Queue: "low", Payload: []byte("5")},
	)
	w.redis.SetDeadline(ref("late"), time.Now())
	w.apply("done")
	settleDown()
	plan := w.requeue(reconcile.Options{Scope: reconcile.Scope{Queues: []string{"default"}}}, idle(reconcile.Moves{}))
	if s := stepOn(t, plan, "lost"); s.Hold != "" || plan.Runnable() != 1 {
		t.Fatalf("lost is held: %q; %d are to run", s.Hold, plan.Runnable())
	}
	holds(t, plan, "done", reconcile.HoldApplied, "its work was done at")
	holds(t, plan, "late", reconcile.HoldDeadline, "its deadline passed at")
	holds(t, plan, "shared", reconcile.HoldIDShared, "same ID")
	out, err := w.perform(reconcile.Options{}, plan, reconcile.Application{})
	if err != nil || len(out) != 1 || out["lost"].Outcome != journal.OutcomeDone {
		t.Fatal(err, out)
	}
	if s := w.state("lost").State; s != inspect.StatePending {
		t.Errorf("lost is %s", s)
	}
	for _, id := range []string{"done", "late", "shared"} {
		if s := w.state(id).State; s != inspect.StateArchived {
			t.Errorf("%s is %s", id, s)
		}
	}
}

func TestRequeueHoldsTasksOfQueuesThatNobodyTakesFrom(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "here", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "there", Queue: "low", Payload: []byte("2")},
	)
	settleDown()
	if err := w.redis.Inspector().PauseQueue("low"); err != nil {
		t.Fatal(err)
	}
	plan := w.requeue(reconcile.Options{}, reconcile.Moves{})
	holds(t, plan, "here", reconcile.HoldUnserved, "no live server")
	holds(t, plan, "there", reconcile.HoldPaused, "paused")
	accepted := w.requeue(reconcile.Options{}, reconcile.Moves{Idle: []string{"low"}})
	if s := stepOn(t, accepted, "there"); s.Hold != "" {
		t.Error("a queue that was accepted by its name is held:", s.Hold)
	}
	holds(t, accepted, "here", reconcile.HoldUnserved, "")
}

func TestRequeueRunsTheOldestOfOneKey(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	for i, id := range []string{"first", "second", "third"} {
		if i > 0 {
			time.Sleep(1100 * time.Millisecond) // asynq keeps whole seconds
		}
		w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: id, Payload: fmt.Appendf(nil, `{"event":"e","n":%d}`, i)})
	}
	settleDown()
	plan := w.requeue(keyedByEvent(), idle(reconcile.Moves{Order: reconcile.OrderNewest}))
	if s := stepOn(t, plan, "first"); s.Hold != "" {
		t.Error("the oldest is held:", s.Hold)
	}
	holds(t, plan, "second", reconcile.HoldTwin, `"first"`)
	holds(t, plan, "third", reconcile.HoldTwin, `"first"`)
}

// keyedByEvent are the options of a world whose tasks say in their payload what
// they are for.
func keyedByEvent() reconcile.Options {
	return reconcile.Options{Rules: []reconcile.Rule{{
		Class: reconcile.ClassCreate, Key: "payload.event",
		Sources: []reconcile.Source{{Role: reconcile.RoleMark, Ledger: "main", Table: "processed_tasks", Column: "task_id", At: "processed_at"}},
	}}}
}

func TestApplyRefusesWhatATwinBeganSinceThePlan(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "old", Payload: []byte(`{"event":"e"}`)})
	settleDown()
	plan := w.requeue(keyedByEvent(), idle(reconcile.Moves{}))
	if plan.Runnable() != 1 {
		t.Fatal(plan.Steps[0].Hold)
	}
	// A producer enqueues the same work under another ID, in another queue.
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "new", Queue: "low", Payload: []byte(`{"event":"e","v":2}`)})
	out, err := w.perform(keyedByEvent(), plan, reconcile.Application{})
	if err != nil || out["old"].Outcome != journal.OutcomeRefused || !strings.Contains(out["old"].Found, "same key") {
		t.Errorf("%v; %v: %s", err, out["old"].Outcome, out["old"].Found)
	}
}

func TestApplyRefusesWhatTookEffectSinceThePlan(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "zombie", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "run", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "deleted", Payload: []byte("3")},
	)
	settleDown()
	plan := w.requeue(reconcile.Options{}, idle(reconcile.Moves{}))
	w.apply("zombie") // a handler that outlived its attempt commits
	if err := w.redis.Inspector().RunTask("default", "run"); err != nil {
		t.Fatal(err)
	}
	if err := w.redis.Inspector().DeleteTask("default", "deleted"); err != nil {
		t.Fatal(err)
	}
	out, err := w.perform(reconcile.Options{}, plan, reconcile.Application{})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"zombie": "its work was done at", "run": "already pending (by another)", "deleted": "the task is gone",
	} {
		if out[id].Outcome != journal.OutcomeRefused || !strings.Contains(out[id].Found, want) {
			t.Errorf("%s: %s: %s, want %q", id, out[id].Outcome, out[id].Found, want)
		}
	}
}

// Both look into one archive at once: each task is moved by one of them, and the
// other is told so.
func TestTwoOperatorsMoveEachTaskOnce(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	var specs []inspecttest.Spec
	for i := range 40 {
		specs = append(specs, inspecttest.Spec{Outcome: inspecttest.Archived, ID: fmt.Sprint("t", i), Payload: fmt.Append(nil, i)})
	}
	w.redis.Make(specs...)
	settleDown()
	plans := []reconcile.Plan{w.requeue(reconcile.Options{}, idle(reconcile.Moves{})), w.requeue(reconcile.Options{}, idle(reconcile.Moves{}))}
	done := make(chan map[string]reconcile.Applied, 2)
	for i, plan := range plans {
		other := &workshop{world: w.world, path: fmt.Sprint(w.path, i)} // on another host
		go func() {
			var out map[string]reconcile.Applied
			defer func() { done <- out }() // whatever ends it
			var err error
			if out, err = other.perform(reconcile.Options{}, plan, reconcile.Application{}); err != nil {
				t.Error(err)
			}
		}()
	}
	a, b := <-done, <-done
	for id := range a {
		won, lost := a[id], b[id]
		if won.Outcome != journal.OutcomeDone {
			won, lost = lost, won
		}
		if won.Outcome != journal.OutcomeDone || lost.Outcome != journal.OutcomeRefused || !strings.Contains(lost.Found, "already pending (by another)") {
			t.Errorf("%s: %s (%s) and %s (%s)", id, won.Outcome, won.Found, lost.Outcome, lost.Found)
		}
	}
	if n := w.redis.Client().LLen(t.Context(), "asynq:{default}:pending").Val(); n != 40 {
		t.Errorf("%d are pending, want 40", n)
	}
}

func TestRequeueHoldsWorkWhoseLockAnotherTaskHas(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "unique", Type: "t", Payload: []byte("1"), Options: []asynq.Option{asynq.Unique(time.Second)}},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "plain", Type: "t", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "phantom", Type: "t", Payload: []byte("3")},
	)
	time.Sleep(1500 * time.Millisecond)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "live-1", Type: "t", Payload: []byte("1"), Options: hourly},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "live-2", Type: "t", Payload: []byte("2"), Options: hourly},
	)
	// A TaskID conflict leaves a lock on content "3" in the hands of live-1.
	client := asynq.NewClient(w.redis.AsynqOpt())
	defer client.Close()
	if _, err := client.Enqueue(asynq.NewTask("t", []byte("3")), asynq.TaskID("live-1"), asynq.Unique(time.Hour)); err == nil {
		t.Fatal("no conflict")
	}
	plan := w.requeue(reconcile.Options{}, idle(reconcile.Moves{}))
	holds(t, plan, "unique", reconcile.HoldTwin, `task "live-1", which is scheduled, holds the lock`)
	holds(t, plan, "plain", reconcile.HoldTwin, `"live-2"`)
	holds(t, plan, "phantom", reconcile.HoldTwin, `"live-1"`)
}

func TestForceNeedsOneNameAndAReason(t *testing.T) {
	w := newWorkshop(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "one", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "two", Payload: []byte("2")},
	)
	w.apply("one", "two")
	for name, tt := range map[string]struct {
		ids   []string
		force string
		want  int
	}{
		"a name alone":         {[]string{"one"}, "", 0},
		"two names":            {[]string{"one", "two"}, "the bank says no", 0},
		"no name":              {nil, "the bank says no", 0},
		"a name with a reason": {[]string{"one"}, "the bank says no", 1},
	} {
		plan := w.requeue(reconcile.Options{Scope: reconcile.Scope{IDs: tt.ids}}, idle(reconcile.Moves{Force: tt.force}))
		if plan.Runnable() != tt.want {
			t.Errorf("%s: %d run, want %d", name, plan.Runnable(), tt.want)
		}
		if tt.want == 1 {
			out, err := w.perform(reconcile.Options{}, plan, reconcile.Application{})
			if err != nil || out["one"].Outcome != journal.OutcomeDone || !out["one"].Step.Forced {
				t.Error(err, out["one"])
			}
		}
	}
}

func TestResolveDeletesWhatIsDoneWithItsLockAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	const id = "6f1c0d6e-3d0e-4d0c-9f57-1f9d5a1f2b3c"
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: id, Type: "t", Payload: []byte("1"), Options: hourly},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "lost", Type: "t", Payload: []byte("2"), Options: hourly},
	)
	w.apply(id)
	settleDown()
	plan := w.resolve(reconcile.Options{}, reconcile.Moves{})
	holds(t, plan, "lost", reconcile.HoldNotApplied, "its work is not done")
	out, err := w.perform(reconcile.Options{}, plan, reconcile.Application{})
	if err != nil || out[id].Outcome != journal.OutcomeDone {
		t.Fatal(err, out)
	}
	if w.state(id).State != inspect.StateUnknown || w.state("lost").State != inspect.StateArchived {
		t.Errorf("the one that is done: %s, the lost one: %s", w.state(id).State, w.state("lost").State)
	}
	locks, err := w.queue.Locks(t.Context(), []string{inspect.UniqueKey("default", "t", []byte("1")), inspect.UniqueKey("default", "t", []byte("2"))})
	if err != nil || locks[0].Held || !locks[1].Held {
		t.Error("locks:", locks, err)
	}
}

func TestAttemptsAndRelockAreGivenInTheSameStep(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(inspecttest.Spec{
		Outcome: inspecttest.Archived, ID: "lost", Type: "t", Payload: []byte("1"),
		Options: []asynq.Option{asynq.Unique(time.Second), asynq.MaxRetry(0)},
	})
	time.Sleep(1500 * time.Millisecond)
	settleDown()
	plan := w.requeue(reconcile.Options{}, idle(reconcile.Moves{Attempts: 3, Relock: reconcile.Relock{TTL: time.Hour}}))
	if _, err := w.perform(reconcile.Options{}, plan, reconcile.Application{}); err != nil {
		t.Fatal(err)
	}
	task := w.state("lost")
	if task.State != inspect.StatePending || task.MaxRetry-task.Retried != 2 || string(task.Payload) != "1" {
		t.Errorf("%s with %d of %d retries", task.State, task.Retried, task.MaxRetry)
	}
	locks, err := w.queue.Locks(t.Context(), []string{task.UniqueKey})
	if err != nil || locks[0].Owner != "lost" || locks[0].TTL < 59*time.Minute {
		t.Error("lock:", locks, err)
	}
	for _, r := range w.journalled() {
		if r.Kind == journal.KindIntent && !strings.Contains(string(r.Evidence), `"relock_seconds":3600`) {
			t.Error("the intent does not say it:", string(r.Evidence))
		}
	}
}

func TestCanaryStopsTheRestWhenItFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		handler func(w *workshop, id string) error
		runs    int
		words   string
		wait    time.Duration
	}{
		"it fails again":         {func(*workshop, string) error { return fmt.Errorf("no: %w", asynq.SkipRetry) }, 1, "it failed again (no", time.Minute},
		"it writes no row":       {func(*workshop, string) error { return nil }, 1, "no row says", 8 * time.Second}, // which are waited for to the end
		"it succeeds, and so on": {func(w *workshop, id string) error { w.apply(id); return nil }, 5, "", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkshop(t)
			var specs []inspecttest.Spec
			for i := range 5 {
				specs = append(specs, inspecttest.Spec{Outcome: inspecttest.Archived, ID: fmt.Sprint("t", i), Payload: fmt.Append(nil, i)})
			}
			w.redis.Make(specs...)
			settleDown()
			stop := w.redis.Serve(map[string]int{"default": 1}, 2, func(_ context.Context, task *asynq.Task) error {
				return tt.handler(w, task.ResultWriter().TaskID())
			})
			defer stop()
			plan := w.requeue(reconcile.Options{}, reconcile.Moves{})
			var seen []reconcile.Watched
			out, err := w.perform(reconcile.Options{}, plan, reconcile.Application{
				Canary: 1, CanaryWait: tt.wait, Watched: func(x reconcile.Watched) { seen = append(seen, x) },
			})
			ran := 0
			for _, a := range out {
				if a.Outcome == journal.OutcomeDone {
					ran++
				}
			}
			if ran != tt.runs || (err == nil) != (tt.words == "") || err != nil && !strings.Contains(err.Error(), tt.words) {
				t.Errorf("%d ran, want %d; %v, want %q", ran, tt.runs, err, tt.words)
			}
			if len(seen) == 0 || !seen[0].Canary {
				t.Error("nobody was told of the canary")
			}
		})
	}
}

func TestApplyStopsAfterFailures(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	var specs []inspecttest.Spec
	for i := range 60 {
		specs = append(specs, inspecttest.Spec{Outcome: inspecttest.Archived, ID: fmt.Sprint("t", i), Payload: fmt.Append(nil, i)})
	}
	w.redis.Make(specs...)
	settleDown()
	stop := w.redis.Serve(map[string]int{"default": 1}, 2, func(context.Context, *asynq.Task) error { return asynq.SkipRetry })
	defer stop()
	out, err := w.perform(reconcile.Options{}, w.requeue(reconcile.Options{}, reconcile.Moves{}), reconcile.Application{Rate: 10, StopAfterFailures: 3})
	if err == nil || !strings.Contains(err.Error(), "failed again") || len(out) >= 60 {
		t.Errorf("%d were run: %v", len(out), err)
	}
}

func TestApplyWaitsWhileAQueueIsFull(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	var specs []inspecttest.Spec
	for i := range 12 {
		specs = append(specs, inspecttest.Spec{Outcome: inspecttest.Archived, ID: fmt.Sprint("t", i), Payload: fmt.Append(nil, i)})
	}
	w.redis.Make(specs...)
	settleDown()
	plan := w.requeue(reconcile.Options{}, idle(reconcile.Moves{}))
	out, err := w.perform(reconcile.Options{}, plan, reconcile.Application{MaxPending: 5})
	if err == nil || !strings.Contains(err.Error(), "nothing takes them") || len(out) != 5 {
		t.Fatalf("%d were run: %v", len(out), err)
	}
	worst := int64(0)
	stop := w.redis.Serve(map[string]int{"default": 1}, 1, func(ctx context.Context, task *asynq.Task) error {
		worst = max(worst, w.redis.Client().LLen(ctx, "asynq:{default}:pending").Val())
		w.apply(task.ResultWriter().TaskID())
		return nil
	})
	plan = w.requeue(reconcile.Options{}, reconcile.Moves{})
	out, err = w.perform(reconcile.Options{}, plan, reconcile.Application{MaxPending: 2})
	if err != nil || len(out) != 7 {
		t.Errorf("%d were run: %v", len(out), err)
	}
	stop() // the last two are done: nothing counts any more
	if worst > 5 {
		t.Errorf("%d tasks waited at one time", worst)
	}
}
