package reconcile_test

import (
	"context"
	"errors"
	"fmt"
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

// away is a Redis whose answers to changes are lost: made says whether the changes
// are made.
type away struct {
	*inspect.Client
	made bool
}

func (a away) lose(change func() (inspect.Change, error)) (inspect.Change, error) {
	var err error
	if a.made {
		var c inspect.Change
		if c, err = change(); err == nil && !c.Done {
			err = errors.New("not made: " + c.Found)
		}
	}
	return inspect.Change{}, errors.Join(&inspect.Error{Kind: inspect.KindUnreachable, Err: errors.New("connection reset by peer")}, err)
}

func (a away) Requeue(ctx context.Context, e inspect.Expect, o inspect.Requeue) (inspect.Change, error) {
	return a.lose(func() (inspect.Change, error) { return a.Client.Requeue(ctx, e, o) })
}

func (a away) Resolve(ctx context.Context, e inspect.Expect) (inspect.Change, error) {
	return a.lose(func() (inspect.Change, error) { return a.Client.Resolve(ctx, e) })
}

func (a away) Restore(ctx context.Context, r inspect.Restore) (inspect.Change, error) {
	return a.lose(func() (inspect.Change, error) { return a.Client.Restore(ctx, r) })
}

func (a away) CloseTask(ctx context.Context, e inspect.Expect) (inspect.Change, error) {
	return a.lose(func() (inspect.Change, error) { return a.Client.CloseTask(ctx, e) })
}

func (a away) PutBack(ctx context.Context, e inspect.Expect, at time.Time) (inspect.Change, error) {
	return a.lose(func() (inspect.Change, error) { return a.Client.PutBack(ctx, e, at) })
}

func (a away) RegisterGroup(ctx context.Context, queue, group string) (inspect.Change, error) {
	return a.lose(func() (inspect.Change, error) { return a.Client.RegisterGroup(ctx, queue, group) })
}

func (a away) ReleaseLock(ctx context.Context, key, owner string, because inspect.Release) (inspect.Change, error) {
	return a.lose(func() (inspect.Change, error) { return a.Client.ReleaseLock(ctx, key, owner, because) })
}

// cutOff applies the plan's steps, each in a run of its own whose answer is lost.
func (w *workshop) cutOff(o reconcile.Options, plan reconcile.Plan, made bool, ids ...string) {
	w.t.Helper()
	for _, id := range ids {
		one := plan
		one.Steps = []reconcile.Step{stepOn(w.t, plan, id)}
		if one.Steps[0].Hold != "" {
			w.t.Fatalf("%s is held: %s", id, one.Steps[0].Hold)
		}
		j := w.journal()
		err := w.auditor(o).Apply(w.t.Context(), away{w.queue, made}, j, journal.Run{Command: "test"}, one, reconcile.Application{})
		j.Close()
		if err == nil || strings.Contains(err.Error(), "not made") {
			w.t.Fatalf("%s: %v", id, err)
		}
	}
}

func (w *workshop) journal() *journal.Journal {
	w.t.Helper()
	j, err := journal.Open(w.t.Context(), w.path, journal.Options{Operator: "tester", Host: "here", Wait: time.Second})
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// killed rewrites the journal as a run leaves it that is killed right after its
// intents: no result, no end.
func (w *workshop) killed(intents ...journal.Record) {
	w.t.Helper()
	j := w.journal()
	if _, err := j.Begin(journal.Run{Command: "test"}); err != nil {
		w.t.Fatal(err)
	}
	for i, r := range intents {
		r.Run, r.Item, r.Seq = "", fmt.Sprint(i+1), 0
		if err := j.Intend(r); err != nil {
			w.t.Fatal(err)
		}
	}
	j.Close()
}

func (w *workshop) pending() []journal.Record {
	w.t.Helper()
	var pending []journal.Record
	for r, err := range journal.Pending(w.path) {
		if err != nil {
			w.t.Fatal(err)
		}
		pending = append(pending, r)
	}
	return pending
}

func (w *workshop) planResume(o reconcile.Options) reconcile.Resumption {
	w.t.Helper()
	r, err := w.auditor(o).PlanResume(w.t.Context(), w.queue, w.pending())
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// resume carries the resumption out and gives what came of its steps.
func (w *workshop) resume(o reconcile.Options, r reconcile.Resumption) map[string]reconcile.Applied {
	w.t.Helper()
	out := map[string]reconcile.Applied{}
	j := w.journal()
	defer j.Close()
	run := journal.Run{ID: journal.NewRunID(time.Now()), Command: "journal resume"}
	_, err := w.auditor(o).Resume(w.t.Context(), w.queue, j, run, r, reconcile.Application{
		Tell: func(a reconcile.Applied) { out[a.Step.Ref().ID] = a },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// allEnded fails unless every run of the journal has its end and no open item.
func (w *workshop) allEnded() {
	w.t.Helper()
	for s, err := range journal.Runs(w.path) {
		if err != nil || !s.Settled() {
			w.t.Errorf("run %s: %v; ended %s, %d pending, %d unknown", s.ID, err, s.Ended, s.Pending, s.Unknown)
		}
	}
}

type verdictOn struct {
	outcome journal.Outcome
	again   bool
	words   string
}

func checkIntents(t *testing.T, r reconcile.Resumption, want map[string]verdictOn) {
	t.Helper()
	if len(r.Intents) != len(want) {
		t.Errorf("%d intents, want %d", len(r.Intents), len(want))
	}
	for _, in := range r.Intents {
		name := in.Record.Target
		if name == "" {
			name = in.Record.TaskID
		}
		v, ok := want[name]
		if !ok || in.Outcome != v.outcome || in.Again != v.again || !strings.Contains(in.Found, v.words) {
			t.Errorf("%s of %s: %s, again %t: %q; want %s, %t: …%s…", in.Record.Change, name, in.Outcome, in.Again, in.Found, v.outcome, v.again, v.words)
		}
	}
}

const done, refused = journal.OutcomeDone, journal.OutcomeRefused

func archivedSpecs(ids ...string) []inspecttest.Spec {
	var specs []inspecttest.Spec
	for _, id := range ids {
		specs = append(specs, inspecttest.Spec{Outcome: inspecttest.Archived, ID: id, Payload: []byte(id)})
	}
	return specs
}

func TestResumeSaysWhatBecameOfEveryRequeue(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	unmade := []string{"untouched", "deleted", "answered", "ghost"}
	made := []string{"waits", "failed", "by-hand"}
	w.redis.Make(archivedSpecs(append(slices.Clone(unmade), made...)...)...)
	settleDown()
	plan := w.requeue(reconcile.Options{}, idle(reconcile.Moves{Attempts: 2}))
	w.cutOff(reconcile.Options{}, plan, false, unmade...)
	w.cutOff(reconcile.Options{}, plan, true, "failed")
	stop := w.redis.Serve(map[string]int{"default": 1}, 1, func(context.Context, *asynq.Task) error { return asynq.SkipRetry })
	w.until("failed", inspect.StateArchived)
	stop()
	w.cutOff(reconcile.Options{}, plan, true, "waits")
	// As asynq's own RunTask: its message stays what it was.
	w.cutOff(reconcile.Options{}, w.requeue(reconcile.Options{}, idle(reconcile.Moves{})), true, "by-hand")
	w.must(w.redis.Inspector().DeleteTask("default", "deleted"))
	w.must(w.redis.Inspector().ArchiveTask("default", "by-hand"))
	w.must(w.redis.Client().HSet(t.Context(), "asynq:{default}:t:answered", "result", "late").Err())
	w.redis.Ghost(ref("ghost"))

	r := w.planResume(reconcile.Options{})
	checkIntents(t, r, map[string]verdictOn{
		"untouched": {refused, true, "not made before its run ended"},
		"answered":  {refused, true, "not made"},
		"deleted":   {done, false, "gone since"},
		"ghost":     {refused, false, "no set holds"},
		"waits":     {done, false, "pending now"},
		"failed":    {done, false, "ran, and failed again since"},
		"by-hand":   {done, false, "archived again by hand"},
	})
	if r.Runnable() != 2 {
		t.Fatalf("%d are to be made, want 2: %+v", r.Runnable(), r.Plans)
	}
	out := w.resume(reconcile.Options{}, r)
	for _, id := range []string{"untouched", "answered"} {
		if task := w.state(id); out[id].Outcome != done || task.State != inspect.StatePending || task.MaxRetry-task.Retried != 1 {
			t.Errorf("%s: %s (%s); it is %s with %d of %d retries, want pending with the two attempts that were asked for",
				id, out[id].Outcome, out[id].Found, task.State, task.Retried, task.MaxRetry)
		}
	}
	if len(w.pending()) > 0 {
		t.Error("still pending:", w.pending())
	}
	w.allEnded()
	if n := w.redis.Client().LLen(t.Context(), "asynq:{default}:pending").Val(); n != 3 {
		t.Errorf("%d are pending, want the one that was made and the two that were not", n)
	}
}

// until waits until the task is in the state.
func (w *world) until(id string, s inspect.State) {
	w.t.Helper()
	w.await(fmt.Sprintf("%s to become %s", id, s), func() bool {
		tasks, err := w.queue.Read(w.t.Context(), []inspect.Ref{ref(id)})
		return err == nil && tasks[0].State == s
	})
}

func TestResumeSaysWhatBecameOfEveryDeletion(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	ids := make(map[string]string, 5)
	var specs []inspecttest.Spec
	for i, name := range []string{"untouched", "run", "made", "anew", "ghost-unmade", "ghost-made"} {
		id := fmt.Sprintf("6f1c0d6e-3d0e-4d0c-9f57-1f9d5a1f2b3%d", i)
		ids[name] = id
		spec := inspecttest.Spec{Outcome: inspecttest.Archived, ID: id, Payload: []byte(name)}
		if strings.HasPrefix(name, "ghost") {
			spec.Outcome = inspecttest.Retry
		}
		specs = append(specs, spec)
	}
	w.redis.Make(specs...)
	for _, id := range ids {
		w.apply(id)
	}
	settleDown()
	plan := w.resolve(reconcile.Options{}, reconcile.Moves{})
	w.cutOff(reconcile.Options{}, plan, false, ids["untouched"], ids["run"])
	w.cutOff(reconcile.Options{}, plan, true, ids["made"], ids["anew"])
	w.redis.Ghost(ref(ids["ghost-unmade"]))
	w.redis.Ghost(ref(ids["ghost-made"]))
	repairs := w.repairs(reconcile.Scope{}, reconcile.Selection{})
	w.cutOff(reconcile.Options{}, repairs, false, ids["ghost-unmade"])
	w.cutOff(reconcile.Options{}, repairs, true, ids["ghost-made"])
	w.must(w.redis.Inspector().RunTask("default", ids["run"]))
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: ids["anew"], Payload: []byte("anew")})

	r := w.planResume(reconcile.Options{})
	checkIntents(t, r, map[string]verdictOn{
		ids["untouched"]:    {refused, true, "not made"},
		ids["run"]:          {refused, false, "pending now, not deleted"},
		ids["made"]:         {done, false, "gone"},
		ids["anew"]:         {done, false, "another message now, which is scheduled"},
		ids["ghost-unmade"]: {refused, false, "not made"},
		ids["ghost-made"]:   {done, false, "gone"},
	})
	for _, in := range r.Intents {
		if in.Record.TaskID == ids["ghost-unmade"] && !strings.Contains(in.Command, "integrity repair --queue=default --id="+in.Record.TaskID) {
			t.Errorf("what mends it: %q", in.Command)
		}
	}
	out := w.resume(reconcile.Options{}, r)
	if len(out) != 1 || w.state(ids["untouched"]).State != inspect.StateUnknown {
		t.Errorf("%+v; it is %s", out, w.state(ids["untouched"]).State)
	}
	w.allEnded()
}

func TestResumeSaysWhatBecameOfRepairsAndReleases(t *testing.T) {
	w := newWorkshop(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "back-made", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "back-unmade", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "grouped", Payload: []byte("3"), Queue: "low"},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "left-1", Type: "t", Payload: []byte("4"), Options: hourly},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "left-2", Type: "t", Payload: []byte("5"), Options: hourly},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "left-3", Type: "t", Payload: []byte("6"), Options: hourly},
	)
	_, err := w.redis.Inspector().DeleteAllPendingTasks("default")
	w.must(err)
	w.redis.Ghost(ref("back-made"))
	w.redis.Ghost(ref("back-unmade"))
	w.redis.Unregister("low", "g")
	repairs := w.repairs(reconcile.Scope{}, reconcile.Selection{})
	w.cutOff(reconcile.Options{}, repairs, true, "back-made")
	w.cutOff(reconcile.Options{}, repairs, false, "back-unmade", "g")
	releases := w.releases(reconcile.Selection{})
	key := func(payload string) string { return inspect.UniqueKey("default", "t", []byte(payload)) }
	w.cutOff(reconcile.Options{}, releases, true, key("4"))
	w.cutOff(reconcile.Options{}, releases, false, key("5"))
	w.cutOff(reconcile.Options{}, releases, true, key("6"))
	w.must(w.tryEnqueue("default", "t", []byte("6"), asynq.TaskID("other"), asynq.Unique(time.Hour)))

	r := w.planResume(reconcile.Options{})
	checkIntents(t, r, map[string]verdictOn{
		"back-made":   {done, false, "nothing to mend"},
		"back-unmade": {refused, false, "not made"},
		"g":           {refused, false, "not made"},
		key("4"):      {done, false, "the lock is free"},
		key("5"):      {refused, false, "held by the same task"},
		key("6"):      {done, false, `task "other" holds the lock now`},
	})
	if len(r.Plans) > 0 {
		t.Error("a repair is taken up without the command that says it:", r.Plans)
	}
	w.resume(reconcile.Options{}, r)
	w.allEnded()
}

func TestResumePutsBackWhatWasToBePutBack(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	ids := []string{"6f1c0d6e-3d0e-4d0c-9f57-1f9d5a1f2b31", "6f1c0d6e-3d0e-4d0c-9f57-1f9d5a1f2b32", "6f1c0d6e-3d0e-4d0c-9f57-1f9d5a1f2b33", "6f1c0d6e-3d0e-4d0c-9f57-1f9d5a1f2b34"}
	w.redis.Make(archivedSpecs(ids...)...)
	w.apply(ids...)
	settleDown()
	if _, err := w.perform(reconcile.Options{}, w.resolve(reconcile.Options{}, reconcile.Moves{}), reconcile.Application{}); err != nil {
		t.Fatal(err)
	}
	plan := w.restores(reconcile.DeletionFilter{IDs: ids}, "")
	w.cutOff(reconcile.Options{}, plan, false, ids[0], ids[3])
	w.cutOff(reconcile.Options{}, plan, true, ids[1], ids[2])
	w.must(w.redis.Inspector().RunTask("default", ids[2]))
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: ids[3], Payload: []byte("other")})
	r := w.planResume(reconcile.Options{})
	checkIntents(t, r, map[string]verdictOn{
		ids[0]: {refused, true, "not made"},
		ids[1]: {done, false, ""},
		ids[2]: {done, false, "put back, and pending since"},
		ids[3]: {refused, false, "another task has its ID"},
	})
	out := w.resume(reconcile.Options{}, r)
	if out[ids[0]].Outcome != done || w.state(ids[0]).State != inspect.StateArchived {
		t.Errorf("%+v; it is %s", out[ids[0]], w.state(ids[0]).State)
	}
	w.allEnded()
}

// A resumption is killed between its own intent and the settlement of the old one:
// the task has two pending intents.
func TestResumeMovesATaskOnceThatHasTwoPendingIntents(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(archivedSpecs("twice")...)
	settleDown()
	w.cutOff(reconcile.Options{}, w.requeue(reconcile.Options{}, idle(reconcile.Moves{})), false, "twice")
	w.killed(w.pending()...)
	r := w.planResume(reconcile.Options{})
	if len(r.Intents) != 2 || r.Runnable() != 1 {
		t.Fatalf("%d intents and %d changes, want 2 and 1", len(r.Intents), r.Runnable())
	}
	w.resume(reconcile.Options{}, r)
	if n := w.redis.Client().LLen(t.Context(), "asynq:{default}:pending").Val(); n != 1 {
		t.Errorf("it is pending %d times", n)
	}
	if len(w.pending()) > 0 {
		t.Error("pending:", w.pending())
	}
	w.allEnded()
}

func TestResumeHoldsWhatTookEffectMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(archivedSpecs("zombie")...)
	settleDown()
	w.cutOff(reconcile.Options{}, w.requeue(reconcile.Options{}, idle(reconcile.Moves{})), false, "zombie")
	w.apply("zombie")
	r := w.planResume(reconcile.Options{})
	if r.Runnable() != 0 || len(r.Plans) != 1 || r.Plans[0].Steps[0].Reason != reconcile.HoldApplied {
		t.Fatalf("%+v", r.Plans)
	}
	w.resume(reconcile.Options{}, r)
	records := w.journalled()
	settled := records[len(records)-1]
	for _, rec := range records {
		if rec.Kind == journal.KindResult {
			settled = rec
		}
	}
	if settled.Outcome != refused || !strings.Contains(settled.Found, "held now: its work was done at") {
		t.Errorf("settled as %s: %q", settled.Outcome, settled.Found)
	}
	if w.state("zombie").State != inspect.StateArchived {
		t.Error("it is", w.state("zombie").State)
	}
	w.allEnded()
}

func TestResumeHoldsWithoutALedger(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(archivedSpecs("lost")...)
	settleDown()
	w.cutOff(reconcile.Options{}, w.requeue(reconcile.Options{}, idle(reconcile.Moves{})), false, "lost")
	bare, err := reconcile.NewAuditor(w.queue, reconcile.Options{Rules: []reconcile.Rule{}})
	w.must(err)
	r, err := bare.PlanResume(t.Context(), w.queue, w.pending())
	w.must(err)
	if len(r.Plans) != 1 || r.Plans[0].Steps[0].Reason != reconcile.HoldUnknown {
		t.Errorf("%+v", r.Plans)
	}
}

// What the operator let through in the run that ended is let through again, and
// nothing else is.
func TestResumeKeepsTheOptionsOfTheRunThatEnded(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "forced", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "unique", Payload: []byte("2"), Options: []asynq.Option{asynq.Unique(time.Second)}},
	)
	w.apply("forced")
	settleDown()
	scope := func(id string) reconcile.Options { return reconcile.Options{Scope: reconcile.Scope{IDs: []string{id}}} }
	j := w.journal()
	forced := w.requeue(scope("forced"), idle(reconcile.Moves{Force: "the bank says no"}))
	if err := w.auditor(reconcile.Options{}).Apply(t.Context(), away{w.queue, false}, j, journal.Run{Reason: "the bank says no"}, forced, reconcile.Application{}); err == nil {
		t.Fatal("nothing was cut off")
	}
	j.Close()
	w.cutOff(reconcile.Options{}, w.requeue(scope("unique"), idle(reconcile.Moves{Relock: reconcile.Relock{TTL: time.Hour}})), false, "unique")
	r := w.planResume(reconcile.Options{})
	if len(r.Plans) != 2 || r.Runnable() != 2 {
		t.Fatalf("%d plans, %d changes: %+v", len(r.Plans), r.Runnable(), r.Plans)
	}
	out := w.resume(reconcile.Options{}, r)
	if out["forced"].Outcome != done || !out["forced"].Step.Forced {
		t.Errorf("forced: %+v", out["forced"])
	}
	reasons := 0
	for _, rec := range w.journalled() {
		if rec.Kind == journal.KindIntent && rec.TaskID == "forced" && rec.Reason == "the bank says no" {
			reasons++
		}
	}
	if reasons != 2 {
		t.Errorf("%d of the two intents say why it was let through", reasons)
	}
	locks, err := w.queue.Locks(t.Context(), []string{w.state("unique").UniqueKey})
	if err != nil || locks[0].Owner != "unique" || locks[0].TTL < 59*time.Minute {
		t.Errorf("unique: its lock is %+v, %v", locks, err)
	}
	w.allEnded()
}

func TestResumeLeavesPendingWhatItCouldNotBegin(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(archivedSpecs("first", "second")...)
	settleDown()
	w.cutOff(reconcile.Options{}, w.requeue(reconcile.Options{}, idle(reconcile.Moves{})), false, "first", "second")
	r := w.planResume(reconcile.Options{})
	j := w.journal()
	_, err := w.auditor(reconcile.Options{}).Resume(t.Context(), away{w.queue, false}, j, journal.Run{ID: "again"}, r, reconcile.Application{})
	j.Close()
	if err == nil {
		t.Fatal("a connection that broke is no error")
	}
	var left []string
	for _, p := range w.pending() {
		left = append(left, p.TaskID)
	}
	slices.Sort(left)
	if !slices.Equal(left, []string{"first", "second"}) {
		t.Errorf("pending %q, want each task once", left)
	}
	w.resume(reconcile.Options{}, w.planResume(reconcile.Options{}))
	w.allEnded()
	if n := w.redis.Client().LLen(t.Context(), "asynq:{default}:pending").Val(); n != 2 {
		t.Errorf("%d are pending, want both", n)
	}
}

// The answer is lost on the wire, after Redis has done its work.
func TestResumeAfterALostReply(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(archivedSpecs("first", "second")...)
	settleDown()
	proxy := w.redis.Proxy()
	far, err := inspect.Open(t.Context(), proxy.Options())
	w.must(err)
	defer far.Close()
	plan := w.requeue(reconcile.Options{}, idle(reconcile.Moves{}))
	proxy.CutReplies("evalsha")
	j := w.journal()
	err = w.auditor(reconcile.Options{}).Apply(t.Context(), far, j, journal.Run{Command: "test"}, plan, reconcile.Application{})
	j.Close()
	if err == nil || proxy.Cuts() == 0 {
		t.Fatalf("nothing was cut: %v", err)
	}
	r := w.planResume(reconcile.Options{})
	if len(r.Intents) != 1 {
		t.Fatalf("%d intents are pending, want the one whose answer was lost", len(r.Intents))
	}
	id := r.Intents[0].Record.TaskID
	made := w.state(id).State == inspect.StatePending
	if in := r.Intents[0]; made != (in.Outcome == done) || made == in.Again {
		t.Errorf("it is made: %t, and taken as %s (%s)", made, in.Outcome, in.Found)
	}
	w.resume(reconcile.Options{}, r)
	if w.state(id).State != inspect.StatePending {
		t.Errorf("%s is %s", id, w.state(id).State)
	}
	w.allEnded()
}

func TestDeliveryIsWaitedForFromTheLastIntent(t *testing.T) {
	now := time.Now()
	at := func(ages ...time.Duration) (out []journal.Record) {
		for _, age := range ages {
			out = append(out, journal.Record{At: now.Add(-age)})
		}
		return out
	}
	for name, tt := range map[string]struct {
		pending []journal.Record
		want    time.Duration
	}{
		"none":             {nil, 0},
		"long ago":         {at(time.Hour, 10*time.Second), 0},
		"just now":         {at(time.Hour, 3*time.Second, 5*time.Second), 7 * time.Second},
		"a clock set back": {at(-time.Hour), 10 * time.Second},
	} {
		if got := reconcile.DeliveryWait(tt.pending, now); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func TestResumePutsBackOnceWhatTwoRunsWereToPutBack(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(archivedSpecs(undone)...)
	w.apply(undone)
	settleDown()
	if _, err := w.perform(reconcile.Options{}, w.resolve(reconcile.Options{}, reconcile.Moves{}), reconcile.Application{}); err != nil {
		t.Fatal(err)
	}
	w.cutOff(reconcile.Options{}, w.restores(reconcile.DeletionFilter{IDs: []string{undone}}, ""), false, undone, undone)
	r := w.planResume(reconcile.Options{})
	if len(r.Intents) != 2 || r.Runnable() != 1 {
		t.Errorf("%d intents and %d changes, want 2 and 1", len(r.Intents), r.Runnable())
	}
	out := w.resume(reconcile.Options{}, r)
	if out[undone].Outcome != done || w.state(undone).State != inspect.StateArchived {
		t.Errorf("%s (%s); it is %s", out[undone].Outcome, out[undone].Found, w.state(undone).State)
	}
	w.allEnded()
}
