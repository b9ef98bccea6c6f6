package reconcile_test

import (
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/inspect/payload"
	"github.com/idemctl/idemctl/reconcile"
)

// The one other spelling that explain can ask for is the canonical one.
func TestExplainSaysWhoHoldsTheCanonicalLock(t *testing.T) {
	w := newWorld(t)
	spec := func(id, text string) inspecttest.Spec {
		return inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: id, Payload: []byte(text), Options: unique(time.Hour)}
	}
	w.redis.Make(
		spec("spaced", `{"id": 1}`), spec("canonical", `{"id":1}`),
		spec("alone", `{"id": 2}`), spec("undefined", `{"id":1,"id":1}`),
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "unlocked", Payload: []byte(`{"id": 3}`)},
		spec("before", `{"id": 4}`), spec("changed", `{"id":4}`),
	)
	if err := w.redis.Inspector().UpdateTaskPayload("default", "changed", []byte(`{"id":5}`)); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]*reconcile.Lock{
		"spaced":    {State: reconcile.LockTaken, Owner: "canonical", OwnerState: inspect.StateScheduled},
		"alone":     {State: reconcile.LockFree},
		"canonical": nil,
		"undefined": nil,
		"unlocked":  nil,
		// The owner of the canonical lock is other work by now: nothing is said of it.
		"before": {State: reconcile.LockTaken, Owner: "changed"},
	} {
		d, err := w.auditor(reconcile.Options{}).Explain(t.Context(), taskRef("default", id))
		if err != nil {
			t.Fatal(err)
		}
		got := d.FormLock
		if (got == nil) != (want == nil) {
			t.Errorf("%s: lock %+v, want %+v", id, got, want)
			continue
		}
		if want != nil && (got.State != want.State || got.Owner != want.Owner || got.OwnerState != want.OwnerState) {
			t.Errorf("%s: %s, owner %q (%s), want %s, %q (%s)", id, got.State, got.Owner, got.OwnerState, want.State, want.Owner, want.OwnerState)
		}
	}
	d, err := w.auditor(reconcile.Options{}).Explain(t.Context(), taskRef("default", "spaced"))
	if err != nil {
		t.Fatal(err)
	}
	if want := payload.UniqueKey("default", "test:task", []byte(`{"id":1}`)); d.FormLock.Key != want {
		t.Errorf("key %q, want %q", d.FormLock.Key, want)
	}
}
