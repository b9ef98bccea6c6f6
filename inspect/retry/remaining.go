package retry

import (
	"errors"
	"fmt"
	"strings"
)

// State is the state a task is seen in. The zero value is StateUnknown.
type State uint8

// The seven states of asynq (internal/base/base.go: TaskState).
const (
	StateUnknown State = iota
	StateActive
	StatePending
	StateAggregating
	StateScheduled
	StateRetry
	StateArchived
	StateCompleted
)

var stateNames = [...]string{"unknown", "active", "pending", "aggregating", "scheduled", "retry", "archived", "completed"}

func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return stateNames[StateUnknown]
}

// ParseState reads the name asynq uses.
func ParseState(name string) (State, error) {
	for i, known := range stateNames[1:] {
		if name == known {
			return State(i + 1), nil
		}
	}
	return StateUnknown, fmt.Errorf("unknown state %s (%s)", quote(name), strings.Join(stateNames[1:], ", "))
}

// Seen is a task as it was seen at one moment, "now". In the Params that go
// with it Deadline is counted from now, and ProcessIn is not used.
type Seen struct {
	State State
	// Retried is the task's count of failures. A task in retry can have 0: an
	// error that IsFailure did not count. More than MaxRetry is taken as MaxRetry.
	Retried int
	// NextProcessIn is NextProcessAt - now of a scheduled or retry task; not
	// positive when it is overdue.
	NextProcessIn Seconds
	// RunningFor is how long an active task has run, from the server's
	// WorkerInfo; nil: not known.
	RunningFor *Seconds
	// Orphaned says that an active task's lease has expired, LeaseExpiredAgo
	// before now (nil: not known).
	Orphaned        bool
	LeaseExpiredAgo *Seconds
}

// Remaining is how much of a task's life is left, from now until it is archived,
// if it fails every attempt.
type Remaining struct {
	Bounded          bool
	UnboundedBecause []Reason

	// Min … P99 of an archived task are those after an operator re-runs it now;
	// by itself it has nothing left, which OnlyIfRerun says.
	Min, Mean, Max Seconds
	P50, P95, P99  Seconds
	Method         Method
	OnlyIfRerun    bool

	Attempts int // attempts still to come, the running one included
	Parts    []Part
	Warnings []Warning
}

// Remaining computes what is left of the life of a task seen now. Crashes count
// towards the minimum too: Params says how many attempts are lost.
func (p Params) Remaining(seen Seen) (Remaining, error) {
	v, err := p.view(seen)
	if err != nil {
		return Remaining{}, err
	}
	out := Remaining{
		UnboundedBecause: v.reasons,
		Bounded:          len(v.reasons) == 0,
		OnlyIfRerun:      seen.State == StateArchived,
		Warnings:         append(p.warnings(v.model), seen.warnings(p.MaxRetry)...),
		Attempts:         v.attempts,
	}
	law := v.model.law(v.low, nil)
	out.Min, out.Max, out.Mean = v.model.low(v.low), v.model.high(v.high), law.mean
	out.P50, out.P95, out.P99 = law.quantile(0.50), law.quantile(0.95), law.quantile(0.99)
	out.Method = law.method
	out.Parts = v.model.parts(v.low, v.high, law.mean)
	return out, nil
}

// view is a task seen now with the timelines ahead of it.
type view struct {
	model     *model
	low, high []step
	attempts  int
	reasons   []Reason
}

func (p Params) view(seen Seen) (view, error) {
	p = p.fromNow()
	if err := seen.check(); err != nil {
		return view{}, err
	}
	m, err := p.model()
	if err != nil {
		return view{}, err
	}
	v := view{model: m, reasons: p.unboundedWhen(seen), attempts: m.attemptsLeft(seen)}
	if seen.State != StateCompleted {
		m.group = p.groupWait(seen)
		r := min(seen.Retried, m.retries)
		v.low = m.left(seen, r, m.retries-r+1, crashFirst)
		v.high = m.left(seen, r, m.retries-r+1, crashLast)
	}
	return v, nil
}

// fromNow drops what lies before the moment a task was seen.
func (p Params) fromNow() Params {
	p.ProcessIn, p.Group = 0, ""
	return p
}

// groupWait is how long a task seen in a group still waits there.
func (p Params) groupWait(seen Seen) Seconds {
	if seen.State == StateAggregating {
		return p.GroupMaxDelay + groupCheck
	}
	return 0
}

// unboundedWhen is Unbounded for a task seen now.
func (p Params) unboundedWhen(seen Seen) []Reason {
	if seen.State == StateCompleted {
		return nil
	}
	if seen.State == StateActive && seen.Retried >= p.MaxRetry {
		p.QueuePaused = false // its last attempt runs already: no dequeue to come
	}
	return p.unboundedFrom(seen.Retried, seen.State == StateAggregating)
}

// attemptsLeft counts the attempts to come, a running one included.
func (m *model) attemptsLeft(seen Seen) int {
	left := m.retries - min(seen.Retried, m.retries) + 1
	switch {
	case seen.State == StateCompleted:
		return 0
	case seen.Orphaned:
		return left - 1
	}
	return left
}

func (s Seen) check() error {
	switch {
	case s.State == StateUnknown:
		return errors.New("seen.state is missing")
	case s.Retried < 0:
		return fmt.Errorf("seen.retried %d is negative", s.Retried)
	case s.Orphaned && s.State != StateActive:
		return fmt.Errorf("seen.orphaned is for active tasks, not %s", s.State)
	}
	times := []named{{"seen.next_process_in_s", s.NextProcessIn, true}}
	if s.RunningFor != nil {
		times = append(times, named{"seen.running_for_s", *s.RunningFor, false})
	}
	if s.LeaseExpiredAgo != nil {
		times = append(times, named{"seen.lease_expired_ago_s", *s.LeaseExpiredAgo, false})
	}
	for _, t := range times {
		if err := t.check(); err != nil {
			return err
		}
	}
	return nil
}

// left is the timeline from now on, with `count` attempts.
func (m *model) left(seen Seen, r, count int, o order) []step {
	var steps []step
	first := m.run
	switch seen.State {
	case StateScheduled, StateRetry:
		steps = append(steps, wait(TermNextTry, constant(max(0, seen.NextProcessIn))), wait(TermForward, m.forward))
		steps = append(steps, wait(TermQueueWait, m.wait))
	case StateActive:
		first = m.restOfRun(seen.RunningFor)
		if seen.Orphaned {
			first = recovery(seen.LeaseExpiredAgo)
		}
	default: // pending; archived and re-run; the aggregate of a group
		if seen.State == StateAggregating {
			steps = append(steps, wait(TermGroup, uniform(0, m.group)))
		}
		steps = append(steps, wait(TermQueueWait, m.wait))
	}
	return m.attempts(steps, r, count, first, o)
}

// restOfRun is what is left of a run. Without a start time it may be about to
// end, or just have begun.
func (m *model) restOfRun(running *Seconds) step {
	s := m.run
	if running == nil {
		s.low = 0
		return s
	}
	s.low = max(0, s.low-*running)
	s.high = max(0, s.high-*running)
	s.law = constant(max(0, s.law.min-*running))
	return s
}

// recovery is how long an expired lease still waits for the recoverer.
func recovery(ago *Seconds) step {
	if ago == nil {
		return wait(TermCrash, uniform(0, recovererSlack+recovererPeriod))
	}
	return wait(TermCrash, uniform(max(0, recovererSlack-*ago), max(0, recovererSlack+recovererPeriod-*ago)))
}

func (s Seen) warnings(maxRetry int) []Warning {
	switch {
	case s.State == StateCompleted:
		return []Warning{{WarningRerun, "done; but Inspector.RunTask also takes completed tasks and runs them again"}}
	case s.State == StateArchived && s.Retried < maxRetry:
		return []Warning{{WarningRerun, fmt.Sprintf(
			"nothing happens by itself; a re-run keeps the count of %d and so gets all %d remaining retries", s.Retried, maxRetry-s.Retried)}}
	case s.State == StateArchived:
		return []Warning{{WarningRerun, "nothing happens by itself; a re-run gets exactly one attempt, because RunTask does not reset the count"}}
	case s.State == StateAggregating:
		return []Warning{{WarningGroup, "the group's aggregate is another task, with its own ID and retries"}}
	}
	return nil
}
