package retry

import (
	"math"
	"slices"
	"time"
)

// shape is how a random time is distributed between its ends. The zero value is
// shapeUnknown.
type shape uint8

const (
	shapeUnknown  shape = iota
	shapeConstant       // min = max
	shapeLattice        // outcomes values, evenly spaced, ends included
	shapeUniform        // continuous between the ends
	shapePoints         // the listed values, equally likely
)

// outcomes is how many values the jitter of the default policy takes per step
// (server.go: DefaultRetryDelayFunc, rand.IntN(30)).
const outcomes = 30

// spread is one random time: a delay, a wait or a run.
type spread struct {
	shape    shape
	min, max Seconds   // proven bounds
	points   []Seconds // shapePoints only
	drawn    *spread   // what is really drawn, where the bounds are wider; else nil
	doubt    doubt
}

// law is the spread without the width that only its bounds have.
func (s spread) law() spread {
	if s.drawn != nil {
		return *s.drawn
	}
	return s
}

// doubt is why a spread's ends or shape are not beyond question.
type doubt uint8

const (
	doubtNone      doubt = iota
	doubtOverflow        // asynq's own formula overflows
	doubtSaturated       // the formula exceeds the longest time.Duration
	doubtTurning         // an expression is not monotone in rand
)

func constant(s Seconds) spread { return spread{shape: shapeConstant, min: s, max: s} }

func uniform(shortest, most Seconds) spread {
	if shortest == most {
		return constant(shortest)
	}
	return spread{shape: shapeUniform, min: shortest, max: most}
}

func (s spread) mean() Seconds {
	if s = s.law(); s.shape != shapePoints {
		return s.min + (s.max-s.min)/2
	}
	var sum Seconds
	for _, v := range s.points {
		sum += v
	}
	return sum / Seconds(len(s.points))
}

func (s spread) variance() float64 {
	s = s.law()
	width := float64(s.max - s.min)
	switch s.shape {
	case shapeLattice:
		step := width / (outcomes - 1)
		return step * step * (outcomes*outcomes - 1) / 12
	case shapeUniform:
		return width * width / 12
	case shapePoints:
		mean, sum := float64(s.mean()), 0.0
		for _, v := range s.points {
			sum += (float64(v) - mean) * (float64(v) - mean)
		}
		return sum / float64(len(s.points))
	}
	return 0
}

// overflowsAt is the first n for which every outcome of DefaultRetryDelayFunc
// overflows int64 nanoseconds.
const overflowsAt = 310

// defaultDelay is DefaultRetryDelayFunc(n), n from 0 (server.go).
func defaultDelay(n int) spread {
	if n >= overflowsAt {
		return overflownDelay(n)
	}
	shortest := n*n*n*n + 15
	return spread{
		shape: shapeLattice,
		min:   Seconds(shortest),
		max:   Seconds(shortest + (outcomes-1)*(n+1)),
	}
}

// overflownDelay repeats the arithmetic of DefaultRetryDelayFunc, wrapping as it
// does: a negative delay is a retry at once. The bounds also hold for a version
// of asynq that mends the overflow.
func overflownDelay(n int) spread {
	now := constant(0)
	s := spread{shape: shapeUniform, max: longest, doubt: doubtOverflow, drawn: &now}
	power := math.Pow(float64(n), 4)
	if power >= math.MaxInt64/2 {
		return s // the conversion to int has no defined result
	}
	var drawn [outcomes]time.Duration
	for i := range drawn {
		drawn[i] = time.Duration(int64(power)+15+int64(i)*int64(n+1)) * time.Second
	}
	first, last := drawn[0], drawn[outcomes-1]
	switch whole := time.Duration(outcomes-1) * time.Duration(n+1) * time.Second; {
	case slices.Max(drawn[:]) <= 0: // all of them wrapped below zero
	case first >= 0 && last-first == whole:
		now = spread{shape: shapeLattice, min: SecondsOf(first), max: SecondsOf(last)}
	default: // some wrapped, some not
		now = spread{shape: shapePoints, points: make([]Seconds, outcomes)}
		for i, d := range drawn {
			now.points[i] = SecondsOf(max(0, d))
		}
		now.min, now.max = slices.Min(now.points), slices.Max(now.points)
	}
	return s
}

// lowest and highest are the ends of what is drawn.
func (s spread) lowest() Seconds {
	if s = s.law(); s.shape == shapePoints {
		return slices.Min(s.points)
	}
	return s.min
}

func (s spread) highest() Seconds {
	if s = s.law(); s.shape == shapePoints {
		return slices.Max(s.points)
	}
	return s.max
}
