package reconcile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

func TestWhySeesThatTheTaskBehindABarrierNeverRuns(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		damage func(w *world)
		stuck  reconcile.Code
	}{
		"in no list": {func(w *world) { w.redis.Ghost(ref("owner")) }, reconcile.CodeGhost},
		"active without a lease": {func(w *world) {
			w.redis.Orphan(ref("owner"), time.Now().Add(-time.Minute))
			w.redis.Unlease(ref("owner"))
		}, reconcile.CodeNoLease},
		"unreadable":      {func(w *world) { w.redis.Corrupt(ref("owner")) }, reconcile.CodeUndecodable},
		"as it should be": {func(*world) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Pending, ID: "owner", Type: "t", Payload: []byte("1"), Options: hourly})
			tt.damage(w)
			a := w.ask(reconcile.Question{Type: "t", Payload: []byte("1"), ID: "owner"})
			if len(a.Refusals) != 2 {
				t.Fatalf("refusals %+v, want the lock and the ID", a.Refusals)
			}
			for _, f := range a.Refusals {
				if f.Stuck != tt.stuck {
					t.Errorf("%s: stuck %q, want %q", f.Barrier, f.Stuck, tt.stuck)
				}
				if waits := strings.HasPrefix(f.Next, "wait"); waits != (tt.stuck == "") {
					t.Errorf("%s: advice %q", f.Barrier, f.Next)
				}
			}
		})
	}
}

func TestLocksNameOwnersThatNoListHolds(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "ghost", Type: "t", Payload: []byte("1"), Options: hourly},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "sound", Type: "t", Payload: []byte("2"), Options: hourly},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "grouped", Type: "t", Payload: []byte("3"), Options: hourly},
	)
	w.redis.Ghost(ref("ghost"))
	verdicts := map[string]reconcile.LockVerdict{}
	_, err := w.auditor(reconcile.Options{}).Locks(t.Context(), &collector{}, func(h reconcile.HeldLock) { verdicts[h.Task.ID] = h.Verdict })
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]reconcile.LockVerdict{
		"ghost": reconcile.LockStuck, "sound": reconcile.LockGuards, "grouped": reconcile.LockGuards,
	} {
		if verdicts[id] != want {
			t.Errorf("%s: %q, want %q", id, verdicts[id], want)
		}
	}
}

// A member's hash goes when its aggregate is enqueued, and its lock stays: nothing
// says any more that the aggregate may be doing its work.
func TestReleaseHoldsLocksOfAQueueThatAggregates(t *testing.T) {
	w := newWorkshop(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Pending, ID: "gone", Type: "t", Payload: []byte("1"), Options: hourly})
	if _, err := w.redis.Inspector().DeleteAllPendingTasks("default"); err != nil {
		t.Fatal(err)
	}
	if plan := w.releases(reconcile.Selection{}); plan.Runnable() != 1 {
		t.Fatalf("%d of %d are to be released in a queue without groups, want 1", plan.Runnable(), len(plan.Steps))
	}
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "member", Type: "g", Payload: []byte("2")})
	plan := w.releases(reconcile.Selection{})
	if plan.Runnable() != 0 || len(plan.Steps) != 1 {
		t.Fatalf("%d of %d are to be released beside a group", plan.Runnable(), len(plan.Steps))
	}
	key := plan.Steps[0].Target
	if named := w.releases(reconcile.Selection{Keys: []string{key}}); named.Runnable() != 0 {
		t.Error("a name alone releases it")
	}
	if named := w.releases(reconcile.Selection{Keys: []string{key}, Force: "no aggregate runs"}); named.Runnable() != 1 || !named.Steps[0].Forced {
		t.Error("a name and a reason do not release it")
	}
}

func TestRepairForcesNoStateThatAWorkerSets(t *testing.T) {
	w := newWorkshop(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Pending, ID: "taken", Payload: []byte("1")})
	w.redis.SetState(ref("taken"), inspect.StateRetry)
	plan := w.repairs(reconcile.Scope{IDs: []string{"taken"}}, reconcile.Selection{Force: "because"})
	if s := stepOn(t, plan, "taken"); s.Hold == "" {
		t.Errorf("%s is forced", s.Change)
	}
}

func TestRepairCallsNoWorkDoneThatIsNot(t *testing.T) {
	w := newWorkshop(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "lost", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "done", Payload: []byte("2")},
	)
	for _, id := range []string{"lost", "done"} {
		w.redis.SetState(ref(id), inspect.StateRetry)
	}
	w.apply("done")
	plan := w.repairs(reconcile.Scope{}, reconcile.Selection{})
	if s := stepOn(t, plan, "lost"); s.Hold == "" {
		t.Error("work that is not done is called completed")
	}
	if s := stepOn(t, plan, "done"); s.Hold != "" || s.Change != journal.ChangeSetState {
		t.Errorf("%s, hold %q", s.Change, s.Hold)
	}
}

func TestAuditGoesOnWhenAQueueIsRemoved(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "kept", Queue: "stays"},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "removed", Queue: "goes"},
	)
	removed := false
	h := &hooked{Client: w.queue, listed: func(r inspect.Ref, _ inspect.State) {
		if !removed && r.Queue == "stays" {
			removed = true
			if err := w.redis.Inspector().DeleteQueue("goes", true); err != nil {
				t.Error(err)
			}
		}
	}}
	for name, run := range map[string]func(*reconcile.Auditor, context.Context, reconcile.Observer) (reconcile.Report, error){
		"audit": (*reconcile.Auditor).Run, "integrity": (*reconcile.Auditor).Integrity,
	} {
		a, err := reconcile.NewAuditor(h, reconcile.Options{
			Ledgers: map[string]reconcile.Ledger{"main": w.ledger}, DefaultLedger: "main", Settle: time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		report, err := run(a, t.Context(), &collector{})
		if err != nil || !report.Complete {
			t.Errorf("%s: %v, complete %t (%v)", name, err, report.Complete, report.Problem)
		}
		removed = false
		if err := w.tryEnqueue("goes", "t", []byte(name), asynq.TaskID("again-"+name)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestExplainSaysWhatARepairWouldDo(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Pending, ID: "ghost", Payload: []byte("1")})
	w.redis.Ghost(ref("ghost"))
	d, err := w.auditor(reconcile.Options{}).Explain(t.Context(), ref("ghost"))
	if err != nil {
		t.Fatal(err)
	}
	verbs := map[string]reconcile.Choice{}
	for _, c := range d.Choices {
		verbs[c.Verb] = c
	}
	if verbs["leave"].Safe {
		t.Error("leaving lost work is called safe")
	}
	if c, ok := verbs["repair"]; !ok || !strings.Contains(c.Outcome, "integrity repair") {
		t.Errorf("choices %+v: no repair", d.Choices)
	}
	if _, ok := verbs["delete"]; ok {
		t.Error("deleting is offered, which no asynq call can do")
	}
}

func TestExplainOfAnIDWithoutATaskSaysWhatHoldsIt(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Pending, ID: "hollow"})
	w.redis.Dangle(ref("hollow"))
	_, err := w.auditor(reconcile.Options{}).Explain(t.Context(), ref("hollow"))
	if err == nil || !strings.Contains(err.Error(), "pending") {
		t.Errorf("error %v does not name the list that holds the ID", err)
	}
}

func TestExplainFindsATwinBesideTheTask(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "one", Payload: []byte("same")},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "two", Payload: []byte("same")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "alone", Payload: []byte("other")},
	)
	for id, twins := range map[string]bool{"one": true, "two": true, "alone": false} {
		d, err := w.auditor(reconcile.Options{}).Explain(t.Context(), ref(id))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range d.Findings {
			found = found || f.Code == reconcile.CodeLockTwin
		}
		if found != twins {
			t.Errorf("%s: twin found = %t, want %t", id, found, twins)
		}
	}
}

func TestRepairRunsNothingWhoseLockAnotherTaskHolds(t *testing.T) {
	w := newWorkshop(t)
	for _, id := range []string{"ghost", "unleased"} {
		w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Pending, ID: id, Type: "t", Payload: []byte(id), Options: hourly})
	}
	w.redis.Orphan(ref("unleased"), time.Now().Add(-time.Minute))
	w.redis.Unlease(ref("unleased"))
	w.redis.Ghost(ref("ghost"))
	for _, id := range []string{"ghost", "unleased"} {
		w.redis.Client().Del(t.Context(), inspect.UniqueKey("default", "t", []byte(id)))
		if err := w.tryEnqueue("default", "t", []byte(id), asynq.TaskID("twin-of-"+id), asynq.Unique(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	plan := w.repairs(reconcile.Scope{}, reconcile.Selection{})
	if s := stepOn(t, plan, "ghost"); s.Change != journal.ChangeArchive {
		t.Errorf("a ghost beside its twin: %s", s.Change)
	}
	if s := stepOn(t, plan, "unleased"); s.Hold == "" {
		t.Errorf("a task without a lease beside its twin: %s", s.Change)
	}
}
