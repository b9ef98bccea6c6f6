package retry

import (
	"math"
	"testing"
)

// The chart of a risk and the verdict on one lock must not disagree.
func TestRiskIsWhatTheLockRisks(t *testing.T) {
	p := DefaultParams()
	typical := Seconds(2)
	p.MaxRetry, p.QueueWait, p.Exec = 6, Range{0, 30}, Exec{Typical: &typical}
	at := []Seconds{1, 60, 300, 1500, 2500, 3000, 4000}
	for _, failProb := range []float64{0.2, 0.9, 1} {
		risks, err := p.Risk(failProb, at)
		if err != nil {
			t.Fatal(err)
		}
		for i, ttl := range at {
			p.UniqueTTL = &ttl
			l, err := p.Lock(failProb)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(l.AliveAtExpiry-risks[i]) > 1e-12 {
				t.Errorf("φ=%g: a lock of %v risks %g, the curve says %g", failProb, ttl, l.AliveAtExpiry, risks[i])
			}
			if i > 0 && risks[i] > risks[i-1] {
				t.Errorf("φ=%g: the risk grows from %g to %g at %v", failProb, risks[i-1], risks[i], ttl)
			}
		}
	}
}

func TestRiskRefusesWhatIsNoTime(t *testing.T) {
	p := DefaultParams()
	for _, at := range []Seconds{-1, Seconds(math.NaN())} {
		if _, err := p.Risk(1, []Seconds{at}); err == nil {
			t.Errorf("a risk at %g seconds", float64(at))
		}
	}
	for _, failProb := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := p.Risk(failProb, nil); err == nil {
			t.Errorf("a fail probability of %g", failProb)
		}
	}
}
