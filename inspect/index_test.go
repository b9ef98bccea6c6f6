package inspect

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// TestIndexIsAMap holds the index equal to a map through any sequence of calls.
func TestIndexIsAMap(t *testing.T) {
	type entry struct {
		state State
		note  uint8
	}
	rapid.Check(t, func(t *rapid.T) {
		x := NewIndex()
		model := make(map[Ref]entry)
		ref := rapid.Custom(func(t *rapid.T) Ref {
			return Ref{Queue: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "queue"), ID: fmt.Sprint(rapid.IntRange(0, 300).Draw(t, "id"))}
		})
		t.Repeat(map[string]func(*rapid.T){
			"observe": func(t *rapid.T) {
				r, s := ref.Draw(t, "ref"), State(rapid.IntRange(0, 7).Draw(t, "state"))
				want, known := model[r]
				prev, seen := x.Observe(r, s)
				if seen != known || prev != want.state {
					t.Fatalf("observe %v: %v, %v; want %v, %v", r, prev, seen, want.state, known)
				}
				model[r] = entry{s, want.note}
			},
			"note": func(t *rapid.T) {
				r, n := ref.Draw(t, "ref"), uint8(rapid.IntRange(0, 15).Draw(t, "bits"))
				want := model[r]
				if old := x.Note(r, n); old != want.note {
					t.Fatalf("note %v: %d, want %d", r, old, want.note)
				}
				model[r] = entry{want.state, n}
			},
			"": func(t *rapid.T) {
				r := ref.Draw(t, "ref")
				want, known := model[r]
				if s, seen := x.Seen(r); x.Noted(r) != want.note || s != want.state || seen != known || x.Len() != len(model) {
					t.Fatalf("%v: %v %v %d, length %d; want %+v, length %d", r, s, seen, x.Noted(r), x.Len(), want, len(model))
				}
			},
		})
	})
}

func TestIndexKeepsQueuesApart(t *testing.T) {
	x := NewIndex()
	x.Observe(Ref{Queue: "a", ID: "b"}, StatePending)
	if _, seen := x.Observe(Ref{Queue: "b", ID: "a"}, StatePending); seen {
		t.Error("task a of queue b was taken for task b of queue a")
	}
}

func TestIndexIsSafeForConcurrentUse(t *testing.T) {
	x := NewIndex()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 5000 {
				r := Ref{Queue: "q", ID: fmt.Sprint(i)}
				x.Observe(r, StatePending)
				x.Note(r, uint8(w))
				x.Noted(r)
			}
		})
	}
	wg.Wait()
	if x.Len() != 5000 {
		t.Errorf("length %d, want 5000", x.Len())
	}
}

func TestIndexTakesTwelveBytesATask(t *testing.T) {
	for _, n := range []int{300_000, 1_000_000} {
		x := NewIndex()
		before := heap()
		for i := range n {
			x.Observe(Ref{Queue: "default", ID: fmt.Sprintf("%032x", i)}, StatePending)
		}
		if per := float64(heap()-before) / float64(n); per > 13 {
			t.Errorf("%d tasks take %.1f bytes each", n, per)
		} else {
			t.Logf("%d tasks take %.1f bytes each", n, per)
		}
		if x.Len() != n {
			t.Errorf("length %d, want %d", x.Len(), n)
		}
	}
}

// heap is what is in use. What pools hold is gone after the second collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
