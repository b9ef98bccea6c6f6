package reconcile_test

import (
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

func TestArchivedJudgesEveryArchivedTaskAsAnAuditDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "lost", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "done", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "shared", Payload: []byte("3")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "shared", Queue: "low", Payload: []byte("4")},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "other", Payload: []byte("5")},
	)
	w.apply("done")
	settleDown()
	got := map[string]reconcile.Archived{}
	o := reconcile.Options{Scope: reconcile.Scope{Queues: []string{"default"}}}
	report, err := w.auditor(o).Archived(t.Context(), &collector{}, func(a reconcile.Archived) { got[a.Task.ID] = a })
	if err != nil || !report.Complete {
		t.Fatal(err, report.Problem)
	}
	if len(got) != 3 {
		t.Fatalf("%d archived tasks are told, want 3", len(got))
	}
	for id, want := range map[string]reconcile.HoldReason{
		"lost": reconcile.HoldNone, "done": reconcile.HoldApplied, "shared": reconcile.HoldIDShared,
	} {
		if action, hold := reconcile.DecideRequeue(got[id]); hold != want || (hold == reconcile.HoldNone) != (action == reconcile.ActionRun) {
			t.Errorf("%s: %s (%s), want %q", id, action, hold, want)
		}
	}
	if !got["lost"].Verdict.Has(reconcile.CodeLost) || got["done"].Verdict.AppliedAt.IsZero() {
		t.Errorf("lost: %v, done: applied at %v", got["lost"].Verdict.Codes, got["done"].Verdict.AppliedAt)
	}
	w2 := w.auditor(reconcile.Options{Settle: time.Hour})
	if _, err := w2.Archived(t.Context(), &collector{}, func(a reconcile.Archived) { got[a.Task.ID] = a }); err != nil {
		t.Fatal(err)
	}
	if _, hold := reconcile.DecideRequeue(got["lost"]); hold != reconcile.HoldUnsettled {
		t.Errorf("a young failure is held as %q, want unsettled", hold)
	}
}
