package reconcile_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

func TestAuditFindsIDsThatStayTakenByWhatRunsNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v4, v7 := uuid.NewString(), uuid.Must(uuid.NewV7()).String()
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "order-17"},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "order-18"},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: v4},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "00000000-0000-0000-0000-000000000000"},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: v7},
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: "order-19"},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "order-20"},
	)
	w.apply("order-17")
	settleDown()
	fs := w.find(reconcile.Options{})
	byID := fs.only(t, reconcile.CodeIDBlocked, reconcile.SeverityWarning,
		"order-17", "order-18", v7, "00000000-0000-0000-0000-000000000000")
	if f := byID["order-17"]; f.Status != reconcile.StatusApplied || f.Task.State != inspect.StateArchived || f.Detail != "" {
		t.Errorf("order-17: %s, %s, detail %q; want applied, archived and no detail", f.Status, f.Task.State, f.Detail)
	}
	for id := range byID {
		w.refused(asynq.ErrTaskIDConflict, "test:task", nil, asynq.TaskID(id))
	}
}

// A periodic entry with a fixed ID is silenced by what its last tick left.
func TestAuditSaysWhichPeriodicEntryAnArchivedIDSilences(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "nightly", Queue: "reports"},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "weekly", Queue: "reports"},
	)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "nightly", Queue: "other"})
	w.schedule(entry{"@every 24h", "report:build", "", []asynq.Option{asynq.Queue("reports"), asynq.TaskID("nightly")}})
	settleDown()
	fs := w.find(reconcile.Options{})
	details := map[inspect.Ref]string{}
	for _, f := range fs.of(reconcile.CodeIDBlocked) {
		details[f.Task.Ref] = f.Detail
	}
	if len(details) != 3 {
		t.Fatalf("%d IDs are blocked, want 3", len(details))
	}
	d := details[taskRef("reports", "nightly")]
	if !strings.Contains(d, `"@every 24h"`) || !strings.Contains(d, "report:build") {
		t.Errorf("detail %q, want one that names the entry", d)
	}
	for _, r := range []inspect.Ref{taskRef("other", "nightly"), taskRef("reports", "weekly")} {
		if details[r] != "" {
			t.Errorf("detail of %v: %q, want none", r, details[r])
		}
	}
}

func TestAuditFindsGroupedTasksThatAreKeyedByTheirID(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "by-id", Type: "id:x", Payload: []byte(`{"k":"1"}`)},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "by-payload", Type: "payload:x", Payload: []byte(`{"k":"2"}`)},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "nobody-looks", Type: "natural:x", Payload: []byte(`{"k":"3"}`)},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "alone", Type: "id:x", Payload: []byte(`{"k":"4"}`)},
		// A delay goes first: it is not aggregated (asynq rdb.go: scheduleCmd).
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "delayed", Type: "id:x", Payload: []byte(`{"k":"5"}`), Options: []asynq.Option{asynq.Group("g")}},
	)
	mark := []reconcile.Source{{Role: reconcile.RoleMark, Table: "processed_tasks"}}
	fs := w.find(reconcile.Options{Rules: []reconcile.Rule{
		{Type: "id:*", Class: reconcile.ClassCreate, Sources: mark},
		{Type: "payload:*", Class: reconcile.ClassCreate, Key: "payload.k", Sources: mark},
		{Type: "natural:*", Class: reconcile.ClassDelete},
	}})
	f := fs.only(t, reconcile.CodeGroupedTaskID, reconcile.SeverityWarning, "by-id")["by-id"]
	if f.Task.Group != "g" || f.Status != reconcile.StatusNotApplied {
		t.Errorf("group %q, status %s; want g, not-applied", f.Task.Group, f.Status)
	}
}

// entry is what a scheduler is to register.
type entry struct {
	spec, kind, payload string
	options             []asynq.Option
}

// schedule runs a real scheduler with the entries until the test ends, and
// returns what ends it sooner.
func (w *world) schedule(entries ...entry) (stop func()) {
	w.t.Helper()
	// Entries outlive two heartbeats: they are not to expire while the machine
	// stands still.
	s := asynq.NewScheduler(w.redis.AsynqOpt(), &asynq.SchedulerOpts{Logger: mute{}, HeartbeatInterval: 6 * time.Second})
	for _, e := range entries {
		if _, err := s.Register(e.spec, asynq.NewTask(e.kind, []byte(e.payload)), e.options...); err != nil {
			w.t.Fatal(err)
		}
	}
	before := w.scheduled()
	if err := s.Start(); err != nil {
		w.t.Fatal(err)
	}
	stop = sync.OnceFunc(s.Shutdown)
	w.t.Cleanup(stop)
	w.await("the scheduler's first heartbeat", func() bool { return w.scheduled() > before })
	return stop
}

// scheduled counts the periodic entries that are known.
func (w *world) scheduled() int {
	w.t.Helper()
	all, err := w.queue.Schedules(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return len(all)
}
