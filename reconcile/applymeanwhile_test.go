package reconcile_test

import (
	"strings"
	"testing"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// What happens while an application is under way concerns the tasks that it has
// not moved yet: default-1, after default-0 was moved.
func TestApplySeesWhatComesWhileItRuns(t *testing.T) {
	t.Parallel()
	const second = "default-1"
	for name, tt := range map[string]struct {
		meanwhile func(*scene)
		refused   string
	}{
		"a task of its ID, in a new queue": {func(sc *scene) {
			sc.workshop.redis.Make(inspecttest.Spec{Outcome: inspecttest.Pending, ID: second, Queue: "new"})
		}, "to be held now: another queue has a task of the same ID"},
		"an active task of its key, in a new queue": {func(sc *scene) {
			sc.workshop.redis.Make(inspecttest.Spec{Outcome: inspecttest.Active, ID: "twin", Queue: "new", Payload: []byte(`{"n":1}`)})
		}, "to be held now: a live or unsettled task has the same key"},
		"its effect":           {func(sc *scene) { sc.apply("1") }, "to be held now: its work was done at "},
		"an operator who runs": {func(sc *scene) { sc.must(sc.inspector().RunTask("default", second)) }, "already pending (by another)"},
		"one who deletes it":   {func(sc *scene) { sc.must(sc.inspector().DeleteTask("default", second)) }, "the task is gone"},
		"another one's lock": {func(sc *scene) {
			key := inspect.UniqueKey("default", "test:task", []byte(`{"n":1}`))
			sc.must(sc.workshop.redis.Client().Set(t.Context(), key, "nobody", 0).Err())
		}, `the lock of its work belongs to "nobody"`},
	} {
		t.Run(name, func(t *testing.T) {
			sc := newScene(t, 2)
			sc.keyed()
			if strings.Contains(tt.refused, "same ID") {
				sc.options.Rules = nil
			}
			out, err := sc.performMeanwhile(reconcile.Application{Rate: 2}, func(a reconcile.Applied) {
				if a.Item == "1" {
					tt.meanwhile(sc)
				}
			}, nil)
			if err != nil || out[theTask].Outcome != journal.OutcomeDone {
				t.Errorf("the first: %s (%s); %v", out[theTask].Outcome, out[theTask].Found, err)
			}
			if a := out[second]; a.Outcome != journal.OutcomeRefused || !strings.Contains(a.Found, tt.refused) {
				t.Errorf("%s: %q, want %q", a.Outcome, a.Found, tt.refused)
			}
		})
	}
}

// What comes between the last look at a task and its move is seen by the move
// itself.
func TestMovesCompareInTheLastInstant(t *testing.T) {
	t.Parallel()
	run := func(sc *scene) { sc.must(sc.inspector().RunTask("default", theTask)) }
	again := func(sc *scene) { run(sc); sc.must(sc.inspector().ArchiveTask("default", theTask)) }
	deletes := func(sc *scene) { sc.must(sc.inspector().DeleteTask("default", theTask)) }
	for name, tt := range map[string]struct {
		step      string
		meanwhile func(*scene)
		refused   string
	}{
		"run after it was judged":      {"raw", run, "already pending (by another)"},
		"run after its intent":         {"move", run, "already pending (by another)"},
		"deleted after it was judged":  {"raw", deletes, "the task is gone"},
		"deleted after its intent":     {"move", deletes, "the task is gone"},
		"archived again after intent":  {"move", again, "the task was archived again since it was read"},
		"locked after it was judged":   {"raw", func(sc *scene) { sc.locked("nobody") }, `the lock of its work belongs to "nobody"`},
		"locked after its intent":      {"move", func(sc *scene) { sc.locked("nobody") }, `the lock of its work belongs to "nobody"`},
		"changed after it was judged":  {"raw", func(sc *scene) { sc.setPayload(`{"n":7}`) }, "it changed while it was looked at"},
		"changed after its intent":     {"move", func(sc *scene) { sc.setPayload(`{"n":7}`) }, "the task's stored fields have changed since they were read"},
		"archived again after judging": {"raw", again, "it was archived again while it was looked at"},
	} {
		t.Run(name, func(t *testing.T) {
			sc := newScene(t, 1)
			done := false
			out, err := sc.performMeanwhile(reconcile.Application{}, nil, func(step string) {
				if step == tt.step && !done {
					done = true
					tt.meanwhile(sc)
				}
			})
			if a := out[theTask]; err != nil || a.Outcome != journal.OutcomeRefused || !strings.Contains(a.Found, tt.refused) {
				t.Errorf("%s: %q (%v), want %q; %v", a.Outcome, a.Found, a.Err, tt.refused, err)
			}
			complete(t, sc.path)
		})
	}
}
