package retry

import (
	"math"
)

// Method is how a distribution was computed. None of them samples. The zero
// value is MethodUnknown.
type Method uint8

const (
	MethodUnknown  Method = iota
	MethodConstant        // nothing is random: one value
	MethodExact           // whole seconds only: convolution of integers, exact
	MethodGrid            // continuous terms: convolution on a grid of Step seconds
)

var methodNames = [...]string{"unknown", "constant", "integer convolution", "grid convolution"}

func (m Method) String() string {
	if int(m) < len(methodNames) {
		return methodNames[m]
	}
	return methodNames[MethodUnknown]
}

// distribution is the law of a time: the typical case, in which every term is
// drawn independently and a run takes exec.typical.
type distribution struct {
	method   Method
	grid     density
	mean     Seconds
	variance float64
	low      Seconds // ends of the typical case
	high     Seconds
}

// law computes the distribution at the end of a timeline. each, if not nil, is
// called at the end of every attempt with the distribution of that moment; it
// must not keep it.
func (m *model) law(steps []step, each func(attempt int, at *distribution)) distribution {
	d := distribution{}
	method, width := m.plan(steps)
	d.method = method
	d.grid = *newDensity(width)
	exactMoments := true
	for _, s := range steps {
		if s.run {
			exactMoments = exactMoments && d.high+s.law.max <= m.deadline
			d.grid.run(float64(s.law.min), float64(m.deadline))
		} else {
			d.grid.add(s.law)
		}
		d.low = m.advance(d.low, s.law.lowest(), s.run)
		d.high = m.advance(d.high, s.law.highest(), s.run)
		d.mean += s.law.mean()
		d.variance += s.law.variance()
		if each != nil && s.attempt > 0 {
			each(s.attempt, &d)
		}
	}
	if !exactMoments {
		d.measure()
	}
	return d
}

// plan chooses the grid: one second where everything random is a whole number of
// seconds, else a small part of the standard deviation.
func (m *model) plan(steps []step) (Method, float64) {
	variance, random, lattices := 0.0, 0, 0
	var latest Seconds
	cut := false
	for _, s := range steps {
		if s.run {
			cut = cut || latest+s.law.max > m.deadline
		}
		latest = m.advance(latest, s.law.highest(), s.run)
		v := s.law.variance()
		if v == 0 {
			continue
		}
		variance += v
		random++
		if s.law.shape == shapeLattice {
			lattices++
		}
	}
	sd := math.Sqrt(variance)
	if random == 0 || sd == 0 {
		return MethodConstant, 1
	}
	// Projecting `random` laws onto the grid adds random·step²/6 to the
	// variance: below 0.05 % of it with this step.
	width := sd / (200 + 4*math.Sqrt(float64(random)))
	affordable := sd*windows*float64(random) <= budget
	switch {
	case lattices == random && !cut && affordable:
		return MethodExact, 1
	case lattices == 0 || width >= coarse:
		return MethodGrid, width
	}
	return MethodGrid, 1 / math.Ceil(1/width) // whole seconds stay on the grid
}

// A distribution keeps about `windows` standard deviations of points; budget
// bounds points times terms, that is, the time one exact calculation takes. On a
// grid of `coarse` seconds the steps of whole seconds no longer matter.
const (
	windows = 17
	budget  = 1.5e8
	coarse  = 8
)

// measure takes the moments from the grid, for a timeline that a deadline cuts.
func (d *distribution) measure() {
	var mean, square float64
	for i, v := range d.grid.mass {
		mean += v * float64(i)
		square += v * float64(i) * float64(i)
	}
	d.mean = Seconds(d.grid.origin + mean*d.grid.step)
	d.variance = max(0, square-mean*mean) * d.grid.step * d.grid.step
}

func (d *distribution) sd() Seconds { return Seconds(math.Sqrt(d.variance)) }

// rounding forgives sums of probabilities that miss a level by float noise.
const rounding = 1e-12

// quantile is the smallest x with P(X <= x) >= p, interpolated inside a grid
// cell where a continuous term exists.
func (d *distribution) quantile(p float64) Seconds {
	below := 0.0
	for i, v := range d.grid.mass {
		if below+v < p-rounding {
			below += v
			continue
		}
		x := float64(i)
		if d.method == MethodGrid && v > 0 {
			x += (p-below)/v - 0.5
		}
		return d.inside(Seconds(d.grid.origin + x*d.grid.step))
	}
	return d.high
}

func (d *distribution) inside(s Seconds) Seconds { return min(max(s, d.low), d.high) }

// exceeds is P(X > t).
func (d *distribution) exceeds(t Seconds) float64 {
	if t+noise(t) >= d.high {
		return 0 // sums of floats miss by that much
	}
	if t < d.low {
		return 1
	}
	at := (float64(t) - d.grid.origin) / d.grid.step
	above := 0.0
	for i := len(d.grid.mass) - 1; i >= 0; i-- {
		left := float64(i) - 0.5
		if d.method != MethodGrid {
			left = float64(i) - 1e-6 // a step at the point itself
		}
		switch {
		case left >= at:
			above += d.grid.mass[i]
		case d.method == MethodGrid && left+1 > at:
			return min(1, above+d.grid.mass[i]*(left+1-at))
		default:
			return min(1, above)
		}
	}
	return min(1, above)
}
