package reconcile_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

// allIntegrity are the codes that speak of a queue's structure.
var allIntegrity = []reconcile.Code{
	reconcile.CodeGhost, reconcile.CodeResultOnly, reconcile.CodeDangling, reconcile.CodeUndecodable, reconcile.CodeNoLease,
	reconcile.CodeStaleLease, reconcile.CodeGroupUnregistered, reconcile.CodeResidue, reconcile.CodeStateMismatch,
}

// oneOfEach makes a task in every state, as asynq leaves them.
func (w *world) oneOfEach(queue string) {
	w.t.Helper()
	var specs []inspecttest.Spec
	for i, o := range []inspecttest.Outcome{
		inspecttest.Archived, inspecttest.Completed, inspecttest.Retry, inspecttest.Active,
		inspecttest.Pending, inspecttest.Scheduled, inspecttest.Aggregating,
	} {
		specs = append(specs, inspecttest.Spec{
			Outcome: o, ID: queue + "-whole-" + string(rune('0'+i)), Queue: queue, Payload: []byte{'w', byte(i)},
			Options: unique(time.Hour), Result: []byte("result"),
		})
	}
	w.redis.Make(specs...)
}

func TestAuditFindsNothingWrongWithWhatAsynqWrites(t *testing.T) {
	w := newWorld(t)
	w.oneOfEach("whole")
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "staged", Queue: "whole", Payload: []byte("1"), Options: []asynq.Option{asynq.Group("staged")}})
	w.redis.Stage("whole", "staged")
	var sink collector
	report, err := w.auditor(reconcile.Options{}).Run(t.Context(), &sink)
	if err != nil {
		t.Fatal(err)
	}
	found(sink.findings).none(t, allIntegrity...)
	want := reconcile.HashCount{Queue: "whole", Total: 8, Indexed: 8}
	if len(report.Hashes) != 1 || report.Hashes[0] != want {
		t.Errorf("hashes %+v, want %+v", report.Hashes, want)
	}
}

func TestAuditFindsHashesThatNothingHolds(t *testing.T) {
	w := newWorld(t)
	w.oneOfEach("whole")
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "archived", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "scheduled", Payload: []byte("2"), Options: unique(time.Hour)},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "grouped", Payload: []byte("3")},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "broken", Payload: []byte("4")},
	)
	for _, id := range []string{"archived", "scheduled", "broken"} {
		w.redis.Ghost(taskRef("default", id))
	}
	w.redis.Ungroup(taskRef("default", "grouped"), "g")
	w.redis.Corrupt(taskRef("default", "broken"))
	w.apply("archived")
	var sink collector
	report, err := w.auditor(reconcile.Options{}).Run(t.Context(), &sink)
	if err != nil {
		t.Fatal(err)
	}
	fs := found(sink.findings)
	byID := fs.only(t, reconcile.CodeGhost, reconcile.SeverityHigh, "archived", "scheduled", "grouped", "broken")
	for id, want := range map[string]struct {
		status reconcile.Status
		state  inspect.State
	}{
		"archived":  {reconcile.StatusApplied, inspect.StateArchived},
		"scheduled": {reconcile.StatusNotApplied, inspect.StateScheduled},
		"grouped":   {reconcile.StatusNotApplied, inspect.StateAggregating},
		"broken":    {reconcile.StatusUnknown, inspect.StateScheduled},
	} {
		if f := byID[id]; f.Status != want.status || f.Task.State != want.state {
			t.Errorf("%s: %s, %s; want %s, %s", id, f.Task.State, f.Status, want.state, want.status)
		}
		w.refused(asynq.ErrTaskIDConflict, "test:task", nil, asynq.TaskID(id))
	}
	if f := byID["scheduled"]; f.Lock == nil || f.Lock.State != reconcile.LockHeld {
		t.Errorf("the ghost's lock is %+v, want one that it holds", f.Lock)
	}
	want := []reconcile.HashCount{{Queue: "default", Total: 4, Ghosts: 4}, {Queue: "whole", Total: 7, Indexed: 7}}
	if !slices.Equal(report.Hashes, want) {
		t.Errorf("hashes %+v, want %+v", report.Hashes, want)
	}
	fs.none(t, reconcile.CodeDangling, reconcile.CodeStateMismatch, reconcile.CodeLockOrphaned, reconcile.CodeResultOnly)
}

// asynq's Inspector cuts the archive's set and leaves the hashes behind; the
// worker's cut deletes them.
func TestAuditFindsWhatTheInspectorCutOffTheArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var oldest inspect.Ref
	for i, r := range w.redis.Fill("full", inspect.StateArchived, 9_999, func(_ int, m *inspecttest.Message) { m.Payload = nil }) {
		if i == 0 {
			oldest = r
			w.setScore("full", "archived", r.ID, time.Now().Add(-48*time.Hour))
		}
	}
	w.redis.Make(inspecttest.Spec{ID: "last", Queue: "full"})
	if err := w.redis.Inspector().ArchiveTask("full", "last"); err != nil {
		t.Fatal(err)
	}
	w.redis.Fill("near", inspect.StateArchived, 9_000, func(_ int, m *inspecttest.Message) { m.Payload = nil })
	w.redis.Fill("room", inspect.StateArchived, 8_999, func(_ int, m *inspecttest.Message) { m.Payload = nil })
	fs := w.find(reconcile.Options{Rules: natural})
	f := fs.only(t, reconcile.CodeGhost, reconcile.SeverityHigh, oldest.ID)[oldest.ID]
	if f.Task.Queue != "full" || f.Status != reconcile.StatusNatural {
		t.Errorf("ghost in queue %s with status %s, want full, natural", f.Task.Queue, f.Status)
	}
	full := fs.only(t, reconcile.CodeArchiveFull, reconcile.SeverityWarning, "full", "near")
	if full["full"].TaskCount != 9_999 || full["near"].TaskCount != 9_000 {
		t.Errorf("archives of %d and %d, want 9999 and 9000", full["full"].TaskCount, full["near"].TaskCount)
	}
}

func TestAuditFindsAResultThatWasWrittenAfterItsTask(t *testing.T) {
	w := newWorld(t)
	w.oneOfEach("whole")
	w.mustEnqueue("test:late", nil, asynq.TaskID("late"), asynq.Queue("q"))
	wrote := make(chan error)
	stop := w.redis.Serve(map[string]int{"q": 1}, 1, func(_ context.Context, task *asynq.Task) error {
		// Another worker that had recovered the task has done it meanwhile.
		w.redis.Ghost(taskRef("q", "late"))
		w.redis.Dangle(taskRef("q", "late"))
		_, err := task.ResultWriter().Write([]byte("twelve bytes"))
		wrote <- err
		return nil
	})
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	stop()
	fs := w.find(reconcile.Options{})
	f := fs.only(t, reconcile.CodeResultOnly, reconcile.SeverityWarning, "late")["late"]
	if f.Task.ResultSize != 12 || f.Task.Queue != "q" {
		t.Errorf("%d bytes in queue %s, want 12 in q", f.Task.ResultSize, f.Task.Queue)
	}
	fs.none(t, reconcile.CodeGhost, reconcile.CodeUndecodable)
	w.refused(asynq.ErrTaskIDConflict, "test:late", nil, asynq.TaskID("late"), asynq.Queue("q"))
	if err := w.redis.Inspector().DeleteTask("q", "late"); err == nil {
		t.Error("the Inspector deletes it: the finding says that no call of it can")
	}
}

func TestAuditFindsIDsWithoutATask(t *testing.T) {
	w := newWorld(t)
	w.oneOfEach("whole")
	states := map[string]inspecttest.Outcome{
		"pending": inspecttest.Pending, "scheduled": inspecttest.Scheduled, "archived": inspecttest.Archived,
		"completed": inspecttest.Completed, "retry": inspecttest.Retry, "grouped": inspecttest.Aggregating,
	}
	for id, o := range states {
		w.redis.Make(inspecttest.Spec{Outcome: o, ID: id, Queue: id, Payload: []byte(id)})
		w.redis.Dangle(taskRef(id, id))
	}
	fs := w.find(reconcile.Options{})
	byID := fs.only(t, reconcile.CodeDangling, reconcile.SeverityHigh, "pending", "scheduled", "archived", "completed", "retry", "grouped")
	for id, f := range byID {
		want := id
		if id == "grouped" {
			want = "aggregating"
		}
		if f.Task.State.String() != want {
			t.Errorf("%s is said to be %s, want %s", id, f.Task.State, want)
		}
	}
	fs.none(t, reconcile.CodeGhost, reconcile.CodeUndecodable, reconcile.CodeStateMismatch)
}

// A worker that takes an ID without a task leaves a hash that says active, and
// nothing else (asynq rdb.go: dequeueCmd).
func TestAuditFindsWhatAWorkerMadeOfAnIDWithoutATask(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(inspecttest.Spec{ID: "hollow", Queue: "q"})
	w.redis.Dangle(taskRef("q", "hollow"))
	stop := w.redis.Serve(map[string]int{"q": 1}, 1, func(context.Context, *asynq.Task) error { return nil })
	w.await("the worker to take it", func() bool {
		return w.redis.Client().LLen(t.Context(), "asynq:{q}:active").Val() == 1
	})
	stop()
	fs := w.find(reconcile.Options{})
	f := fs.only(t, reconcile.CodeUndecodable, reconcile.SeverityHigh, "hollow")["hollow"]
	if f.Task.State != inspect.StateActive || f.Status != reconcile.StatusUnknown {
		t.Errorf("%s, %s; want active, unknown", f.Task.State, f.Status)
	}
	fs.none(t, reconcile.CodeDangling, reconcile.CodeGhost, reconcile.CodeStaleLease)
}

func TestAuditFindsMessagesThatCannotBeDecoded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.oneOfEach("whole")
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "archived", Payload: []byte("1"), Options: unique(time.Hour)},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "scheduled", Payload: []byte("2"), Options: unique(time.Hour)},
	)
	w.redis.Corrupt(taskRef("default", "archived"))
	w.redis.Corrupt(taskRef("default", "scheduled"))
	w.apply("archived", "scheduled")
	settleDown()
	fs := w.find(reconcile.Options{})
	for id, f := range fs.only(t, reconcile.CodeUndecodable, reconcile.SeverityHigh, "archived", "scheduled") {
		if f.Status != reconcile.StatusUnknown {
			t.Errorf("%s is said to be %s: nobody can say", id, f.Status)
		}
	}
	fs.only(t, reconcile.CodeLockBlocks, reconcile.SeverityWarning, "archived", "whole-whole-0")
	fs.none(t, reconcile.CodeGhost, reconcile.CodeDangling, reconcile.CodeLockOrphaned, reconcile.CodeLockPhantom, reconcile.CodeLockDrift)
	for _, f := range fs {
		if f.Code.Family() == "effect" && (f.Task.ID == "scheduled" || f.Task.ID == "archived" && f.Code != reconcile.CodeUnknown) {
			t.Errorf("%s on %s, whose message nobody can read", f.Code, f.Task.ID)
		}
	}
}
