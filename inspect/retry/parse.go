package retry

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse reads a policy as it stands on a command line or in YAML:
//
//	default
//	fixed(60s)
//	linear(base=0s, step=2s, cap=1h)
//	poly(coef=5s, power=2)
//	exponential(base=30s, factor=2, cap=1h, jitter=none|full|equal|20%)
//	table(30s, 1m, 4m)
//	expr("duration('30s') * 2^n * (1 + rand)")
//
// base of linear is 0s and factor of exponential 2 when left out; without cap
// there is none. In expr n counts from 0, rand is in [0, 1), the result is in
// seconds. Errors name the part that is wrong; no partly read policy is returned.
func Parse(spec string) (Policy, error) {
	name, args, err := split(spec)
	if err != nil {
		return Policy{}, refuse(spec, err)
	}
	build, ok := builders[name]
	if !ok {
		return Policy{}, refuse(spec, fmt.Errorf("unknown policy %s (%s)", quote(name), strings.Join(kindNames[1:], ", ")))
	}
	p, err := build(args)
	if err == nil {
		err = p.check()
	}
	if err != nil {
		return Policy{}, refuse(spec, err)
	}
	return p, nil
}

func refuse(spec string, err error) error {
	return fmt.Errorf("retry policy %s: %w", quote(spec), err)
}

var builders = map[string]func(*arguments) (Policy, error){
	"default":     buildDefault,
	"fixed":       buildFixed,
	"linear":      buildLinear,
	"poly":        buildPoly,
	"exponential": buildExponential,
	"table":       buildTable,
	"expr":        buildExpr,
}

func buildDefault(a *arguments) (Policy, error) {
	return Default(), a.none()
}

func buildFixed(a *arguments) (Policy, error) {
	list, err := a.durations()
	if err != nil {
		return Policy{}, err
	}
	if len(list) != 1 {
		return Policy{}, fmt.Errorf("fixed takes one delay (write fixed(60s))")
	}
	return Policy{kind: KindFixed, base: list[0]}, nil
}

func buildLinear(a *arguments) (Policy, error) {
	p := Policy{kind: KindLinear}
	p.base = a.duration("base", optional)
	p.step = a.duration("step", required)
	p.limit, p.capped = a.duration("cap", optional), a.has("cap")
	return p, a.done()
}

func buildPoly(a *arguments) (Policy, error) {
	p := Policy{kind: KindPoly}
	p.base = a.duration("coef", required)
	p.power = a.number("power", 0, required)
	p.limit, p.capped = a.duration("cap", optional), a.has("cap")
	return p, a.done()
}

func buildExponential(a *arguments) (Policy, error) {
	p := Policy{kind: KindExponential}
	p.base = a.duration("base", required)
	p.factor = a.number("factor", 2, optional)
	p.limit, p.capped = a.duration("cap", optional), a.has("cap")
	p.jitter = a.jitter("jitter")
	return p, a.done()
}

func buildTable(a *arguments) (Policy, error) {
	list, err := a.durations()
	return Policy{kind: KindTable, table: list}, err
}

func buildExpr(a *arguments) (Policy, error) {
	source, err := a.text()
	if err != nil {
		return Policy{}, err
	}
	f, err := newFormula(source)
	return Policy{kind: KindExpr, expr: f}, err
}

// String is what Parse reads back as the same policy. The zero Policy is
// "unknown", which Parse refuses.
func (p Policy) String() string {
	var args []string
	add := func(name, value string) { args = append(args, name+"="+value) }
	switch p.kind {
	case KindFixed:
		args = append(args, p.base.String())
	case KindLinear:
		add("base", p.base.String())
		add("step", p.step.String())
	case KindPoly:
		add("coef", p.base.String())
		add("power", float(p.power))
	case KindExponential:
		add("base", p.base.String())
		add("factor", float(p.factor))
	case KindTable:
		for _, d := range p.table {
			args = append(args, d.String())
		}
	case KindExpr:
		args = append(args, strconv.Quote(p.expr.source))
	default:
		return p.kind.String()
	}
	if p.capped {
		add("cap", p.limit.String())
	}
	if p.jitter.Kind != JitterNone {
		add("jitter", p.jitter.String())
	}
	return p.kind.String() + "(" + strings.Join(args, ", ") + ")"
}

func float(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
