package reconcile_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

// ask is one enqueue's answer.
func (w *world) ask(q reconcile.Question) reconcile.Answer {
	w.t.Helper()
	if q.Queue == "" {
		q.Queue = "default"
	}
	a, err := w.auditor(reconcile.Options{}).Why(w.t.Context(), q)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// tryEnqueue is what asynq says to the same enqueue, which the answer is held to.
func (w *world) tryEnqueue(queue, taskType string, payload []byte, options ...asynq.Option) error {
	w.t.Helper()
	client := asynq.NewClient(w.redis.AsynqOpt())
	defer client.Close()
	_, err := client.Enqueue(asynq.NewTask(taskType, payload), append(options, asynq.Queue(queue))...)
	return err
}

var hourly = []asynq.Option{asynq.Unique(time.Hour)}

func TestWhyNamesTheLockInEveryStateOfItsOwner(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		spec    inspecttest.Spec
		applied bool
		verdict reconcile.LockVerdict
		state   inspect.State
		status  reconcile.Status
		next    string // begins the advice
	}{
		{
			name: "waiting", spec: inspecttest.Spec{Outcome: inspecttest.Pending},
			verdict: reconcile.LockGuards, state: inspect.StatePending, status: reconcile.StatusNotApplied, next: "wait",
		},
		{
			name: "scheduled", spec: inspecttest.Spec{Outcome: inspecttest.Scheduled},
			verdict: reconcile.LockGuards, state: inspect.StateScheduled, status: reconcile.StatusNotApplied, next: "wait",
		},
		{
			// Its worker serves the queue, so that there is a bound to outlive.
			name: "active", spec: inspecttest.Spec{Outcome: inspecttest.Active},
			verdict: reconcile.LockEarly, state: inspect.StateActive, status: reconcile.StatusNotApplied, next: "wait",
		},
		{
			name: "in retry", spec: inspecttest.Spec{Outcome: inspecttest.Retry},
			verdict: reconcile.LockGuards, state: inspect.StateRetry, status: reconcile.StatusNotApplied, next: "wait",
		},
		{
			name: "archived and applied", spec: inspecttest.Spec{Outcome: inspecttest.Archived}, applied: true,
			verdict: reconcile.LockBlocks, state: inspect.StateArchived, status: reconcile.StatusApplied, next: "its work is done",
		},
		{
			name: "archived and not applied", spec: inspecttest.Spec{Outcome: inspecttest.Archived},
			verdict: reconcile.LockBlocks, state: inspect.StateArchived, status: reconcile.StatusNotApplied, next: "its work seems not to be done",
		},
		{
			name: "waiting in a group", spec: inspecttest.Spec{Outcome: inspecttest.Aggregating},
			verdict: reconcile.LockGuards, state: inspect.StateAggregating, status: reconcile.StatusNotApplied, next: "wait",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.spec.ID, tt.spec.Type, tt.spec.Payload = "owner", "billing:invoice:send", []byte(`{"n":7}`)
			tt.spec.Options = hourly
			w.redis.Make(tt.spec)
			if tt.applied {
				w.apply("owner")
			}
			a := w.ask(reconcile.Question{Type: tt.spec.Type, Payload: tt.spec.Payload})
			if !a.Refused() || len(a.Refusals) != 1 {
				t.Fatalf("refusals = %+v, want one", a.Refusals)
			}
			f := a.Refusals[0]
			if f.Barrier != reconcile.BarrierLock || f.Task.ID != "owner" || f.Task.State != tt.state || f.Status != tt.status {
				t.Errorf("%s: task %s in state %s, effect %s (%s)", f.Barrier, f.Task.ID, f.Task.State, f.Status, f.Reason)
			}
			// Without a server every queue is unserved, and nothing bounds a life.
			if f.Verdict != tt.verdict {
				t.Errorf("verdict %q, want %q", f.Verdict, tt.verdict)
			}
			left := f.Until.Sub(a.ConfirmedAt)
			if left < 50*time.Minute || left > 2*time.Hour+time.Minute {
				t.Errorf("it ends in %s (%s), want an hour or (scheduled) two", left, f.Until)
			}
			if !strings.HasPrefix(f.Next, tt.next) {
				t.Errorf("advice %q, want %q…", f.Next, tt.next)
			}
			if err := w.tryEnqueue("default", tt.spec.Type, tt.spec.Payload, hourly...); err == nil || err.Error() != asynq.ErrDuplicateTask.Error() {
				t.Errorf("asynq itself says %v", err)
			}
		})
	}
}

func TestWhySaysFreeWhereAsynqAccepts(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "done", Type: "t", Payload: []byte("1"), Options: hourly},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "plain", Type: "t", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "other-queue", Queue: "low", Type: "t", Payload: []byte("3"), Options: hourly},
	)
	for name, q := range map[string]reconcile.Question{
		"never enqueued":            {Type: "t", Payload: []byte("0")},
		"succeeded and kept":        {Type: "t", Payload: []byte("1")},
		"enqueued without a lock":   {Type: "t", Payload: []byte("2")},
		"locked in another queue":   {Type: "t", Payload: []byte("3")},
		"another type":              {Queue: "low", Type: "t2", Payload: []byte("3")},
		"a queue that is not known": {Queue: "new", Type: "t", Payload: []byte("3")},
		"a free ID":                 {ID: "nobody", IDOnly: true},
	} {
		a := w.ask(q)
		if a.Refused() {
			t.Errorf("%s: refused by %s (%s)", name, a.Refusals[0].Barrier, a.Refusals[0].Verdict)
		}
		if q.Queue == "new" == a.Known {
			t.Errorf("%s: queue known = %t", name, a.Known)
		}
		if name == "locked in another queue" && !slices.Contains(a.Elsewhere, inspect.Ref{Queue: "low", ID: "other-queue"}) {
			t.Errorf("the same content in another queue is not named: %v", a.Elsewhere)
		}
		if q.IDOnly {
			continue
		}
		queue := q.Queue
		if queue == "" {
			queue = "default"
		}
		if err := w.tryEnqueue(queue, q.Type, q.Payload, hourly...); err != nil {
			t.Errorf("%s: asynq itself says %v", name, err)
		}
	}
}

func TestWhyTellsANilPayloadFromAnEmptyOne(t *testing.T) {
	w := newWorld(t)
	if err := w.tryEnqueue("default", "cleanup", nil, hourly...); err != nil {
		t.Fatal(err)
	}
	if a := w.ask(reconcile.Question{Type: "cleanup"}); !a.Refused() {
		t.Error("a nil payload whose lock is held is called free")
	}
	if a := w.ask(reconcile.Question{Type: "cleanup", Payload: []byte{}}); a.Refused() {
		t.Error("an empty payload is refused by the lock of a nil one")
	}
}

func TestWhyNamesLocksLeftBehind(t *testing.T) {
	w := newWorld(t)
	inspector := w.redis.Inspector()
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "deleted", Type: "t", Payload: []byte("1"), Options: hourly},
	)
	if _, err := inspector.DeleteAllPendingTasks("default"); err != nil {
		t.Fatal(err)
	}
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "taken", Type: "t", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "changed", Type: "t", Payload: []byte("3"), Options: hourly},
	)
	if err := w.tryEnqueue("default", "t", []byte("4"), asynq.TaskID("taken"), asynq.Unique(time.Hour)); err == nil {
		t.Fatal("the ID was free")
	}
	if err := inspector.UpdateTaskPayload("default", "changed", []byte("5")); err != nil {
		t.Fatal(err)
	}
	for payload, want := range map[string]struct {
		verdict reconcile.LockVerdict
		command string
	}{
		"1": {reconcile.LockOrphaned, "idemctl locks release --key="},
		"4": {reconcile.LockPhantom, "idemctl locks release --key="},
		"3": {reconcile.LockDrifted, "idemctl explain default changed"},
	} {
		a := w.ask(reconcile.Question{Type: "t", Payload: []byte(payload)})
		if len(a.Refusals) != 1 || a.Refusals[0].Verdict != want.verdict {
			t.Errorf("payload %s: %+v, want %s", payload, a.Refusals, want.verdict)
			continue
		}
		if f := a.Refusals[0]; !strings.HasPrefix(f.Command, want.command) {
			t.Errorf("%s: command %q, want %q…", want.verdict, f.Command, want.command)
		}
		if err := w.tryEnqueue("default", "t", []byte(payload), hourly...); err == nil {
			t.Errorf("payload %s: asynq accepts it", payload)
		}
	}
	// The content that the changed task has now is free for all.
	if a := w.ask(reconcile.Question{Type: "t", Payload: []byte("5")}); a.Refused() {
		t.Error("the new content of a changed task is called locked")
	}
}

func TestWhyNamesTheTaskIDInEveryState(t *testing.T) {
	t.Parallel()
	for outcome, state := range map[inspecttest.Outcome]inspect.State{
		inspecttest.Pending: inspect.StatePending, inspecttest.Scheduled: inspect.StateScheduled,
		inspecttest.Aggregating: inspect.StateAggregating, inspecttest.Retry: inspect.StateRetry,
		inspecttest.Archived: inspect.StateArchived, inspecttest.Completed: inspect.StateCompleted,
		inspecttest.Active: inspect.StateActive,
	} {
		t.Run(state.String(), func(t *testing.T) {
			w := newWorld(t)
			w.redis.Make(inspecttest.Spec{Outcome: outcome, ID: "fixed", Type: "t", Payload: []byte("1")})
			a := w.ask(reconcile.Question{Type: "t", Payload: []byte("2"), ID: "fixed"})
			if len(a.Refusals) != 1 || a.Refusals[0].Barrier != reconcile.BarrierTaskID || a.Refusals[0].Task.State != state {
				t.Fatalf("refusals %+v", a.Refusals)
			}
			if a := w.ask(reconcile.Question{ID: "fixed", IDOnly: true}); !a.Refused() {
				t.Error("free, when the ID alone is asked for")
			}
			if err := w.tryEnqueue("default", "t", []byte("2"), asynq.TaskID("fixed")); err == nil || err.Error() != asynq.ErrTaskIDConflict.Error() {
				t.Errorf("asynq itself says %v", err)
			}
		})
	}
}

func TestWhySaysWhatKeepsATaskIDAfterItsRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redis.Make(inspecttest.Spec{
		Outcome: inspecttest.Completed, ID: "kept", Type: "t", Options: []asynq.Option{asynq.Retention(time.Second)},
	})
	w.apply("kept")
	time.Sleep(2 * time.Second)
	a := w.ask(reconcile.Question{ID: "kept", IDOnly: true})
	if len(a.Refusals) != 1 {
		t.Fatalf("refusals %+v: nobody swept it, so it is still taken", a.Refusals)
	}
	if f := a.Refusals[0]; !strings.Contains(f.Why, "no live server") || f.Until.IsZero() || f.Status != reconcile.StatusApplied {
		t.Errorf("why %q, until %s, effect %s", f.Why, f.Until, f.Status)
	}
}

func TestWhyMeetsTheLockBeforeTheID(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Pending, ID: "both", Type: "t", Payload: []byte("1"), Options: hourly})
	a := w.ask(reconcile.Question{Type: "t", Payload: []byte("1"), ID: "both"})
	if len(a.Refusals) != 2 || a.Refusals[0].Barrier != reconcile.BarrierLock || a.Refusals[1].Barrier != reconcile.BarrierTaskID {
		t.Errorf("refusals %+v, want the lock and then the ID", a.Refusals)
	}
}

func TestBlockedListsWhatRefusesWorkAndNothingElse(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, Type: "t", Payload: []byte("1"), Options: hourly},
		inspecttest.Spec{Outcome: inspecttest.Archived, Type: "t", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "fixed", Type: "t", Payload: []byte("3")},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "live", Type: "t", Payload: []byte("4"), Options: hourly},
	)
	var sink collector
	report, err := w.auditor(reconcile.Options{}).Blocked(t.Context(), &sink)
	if err != nil || !report.Complete {
		t.Fatal(err, report.Problem)
	}
	counts := map[reconcile.Code]int{}
	for _, f := range sink.findings {
		counts[f.Code]++
		if f.Task.ID == "live" {
			t.Errorf("%s of a live task", f.Code)
		}
		if f.Code == reconcile.CodeLockBlocks && (f.Lock == nil || f.Lock.OwnerState != inspect.StateArchived || f.Status != reconcile.StatusNotApplied) {
			t.Errorf("blocks: lock %+v, effect %s", f.Lock, f.Status)
		}
	}
	if counts[reconcile.CodeLockBlocks] != 1 || counts[reconcile.CodeIDBlocked] != 1 || len(sink.findings) != 2 {
		t.Errorf("findings %v", counts)
	}
}
