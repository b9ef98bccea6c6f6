package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/idemctl/idemctl/inspect/retry"
)

// timeValue is a flag that takes a time such as 90s, 1h30m or 7d. It is nil
// until the flag is given.
type timeValue struct{ at *retry.Seconds }

func (v *timeValue) String() string {
	if v.at == nil {
		return ""
	}
	return v.at.String()
}

func (v *timeValue) Set(text string) error {
	s, err := retry.ParseSeconds(text)
	if err != nil {
		return err
	}
	v.at = &s
	return nil
}

func (*timeValue) Type() string { return "time" }

// or is the time, or another where the flag was not given.
func (v *timeValue) or(other retry.Seconds) retry.Seconds {
	if v.at == nil {
		return other
	}
	return *v.at
}

// rangeValue is a flag that takes a time, or MIN..MAX.
type rangeValue struct {
	min, max timeValue
}

func (v *rangeValue) String() string {
	switch {
	case v.max.at == nil:
		return ""
	case v.min.at == nil:
		return v.max.String()
	}
	return v.min.String() + ".." + v.max.String()
}

func (v *rangeValue) Set(text string) error {
	low, high, both := strings.Cut(text, "..")
	if !both {
		v.min.at = nil
		return v.max.Set(text)
	}
	if err := v.min.Set(low); err != nil {
		return err
	}
	return v.max.Set(high)
}

func (*rangeValue) Type() string { return "range" }

func (v *rangeValue) given() bool { return v.max.at != nil }

// policyValue is a flag that takes a retry policy.
type policyValue struct {
	policy retry.Policy
	given  bool
}

func (v *policyValue) String() string {
	if !v.given {
		return ""
	}
	return v.policy.String()
}

func (v *policyValue) Set(text string) error {
	p, err := retry.Parse(text)
	v.policy, v.given = p, err == nil
	return err
}

func (*policyValue) Type() string { return "policy" }

// requeuesValue is a flag that takes a number of shutdowns, or "unlimited".
type requeuesValue struct {
	n         int
	unlimited bool
	given     bool
}

func (v *requeuesValue) String() string {
	switch {
	case !v.given:
		return ""
	case v.unlimited:
		return "unlimited"
	}
	return itoa(v.n)
}

func (v *requeuesValue) Set(text string) error {
	v.given, v.unlimited = true, text == "unlimited"
	if v.unlimited {
		return nil
	}
	n, err := wholeNumber(text)
	if err != nil {
		return errors.New("not a number of shutdowns (write 2, or unlimited)")
	}
	v.n = n
	return nil
}

func (*requeuesValue) Type() string { return "count" }

// countValue is a flag that takes a whole number, and knows whether it was given.
type countValue struct {
	n     int
	given bool
}

func (v *countValue) String() string {
	if !v.given {
		return ""
	}
	return itoa(v.n)
}

func (v *countValue) Set(text string) error {
	n, err := wholeNumber(text)
	if err != nil {
		return err
	}
	v.n, v.given = n, true
	return nil
}

func (*countValue) Type() string { return "count" }

func itoa(n int) string { return strconv.Itoa(n) }

func wholeNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, errors.New("not a whole number")
	}
	return n, nil
}
