package tui

import (
	"context"
	"testing"
	"time"
)

// What was done in the group under way when somebody stopped is told, too: else it
// would be counted as never begun.
func TestWhatIsToldAfterAStopArrives(t *testing.T) {
	const told = 500
	var numbers uint64
	d := newDesk(t.Context(), 1, &numbers, time.Now)
	cmd := d.follow(slotApply, func(ctx context.Context, tell, _ func(any)) (any, error) {
		d.open[slotApply].cancel() // as S does
		<-ctx.Done()
		for range told {
			tell(Event{})
		}
		return applied{}, ctx.Err()
	})
	got := 0
	for cmd != nil {
		r, ok := cmd().(reply)
		if !ok || !d.take(r) {
			t.Fatalf("a reply that nobody waits for: %+v", r)
		}
		if _, part := r.value.(Event); part {
			got++
		}
		cmd = r.more
	}
	if got != told {
		t.Errorf("%d of %d arrived", got, told)
	}
}

// A browser that is left waits for nobody who tells.
func TestTellingEndsWithTheDesk(t *testing.T) {
	var numbers uint64
	d := newDesk(t.Context(), 1, &numbers, time.Now)
	ended := make(chan struct{})
	cmd := d.follow(slotApply, func(_ context.Context, tell, _ func(any)) (any, error) {
		defer close(ended)
		for range 10 * feed {
			tell(Event{})
		}
		return applied{}, nil
	})
	cmd()
	d.close()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("it waits for a screen that is gone")
	}
}
