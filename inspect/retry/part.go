package retry

import "math"

// Term is one kind of wait or work in a task's life. The zero value is
// TermUnknown.
type Term uint8

const (
	TermUnknown    Term = iota
	TermGroup           // waiting in a group for its aggregation
	TermProcessIn       // the delay the client asked for
	TermNextTry         // what is left until NextProcessAt of a task seen now
	TermForward         // due, until the forwarder moves it to pending
	TermQueueWait       // pending, until a worker takes it
	TermRun             // runs
	TermRequeue         // runs that a shutdown pushed back, and waiting again
	TermCrash           // from a worker's death until the recoverer acts
	TermDelay           // delays of the retry policy
	TermTruncation      // what whole-second scores take away
	TermArchive         // kept in the archive, where an operator may re-run it
	TermReplay          // how late the same work may be enqueued again
	TermZombie          // a handler that outlives its context
	TermSkew            // clocks that differ
	TermLife            // from the first attempt's start to the archive
)

// terms gives each term its name and the place in asynq it comes from.
var terms = [...]struct{ name, source string }{
	{"unknown", ""},
	{"group wait", "rdb.go: aggregationCheckCmd; aggregator.go: defaultAggregationCheckInterval"},
	{"scheduled start", "client.go: EnqueueContext, schedule"},
	{"until next try", "inspector.go: TaskInfo.NextProcessAt"},
	{"forwarder", "forwarder.go: start; rdb.go: forwardAll"},
	{"queue wait", "processor.go: exec"},
	{"runs", "processor.go: exec, computeDeadline"},
	{"shutdown requeues", "processor.go: exec, requeue; rdb.go: Requeue"},
	{"crash recovery", "heartbeat.go: beat; rdb.go: LeaseDuration; recoverer.go: recoverLeaseExpiredTasks"},
	{"retry delays", "processor.go: retry; recoverer.go: retry; server.go: DefaultRetryDelayFunc"},
	{"whole-second scores", "rdb.go: Retry, Schedule"},
	{"archive", "rdb.go: archiveCmd; inspector.go: RunTask"},
	{"producer replay", "operator"},
	{"handler past its context", "processor.go: exec"},
	{"clock skew", "operator"},
	{"life after the first start", "processor.go: exec, retry; forwarder.go: start"},
}

func (t Term) String() string {
	if int(t) < len(terms) {
		return terms[t].name
	}
	return terms[TermUnknown].name
}

// Source is the file and function of asynq v0.26.0 that the term comes from, or
// "operator" when it is a promise no code keeps.
func (t Term) Source() string {
	if int(t) < len(terms) {
		return terms[t].source
	}
	return ""
}

// Part is what one term adds to a result. The parts' minima, means and maxima
// add up to the result's; TermTruncation stands apart, its part leads from Min
// and Mean to the truncated ones.
type Part struct {
	Term           Term
	Min, Mean, Max Seconds
	Source         string // Term.Source()
}

func part(t Term, low, mean, high Seconds) Part {
	return Part{Term: t, Min: low, Mean: mean, Max: high, Source: t.Source()}
}

// parts sums two timelines by term: the one that gives the minimum and the
// typical case, and the one that gives the maximum. What a deadline cuts off is
// taken from the runs. mean is the mean of the whole.
func (m *model) parts(low, high []step, mean Seconds) []Part {
	var sums [len(terms)]Part
	add := func(steps []step, length func(step) Seconds, to func(*Part) *Seconds) {
		var t Seconds
		for _, s := range steps {
			next := m.advance(t, length(s), s.run)
			*to(&sums[s.term]) += next - t
			t = next
		}
	}
	add(low, func(s step) Seconds { return s.low }, func(p *Part) *Seconds { return &p.Min })
	add(high, func(s step) Seconds { return s.high }, func(p *Part) *Seconds { return &p.Max })
	rest := mean
	var present [len(terms)]bool
	for _, s := range low {
		present[s.term] = true
		sums[s.term].Mean += s.law.mean()
		rest -= s.law.mean()
	}
	if math.Abs(float64(rest)) > 1e-6 { // a deadline cuts runs; less is float noise
		sums[TermRun].Mean += rest
	}
	var out []Part
	for t, p := range sums {
		if present[t] {
			out = append(out, part(Term(t), p.Min, p.Mean, p.Max))
		}
	}
	return out
}
