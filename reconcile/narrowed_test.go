package reconcile_test

import (
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

// wrongIn makes every fault of structure and of entry in a queue, on tasks of
// one type.
func (w *world) wrongIn(queue, kind string) {
	w.t.Helper()
	spec := func(o inspecttest.Outcome, name string, opts ...asynq.Option) inspecttest.Spec {
		return inspecttest.Spec{Outcome: o, ID: queue + "-" + name, Queue: queue, Type: kind, Payload: []byte(name), Options: opts}
	}
	w.redis.Make(
		spec(inspecttest.Archived, "blocks", asynq.Unique(time.Hour)),
		spec(inspecttest.Scheduled, "twin", asynq.Unique(time.Hour)),
		spec(inspecttest.Scheduled, "ghost"),
		spec(inspecttest.Scheduled, "dangling"),
		spec(inspecttest.Scheduled, "misplaced"),
		spec(inspecttest.Aggregating, "grouped"),
		spec(inspecttest.Pending, "orphaned", asynq.Unique(time.Hour)),
	)
	again := spec(inspecttest.Scheduled, "twin")
	again.ID += "2"
	w.redis.Make(again)
	if _, err := w.redis.Inspector().DeleteAllPendingTasks(queue); err != nil {
		w.t.Fatal(err)
	}
	w.redis.Ghost(taskRef(queue, queue+"-ghost"))
	w.redis.Dangle(taskRef(queue, queue+"-dangling"))
	w.redis.SetState(taskRef(queue, queue+"-misplaced"), inspect.StateRetry)
	w.redis.Unregister(queue, "g")
	w.setScore(queue, "lease", queue+"-lease", time.Now().Add(-time.Hour))
}

// everyFault are the codes of what wrongIn makes, of whichever queue.
var everyFault = []reconcile.Code{
	reconcile.CodeLockBlocks, reconcile.CodeLockTwin, reconcile.CodeGhost, reconcile.CodeDangling, reconcile.CodeStateMismatch,
	reconcile.CodeGroupUnregistered, reconcile.CodeLockOrphaned, reconcile.CodeStaleLease, reconcile.CodeQueueUnserved, reconcile.CodeIDBlocked,
}

func TestAuditOfOneQueueSaysNothingOfOthers(t *testing.T) {
	w := newWorld(t)
	w.wrongIn("mine", "kind:a")
	w.wrongIn("other", "kind:a")
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Completed, Queue: "removed"})
	if err := w.redis.Inspector().DeleteQueue("removed", false); err != nil {
		t.Fatal(err)
	}
	fs := w.find(reconcile.Options{Scope: reconcile.Scope{Queues: []string{"min?"}}})
	seen := map[reconcile.Code]int{}
	for _, f := range fs {
		seen[f.Code]++
		if f.Task.Queue != "mine" && f.Task.Queue != "" {
			t.Errorf("%s on %s/%s, which is out of scope", f.Code, f.Task.Queue, f.Task.ID)
		}
	}
	for _, c := range everyFault {
		if seen[c] != 1 {
			t.Errorf("%d findings of %s, want 1", seen[c], c)
		}
	}
	fs.none(t, reconcile.CodeResidue)
}

func TestAuditOfOneTypeSaysNothingOfOthers(t *testing.T) {
	w := newWorld(t)
	w.wrongIn("mine", "kind:a")
	w.wrongIn("other", "kind:b")
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Completed, Queue: "removed", Type: "kind:b"})
	if err := w.redis.Inspector().DeleteQueue("removed", false); err != nil {
		t.Fatal(err)
	}
	fs := w.find(reconcile.Options{Scope: reconcile.Scope{Types: []string{"*:a"}}})
	seen := map[reconcile.Code]int{}
	for _, f := range fs {
		seen[f.Code]++
		if f.Task.Type != "kind:a" {
			t.Errorf("%s on %s/%s of type %q, which is out of scope", f.Code, f.Task.Queue, f.Task.ID, f.Task.Type)
		}
	}
	for _, c := range []reconcile.Code{
		reconcile.CodeLockBlocks, reconcile.CodeLockTwin, reconcile.CodeGhost, reconcile.CodeStateMismatch,
		reconcile.CodeLockOrphaned, reconcile.CodeIDBlocked,
	} {
		if seen[c] != 1 {
			t.Errorf("%d findings of %s, want 1", seen[c], c)
		}
	}
}

// Where only some states are listed, a hash that was not met proves nothing.
func TestAuditOfSomeStatesCallsNothingAGhost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.wrongIn("mine", "kind:a")
	w.oneOfEach("whole")
	settleDown()
	for _, scope := range []reconcile.Scope{
		{States: []inspect.State{inspect.StateArchived}},
		{States: []inspect.State{inspect.StateScheduled, inspect.StateRetry}},
		{IDs: []string{"mine-blocks", "mine-ghost"}},
		{States: []inspect.State{inspect.StateActive}, Queues: []string{"whole"}},
	} {
		fs := w.find(reconcile.Options{Scope: scope})
		fs.none(t, reconcile.CodeGhost, reconcile.CodeStaleLease, reconcile.CodeGroupUnregistered, reconcile.CodeResidue,
			reconcile.CodeLockOrphaned, reconcile.CodeLockPhantom, reconcile.CodeQueueUnserved)
		for _, f := range fs {
			if len(scope.States) > 0 && f.Task.ID != "" && f.Task.State != scope.States[0] && f.Task.Listed != scope.States[0] && f.Task.State != scope.States[len(scope.States)-1] {
				t.Errorf("scope %v: %s on %s, which is %s", scope, f.Code, f.Task.ID, f.Task.State)
			}
			if len(scope.IDs) > 0 && f.Task.ID != "" && f.Task.ID != scope.IDs[0] && f.Task.ID != scope.IDs[1] {
				t.Errorf("scope %v: %s on %s", scope, f.Code, f.Task.ID)
			}
		}
	}
}
