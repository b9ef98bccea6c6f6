package reconcile_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

var twinCodes = []reconcile.Code{reconcile.CodeLockTwin, reconcile.CodeLockCrossQueue}

func TestAuditFindsTwinsInTheirOwnQueuesOnly(t *testing.T) {
	w := newWorld(t)
	var specs []inspecttest.Spec
	// Two in a, three in b, one in c.
	for i, q := range []string{"a", "a", "b", "b", "b", "c"} {
		specs = append(specs, inspecttest.Spec{ID: fmt.Sprint(q, i), Queue: q, Payload: []byte("same")})
	}
	specs = append(
		specs,
		inspecttest.Spec{ID: "other-type", Queue: "a", Type: "test:other", Payload: []byte("same")},
		inspecttest.Spec{ID: "other-payload", Queue: "a", Payload: []byte("other")},
		// The bytes of type and payload are the same, and their border is not.
		inspecttest.Spec{ID: "border1", Queue: "a", Type: "t:x", Payload: []byte("yz")},
		inspecttest.Spec{ID: "border2", Queue: "a", Type: "t:xy", Payload: []byte("z")},
	)
	w.redis.Make(specs...)
	fs := w.find(reconcile.Options{})
	byID := fs.only(t, reconcile.CodeLockTwin, reconcile.SeverityHigh, "a0", "b2")
	for id, want := range map[string][]inspect.Ref{
		"a0": {taskRef("a", "a0"), taskRef("a", "a1")},
		"b2": {taskRef("b", "b2"), taskRef("b", "b3"), taskRef("b", "b4")},
	} {
		f := byID[id]
		if !slices.Equal(f.Tasks, want) || f.TaskCount != len(want) {
			t.Errorf("twins of %s: %v (%d), want %v", id, f.Tasks, f.TaskCount, want)
		}
		if f.Lock != nil || f.OfEffect() {
			t.Errorf("the finding on %s speaks of its lock or its effect: nobody asked for them", id)
		}
	}
	fs.none(t, reconcile.CodeLockCrossQueue)
}

func TestAuditFindsTwinsInEveryLiveState(t *testing.T) {
	w := newWorld(t)
	same := []byte("same")
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "archived", Payload: same},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "completed", Payload: same},
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: "retry", Payload: same},
		inspecttest.Spec{Outcome: inspecttest.Active, ID: "active", Payload: same},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "pending", Payload: same},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "scheduled", Payload: same},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "grouped", Payload: same},
	)
	fs := w.find(reconcile.Options{Rules: natural})
	twins := fs.of(reconcile.CodeLockTwin)
	if len(twins) != 1 {
		t.Fatalf("%d findings on twins, want 1", len(twins))
	}
	got := found{}
	for _, r := range twins[0].Tasks {
		got = append(got, reconcile.Finding{Task: inspect.Task{Ref: r}})
	}
	if diff := cmp.Diff([]string{"active", "grouped", "pending", "retry", "scheduled"}, got.names()); diff != "" {
		t.Errorf("twins (-want +got):\n%s", diff)
	}
	if twins[0].Severity != reconcile.SeverityInfo {
		t.Errorf("twins of a natural class are %s, want info", twins[0].Severity)
	}
}

// Archived and retained tasks run no more: one live task beside them is no twin.
func TestAuditCallsNoTwinOfATaskThatRunsNoMore(t *testing.T) {
	w := newWorld(t)
	same := []byte("same")
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "archived", Payload: same},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "completed", Payload: same},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "scheduled", Payload: same},
	)
	w.find(reconcile.Options{Rules: natural}).none(t, twinCodes...)
}

func TestAuditFindsUniqueWorkInSeveralQueues(t *testing.T) {
	w := newWorld(t)
	for _, q := range []string{"a", "b", "c"} {
		w.redis.Make(
			inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "u-" + q, Queue: q, Payload: []byte("1"), Options: unique(time.Hour)},
			inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "p-" + q, Queue: q, Payload: []byte("2")},
			inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "t-" + q, Queue: q, Type: "type:" + q, Payload: []byte("3"), Options: unique(time.Hour)},
		)
	}
	// One of two is unique: no lock could have stopped the other.
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "half-a", Queue: "a", Payload: []byte("4"), Options: unique(time.Hour)},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "half-b", Queue: "b", Payload: []byte("4")},
	)
	fs := w.find(reconcile.Options{})
	fs.none(t, reconcile.CodeLockTwin)
	got := fs.of(reconcile.CodeLockCrossQueue)
	if len(got) != 1 || got[0].Severity != reconcile.SeverityInfo {
		t.Fatalf("findings %v, want one, of severity info", got.names())
	}
	f := got[0]
	if !slices.Equal(f.Queues, []string{"a", "b", "c"}) || f.TaskCount != 3 || len(f.Tasks) != 3 {
		t.Errorf("queues %v, %d tasks %v; want a, b and c with 3", f.Queues, f.TaskCount, f.Tasks)
	}
}

// Where the key is the payload, keys collide and contents are equal, and both
// are said.
func TestAuditFindsTwinsWhereTheKeyIsOfThePayload(t *testing.T) {
	w := newWorld(t)
	rules := []reconcile.Rule{{Key: "payload.key", Class: reconcile.ClassCreate, Sources: []reconcile.Source{
		{Role: reconcile.RoleMark, Table: "processed_tasks"},
	}}}
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "a", Payload: []byte(`{"key":"k1"}`)},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "b", Payload: []byte(`{"key":"k1"}`)},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "c", Payload: []byte(`{"key":"k1","at":2}`)},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "d", Payload: []byte(`{"key":"k2"}`)},
	)
	fs := w.find(reconcile.Options{Rules: rules})
	f := fs.only(t, reconcile.CodeLockTwin, reconcile.SeverityHigh, "a")["a"]
	if f.TaskCount != 2 {
		t.Errorf("%d twins, want 2: c has another payload", f.TaskCount)
	}
	f = fs.only(t, reconcile.CodeKeyCollision, reconcile.SeverityHigh, "a")["a"]
	if f.TaskCount != 3 || f.Key != "k1" {
		t.Errorf("%d tasks of key %q, want 3 of k1", f.TaskCount, f.Key)
	}
}

// More twins than a finding names are still counted.
func TestAuditCountsTwinsBeyondThoseItNames(t *testing.T) {
	w := newWorld(t)
	const n = reconcile.MaxTasks + 20
	w.redis.Fill("many", inspect.StateScheduled, n, func(_ int, m *inspecttest.Message) { m.Payload = []byte("same") })
	fs := w.find(reconcile.Options{Rules: natural})
	got := fs.of(reconcile.CodeLockTwin)
	if len(got) != 1 || got[0].TaskCount != n || len(got[0].Tasks) != reconcile.MaxTasks {
		t.Fatalf("findings %v, want one of %d tasks that names %d", got, n, reconcile.MaxTasks)
	}
}
