package retry

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Kind is the family a retry policy belongs to. The zero value is KindUnknown.
type Kind uint8

const (
	KindUnknown     Kind = iota // nothing is known of the delays
	KindDefault                 // asynq's own: n^4 + 15 + (n+1)·{0,…,29} seconds
	KindFixed                   // the same delay each time
	KindLinear                  // base + step·n
	KindPoly                    // coef·n^power
	KindExponential             // base·factor^n
	KindTable                   // listed delays, the last one repeats
	KindExpr                    // an expression over n and rand
)

var kindNames = [...]string{"unknown", "default", "fixed", "linear", "poly", "exponential", "table", "expr"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[KindUnknown]
}

// Policy is a retry policy: a description of a server's RetryDelayFunc. Build it
// with Parse, a constructor or from JSON (Params). The zero value is of
// KindUnknown: its delays may be anything.
//
// n counts failures before the current one, from 0: asynq calls RetryDelayFunc
// with the task's Retried before it is incremented (processor.go: retry).
type Policy struct {
	kind   Kind
	base   Seconds // fixed delay; base of linear and exponential; coef of poly
	step   Seconds // linear
	power  float64 // poly
	factor float64 // exponential
	limit  Seconds // the cap on a delay before jitter, if capped
	capped bool
	jitter Jitter
	table  []Seconds
	expr   *formula
}

// Default is the policy of a server that sets no RetryDelayFunc (asynq
// server.go: DefaultRetryDelayFunc).
func Default() Policy { return Policy{kind: KindDefault} }

// Kind names the policy's family.
func (p Policy) Kind() Kind { return p.kind }

// Equal says whether two policies are written alike.
func (p Policy) Equal(q Policy) bool { return p.String() == q.String() }

// Bounds are the shortest and longest delay after n counted failures. A negative
// n is taken as 0. Delays that time.Duration cannot hold are given as its
// largest value. Where the delay is not known (the zero Policy, an expression
// that fails for this n) the bounds are 0 and the largest duration.
//
// From n = 310 on DefaultRetryDelayFunc itself overflows and asynq retries at
// once, or much too early: the lower bound is 0 there, the upper bound is what
// the formula means.
func (p Policy) Bounds(n int) (shortest, most time.Duration) {
	s, err := p.spread(n)
	if err != nil {
		return 0, math.MaxInt64
	}
	return s.min.Duration(), s.max.Duration()
}

// spread is the distribution of the delay after n counted failures.
func (p Policy) spread(n int) (spread, error) {
	n = max(n, 0)
	switch p.kind {
	case KindDefault:
		return defaultDelay(n), nil
	case KindExpr:
		return p.expr.spread(n)
	case KindUnknown:
		return spread{}, fmt.Errorf("no retry policy given (write default, fixed(60s), …)")
	}
	return p.jitter.over(p.raw(n)), nil
}

// raw is the delay before jitter of the policies that have a closed form.
func (p Policy) raw(n int) Seconds {
	var d Seconds
	switch p.kind {
	case KindFixed:
		d = p.base
	case KindLinear:
		d = p.base + p.step*Seconds(n)
	case KindPoly:
		d = times(p.base, math.Pow(float64(n), p.power))
	case KindExponential:
		d = times(p.base, math.Pow(p.factor, float64(n)))
	case KindTable:
		d = p.table[min(n, len(p.table)-1)]
	}
	if p.capped {
		d = min(d, p.limit)
	}
	return min(d, longest)
}

// times multiplies without 0·∞.
func times(s Seconds, by float64) Seconds {
	if s == 0 {
		return 0
	}
	return s * Seconds(by)
}

// check refuses what no RetryDelayFunc can mean. The error names the parameter.
func (p Policy) check() error {
	for _, v := range []struct {
		name  string
		value float64
	}{
		{p.baseName(), float64(p.base)},
		{"step", float64(p.step)},
		{"cap", float64(p.limit)},
		{"power", p.power},
		{"factor", p.factor},
	} {
		switch {
		case math.IsNaN(v.value):
			return fmt.Errorf("%s is not a number", v.name)
		case math.IsInf(v.value, 0):
			return fmt.Errorf("%s is infinite", v.name)
		case v.value < 0:
			return fmt.Errorf("%s is negative", v.name)
		}
	}
	switch {
	case p.kind == KindExponential && p.factor == 0:
		return fmt.Errorf("factor is 0 (write 2 to double the delay each time)")
	case p.capped && p.kind != KindPoly && p.limit < p.base:
		return fmt.Errorf("cap %s is below base %s", p.limit, p.base)
	case p.kind == KindTable && len(p.table) == 0:
		return fmt.Errorf("the table is empty (write table(30s, 1m, 4m))")
	}
	if i := slices.IndexFunc(p.table, func(s Seconds) bool { return !(s >= 0) || s > math.MaxFloat64 }); i >= 0 {
		return fmt.Errorf("entry %d is negative or not finite", i+1)
	}
	return p.jitter.check()
}

// baseName is what the policy's first parameter is called where it is written.
func (p Policy) baseName() string {
	switch p.kind {
	case KindFixed:
		return "delay"
	case KindPoly:
		return "coef"
	}
	return "base"
}
