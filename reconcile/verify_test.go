package reconcile_test

import (
	"context"
	"fmt"
	"maps"
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

// verify gives what is said of the run's items, by task ID, target or item.
func (w *workshop) verify(o reconcile.Options, run string) (map[string]reconcile.Verified, reconcile.Verification) {
	w.t.Helper()
	out := map[string]reconcile.Verified{}
	sum, err := w.auditor(o).Verify(w.t.Context(), journal.Read(w.path), run, func(v reconcile.Verified) {
		name := v.Target
		if name == "" {
			name = v.Ref.ID
		}
		if name == "" {
			name = "item " + v.Item
		}
		if _, twice := out[name]; twice {
			w.t.Errorf("%s is told twice", name)
		}
		out[name] = v
	}, func(err error) { w.t.Error(err) })
	if err != nil {
		w.t.Fatal(err)
	}
	return out, sum
}

func (w *workshop) lastRun() string {
	records := w.journalled()
	return records[len(records)-1].Run
}

func checkProofs(t *testing.T, got map[string]reconcile.Verified, sum reconcile.Verification, want map[string]reconcile.Proof) {
	t.Helper()
	counts := map[reconcile.Proof]int{}
	for id, proof := range want {
		counts[proof]++
		if got[id].Proof != proof {
			t.Errorf("%s: %s (%s; %s), want %s", id, got[id].Proof, got[id].Note, got[id].Reason, proof)
		}
	}
	if len(got) != len(want) || sum.Items != len(want) || !maps.Equal(counts, sum.ByProof) {
		t.Errorf("%d items, counted %v; want %v", len(got), sum.ByProof, counts)
	}
}

func TestVerifySaysWhatBecameOfEveryTaskThatRanAgain(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	// No unique index stops a second row of a key.
	w.db.Exec(`CREATE TABLE effects (task_id text NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`)
	w.db.Exec(`CREATE INDEX ON effects (task_id)`)
	w.db.Exec(`INSERT INTO effects VALUES ('long-ago', now() - interval '300 days')`)
	o := reconcile.Options{Rules: []reconcile.Rule{{
		Class: reconcile.ClassCreate, Sources: []reconcile.Source{{Role: reconcile.RoleEffect, Ledger: "main", Table: "effects", Column: "task_id", At: "created_at"}},
	}}}
	ids := []string{"once", "twice", "silent", "failed", "retried", "later-1", "taken"}
	w.redis.Make(archivedSpecs(ids...)...)
	settleDown()
	plan := w.requeue(o, idle(reconcile.Moves{Unprotected: []string{"test:task"}, Attempts: 2}))
	if plan.Runnable() != len(ids) {
		t.Fatalf("%d of %d are run", plan.Runnable(), len(ids))
	}
	w.must(w.redis.Inspector().RunTask("default", "taken"))
	if _, err := w.perform(o, plan, reconcile.Application{}); err != nil {
		t.Fatal(err)
	}
	row := func(id string) { w.db.Exec(`INSERT INTO effects (task_id) VALUES ($1)`, id) }
	stop := w.redis.Serve(map[string]int{"default": 1}, 4, func(ctx context.Context, task *asynq.Task) error {
		switch id := task.ResultWriter().TaskID(); id {
		case "once":
			row(id)
		case "twice":
			row(id)
			row(id)
		case "failed":
			return asynq.SkipRetry
		case "retried":
			return fmt.Errorf("no")
		}
		return nil
	})
	for _, id := range []string{"once", "twice", "silent", "later-1"} {
		w.until(id, inspect.StateUnknown)
	}
	w.until("failed", inspect.StateArchived)
	w.until("retried", inspect.StateRetry)
	stop()
	// Under its ID something waits again.
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "later-1", Payload: []byte("x")})
	got, sum := w.verify(o, w.lastRun())
	checkProofs(t, got, sum, map[string]reconcile.Proof{
		"once": reconcile.ProofApplied, "twice": reconcile.ProofTwice, "silent": reconcile.ProofUnproven,
		"failed": reconcile.ProofFailed, "retried": reconcile.ProofFailed, "later-1": reconcile.ProofWaiting,
		"taken": reconcile.ProofNotChanged,
	})
	if v := got["once"]; v.AppliedAt.IsZero() || v.Key != "once" || v.Note != "" {
		t.Errorf("once: %+v", v)
	}
	if !strings.Contains(got["taken"].Found, "already pending (by another)") {
		t.Errorf("nothing says why it was not changed: %+v", got["taken"])
	}
	if sum.Ended.IsZero() || sum.Operator != "tester" || sum.Command != "test" {
		t.Errorf("the run is %+v", sum)
	}
}

func TestVerifySaysWhatBecameOfDeletionsAndOfTasksPutBack(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	id := func(n int) string { return fmt.Sprintf("6f1c0d6e-3d0e-4d0c-9f57-1f9d5a1f2b0%d", n) }
	ids := []string{id(0), id(1), id(2), id(3), id(4)}
	w.redis.Make(archivedSpecs(ids...)...)
	w.apply(ids...)
	settleDown()
	if _, err := w.perform(reconcile.Options{}, w.resolve(reconcile.Options{}, reconcile.Moves{}), reconcile.Application{}); err != nil {
		t.Fatal(err)
	}
	resolved := w.lastRun()
	if _, err := w.perform(reconcile.Options{}, w.restores(reconcile.DeletionFilter{IDs: []string{id(2), id(3), id(4)}}, ""), reconcile.Application{}); err != nil {
		t.Fatal(err)
	}
	restored := w.lastRun()
	w.db.Exec(`DELETE FROM processed_tasks WHERE task_id = $1`, id(1))
	w.must(w.redis.Inspector().RunTask("default", id(3)))
	w.must(w.redis.Inspector().DeleteTask("default", id(4)))
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: id(4), Payload: []byte("new")})

	got, sum := w.verify(reconcile.Options{}, resolved)
	checkProofs(t, got, sum, map[string]reconcile.Proof{
		id(0): reconcile.ProofDeleted, id(1): reconcile.ProofEffectGone, id(2): reconcile.ProofBack,
		id(3): reconcile.ProofDeleted, id(4): reconcile.ProofDeleted,
	})
	if !strings.Contains(got[id(4)].Note, "its ID has another task now, which is scheduled") {
		t.Errorf("who has the ID is not said: %q", got[id(4)].Note)
	}
	got, sum = w.verify(reconcile.Options{}, restored)
	checkProofs(t, got, sum, map[string]reconcile.Proof{
		id(2): reconcile.ProofRestored, id(3): reconcile.ProofWaiting, id(4): reconcile.ProofWaiting,
	})
}

func TestVerifyOfAKilledRunSaysWhatIsOpen(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(archivedSpecs("lost", "answered")...)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "ghost", Payload: []byte("g")})
	settleDown()
	w.cutOff(reconcile.Options{}, w.requeue(reconcile.Options{}, idle(reconcile.Moves{})), true, "lost")
	run := w.lastRun()
	got, sum := w.verify(reconcile.Options{}, run)
	checkProofs(t, got, sum, map[string]reconcile.Proof{"lost": reconcile.ProofOpen})
	w.resume(reconcile.Options{}, w.planResume(reconcile.Options{}))
	got, sum = w.verify(reconcile.Options{}, run)
	checkProofs(t, got, sum, map[string]reconcile.Proof{"lost": reconcile.ProofWaiting})

	w.redis.Ghost(ref("ghost"))
	w.carryOut(w.repairs(reconcile.Scope{}, reconcile.Selection{}))
	got, sum = w.verify(reconcile.Options{}, w.lastRun())
	checkProofs(t, got, sum, map[string]reconcile.Proof{"ghost": reconcile.ProofNotJudged})
}

// The rule was changed since: the key that the run rested on is the one that counts.
func TestVerifyUsesTheKeyThatTheTaskHad(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "a", Payload: []byte(`{"event":"e1","n":"other"}`)},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "b", Payload: []byte(`{"event":"e2"}`)},
	)
	settleDown()
	if _, err := w.perform(keyedByEvent(), w.requeue(keyedByEvent(), idle(reconcile.Moves{})), reconcile.Application{}); err != nil {
		t.Fatal(err)
	}
	_, err := w.redis.Inspector().DeleteAllPendingTasks("default")
	w.must(err)
	w.apply("e1", "e2")
	changed := keyedByEvent()
	changed.Rules[0].Key = "payload.n"
	got, _ := w.verify(changed, w.lastRun())
	if v := got["a"]; v.Proof != reconcile.ProofApplied || v.Key != "e1" || !strings.Contains(v.Note, `gives it the key "other" now`) {
		t.Errorf("a: %s by %q: %q", v.Proof, v.Key, v.Note)
	}
	if v := got["b"]; v.Proof != reconcile.ProofApplied || !strings.Contains(v.Note, "no key now") {
		t.Errorf("b: %s: %q", v.Proof, v.Note)
	}
}

func TestVerifyCountsLargeRunsInBatches(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	const n = 1203
	refs := w.redis.Fill("default", inspect.StateArchived, n, func(i int, m *inspecttest.Message) {
		m.LastFailedAt = time.Now().Add(-time.Hour).Unix()
	})
	settleDown()
	plan := w.requeue(reconcile.Options{}, idle(reconcile.Moves{}))
	if plan.Runnable() != n {
		t.Fatalf("%d of %d are run; the first is held: %s", plan.Runnable(), n, plan.Steps[0].Hold)
	}
	if _, err := w.perform(reconcile.Options{}, plan, reconcile.Application{}); err != nil {
		t.Fatal(err)
	}
	w.db.Exec(`INSERT INTO processed_tasks (task_id) SELECT unnest($1::text[])`, idsOf(refs[:n-3]))
	_, err := w.redis.Inspector().DeleteAllPendingTasks("default")
	w.must(err)
	got, sum := w.verify(reconcile.Options{}, w.lastRun())
	if len(got) != n || sum.ByProof[reconcile.ProofApplied] != n-3 || sum.ByProof[reconcile.ProofUnproven] != 3 {
		t.Errorf("%d items: %v", len(got), sum.ByProof)
	}
}

func idsOf(refs []inspect.Ref) []string {
	var ids []string
	for _, r := range refs {
		ids = append(ids, r.ID)
	}
	return slices.Clip(ids)
}
