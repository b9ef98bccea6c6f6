package retry

// RemainingBounds is Remaining without the distribution: cheap enough to ask for
// every task of a queue. The reasons are those of Remaining.UnboundedBecause.
func (p Params) RemainingBounds(seen Seen) (Range, []Reason, error) {
	reasons := p.unboundedWhen(seen)
	if p.Deadline != nil { // then the order of things matters
		v, err := p.view(seen)
		if err != nil {
			return Range{}, nil, err
		}
		return Range{v.model.low(v.low), v.model.high(v.high)}, reasons, nil
	}
	p = p.fromNow()
	if err := seen.check(); err != nil {
		return Range{}, nil, err
	}
	m, err := p.modelWithoutDelays()
	if err != nil || seen.State == StateCompleted {
		return Range{}, nil, err
	}
	m.group = p.groupWait(seen)
	bounds, err := m.sum(p.Delay, seen)
	return bounds, reasons, err
}

// sum adds up what is left, without a deadline:
//
//	the first attempt + Σ (delay + forward + queue wait + run) + crashes
func (m *model) sum(policy Policy, seen Seen) (Range, error) {
	attempts := m.attemptsLeft(seen)
	crashes := Seconds(min(m.crashes, attempts))
	b := Range{crashMin * crashes, crashMax * crashes}
	if seen.Orphaned && attempts > 0 { // its requeues come after the first step
		b.Max += Seconds(m.requeues) * (m.wait.max + m.run.high)
	}
	m.crashes = 0
	r := min(seen.Retried, m.retries)
	for _, s := range m.left(seen, r, 1, crashFirst) {
		b.Min, b.Max = b.Min+s.low, b.Max+s.high
	}
	for n := r; n < m.retries; n++ {
		d, err := policy.spread(n)
		if err != nil {
			return Range{}, refuse(policy.String(), err)
		}
		b.Min += d.min + m.forward.min + m.wait.min + m.run.low
		b.Max += d.max + m.forward.max + m.wait.max + m.run.high
	}
	return b, nil
}
