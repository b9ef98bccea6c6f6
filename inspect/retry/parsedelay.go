package retry

import (
	"encoding/json"
	"errors"
	"fmt"
)

// readDelay takes a policy as text, or as an object whose names depend on kind.
func (p *Params) readDelay(raw json.RawMessage) error {
	if raw[0] == '"' {
		var spec string
		if err := text(&spec)(raw); err != nil {
			return err
		}
		policy, err := Parse(spec)
		p.Delay = policy
		return err
	}
	kind, err := kindOf(raw)
	if err != nil {
		return err
	}
	policy := Policy{kind: kind}
	if kind == KindExponential {
		policy.factor = 2
	}
	names, needed := policy.members()
	if err := names.read("", raw, needed...); err != nil {
		return err
	}
	if err := policy.check(); err != nil {
		return err
	}
	p.Delay = policy
	return nil
}

func kindOf(raw json.RawMessage) (Kind, error) {
	fields, err := object(raw)
	if err != nil {
		return KindUnknown, err
	}
	for _, f := range fields {
		if f.name != "kind" {
			continue
		}
		var name string
		if err := text(&name)(f.raw); err != nil {
			return KindUnknown, fmt.Errorf("kind: %w", err)
		}
		for k, known := range kindNames[1:] {
			if name == known {
				return Kind(k + 1), nil
			}
		}
		return KindUnknown, fmt.Errorf("kind: unknown policy %s", quote(name))
	}
	return KindUnknown, errors.New("kind is missing")
}

// members are the names of one kind of delay, and those that must be written.
func (p *Policy) members() (names members, needed []string) {
	names = members{"kind": func(json.RawMessage) error { return nil }}
	switch p.kind {
	case KindFixed:
		names["seconds"] = notNegative(&p.base)
		needed = []string{"seconds"}
	case KindLinear:
		names["base"], names["step"], names["cap"] = notNegative(&p.base), notNegative(&p.step), p.readCap
		needed = []string{"step"}
	case KindPoly:
		names["coef"], names["power"], names["cap"] = notNegative(&p.base), number(&p.power), p.readCap
		needed = []string{"coef", "power"}
	case KindExponential:
		names["base"], names["factor"], names["cap"] = notNegative(&p.base), number(&p.factor), p.readCap
		names["jitter"] = p.readJitter
		needed = []string{"base"}
	case KindTable:
		names["seconds"], names["beyond"] = p.readTable, readBeyond
		needed = []string{"seconds"}
	case KindExpr:
		names["expr"] = p.readExpr
		needed = []string{"expr"}
	}
	return names, needed
}

func (p *Policy) readCap(raw json.RawMessage) error {
	p.capped = !isNull(raw)
	if !p.capped {
		return nil
	}
	return notNegative(&p.limit)(raw)
}

func (p *Policy) readTable(raw json.RawMessage) error {
	var list []*Seconds // a null entry must not read as 0
	if err := into(&list, "a list of seconds")(raw); err != nil {
		return err
	}
	if len(list) > maxEntries {
		return fmt.Errorf("more than %d entries", maxEntries)
	}
	for i, s := range list {
		if s == nil {
			return fmt.Errorf("entry %d is null", i+1)
		}
		p.table = append(p.table, *s)
	}
	return nil
}

func readBeyond(raw json.RawMessage) error {
	if string(raw) != `"last"` {
		return fmt.Errorf("%s is unknown (last)", quote(string(raw)))
	}
	return nil
}

func (p *Policy) readExpr(raw json.RawMessage) error {
	var source string
	if err := text(&source)(raw); err != nil {
		return err
	}
	f, err := newFormula(source)
	p.expr = f
	return err
}

// readJitter takes the words Parse takes, or {"kind": …, "fraction": f}.
func (p *Policy) readJitter(raw json.RawMessage) error {
	if isNull(raw) {
		return nil
	}
	if raw[0] == '"' {
		var word string
		if err := text(&word)(raw); err != nil {
			return err
		}
		j, err := parseJitter(word)
		p.jitter = j
		return err
	}
	kind, fraction := "", 0.0
	names := members{"kind": text(&kind), "fraction": number(&fraction)}
	if err := names.read("", raw, "kind"); err != nil {
		return err
	}
	switch kind {
	case "none", "full", "equal":
		if fraction != 0 {
			return fmt.Errorf("fraction is for kind proportional, not %s", kind)
		}
		j, err := parseJitter(kind)
		p.jitter = j
		return err
	case "proportional":
		if fraction == 0 {
			return errors.New("fraction is missing (0.2 for ±20 %)")
		}
		p.jitter = proportional(fraction)
		return nil
	}
	return fmt.Errorf("kind %s is unknown (none, full, equal, proportional)", quote(kind))
}
