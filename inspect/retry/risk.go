package retry

import (
	"fmt"
	"math"
)

// Risk is the probability that a task still lives at each of the given times
// after t0: what a lock that ends then risks. failProb is the chance that one
// attempt fails; 1 asks for tasks that fail every time. A time that is negative
// or not a number is an error. As in Lifetime, a run takes exec.typical and
// waits are independent, so that 0 here is no proof: the bound is Lifetime.Max.
func (p Params) Risk(failProb float64, at []Seconds) ([]float64, error) {
	if !(failProb >= 0 && failProb <= 1) {
		return nil, fmt.Errorf("fail_prob %g is not between 0 and 1", failProb)
	}
	for _, t := range at {
		if math.IsNaN(float64(t)) || t < 0 {
			return nil, fmt.Errorf("risk at %g seconds: not a time after the enqueue", float64(t))
		}
	}
	m, err := p.model()
	if err != nil {
		return nil, err
	}
	risks := make([]float64, len(at))
	m.eachEnd(m.lifetime(m.retries+1, crashFirst), failProb, func(ends float64, law *distribution) {
		for i, t := range at {
			risks[i] += ends * law.exceeds(t)
		}
	})
	for i := range risks {
		risks[i] = min(1, risks[i])
	}
	return risks, nil
}

// eachEnd tells of every attempt that a task can end with: how likely that is,
// and when it is over. The attempt that succeeds ends its life; with k attempts
// it lives as long as the timeline up to the end of attempt k.
func (m *model) eachEnd(steps []step, failProb float64, tell func(ends float64, law *distribution)) Method {
	reach := 1.0 // the probability that attempt k is made
	last := m.retries + 1
	law := m.law(steps, func(k int, at *distribution) {
		ends := reach * (1 - failProb)
		if k == last {
			ends = reach
		}
		if ends > 0 {
			tell(ends, at)
		}
		reach *= failProb
	})
	return law.method
}
