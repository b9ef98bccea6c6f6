package inspect_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// What is known of a task from its kept hash is what Redis would say of it.
func TestTaskOfAKeptHashIsTheTaskAsItIsRead(t *testing.T) {
	s := inspecttest.Start(t)
	refs := []inspect.Ref{{Queue: "default", ID: "never"}, {Queue: "default", ID: "left-over"}, {Queue: "broken", ID: "broken"}}
	for _, ref := range everyState(s) {
		refs = append(refs, ref)
	}
	s.ResultOnly(refs[1])
	s.Make(inspecttest.Spec{Outcome: inspecttest.Archived, Queue: "broken", ID: "broken"})
	s.Corrupt(refs[2])
	c := open(t, s)
	read := func() []inspect.Task {
		tasks, err := c.Read(context.Background(), refs)
		if err != nil {
			t.Fatal(err)
		}
		return tasks
	}
	before := read()
	raws, err := c.Raw(context.Background(), refs)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range read() {
		// The worker of the active task extends its lease meanwhile.
		if ends := raws[i].Task().LeaseExpiresAt; !ends.Before(before[i].LeaseExpiresAt) && !ends.After(want.LeaseExpiresAt) {
			want.LeaseExpiresAt = ends
		}
		if got := raws[i].Task(); !reflect.DeepEqual(got, want) {
			t.Errorf("of the raw task %v:\n%+v, want\n%+v", want.Ref, got, want)
		}
		kept := inspect.RawOf(raws[i].Ref, raws[i].Fields)
		kept.Place = raws[i].Place
		if got := kept.Task(); !reflect.DeepEqual(got, want) || kept.Fingerprint() != raws[i].Fingerprint() || kept.Lock.Key != raws[i].Lock.Key {
			t.Errorf("of the kept hash of %v:\n%+v, want\n%+v", want.Ref, got, want)
		}
	}
}
