package inspect_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// raw reads one task whole.
func raw(t testing.TB, c *inspect.Client, r inspect.Ref) inspect.Raw {
	t.Helper()
	all, err := c.Raw(context.Background(), []inspect.Ref{r})
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func TestRawReadsAllThatBelongsToATask(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	byState := everyState(s)
	staged := s.Make(inspecttest.Spec{Outcome: inspecttest.Aggregating, Queue: "staged"})[0]
	set := s.Stage("staged", "g")
	var refs []inspect.Ref
	for _, state := range inspect.States() {
		refs = append(refs, byState[state])
	}
	refs = append(refs, staged, inspect.Ref{Queue: "default", ID: "never"})
	// The worker of the active task extends its lease meanwhile, and never shortens it.
	leased := func() float64 {
		return s.Client().ZScore(ctx, "asynq:{default}:lease", byState[inspect.StateActive].ID).Val()
	}
	least := leased()
	all, err := open(t, s).Raw(ctx, refs)
	if err != nil {
		t.Fatal(err)
	}
	most := leased()
	for i, state := range append(inspect.States(), inspect.StateAggregating) {
		r := all[i]
		stored := s.Client().HGetAll(ctx, "asynq:{"+r.Queue+"}:t:"+r.ID).Val()
		got := make(map[string]string)
		for name, value := range r.Fields {
			got[name] = string(value)
		}
		if r.State != state || r.Ref != refs[i] || len(stored) == 0 || !maps.Equal(got, stored) {
			t.Errorf("%v task %+v, want fields %q", state, r, stored)
		}
		key := map[inspect.State]string{
			inspect.StateActive: "lease", inspect.StateAggregating: "g:g", inspect.StateScheduled: "scheduled",
			inspect.StateRetry: "retry", inspect.StateArchived: "archived", inspect.StateCompleted: "completed",
		}[state]
		switch {
		case r.Ref == staged:
			key = set
		case key != "":
			key = "asynq:{default}:" + key
		}
		low := s.Client().ZScore(ctx, key, r.ID).Val()
		high := low
		if state == inspect.StateActive {
			low, high = least, most
		}
		if r.Place.Key != key || (key == "") != (r.Place.Score == 0) || r.Place.Score < low || r.Place.Score > high {
			t.Errorf("%v task is in %+v, want %q", state, r.Place, key)
		}
	}
	if gone := all[len(all)-1]; gone.Fields != nil || gone.Fingerprint() != "" || gone.State != inspect.StateUnknown || gone.Ref != refs[len(refs)-1] {
		t.Errorf("task that is gone: %+v", gone)
	}
}

func TestRawReadsTheLockOfTheTask(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	unique := []asynq.Option{asynq.Unique(time.Hour)}
	refs := s.Make(
		inspecttest.Spec{Outcome: inspecttest.Pending, Type: "a", Options: unique},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, Type: "b", Payload: []byte("x"), Options: unique}, // in the message alone
		inspecttest.Spec{Outcome: inspecttest.Scheduled, Type: "c", Options: unique},
		inspecttest.Spec{Outcome: inspecttest.Pending, Type: "d"},
	)
	keys := []string{inspect.UniqueKey("default", "a", nil), inspect.UniqueKey("default", "b", []byte("x")), inspect.UniqueKey("default", "c", nil), ""}
	s.Client().Set(ctx, keys[2], "another", 0)
	all, err := open(t, s).Raw(ctx, refs)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range all {
		if r.Lock.Key != keys[i] || r.Lock.Held != (i < 3) || r.Expect().Lock != keys[i] {
			t.Errorf("task %d: lock %+v, want %q", i, r.Lock, keys[i])
		}
	}
	if all[0].Lock.Owner != refs[0].ID || all[0].Lock.TTL < 59*time.Minute || all[2].Lock.Owner != "another" || all[2].Lock.TTL != 0 {
		t.Errorf("locks %+v and %+v", all[0].Lock, all[2].Lock)
	}
}

// A message may name any key for its lock.
func TestRawExpectsNoForeignKeyForALock(t *testing.T) {
	s := inspecttest.Start(t)
	for i, key := range []string{"asynq:{default}:pending", "asynq:{other}:unique:t:", "session:1", "asynq:queues", "asynq:{default}:t:x"} {
		refs := s.Fill("default", inspect.StateRetry, 1, func(_ int, m *inspecttest.Message) { m.ID = fmt.Sprint(i) })
		m := inspecttest.Message{Type: "t", ID: fmt.Sprint(i), Queue: "default", UniqueKey: key}
		s.SetMessage(refs[0], m.Encode())
		if e := raw(t, open(t, s), refs[0]).Expect(); e.Lock != "" || e.State != inspect.StateRetry || e.Fingerprint == "" {
			t.Errorf("%q: %+v", key, e)
		}
	}
}

func TestRawReadsManyAndLargeTasks(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	refs := s.Fill("default", inspect.StateArchived, 1500, nil)
	large := bytes.Repeat([]byte("x"), 1<<20)
	for _, r := range refs[100:120] {
		s.Client().HSet(ctx, "asynq:{default}:t:"+r.ID, "result", large)
	}
	all, err := open(t, s).Raw(ctx, refs)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range all {
		if r.Ref != refs[i] || r.State != inspect.StateArchived || r.Place.Score == 0 || (len(r.Fields["result"]) == len(large)) != (i >= 100 && i < 120) {
			t.Fatalf("task %d: %v, state %v, place %v", i, r.Ref, r.State, r.Place)
		}
	}
}

// Two hashes that differ in a field have different fingerprints, however bytes
// are moved from one field to the next.
func TestFingerprintTellsEveryDifference(t *testing.T) {
	names := []string{"msg", "state", "unique_key", "group", "pending_since", "result"}
	hash := rapid.MapOf(rapid.SampledFrom(names), rapid.SliceOfN(rapid.SampledFrom([]byte("01-:")), 0, 4))
	rapid.Check(t, func(t *rapid.T) {
		a, b := inspect.Raw{Fields: hash.Draw(t, "a")}, inspect.Raw{Fields: hash.Draw(t, "b")}
		same := maps.EqualFunc(a.Fields, b.Fields, bytes.Equal)
		if (a.Fingerprint() == b.Fingerprint()) != same {
			t.Errorf("%q and %q: %s and %s", a.Fields, b.Fields, a.Fingerprint(), b.Fingerprint())
		}
	})
}
