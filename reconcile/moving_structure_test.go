package reconcile_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

// A task that was always just leaving when it was met is a task like any other:
// it counts once, is the twin of its equals, and keeps the work of its key from
// being called lost.
func TestAuditKnowsATaskThatWasMetOnItsWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	payload := []byte(`{"key":"k1"}`)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "dead", Payload: payload},
		inspecttest.Spec{ID: "moving", Payload: payload},
	)
	settleDown()
	moving := taskRef("default", "moving")
	take := atFirst(func() { w.redis.Orphan(moving, time.Now().Add(30*time.Second)) })
	fail := atFirst(func() { w.toRetry(moving) })
	h := &hooked{Client: w.queue, listed: func(r inspect.Ref, s inspect.State) {
		switch {
		case r == moving && s == inspect.StatePending:
			take()
		case r.ID == "dead":
			fail()
		}
	}}
	rules := []reconcile.Rule{{Key: "payload.key", Class: reconcile.ClassCreate, Sources: []reconcile.Source{
		{Role: reconcile.RoleMark, Table: "processed_tasks"},
	}}}
	var sink collector
	a, err := reconcile.NewAuditor(h, reconcile.Options{
		Rules: rules, Ledgers: map[string]reconcile.Ledger{"main": w.ledger}, DefaultLedger: "main",
		Settle: time.Millisecond, ConfirmAfter: 50 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	report, err := a.Run(t.Context(), &sink)
	if err != nil {
		t.Fatal(err)
	}
	fs := found(sink.findings)
	fs.none(t, reconcile.CodeLost)
	fs.only(t, reconcile.CodeUnsettled, reconcile.SeverityInfo, "dead")
	if n := report.Totals.Tasks; n != 2 {
		t.Errorf("%d tasks are counted, want 2", n)
	}
	if got := report.Totals.ByState; got[inspect.StateRetry] != 1 || got[inspect.StateArchived] != 1 || len(got) != 2 {
		t.Errorf("states %v, want one retry and one archived", got)
	}
	fs.only(t, reconcile.CodeRetryUncounted, reconcile.SeverityWarning, "moving") // and once
	if n := len(fs.of(reconcile.CodeKeyCollision)); n != 1 {
		t.Errorf("%d collisions, want one: two unfinished tasks have the key", n)
	}
	fs.none(t, allIntegrity...)
}

func TestAuditFindsATwinThatWasMetOnItsWay(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{ID: "moving", Payload: []byte("same")},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "waits", Payload: []byte("same")},
	)
	moving := taskRef("default", "moving")
	take := atFirst(func() { w.redis.Orphan(moving, time.Now().Add(30*time.Second)) })
	h := &hooked{Client: w.queue, listed: func(r inspect.Ref, s inspect.State) {
		if r == moving && s == inspect.StatePending {
			take()
		}
	}}
	fs := w.findThrough(h, reconcile.Options{Rules: natural})
	twins := fs.of(reconcile.CodeLockTwin)
	if len(twins) != 1 || twins[0].TaskCount != 2 {
		t.Fatalf("twins %v, want one finding of 2 tasks", twins)
	}
	fs.none(t, allIntegrity...)
}

// A task that is met in two states has one content, one key and one place in
// the counts.
func TestAuditCountsATaskOnceThatItMetTwice(t *testing.T) {
	w := newWorld(t)
	payload := []byte(`{"key":"k1"}`)
	w.redis.Make(
		inspecttest.Spec{ID: "moving", Queue: "a", Type: "type:keyed", Payload: payload},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "waits", Queue: "a", Type: "type:keyed", Payload: payload},
		inspecttest.Spec{ID: "plain", Queue: "a", Type: "type:unknown", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "plain2", Queue: "a", Type: "type:unknown", Payload: []byte("1")},
		inspecttest.Spec{ID: "trigger", Queue: "b", Type: "type:keyed", Payload: []byte(`{"key":"k2"}`)},
	)
	// The pending tasks of a are read by now, and no active list is.
	take := atFirst(func() {
		for _, id := range []string{"moving", "plain"} {
			w.redis.Orphan(taskRef("a", id), time.Now().Add(30*time.Second))
		}
	})
	h := &hooked{Client: w.queue, listed: func(r inspect.Ref, _ inspect.State) {
		if r.ID == "trigger" {
			take()
		}
	}}
	var sink collector
	a, err := reconcile.NewAuditor(h, reconcile.Options{
		Ledgers: map[string]reconcile.Ledger{"main": w.ledger}, DefaultLedger: "main", ConfirmAfter: 50 * time.Millisecond,
		Rules: []reconcile.Rule{{Type: "*:keyed", Key: "payload.key", Class: reconcile.ClassCreate, Sources: []reconcile.Source{
			{Role: reconcile.RoleMark, Table: "processed_tasks"},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	report, err := a.Run(t.Context(), &sink)
	if err != nil {
		t.Fatal(err)
	}
	fs := found(sink.findings)
	want := map[inspect.State]int{inspect.StateActive: 2, inspect.StateScheduled: 2, inspect.StatePending: 1}
	if diff := cmp.Diff(want, report.Totals.ByState); diff != "" || report.Totals.Tasks != 5 {
		t.Errorf("%d tasks, want 5; by state (-want +got):\n%s", report.Totals.Tasks, diff)
	}
	for _, code := range []reconcile.Code{reconcile.CodeLockTwin, reconcile.CodeKeyCollision} {
		for _, f := range fs.of(code) {
			if f.TaskCount != 2 || len(f.Tasks) != 2 {
				t.Errorf("%s on %v counts %d tasks, want 2", code, f.Tasks, f.TaskCount)
			}
		}
	}
	if twins, collisions := len(fs.of(reconcile.CodeLockTwin)), len(fs.of(reconcile.CodeKeyCollision)); twins != 2 || collisions != 1 {
		t.Errorf("%d findings on twins and %d on collisions, want 2 and 1", twins, collisions)
	}
	if f := fs.of(reconcile.CodeUnclassified); len(f) != 1 || f[0].TaskCount != 2 {
		t.Errorf("unclassified: %v, want one finding of 2 tasks", f)
	}
}

// What moves from list to list while it is listed is out of place for a moment,
// and is done or somewhere when it is looked at again.
func TestAuditCallsNothingMisplacedThatIsOnItsWay(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{ID: "taken", Payload: []byte("1")},
		inspecttest.Spec{ID: "done", Payload: []byte("2")},
		inspecttest.Spec{ID: "failed", Payload: []byte("3")},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "run", Payload: []byte("4")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "rerun", Payload: []byte("5")},
	)
	lease := time.Now().Add(30 * time.Second)
	steps := map[inspect.Ref]func(){
		taskRef("default", "taken"): atFirst(func() { w.redis.Orphan(taskRef("default", "taken"), lease) }),
		taskRef("default", "done"): atFirst(func() {
			w.redis.Ghost(taskRef("default", "done"))
			w.redis.Dangle(taskRef("default", "done"))
		}),
		taskRef("default", "failed"): atFirst(func() {
			w.redis.Orphan(taskRef("default", "failed"), lease)
			w.toRetry(taskRef("default", "failed"))
		}),
		taskRef("default", "run"):   atFirst(func() { w.must(w.redis.Inspector().RunTask("default", "run")) }),
		taskRef("default", "rerun"): atFirst(func() { w.must(w.redis.Inspector().RunTask("default", "rerun")) }),
	}
	h := &hooked{Client: w.queue, listed: func(r inspect.Ref, _ inspect.State) {
		if step := steps[r]; step != nil {
			step()
		}
	}}
	fs := w.findThrough(h, reconcile.Options{})
	fs.none(t, allIntegrity...)
}

// A queue that is used for the first time while the keys are swept is no queue
// that was removed, and its tasks are no ghosts.
func TestAuditCallsNothingLeftBehindThatCameDuringTheSweep(t *testing.T) {
	w := newWorld(t)
	w.oneOfEach("whole")
	h := &hooked{Client: w.queue, sweep: func() {
		w.redis.Make(
			inspecttest.Spec{ID: "new", Queue: "brand-new", Payload: []byte("1"), Options: unique(time.Hour)},
			inspecttest.Spec{Outcome: inspecttest.Completed, ID: "kept", Queue: "brand-new2", Payload: []byte("2")},
			inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "late", Queue: "whole", Payload: []byte("3"), Options: unique(time.Hour)},
			inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "late2", Queue: "whole", Payload: []byte("4")},
			inspecttest.Spec{ID: "late4", Queue: "whole", Payload: []byte("6")},
			inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "late3", Queue: "whole", Payload: []byte("5"), Options: []asynq.Option{asynq.Group("late")}},
		)
		w.redis.Stage("whole", "g")
	}}
	fs := w.findThrough(h, reconcile.Options{})
	fs.none(t, allIntegrity...)
	fs.none(t, allLocks[4:]...)
}

// A task that is done between its lock and itself leaves nothing behind, also
// where the next one has its ID and its content.
func TestAuditCallsNoLockOrphanedWhoseTaskComesBack(t *testing.T) {
	w := newWorld(t)
	again := inspecttest.Spec{ID: "cycle", Payload: []byte("1"), Options: unique(time.Hour)}
	w.redis.Make(again)
	here := true
	h := &hooked{Client: w.queue}
	h.sweep = func() {
		h.locked = func() {
			if here {
				w.must(w.redis.Inspector().DeleteTask("default", "cycle"))
			}
			here = false
		}
		h.owners = func() {
			if !here {
				time.Sleep(5 * time.Millisecond)
				w.redis.Make(again)
			}
			here = true
		}
	}
	fs := w.findThrough(h, reconcile.Options{})
	fs.none(t, reconcile.CodeLockOrphaned, reconcile.CodeLockPhantom)
}
