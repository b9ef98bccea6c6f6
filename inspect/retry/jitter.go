package retry

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// JitterKind is how an exponential policy spreads its delays. The zero value is
// JitterNone: unlike other enums here, leaving jitter out has a plain meaning.
type JitterKind uint8

const (
	JitterNone         JitterKind = iota
	JitterFull                    // uniform between 0 and the raw delay
	JitterEqual                   // half the raw delay plus uniform up to the other half
	JitterProportional            // raw delay times uniform between 1-f and 1+f
)

// Jitter is applied after the cap.
type Jitter struct {
	Kind     JitterKind
	Fraction float64 // f of JitterProportional, above 0 and at most 1
}

// String is the form Parse reads: none, full, equal or a percentage.
func (j Jitter) String() string {
	switch j.Kind {
	case JitterFull:
		return "full"
	case JitterEqual:
		return "equal"
	case JitterProportional:
		return percent(j.Fraction)
	}
	return "none"
}

// percent writes a fraction so that parsePercent gives back the same float.
func percent(f float64) string {
	for digits := range 18 {
		text := strconv.FormatFloat(f*100, 'f', digits, 64) + "%"
		if back, err := parsePercent(text); err == nil && back == f {
			return text
		}
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// parsePercent moves the decimal point in the text, so that 20% is exactly the
// float 0.2. A fraction without the sign is read too.
func parsePercent(text string) (float64, error) {
	number, isPercent := strings.CutSuffix(text, "%")
	if !isPercent {
		return parseNumber(text)
	}
	if strings.ContainsAny(number, "eExX_") {
		return 0, fmt.Errorf("%s is not a percentage", quote(text))
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(number)+"e-2", 64)
	if err != nil {
		return 0, fmt.Errorf("%s is not a percentage", quote(text))
	}
	return f, nil
}

func parseJitter(text string) (Jitter, error) {
	switch text {
	case "none":
		return Jitter{}, nil
	case "full":
		return Jitter{Kind: JitterFull}, nil
	case "equal":
		return Jitter{Kind: JitterEqual}, nil
	}
	f, err := parsePercent(text)
	if err != nil {
		return Jitter{}, fmt.Errorf("jitter %s is unknown (none, full, equal or a percentage such as 20%%)", quote(text))
	}
	return proportional(f), nil
}

// proportional is ±0 % when f is 0, which is no jitter.
func proportional(f float64) Jitter {
	if f == 0 {
		return Jitter{}
	}
	return Jitter{Kind: JitterProportional, Fraction: f}
}

func (j Jitter) check() error {
	if j.Kind != JitterProportional {
		return nil
	}
	switch f := j.Fraction; {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return fmt.Errorf("jitter is not a number")
	case f < 0:
		return fmt.Errorf("jitter is negative")
	case f > 1:
		return fmt.Errorf("jitter is above 100%%, which makes negative delays")
	}
	return nil
}

// over spreads a raw delay.
func (j Jitter) over(raw Seconds) spread {
	var s spread
	switch j.Kind {
	case JitterFull:
		s = uniform(0, raw)
	case JitterEqual:
		s = uniform(raw/2, raw)
	case JitterProportional:
		s = uniform(raw*Seconds(1-j.Fraction), min(raw*Seconds(1+j.Fraction), longest))
	default:
		s = constant(raw)
	}
	if raw >= longest {
		s.doubt = doubtSaturated
	}
	return s
}
