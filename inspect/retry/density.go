package retry

import (
	"math"
	"slices"
)

// density is a distribution on evenly spaced points: mass[i] is the probability
// near origin + i·step. A continuous law is projected onto the points so that
// its mean is kept exactly; a lattice whose spacing is a multiple of step is
// represented exactly.
type density struct {
	origin float64
	step   float64
	mass   []float64
	spare  []float64
}

// negligible is the mass that is dropped at each end after every convolution.
const negligible = 1e-16

// narrow is the width, in grid steps, below which a law counts as its mean. All
// such laws together hold less than a ten-thousandth of the variance.
const narrow = 1.0 / 8

func newDensity(step float64) *density {
	return &density{step: step, mass: []float64{1}}
}

// grow gives the buffer for a result with extra more points, and swaps it in.
func (d *density) grow(extra int) (old, result []float64) {
	old = d.mass
	n := len(old) + extra
	if cap(d.spare) < n {
		d.spare = make([]float64, n, n+n/2)
	}
	result = d.spare[:n]
	d.mass, d.spare = result, old[:0]
	return old, result
}

// add convolves with a law.
func (d *density) add(s spread) {
	s = s.law()
	d.origin += float64(s.min)
	width := float64(s.max - s.min)
	switch s.shape {
	case shapeLattice:
		cells := width / (outcomes - 1) / d.step
		if whole := math.Round(cells); whole >= 1 && math.Abs(cells-whole) < 1e-9 {
			d.lattice(int(whole))
		} else {
			d.smooth(width/2, s.variance())
		}
	case shapeUniform:
		d.uniform(width / d.step)
	case shapePoints:
		// Laws this small come by the hundred, or do not matter.
		if variance := s.variance(); math.Sqrt(variance) < 8*d.step {
			d.smooth(float64(s.mean()-s.min), variance)
		} else {
			d.points(s)
		}
	}
	d.trim()
}

// lattice adds {0, …, outcomes-1} times `cells` points, equally likely: the
// running sum, in steps of cells, of what enters and leaves the window.
func (d *density) lattice(cells int) {
	old, sum := d.grow((outcomes - 1) * cells)
	const each = 1.0 / outcomes
	clear(sum[len(old):])
	for i, v := range old {
		sum[i] = v * each
	}
	leaving := sum[min(len(sum), outcomes*cells):]
	for i := range leaving {
		leaving[i] -= old[i] * each
	}
	entered := sum[cells:]
	for i := range entered {
		if v := entered[i] + sum[i]; v > 0 {
			entered[i] = v
		} else {
			entered[i] = 0 // float noise
		}
	}
}

// smooth stands for a law whose shape is finer than the grid shows: the uniform
// law with the same mean (counted from where the law begins) and variance.
func (d *density) smooth(mean, variance float64) {
	width := math.Sqrt(12 * variance)
	d.origin += mean - width/2
	d.uniform(width / d.step)
}

// uniform adds a continuous uniform law that is `cells` grid steps wide. Its
// projection is a box with trapezoid ends and two fractional points.
func (d *density) uniform(cells float64) {
	if cells < narrow {
		d.origin += cells / 2 * d.step
		return
	}
	whole := int(cells)
	rest := cells - float64(whole)
	old, sum := d.grow(whole + 1)
	clear(sum)
	scale := 1 / cells
	inner, outer := (rest-rest*rest/2)*scale, rest*rest/2*scale
	half := scale / 2
	if whole == 0 {
		half = 0
	}
	for i, v := range old {
		sum[i] -= v * half
		sum[i+whole] += v * (inner - half)
		sum[i+whole+1] += v * outer
	}
	if whole > 0 {
		addBox(sum, old, whole, scale)
	}
}

// addBox adds the sum over each window of width+1 points, times scale.
func addBox(sum, old []float64, width int, scale float64) {
	box := 0.0
	for j := range sum {
		if j < len(old) {
			box += old[j]
		}
		if i := j - width - 1; i >= 0 {
			box -= old[i]
		}
		if v := sum[j] + box*scale; v > 0 {
			sum[j] = v
		} else {
			sum[j] = 0 // float noise
		}
	}
}

// points adds a law of listed values, each split between its two neighbours.
func (d *density) points(s spread) {
	highest := slices.Max(s.points) // s.max may lie far beyond
	old, sum := d.grow(int(float64(highest-s.min)/d.step) + 1)
	clear(sum)
	each := 1 / float64(len(s.points))
	for _, p := range s.points {
		cells := float64(p-s.min) / d.step
		i := int(cells)
		right := (cells - float64(i)) * each
		left := each - right
		for j, v := range old {
			sum[i+j] += v * left
			sum[i+j+1] += v * right
		}
	}
}

// run adds a run of the given length that ends at the deadline at the latest; a
// run that starts after it takes no time.
func (d *density) run(length, deadline float64) {
	last := d.origin + float64(len(d.mass)-1)*d.step
	if last+length <= deadline {
		d.origin += length
		return
	}
	if d.origin >= deadline || length == 0 {
		return
	}
	end := func(t float64) float64 { return max(t, min(t+length, deadline)) }
	origin := end(d.origin)
	old, sum := d.grow(2)
	clear(sum)
	for i, v := range old {
		cells := (end(d.origin+float64(i)*d.step) - origin) / d.step
		j := int(cells)
		right := cells - float64(j)
		sum[j] += v * (1 - right)
		sum[j+1] += v * right
	}
	d.origin = origin
	d.trim()
}

// trim drops ends that carry nothing.
func (d *density) trim() {
	first, last := 0, len(d.mass)
	for dropped := 0.0; first < last-1; first++ {
		if dropped += d.mass[first]; dropped > negligible {
			break
		}
	}
	for dropped := 0.0; last > first+1; last-- {
		if dropped += d.mass[last-1]; dropped > negligible {
			break
		}
	}
	if first > 0 {
		copy(d.mass, d.mass[first:last])
		d.origin += float64(first) * d.step
	}
	d.mass = d.mass[:last-first]
}
