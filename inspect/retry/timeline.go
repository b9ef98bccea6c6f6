package retry

import "math"

// Recovery of an attempt that died with its worker: the lease (30 s) was last
// extended up to one heartbeat (5 s) ago, the recoverer looks every 60 s for
// leases that expired 30 s ago (rdb.go: LeaseDuration; heartbeat.go: beat;
// recoverer.go: recoverLeaseExpiredTasks).
const (
	leaseLength     Seconds = 30
	recovererSlack  Seconds = 30
	recovererPeriod Seconds = 60
	heartbeat       Seconds = 5

	crashMin = leaseLength - heartbeat + recovererSlack
	crashMax = leaseLength + recovererSlack + recovererPeriod
)

// groupCheck is how often an aggregator looks (aggregator.go:
// defaultAggregationCheckInterval).
const groupCheck Seconds = 7

// step is one stretch of a task's life. A step with run set ends at the deadline
// at the latest; any other is simply added.
type step struct {
	term    Term
	law     spread  // what it typically takes
	low     Seconds // proven bounds
	high    Seconds
	run     bool
	attempt int // k when the step ends attempt k, else 0
}

func wait(term Term, law spread) step {
	return step{term: term, law: law, low: law.min, high: law.max}
}

// model is Params with every default and cap applied.
type model struct {
	retries  int
	delays   []spread // n = 0 … retries-1
	run      step
	wait     spread
	forward  spread
	start    Seconds
	group    Seconds // 0: no group
	deadline Seconds // +Inf: none
	crashes  int
	requeues int
	// runSlack is how much shorter than run.low a run can be, because a worker
	// with both limits cuts the start of the timeout to whole seconds.
	runSlack Seconds
}

func (p Params) model() (*model, error) {
	m, err := p.modelWithoutDelays()
	if err != nil {
		return nil, err
	}
	m.delays = make([]spread, p.MaxRetry)
	for n := range m.delays {
		d, err := p.Delay.spread(n)
		if err != nil {
			return nil, refuse(p.Delay.String(), err)
		}
		m.delays[n] = d
	}
	return m, nil
}

func (p Params) modelWithoutDelays() (*model, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	m := &model{
		retries:  p.MaxRetry,
		wait:     uniform(p.QueueWait.Min, p.QueueWait.Max),
		forward:  uniform(0, p.ForwardInterval),
		start:    max(0, p.ProcessIn),
		deadline: Seconds(math.Inf(1)),
		crashes:  p.Crashes,
		requeues: p.Requeues,
	}
	if p.aggregated() {
		m.group = p.GroupMaxDelay + groupCheck
	}
	m.limitRuns(p)
	return m, nil
}

// limitRuns applies Timeout and Deadline to the length of one run. No run
// lasts longer than from t0 to the deadline.
func (m *model) limitRuns(p Params) {
	longestRun := Seconds(math.Inf(1))
	timeout, timed := p.EffectiveTimeout()
	if timed {
		longestRun = timeout
	}
	if p.Deadline != nil {
		m.deadline = *p.Deadline
		longestRun = min(longestRun, max(0, m.deadline))
	}
	high := longestRun
	if p.Exec.Max != nil {
		high = min(high, *p.Exec.Max)
	}
	typical := high
	if p.Exec.Typical != nil {
		typical = min(high, *p.Exec.Typical)
	}
	low := min(high, p.Exec.Min)
	m.run = step{term: TermRun, law: constant(typical), low: low, high: high, run: true}
	if timed && p.Deadline != nil {
		m.runSlack = max(0, low-(timeout-1))
	}
}

// order says which attempts are the ones that crash. Without a deadline it makes
// no difference; with one, an early crash eats into later runs.
type order uint8

const (
	crashFirst order = iota // gives the minimum, and the typical case
	crashLast               // gives the maximum
)

// lifetime is the whole timeline from t0, with `attempts` attempts.
func (m *model) lifetime(attempts int, o order) []step {
	steps := make([]step, 0, 8+5*attempts+2*m.requeues)
	if m.group > 0 {
		steps = append(steps, wait(TermGroup, uniform(0, m.group)))
	}
	if m.start > 0 {
		steps = append(steps, wait(TermProcessIn, constant(m.start)), wait(TermForward, m.forward))
	}
	steps = append(steps, wait(TermQueueWait, m.wait))
	return m.attempts(steps, 0, attempts, m.run, o)
}

// attempts appends `count` attempts, the first of which has already been given
// to a worker after n counted failures; first is what is left of its run, or of
// its recovery when it is no run.
func (m *model) attempts(steps []step, n, count int, first step, o order) []step {
	orphaned := !first.run
	eligible := count
	if orphaned {
		eligible--
	}
	crashes, requeues := min(m.crashes, eligible), m.requeues
	for i := range count {
		if i == 0 {
			steps = append(steps, first)
		} else {
			steps = append(steps,
				wait(TermDelay, m.delays[n+i-1]), wait(TermForward, m.forward), wait(TermQueueWait, m.wait), m.run)
		}
		if orphaned && i == 0 {
			steps[len(steps)-1].attempt = 1
			continue
		}
		steps = m.pushedBack(steps, requeues)
		requeues = 0
		at := i - (count - eligible) // position among the attempts that can crash
		if at < crashes && o == crashFirst || at >= eligible-crashes && o == crashLast {
			steps = append(steps, crashSteps()...)
		}
		steps[len(steps)-1].attempt = i + 1
	}
	return steps
}

// pushedBack appends runs that a shutdown aborted. There may be none of them, so
// they add nothing to the minimum (processor.go: exec, requeue; rdb.go: Requeue).
func (m *model) pushedBack(steps []step, times int) []step {
	again, queued := m.run, wait(TermRequeue, m.wait)
	again.term, again.low, queued.low = TermRequeue, 0, 0
	for range times {
		steps = append(steps, queued, again)
	}
	return steps
}

// crashSteps are the recovery's three parts, each with its own random phase.
func crashSteps() []step {
	return []step{
		wait(TermCrash, constant(crashMin)),
		wait(TermCrash, uniform(0, heartbeat)),
		wait(TermCrash, uniform(0, recovererPeriod)),
	}
}

// advance is the time after a step of the given length that began at t.
func (m *model) advance(t, length Seconds, run bool) Seconds {
	if !run {
		return t + length
	}
	return max(t, min(t+length, m.deadline))
}

// low and high walk a timeline with every step at its minimum or maximum. The
// end of a life never decreases when a step grows, so these are the exact ends.
func (m *model) low(steps []step) Seconds {
	var t Seconds
	for _, s := range steps {
		t = m.advance(t, s.low, s.run)
	}
	return t
}

func (m *model) high(steps []step) Seconds {
	var t Seconds
	for _, s := range steps {
		t = m.advance(t, s.high, s.run)
	}
	return t
}
