package reconcile_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// workshop is a world with a journal.
type workshop struct {
	*world
	path string
}

func newWorkshop(t *testing.T) *workshop {
	return &workshop{world: newWorld(t), path: filepath.Join(t.TempDir(), "journal.jsonl")}
}

func (w *workshop) repairs(scope reconcile.Scope, sel reconcile.Selection) reconcile.Plan {
	w.t.Helper()
	plan, report, err := w.auditor(reconcile.Options{Scope: scope}).PlanRepairs(w.t.Context(), w.queue, &collector{}, sel)
	if err != nil || !report.Complete {
		w.t.Fatal(err, report.Problem)
	}
	return plan
}

func (w *workshop) releases(sel reconcile.Selection) reconcile.Plan {
	w.t.Helper()
	plan, report, err := w.auditor(reconcile.Options{}).PlanReleases(w.t.Context(), w.queue, &collector{}, sel)
	if err != nil || !report.Complete {
		w.t.Fatal(err, report.Problem)
	}
	return plan
}

// apply carries the plan out and gives the outcomes by task ID or target.
func (w *workshop) carryOut(plan reconcile.Plan) map[string]reconcile.Applied {
	w.t.Helper()
	out := map[string]reconcile.Applied{}
	if err := w.tryCarryOut(w.t.Context(), w.queue, plan, out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *workshop) tryCarryOut(ctx context.Context, q reconcile.Structure, plan reconcile.Plan, out map[string]reconcile.Applied) error {
	w.t.Helper()
	j, err := journal.Open(w.t.Context(), w.path, journal.Options{Operator: "tester", Host: "here"})
	if err != nil {
		w.t.Fatal(err)
	}
	defer j.Close()
	return w.auditor(reconcile.Options{}).Apply(ctx, q, j, journal.Run{Command: "test"}, plan, reconcile.Application{Tell: func(a reconcile.Applied) {
		name := a.Step.Target
		if name == "" {
			name = a.Step.Ref().ID
		}
		out[name] = a
	}})
}

// stepOn is the plan's step on the task.
func stepOn(t *testing.T, plan reconcile.Plan, id string) reconcile.Step {
	t.Helper()
	for _, s := range plan.Steps {
		if s.Ref().ID == id || s.Target == id {
			return s
		}
	}
	t.Fatalf("no step on %s among %d", id, len(plan.Steps))
	return reconcile.Step{}
}

// journalled are the records of the journal.
func (w *workshop) journalled() []journal.Record {
	w.t.Helper()
	var records []journal.Record
	for r, err := range journal.Read(w.path) {
		if err != nil {
			w.t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

func (w *workshop) state(id string) inspect.Task {
	w.t.Helper()
	tasks, err := w.queue.Read(w.t.Context(), []inspect.Ref{{Queue: "default", ID: id}})
	if err != nil {
		w.t.Fatal(err)
	}
	return tasks[0]
}

// clean fails unless the structure shows no fault any more.
func (w *workshop) clean() {
	w.t.Helper()
	var sink collector
	if _, err := w.auditor(reconcile.Options{}).Integrity(w.t.Context(), &sink); err != nil {
		w.t.Fatal(err)
	}
	for _, f := range sink.findings {
		if f.Code != reconcile.CodeQueueUnserved {
			w.t.Errorf("still there: %s on %s: %s", f.Code, f.Task.ID, f.Message())
		}
	}
}

func ref(id string) inspect.Ref { return inspect.Ref{Queue: "default", ID: id} }

func TestRepairPutsGhostsWhereTheirWorkIsSafe(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	const uuidKey = "6f1c0d6e-3d0e-4d0c-9f57-1f9d5a1f2b3c"
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "archived-lost", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: "retry-lost", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: uuidKey, Payload: []byte("3"), Options: hourly},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "completed", Payload: []byte("4")},
	)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "pending-lost", Payload: []byte("5")},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "scheduled-lost", Payload: []byte("6")},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "grouped-lost", Payload: []byte("7")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "active-ghost", Payload: []byte("8")},
	)
	w.redis.Orphan(ref("active-ghost"), time.Now().Add(-time.Minute))
	w.apply(uuidKey)
	settleDown()
	ids := []string{"archived-lost", "retry-lost", uuidKey, "completed", "pending-lost", "scheduled-lost", "grouped-lost", "active-ghost"}
	for _, id := range ids {
		w.redis.Ghost(ref(id))
	}
	w.redis.Client().ZRem(t.Context(), "asynq:{default}:g:g", "grouped-lost")

	plan := w.repairs(reconcile.Scope{}, reconcile.Selection{})
	for id, change := range map[string]journal.Change{
		"archived-lost": journal.ChangePutBack, "retry-lost": journal.ChangePutBack, "completed": journal.ChangePutBack,
		"pending-lost": journal.ChangePutBack, "grouped-lost": journal.ChangePutBack,
		"scheduled-lost": journal.ChangeArchive, // nobody knows any more when it was due
		"active-ghost":   journal.ChangeArchive, // an attempt of it may still run
		uuidKey:          journal.ChangeClose,   // applied, under a key that is used once
	} {
		if s := stepOn(t, plan, id); s.Change != change || s.Hold != "" {
			t.Errorf("%s: %s, hold %q; want %s", id, s.Change, s.Hold, change)
		}
	}
	for name, a := range w.carryOut(plan) {
		if a.Outcome != journal.OutcomeDone {
			t.Errorf("%s: %s, found %q, error %v", name, a.Outcome, a.Found, a.Err)
		}
	}
	w.clean()
	for id, state := range map[string]inspect.State{
		"archived-lost": inspect.StateArchived, "retry-lost": inspect.StateRetry, "completed": inspect.StateCompleted,
		"pending-lost": inspect.StatePending, "scheduled-lost": inspect.StateArchived, "grouped-lost": inspect.StateAggregating,
		"active-ghost": inspect.StateArchived, uuidKey: inspect.StateUnknown,
	} {
		if got := w.state(id); got.State != state {
			t.Errorf("%s is %s, want %s", id, got.State, state)
		}
	}
	if a := w.ask(reconcile.Question{Type: "test:task", Payload: []byte("3")}); a.Refused() {
		t.Error("the closed task's own lock is still held")
	}
}

func TestRepairOfAnUnleasedTaskDependsOnItsEffect(t *testing.T) {
	w := newWorkshop(t)
	const done = "1c1f1c56-8f9c-4c8e-9d8e-0f5c3a1b2d3e"
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "lost", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: done, Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "reused", Payload: []byte("3")},
	)
	for _, id := range []string{"lost", done, "reused"} {
		w.redis.Orphan(ref(id), time.Now().Add(-time.Minute))
		w.redis.Unlease(ref(id))
	}
	w.apply("reused")
	w.db.Exec(`INSERT INTO processed_tasks (task_id) VALUES ($1)`, done)
	plan := w.repairs(reconcile.Scope{}, reconcile.Selection{})
	if s := stepOn(t, plan, "lost"); s.Change != journal.ChangeExpireLease || s.Hold != "" {
		t.Errorf("lost: %s, hold %q", s.Change, s.Hold)
	}
	if s := stepOn(t, plan, done); s.Change != journal.ChangeClose || s.Hold != "" {
		t.Errorf("done: %s, hold %q", s.Change, s.Hold)
	}
	if s := stepOn(t, plan, "reused"); s.Hold == "" {
		t.Error("a row that may be an earlier run's closes a task")
	}
	out := w.carryOut(plan)
	for name, a := range out {
		if a.Outcome != journal.OutcomeDone {
			t.Errorf("%s: %s, found %q, error %v", name, a.Outcome, a.Found, a.Err)
		}
	}
	if len(out) != 2 {
		t.Errorf("%d steps were tried, want 2: what is held is not", len(out))
	}
	if lost := w.state("lost"); lost.LeaseExpiresAt.IsZero() || lost.LeaseValid(time.Now().Add(-30*time.Second)) {
		t.Errorf("lease ends %s: no recoverer takes that yet", lost.LeaseExpiresAt)
	}
	if w.state(done).State != inspect.StateUnknown {
		t.Error("the task whose work is done is still there")
	}
	// A recoverer takes it, as it takes every expired lease.
	stop := w.redis.Serve(map[string]int{"default": 1}, 1, func(context.Context, *asynq.Task) error { return errors.New("later") })
	defer stop()
	w.await("the recoverer to take it", func() bool { return w.state("lost").State != inspect.StateActive })
}

func TestRepairLetsARunningWorkerBe(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Active, ID: "running"})
	w.await("a heartbeat that names what the worker runs", func() bool {
		servers, err := w.queue.Servers(t.Context())
		return err == nil && len(servers) == 1 && len(servers[0].Workers) == 1
	})
	w.redis.Unlease(ref("running"))
	plan := w.repairs(reconcile.Scope{IDs: []string{"running"}}, reconcile.Selection{Force: "I know better"})
	if s := stepOn(t, plan, "running"); s.Hold == "" || s.Forced {
		t.Errorf("%s with hold %q, forced %t: a worker runs it", s.Change, s.Hold, s.Forced)
	}
}

func TestRepairForcesOneNamedTaskOnly(t *testing.T) {
	w := newWorkshop(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "reused-1", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "reused-2", Payload: []byte("2")},
	)
	for _, id := range []string{"reused-1", "reused-2"} {
		w.redis.Orphan(ref(id), time.Now().Add(-time.Minute))
		w.redis.Unlease(ref(id))
	}
	w.apply("reused-1", "reused-2")
	all := w.repairs(reconcile.Scope{}, reconcile.Selection{Force: "all of them"})
	if n := all.Runnable(); n != 0 {
		t.Errorf("%d steps are forced without a name", n)
	}
	one := w.repairs(reconcile.Scope{IDs: []string{"reused-1"}}, reconcile.Selection{Force: "checked"})
	if s := stepOn(t, one, "reused-1"); s.Hold != "" || !s.Forced || len(one.Steps) != 1 {
		t.Errorf("hold %q, forced %t, %d steps", s.Hold, s.Forced, len(one.Steps))
	}
}

func TestRepairMendsWhatLosesNothing(t *testing.T) {
	w := newWorkshop(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "dangling", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "grouped", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "half-archived", Payload: []byte("3")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "leased", Payload: []byte("4")},
	)
	w.redis.Dangle(ref("dangling"))
	w.redis.Unregister("default", "g")
	w.redis.SetState(ref("half-archived"), inspect.StateActive)
	w.redis.ResultOnly(ref("left-over"))
	w.redis.Client().ZAdd(t.Context(), "asynq:{default}:lease", redis.Z{Score: float64(time.Now().Add(-time.Hour).Unix()), Member: "leased"})
	plan := w.repairs(reconcile.Scope{}, reconcile.Selection{})
	for id, change := range map[string]journal.Change{
		"dangling": journal.ChangeDropDangling, "g": journal.ChangeRegisterGroup, "half-archived": journal.ChangeSetState,
		"left-over": journal.ChangeDeleteResult, "leased": journal.ChangeDropLease,
	} {
		if s := stepOn(t, plan, id); s.Change != change || s.Hold != "" {
			t.Errorf("%s: %s, hold %q; want %s", id, s.Change, s.Hold, change)
		}
	}
	for name, a := range w.carryOut(plan) {
		if a.Outcome != journal.OutcomeDone {
			t.Errorf("%s: %s, found %q, error %v", name, a.Outcome, a.Found, a.Err)
		}
	}
	w.clean()
}

func TestReleaseTakesLocksLeftBehindAndNoOther(t *testing.T) {
	w := newWorkshop(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Pending, ID: "gone", Type: "t", Payload: []byte("1"), Options: hourly})
	if _, err := w.redis.Inspector().DeleteAllPendingTasks("default"); err != nil {
		t.Fatal(err)
	}
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "archived", Type: "t", Payload: []byte("2"), Options: hourly},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "live", Type: "t", Payload: []byte("3"), Options: hourly},
	)
	if err := w.tryEnqueue("default", "t", []byte("4"), asynq.TaskID("live"), asynq.Unique(time.Hour)); err == nil {
		t.Fatal("the ID was free")
	}
	key := func(payload string) string { return inspect.UniqueKey("default", "t", []byte(payload)) }
	plan := w.releases(reconcile.Selection{})
	var planned []string
	for _, s := range plan.Steps {
		planned = append(planned, s.Target)
	}
	slices.Sort(planned)
	want := []string{key("1"), key("4")}
	slices.Sort(want)
	if !slices.Equal(planned, want) {
		t.Fatalf("planned %q, want the orphaned and the phantom lock %q", planned, want)
	}
	// Named by its key, a lock in use is spoken of, and held.
	for _, payload := range []string{"2", "3"} {
		named := w.releases(reconcile.Selection{Keys: []string{key(payload)}})
		if len(named.Steps) != 1 || named.Steps[0].Hold == "" {
			t.Errorf("lock of %s: %+v, want one step that is held", payload, named.Steps)
		}
	}
	for name, a := range w.carryOut(plan) {
		if a.Outcome != journal.OutcomeDone {
			t.Errorf("%s: %s %q %v", name, a.Outcome, a.Found, a.Err)
		}
	}
	locks, err := w.queue.Locks(t.Context(), []string{key("1"), key("2"), key("3"), key("4")})
	if err != nil {
		t.Fatal(err)
	}
	for i, held := range []bool{false, true, true, false} {
		if locks[i].Held != held {
			t.Errorf("lock %d held = %t, want %t", i+1, locks[i].Held, held)
		}
	}
}

func TestApplyRefusesWhatChangedSinceThePlan(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "done-since", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "moved-since", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "owner", Type: "t", Payload: []byte("3"), Options: hourly},
	)
	w.redis.Orphan(ref("done-since"), time.Now().Add(-time.Minute))
	w.redis.Unlease(ref("done-since"))
	w.redis.Ghost(ref("moved-since"))
	if _, err := w.redis.Inspector().DeleteAllPendingTasks("default"); err != nil {
		t.Fatal(err)
	}
	settleDown()
	repairs := w.repairs(reconcile.Scope{}, reconcile.Selection{})
	releases := w.releases(reconcile.Selection{})
	if repairs.Runnable() != 2 || releases.Runnable() != 1 {
		t.Fatalf("%d repairs and %d releases are planned, want 2 and 1", repairs.Runnable(), releases.Runnable())
	}

	w.apply("done-since")
	w.redis.SetState(ref("moved-since"), inspect.StateRetry)
	lock := releases.Steps[0].Target
	w.redis.Client().Del(t.Context(), lock)
	if err := w.tryEnqueue("default", "t", []byte("3"), asynq.TaskID("owner"), asynq.Unique(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, plan := range []reconcile.Plan{repairs, releases} {
		for name, a := range w.carryOut(plan) {
			if a.Outcome != journal.OutcomeRefused || a.Found == "" {
				t.Errorf("%s: %s, found %q: the world is not as planned", name, a.Outcome, a.Found)
			}
		}
	}
	if locks, err := w.queue.Locks(t.Context(), []string{lock}); err != nil || !locks[0].Held {
		t.Errorf("a lock that came back was released: %+v %v", locks, err)
	}
}

func TestApplyWritesIntentsBeforeAndResultsAfter(t *testing.T) {
	w := newWorkshop(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "ghost", Payload: []byte("secret-free"), Options: hourly})
	w.redis.Ghost(ref("ghost"))
	w.carryOut(w.repairs(reconcile.Scope{}, reconcile.Selection{}))
	records := w.journalled()
	kinds := []journal.Kind{journal.KindRun, journal.KindIntent, journal.KindResult, journal.KindEnd}
	if len(records) != len(kinds) {
		t.Fatalf("%d records, want %d", len(records), len(kinds))
	}
	for i, r := range records {
		if r.Kind != kinds[i] {
			t.Errorf("record %d is %s, want %s", i, r.Kind, kinds[i])
		}
	}
	intent := records[1]
	if intent.Change != journal.ChangePutBack || intent.TaskID != "ghost" || intent.Operator != "tester" || intent.Task == nil {
		t.Fatalf("intent %+v", intent)
	}
	fields := map[string]string{}
	for _, f := range intent.Task.Fields {
		fields[f.Name] = f.Value
	}
	if !strings.Contains(fields["msg"], "secret-free") || fields["state"] != "archived" {
		t.Errorf("the intent does not hold the task whole: %q", fields)
	}
	if intent.Task.Lock == nil || intent.Task.Lock.Owner != "ghost" || intent.Task.Lock.ExpireAt.IsZero() {
		t.Errorf("the intent does not hold the lock: %+v", intent.Task.Lock)
	}
	if records[2].Outcome != journal.OutcomeDone {
		t.Errorf("result %s", records[2].Outcome)
	}
}

// deaf loses the answer of every change.
type deaf struct{ *inspect.Client }

func (d deaf) PutBack(ctx context.Context, e inspect.Expect, at time.Time) (inspect.Change, error) {
	_, err := d.Client.PutBack(ctx, e, at)
	return inspect.Change{}, errors.Join(err, &inspect.Error{Kind: inspect.KindUnreachable, Err: errors.New("connection reset by peer")})
}

func TestApplyLeavesALostAnswerPending(t *testing.T) {
	w := newWorkshop(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "first", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "second", Payload: []byte("2")},
	)
	w.redis.Ghost(ref("first"))
	w.redis.Ghost(ref("second"))
	out := map[string]reconcile.Applied{}
	err := w.tryCarryOut(t.Context(), deaf{w.queue}, w.repairs(reconcile.Scope{}, reconcile.Selection{}), out)
	if err == nil {
		t.Fatal("a run whose connection broke ends well")
	}
	unknown, refused := 0, 0
	for _, a := range out {
		switch a.Outcome {
		case journal.OutcomeUnknown:
			unknown++
		case journal.OutcomeRefused:
			refused++
		}
	}
	if unknown != 1 || refused != 1 {
		t.Errorf("%d unknown and %d not begun, want one of each: %+v", unknown, refused, out)
	}
	var pending []journal.Record
	for r, err := range journal.Pending(w.path) {
		if err != nil {
			t.Fatal(err)
		}
		pending = append(pending, r)
	}
	if len(pending) != 1 {
		t.Errorf("%d intents are pending, want the one whose answer was lost", len(pending))
	}
}

func TestApplyChangesNothingWithoutAJournal(t *testing.T) {
	w := newWorkshop(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "ghost"})
	w.redis.Ghost(ref("ghost"))
	plan := w.repairs(reconcile.Scope{}, reconcile.Selection{})
	j, err := journal.Open(t.Context(), w.path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	err = w.auditor(reconcile.Options{}).Apply(t.Context(), w.queue, j, journal.Run{}, plan, reconcile.Application{Tell: func(reconcile.Applied) {
		t.Error("a step was tried")
	}})
	if err == nil {
		t.Error("a closed journal is written to")
	}
	if again := w.repairs(reconcile.Scope{}, reconcile.Selection{}); again.Runnable() != 1 {
		t.Error("the ghost is gone")
	}
}
