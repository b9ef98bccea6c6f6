package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

func TestAuditFindsActiveTasksThatNoRecovererWillTake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Active, ID: "worked", Queue: "q", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Active, ID: "sound", Queue: "q", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "dead", Queue: "p", Payload: []byte("3")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "dead-applied", Queue: "p", Payload: []byte("4")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "orphan", Queue: "p", Payload: []byte("5")},
	)
	for _, id := range []string{"dead", "dead-applied", "orphan"} {
		w.redis.Orphan(taskRef("p", id), time.Now().Add(-time.Minute))
	}
	w.redis.Unlease(taskRef("q", "worked")) // its worker's heartbeat does not bring it back
	w.redis.Unlease(taskRef("p", "dead"))
	w.redis.Unlease(taskRef("p", "dead-applied"))
	w.apply("dead-applied")
	var fs found
	w.await("the worker's heartbeat", func() bool {
		fs = w.find(reconcile.Options{})
		return fs.detail(reconcile.CodeNoLease, "worked") != "no worker names it"
	})
	byID := fs.only(t, reconcile.CodeNoLease, reconcile.SeverityHigh, "worked", "dead", "dead-applied")
	for id, want := range map[string]struct {
		status reconcile.Status
		detail string
	}{
		"worked":       {reconcile.StatusNotApplied, "a worker still runs it, and cannot end it cleanly"},
		"dead":         {reconcile.StatusNotApplied, "no worker names it"},
		"dead-applied": {reconcile.StatusApplied, "no worker names it"},
	} {
		if f := byID[id]; f.Status != want.status || f.Detail != want.detail {
			t.Errorf("%s: %s, %q; want %s, %q", id, f.Status, f.Detail, want.status, want.detail)
		}
	}
	fs.noneOn(t, "effect", "worked", "dead", "dead-applied")
	fs.only(t, reconcile.CodeOrphaned, reconcile.SeverityWarning, "orphan")
	fs.none(t, reconcile.CodeStaleLease, reconcile.CodeGhost, reconcile.CodeStateMismatch)
}

// detail is what the finding of a code on a task says; "" where there is none.
func (fs found) detail(code reconcile.Code, id string) string {
	for _, f := range fs {
		if f.Code == code && f.Task.ID == id {
			return f.Detail
		}
	}
	return ""
}

func TestAuditFindsLeasesOfTasksThatAreNotActive(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Active, ID: "worked", Queue: "q", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "scheduled", Queue: "q", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "ghost", Queue: "p", Payload: []byte("3")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "orphan", Queue: "p", Payload: []byte("4")},
	)
	past := time.Now().Add(-time.Hour).Truncate(time.Second)
	w.redis.Orphan(taskRef("p", "ghost"), past)
	w.redis.Orphan(taskRef("p", "orphan"), past)
	w.redis.Ghost(taskRef("p", "ghost"))
	w.setScore("p", "lease", "ghost", past)
	w.setScore("q", "lease", "scheduled", past)
	w.setScore("q", "lease", "gone", past)
	w.apply("scheduled")
	fs := w.find(reconcile.Options{})
	byID := fs.only(t, reconcile.CodeStaleLease, reconcile.SeverityWarning, "scheduled", "gone", "ghost")
	for id, f := range byID {
		if !f.Task.LeaseExpiresAt.Equal(past) {
			t.Errorf("the lease of %s ends %v, want %v", id, f.Task.LeaseExpiresAt, past)
		}
	}
	if s := byID["scheduled"].Status; s != reconcile.StatusApplied {
		t.Errorf("scheduled is %s, want applied", s)
	}
	fs.only(t, reconcile.CodeGhost, reconcile.SeverityHigh, "ghost") // a lease is no state
	fs.only(t, reconcile.CodeOrphaned, reconcile.SeverityWarning, "orphan")
	fs.none(t, reconcile.CodeDangling, reconcile.CodeNoLease)
}

func TestAuditFindsGroupsThatNoAggregatorSees(t *testing.T) {
	w := newWorld(t)
	for _, g := range []string{"forgotten", "staged", "known", "with:colons"} {
		for _, id := range []string{"1", "2"} {
			w.redis.Make(inspecttest.Spec{
				Outcome: inspecttest.Aggregating, ID: g + id, Payload: []byte(g + id), Options: []asynq.Option{asynq.Group(g)},
			})
		}
	}
	w.redis.Unregister("default", "forgotten")
	w.redis.Unregister("default", "with:colons")
	w.redis.Stage("default", "staged")
	fs := w.find(reconcile.Options{})
	counts := map[string]int{}
	for _, f := range fs.of(reconcile.CodeGroupUnregistered) {
		counts[f.Task.Group] = f.TaskCount
		if f.Severity != reconcile.SeverityHigh || f.Task.Queue != "default" || f.Task.State != inspect.StateAggregating {
			t.Errorf("%s on a %s group of queue %s", f.Severity, f.Task.State, f.Task.Queue)
		}
	}
	if len(counts) != 2 || counts["forgotten"] != 2 || counts["with:colons"] != 2 {
		t.Errorf("unregistered groups %v, want forgotten and with:colons with 2 tasks each", counts)
	}
	// The group holds them: they are no ghosts.
	fs.none(t, reconcile.CodeGhost, reconcile.CodeDangling, reconcile.CodeStateMismatch)
}

func TestAuditFindsTasksThatLieWhereTheirHashesDoNotSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.oneOfEach("whole")
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "archived", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "completed", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "pending", Payload: []byte("3")},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "scheduled", Payload: []byte("4")},
	)
	w.redis.SetState(taskRef("default", "archived"), inspect.StateRetry)
	w.redis.SetState(taskRef("default", "completed"), inspect.StateArchived)
	w.redis.SetState(taskRef("default", "pending"), inspect.StateScheduled)
	w.redis.SetState(taskRef("default", "scheduled"), inspect.StateActive)
	w.apply("archived")
	settleDown()
	fs := w.find(reconcile.Options{})
	byID := fs.only(t, reconcile.CodeStateMismatch, reconcile.SeverityHigh, "archived", "completed", "pending", "scheduled")
	for id, says := range map[string]inspect.State{
		"archived": inspect.StateRetry, "completed": inspect.StateArchived, "pending": inspect.StateScheduled, "scheduled": inspect.StateActive,
	} {
		f := byID[id]
		if f.Task.State != says || f.Task.Listed.String() != id {
			t.Errorf("%s: the hash says %s and %s holds it, want %s and %s", id, f.Task.State, f.Task.Listed, says, id)
		}
	}
	if byID["archived"].Status != reconcile.StatusApplied || byID["pending"].Status != reconcile.StatusNotApplied {
		t.Errorf("statuses %s and %s, want applied and not-applied", byID["archived"].Status, byID["pending"].Status)
	}
	// Each of these is that finding alone.
	fs.noneOn(t, "effect", "archived", "completed", "pending", "scheduled")
	fs.none(t, reconcile.CodeGhost, reconcile.CodeDangling, reconcile.CodeNoLease)
}

func TestAuditFindsWhatARemovedQueueLeft(t *testing.T) {
	w := newWorld(t)
	inspector := w.redis.Inspector()
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "kept1", Queue: "removed", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "kept2", Queue: "removed", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "done", Queue: "counted", Payload: []byte("3"), Options: []asynq.Option{asynq.Retention(0)}},
	)
	w.redis.Make(
		inspecttest.Spec{ID: "forced", Queue: "forced", Payload: []byte("4"), Options: unique(time.Hour)},
		inspecttest.Spec{ID: "lives", Queue: "living", Payload: []byte("5"), Options: unique(time.Hour)},
	)
	for q, force := range map[string]bool{"removed": false, "counted": false, "forced": true} {
		if err := inspector.DeleteQueue(q, force); err != nil {
			t.Fatal(err)
		}
	}
	fs := w.find(reconcile.Options{})
	byQueue := fs.only(t, reconcile.CodeResidue, reconcile.SeverityInfo, "removed", "counted", "forced")
	if f := byQueue["removed"]; f.TaskCount != 2 || !strings.HasPrefix(f.Detail, "2 tasks, 1 task list, ") {
		t.Errorf("removed: %d tasks, %q; want 2 and their list", f.TaskCount, f.Detail)
	}
	if f := byQueue["counted"]; f.TaskCount != 0 || f.Detail != "2 counters" {
		t.Errorf("counted: %d tasks, %q; want 0, 2 counters", f.TaskCount, f.Detail)
	}
	if f := byQueue["forced"]; f.TaskCount != 0 || f.Detail != "1 lock" {
		t.Errorf("forced: %d tasks, %q; want 0, 1 lock", f.TaskCount, f.Detail)
	}
	f := fs.only(t, reconcile.CodeLockOrphaned, reconcile.SeverityWarning, "forced")["forced"]
	if f.Task.Queue != "forced" {
		t.Errorf("the lock is of queue %s, want forced", f.Task.Queue)
	}
	fs.none(t, reconcile.CodeGhost)
	w.refused(asynq.ErrTaskIDConflict, "test:task", nil, asynq.Queue("removed"), asynq.TaskID("kept1"))
}
