package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// CanaryError says that a canary did not succeed: the tasks after it were not
// moved.
type CanaryError struct {
	// Watched are the canaries as they were seen last.
	Watched []Watched
	// Refused and Unmade count canaries that were not run at all.
	Unmade int
	Waited time.Duration
}

func (e *CanaryError) Error() string {
	if len(e.Watched) == 0 {
		return fmt.Sprintf("canary: none of %s could be run", plural(e.Unmade, "task"))
	}
	failed := 0
	var first *Watched
	for i := range e.Watched {
		if w := &e.Watched[i]; !w.Succeeded() {
			if failed++; first == nil {
				first = w
			}
		}
	}
	if first == nil {
		return fmt.Sprintf("canary: %d of %d could not be run", e.Unmade, e.Unmade+len(e.Watched))
	}
	words := fmt.Sprintf("canary: %d of %d did not succeed, seen after %s: task %q of queue %q: %s",
		failed, len(e.Watched), Span(e.Waited), first.Ref.ID, first.Ref.Queue, first.Fate.Words())
	if first.Fate == FateFailed {
		words += " (" + first.Task.LastErr + ")"
	}
	return words
}

// StoppedError says that a guard ended the run.
type StoppedError struct{ Why string }

func (e *StoppedError) Error() string { return "stopped: " + e.Why }

// outlook keeps an eye on the tasks that a run has moved.
type outlook struct {
	*mover
	open   []Moved // run by this run, with no end yet
	failed int
}

// lookEvery is how often tasks that run again are looked at.
const lookEvery = time.Second

// ran notes an item that was moved. A nil mover minds none.
func (m *mover) ran(it *Applied) {
	if m == nil || !m.watches || it.Outcome != journal.OutcomeDone || it.Step.Change != journal.ChangeRequeue {
		return
	}
	a, ok := m.judged[it.Step.Ref()]
	if !ok {
		return
	}
	moved := Moved{Item: it.Item, Task: a.Task, Key: a.Key}
	moved.Task.Payload = nil
	m.out.open = append(m.out.open, moved)
}

// canary runs the first steps and waits until each has succeeded.
func (e *execution) canary(ctx context.Context, steps []Step) error {
	if err := e.paced(ctx, steps); err != nil {
		return err
	}
	if e.moves == nil || e.plan.Moves.Action != ActionRun {
		return nil
	}
	canaries := e.moves.out.open
	unmade := len(steps) - len(canaries)
	e.opt.Waits(fmt.Sprintf("waiting for %s", plural(len(canaries), "canary task")))
	defer e.opt.Waits("")
	began := time.Now()
	for {
		watched, err := e.moves.run.fates(ctx, canaries)
		if err == nil {
			err = e.moves.run.ledgers.first() // which gives no fate of what it holds
		}
		if err != nil {
			return err
		}
		done := e.tellCanaries(watched)
		late := time.Since(began) >= e.opt.CanaryWait
		switch {
		case done == len(canaries) && unmade == 0:
			e.moves.out.open, e.moves.watches = nil, e.opt.StopAfterFailures > 0
			return nil
		case done == len(canaries), late, hopeless(watched):
			return &CanaryError{Watched: watched, Unmade: unmade, Waited: time.Since(began)}
		}
		if err := sleepUntil(ctx, time.Now().Add(lookEvery/4)); err != nil {
			return err
		}
	}
}

func (e *execution) tellCanaries(watched []Watched) (done int) {
	for i := range watched {
		watched[i].Canary = true
		if watched[i].Succeeded() {
			done++
		}
		e.opt.Watched(watched[i])
	}
	return done
}

// hopeless says that waiting changes nothing any more.
func hopeless(watched []Watched) bool {
	for i := range watched {
		if f := watched[i].Fate; f == FateFailed || f == FateTwice {
			return true
		}
	}
	return false
}

// inFlight is how many tasks may be on their way while failures are counted: a
// run that is to stop after a few must not have moved thousands by then.
func (o Application) inFlight() int { return max(o.StopAfterFailures, leastInFlight) }

const leastInFlight = 20

// guardsFailures says whether the run has to see what becomes of its tasks.
func (e *execution) guardsFailures() bool {
	return e.moves != nil && e.opt.StopAfterFailures > 0 && e.plan.Moves.Action == ActionRun
}

// failures looks at the tasks that were moved, and ends the run when too many of
// them have failed again. While too many are on their way it waits.
func (e *execution) failures(ctx context.Context) error {
	if !e.guardsFailures() {
		return nil
	}
	var since time.Time // when it began to wait
	defer func() {
		if !since.IsZero() {
			e.opt.Waits("")
		}
	}()
	for {
		if err := e.countFailures(ctx); err != nil {
			return err
		}
		open := len(e.moves.out.open)
		switch {
		case open < e.opt.inFlight():
			return nil
		case since.IsZero():
			since = time.Now()
			e.opt.Waits(fmt.Sprintf("waiting for %s to end, since failures are counted", plural(open, "task")))
		case time.Since(since) > e.opt.CanaryWait:
			return &StoppedError{fmt.Sprintf("%s are on their way, and none ended for %s", plural(open, "task"), Span(e.opt.CanaryWait))}
		}
		if err := sleepUntil(ctx, time.Now().Add(lookEvery/20)); err != nil {
			return err
		}
	}
}

// lastLook waits for the end of what was moved last, for a short time: failures
// that come later are for verify to find.
func (e *execution) lastLook(ctx context.Context) error {
	if !e.guardsFailures() {
		return nil
	}
	end := time.Now().Add(lastLookFor)
	for late := false; len(e.moves.out.open) > 0 && !late; {
		late = time.Now().After(end) // and looks once more
		if err := sleepUntil(ctx, time.Now().Add(lookEvery/10)); err != nil {
			return err
		}
		if err := e.countFailures(ctx); err != nil {
			return err
		}
	}
	return nil
}

const lastLookFor = 5 * time.Second

func (e *execution) countFailures(ctx context.Context) error {
	o := e.moves.out
	refs := make([]inspect.Ref, len(o.open))
	for i := range refs {
		refs[i] = o.open[i].Task.Ref
	}
	tasks, err := e.queue.Read(ctx, refs)
	if err != nil {
		return err
	}
	var open []Moved
	for i, t := range tasks {
		w := Watched{Ref: t.Ref, Item: o.open[i].Item, Task: t}
		switch w.Fate = fateOf(o.open[i].Task, &w, false); w.Fate {
		case FateWaiting:
			open = append(open, o.open[i])
		case FateFailed:
			o.failed++
			e.opt.Watched(w)
		}
	}
	o.open = open
	if o.failed >= e.opt.StopAfterFailures {
		return &StoppedError{fmt.Sprintf("%s of those that were run failed again", plural(o.failed, "task"))}
	}
	return nil
}
