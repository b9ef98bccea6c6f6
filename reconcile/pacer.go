package reconcile

import (
	"context"
	"fmt"
	"time"
)

// maxChunk is how many steps are judged together and share one sync of the
// journal, at most.
const maxChunk = 100

// pacer spreads steps over time.
type pacer struct {
	start time.Time
	given int
}

func (p *pacer) begin() { p.start, p.given = time.Now(), 0 }

// allow waits until n more steps are within the rate.
func (p *pacer) allow(ctx context.Context, n int, rate float64) error {
	defer func() { p.given += n }()
	if rate <= 0 {
		return ctx.Err()
	}
	due := p.start.Add(time.Duration(float64(p.given) / rate * float64(time.Second)))
	if due.Before(time.Now().Add(-time.Second)) {
		// What was held up is not made up for in a burst.
		p.start, p.given, due = time.Now(), 0, time.Now()
	}
	return sleepUntil(ctx, due)
}

// chunkSize is how many steps go together: at a low rate those of half a second,
// so that none is judged long before it is moved.
func chunkSize(rate float64) int {
	if rate <= 0 {
		return maxChunk
	}
	return max(1, min(maxChunk, int(rate/2)))
}

// room is how many of the steps may be made now; it waits until there is one.
func (e *execution) room(ctx context.Context, steps []Step) (int, error) {
	n := min(chunkSize(e.opt.Rate), len(steps))
	if e.guardsFailures() && !e.onCanaries {
		n = min(n, e.opt.inFlight()-len(e.moves.out.open))
	}
	if e.moves != nil && e.opt.MaxPending > 0 && e.plan.Moves.Action == ActionRun {
		var err error
		if n, err = e.belowPending(ctx, steps[:n]); err != nil {
			return 0, err
		}
	}
	return n, e.pace.allow(ctx, n, e.opt.Rate)
}

// belowPending is how many of the steps go into queues that have room for them.
func (e *execution) belowPending(ctx context.Context, steps []Step) (int, error) {
	waiting := false
	defer func() {
		if waiting {
			e.opt.Waits("")
		}
	}()
	for {
		n, full, err := e.fitting(ctx, steps)
		if err != nil || n > 0 {
			return n, err
		}
		if !waiting {
			waiting = true
			e.opt.Waits(fmt.Sprintf("queue %q holds %d pending tasks: waiting until it is below %d", full.Name, full.Pending, e.opt.MaxPending))
		}
		if full.Paused || !full.Served {
			return 0, &StoppedError{fmt.Sprintf("queue %q holds %d pending tasks, and nothing takes them (it is paused, or no live server serves it)", full.Name, full.Pending)}
		}
		if err := sleepUntil(ctx, time.Now().Add(lookEvery/2)); err != nil {
			return 0, err
		}
	}
}

// fitting is how many of the first steps fit, and the queue that the next does not
// fit into.
func (e *execution) fitting(ctx context.Context, steps []Step) (n int, full PlannedQueue, err error) {
	servers, err := e.queue.Servers(ctx)
	if err != nil {
		return 0, full, err
	}
	room := map[string]int{}
	for _, s := range steps {
		name := s.Ref().Queue
		if _, known := room[name]; !known {
			q, err := e.queue.Queue(ctx, name)
			if err != nil {
				return 0, full, err
			}
			room[name] = e.opt.MaxPending - q.Pending
			if room[name] <= 0 {
				full = PlannedQueue{Name: name, Paused: q.Paused, Served: serves(servers, name), Pending: q.Pending}
			}
		}
		if room[name] <= 0 {
			return n, full, nil
		}
		room[name]--
		n++
	}
	return n, full, nil
}
