package retry

// Lifetime is how long a task that fails every attempt lives, from t0 until it
// is archived. Min and Max are proven for every task; Mean and the quantiles
// assume exec.typical for each run and independent waits.
type Lifetime struct {
	// Bounded is false when UnboundedBecause is not empty; the times then hold as
	// long as none of the reasons comes true.
	Bounded          bool
	UnboundedBecause []Reason

	Min, Mean, Max Seconds
	SD             Seconds
	P50, P95, P99  Seconds
	Method         Method
	Step           Seconds // width of the grid; 0 unless Method is MethodGrid

	// TruncatedMin and TruncatedMean allow for asynq cutting scores to whole
	// seconds, which can only shorten a life.
	TruncatedMin, TruncatedMean Seconds

	DelayMin, DelayMean, DelayMax Seconds // the retry policy's share
	ForwardHops                   int     // passes through the forwarder
	Runs                          int     // attempts and pushed back runs
	// EffectiveTimeout is the one a worker applies; 0: only the deadline.
	EffectiveTimeout Seconds

	Parts    []Part
	Warnings []Warning
}

// Lifetime computes bounds and the exact distribution. Errors name the parameter
// that makes no sense; ErrTooManyRetries is wrapped when there are too many.
func (p Params) Lifetime() (Lifetime, error) {
	m, err := p.model()
	if err != nil {
		return Lifetime{}, err
	}
	attempts := m.retries + 1
	low, high := m.lifetime(attempts, crashFirst), m.lifetime(attempts, crashLast)
	law := m.law(low, nil)

	l := Lifetime{
		UnboundedBecause: p.Unbounded(),
		Min:              m.low(low),
		Max:              m.high(high),
		Mean:             law.mean,
		SD:               law.sd(),
		P50:              law.quantile(0.50),
		P95:              law.quantile(0.95),
		P99:              law.quantile(0.99),
		Method:           law.method,
		ForwardHops:      m.retries,
		Runs:             attempts + m.requeues,
		Parts:            m.parts(low, high, law.mean),
		Warnings:         p.warnings(m),
	}
	l.Bounded = len(l.UnboundedBecause) == 0
	l.EffectiveTimeout, _ = p.EffectiveTimeout()
	if law.method == MethodGrid {
		l.Step = Seconds(law.grid.step)
	}
	if p.Scheduled() {
		l.ForwardHops++
	}
	for _, d := range m.delays {
		l.DelayMin += d.min
		l.DelayMean += d.mean()
		l.DelayMax += d.max
	}
	cut := m.truncation(attempts)
	l.TruncatedMin, l.TruncatedMean = max(0, l.Min+cut.Min), l.Mean+cut.Mean
	l.Parts = append(l.Parts, cut)
	return l, nil
}

// truncation is what the whole-second scores of scheduled and retry tasks, of
// leases, and of a run with both limits take away (rdb.go: Retry, Schedule,
// listLeaseExpiredCmd).
func (m *model) truncation(attempts int) Part {
	low, mean := cutOf(m.start)
	for _, d := range m.delays[:attempts-1] {
		l, a := cutOf(d.min)
		low, mean = low+l, mean+a
	}
	crashes := Seconds(min(m.crashes, attempts))
	low += crashes + m.runSlack*Seconds(attempts)
	mean += crashes / 2
	return part(TermTruncation, -low, -mean, 0)
}

// cutOf is by how much a wait is shortened, at most and on average: its end is
// cut to a whole second, but no wait becomes negative.
func cutOf(s Seconds) (most, mean Seconds) {
	if s >= 1 {
		return 1, 0.5
	}
	return s, s - s*s/2
}

// Attempt is one attempt's window and the delay that follows its failure.
type Attempt struct {
	N                  int // from 1
	Earliest, Latest   Seconds
	EarliestTruncated  Seconds // with scores cut to whole seconds
	DelayMin, DelayMax Seconds // 0 after the last attempt
	LatestEnd          Seconds // its run over, and recovered if it crashed
}

// Attempts gives the windows of all MaxRetry+1 attempts, counted from t0.
func (p Params) Attempts() ([]Attempt, error) {
	m, err := p.model()
	if err != nil {
		return nil, err
	}
	return m.windows(), nil
}

func (m *model) windows() []Attempt {
	out := make([]Attempt, m.retries+1)
	early, cut, latest := m.start+m.wait.min, Seconds(0), make([]Seconds, len(out))
	cut, _ = cutOf(m.start)
	latest[0] = m.latestFirst()
	for i := range out {
		a := &out[i]
		a.N, a.Earliest, a.EarliestTruncated = i+1, early, max(0, early-cut)
		if i == m.retries {
			break
		}
		d := m.delays[i]
		a.DelayMin, a.DelayMax = d.min, d.max
		early = m.advance(early, m.run.low, true) + d.min + m.wait.min
		c, _ := cutOf(d.min)
		cut += c + m.runSlack
		latest[i+1] = m.latestNext(latest[i], i)
	}
	for i := range out {
		out[i].Latest = m.withCrashes(latest, i, min(m.crashes, i))
		t := m.withCrashes(latest, i, min(max(0, m.crashes-1), i))
		out[i].LatestEnd = m.advance(t, m.run.high, true)
		if m.crashes > 0 {
			out[i].LatestEnd += crashMax
		}
	}
	return out
}

// latestFirst is the latest start of attempt 1. Pushed back runs come before it:
// early runs leave the most of a deadline unused.
func (m *model) latestFirst() Seconds {
	t := m.group + m.start + m.wait.max
	if m.start > 0 {
		t += m.forward.max
	}
	for range m.requeues {
		t = m.advance(t, m.run.high, true) + m.wait.max
	}
	return t
}

// latestNext is the latest start of the attempt after attempt i (from 0) that
// started at t.
func (m *model) latestNext(t Seconds, i int) Seconds {
	return m.advance(t, m.run.high, true) + m.delays[i].max + m.forward.max + m.wait.max
}

// withCrashes is the latest start of attempt i (from 0) when the `crashes`
// attempts before it crash; plain holds the latest starts without crashes.
func (m *model) withCrashes(plain []Seconds, i, crashes int) Seconds {
	t := plain[i-crashes]
	for j := i - crashes; j < i; j++ {
		t = m.latestNext(t, j) + crashMax
	}
	return t
}
