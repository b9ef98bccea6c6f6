package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// The same event waits under another ID, in another queue: whoever runs the ghost
// as well does its work twice.
func TestRepairRunsNothingThatALiveTaskOfItsKeyDoes(t *testing.T) {
	for name, live := range map[string]bool{"a twin waits": true, "nobody else": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorkshop(t)
			w.redis.Make(
				inspecttest.Spec{Outcome: inspecttest.Pending, ID: "ghost", Payload: []byte(`{"event":"a"}`)},
				inspecttest.Spec{Outcome: inspecttest.Pending, ID: "stuck", Payload: []byte(`{"event":"b"}`)},
			)
			if live {
				w.redis.Make(
					inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "twin-a", Queue: "low", Payload: []byte(`{"event":"a","n":2}`)},
					inspecttest.Spec{Outcome: inspecttest.Pending, ID: "twin-b", Queue: "low", Payload: []byte(`{"event":"b","n":2}`)},
				)
			}
			w.redis.Ghost(ref("ghost"))
			w.redis.Orphan(ref("stuck"), time.Now().Add(-time.Minute))
			w.redis.Unlease(ref("stuck"))
			o := keyedByEvent()
			o.Scope.Queues = []string{"default"}
			plan, report, err := w.auditor(o).PlanRepairs(t.Context(), w.queue, &collector{}, reconcile.Selection{})
			if err != nil || !report.Complete {
				t.Fatal(err, report.Problem)
			}
			ghost, stuck := stepOn(t, plan, "ghost"), stepOn(t, plan, "stuck")
			if want := map[bool]journal.Change{true: journal.ChangeArchive, false: journal.ChangePutBack}[live]; ghost.Change != want || ghost.Hold != "" {
				t.Errorf("ghost: %s (%s), want %s", ghost.Change, ghost.Hold, want)
			}
			if held := strings.Contains(stuck.Hold, "another live task has its key"); held != live {
				t.Errorf("stuck: %s, held: %q", stuck.Change, stuck.Hold)
			}
			if _, err := w.perform(o, plan, reconcile.Application{}); err != nil {
				t.Fatal(err)
			}
			if want := map[bool]inspect.State{true: inspect.StateArchived, false: inspect.StatePending}[live]; w.state("ghost").State != want {
				t.Errorf("the ghost is %s, want %s", w.state("ghost").State, want)
			}
		})
	}
}
