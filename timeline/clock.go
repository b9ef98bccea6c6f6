package timeline

import (
	"fmt"
	"math"
	"strings"

	"github.com/idemctl/idemctl/inspect/retry"
)

// Rounding says which way a time is shortened. The zero value is RoundNearest.
type Rounding uint8

const (
	RoundNearest Rounding = iota
	RoundDown             // for a time before which something cannot happen
	RoundUp               // for a time after which it cannot
)

// units from the largest, with how many of one make up the next.
var units = []struct {
	size retry.Seconds
	name string
}{{year, "y"}, {day, "d"}, {hour, "h"}, {minute, "m"}, {1, "s"}}

// Clock writes a time in its two largest units, such as "20d 11h", "1m 4s" and
// "44s"; under ten seconds with decimals ("0.25s"). A bound that is rounded the
// right way stays a bound.
func Clock(s retry.Seconds, r Rounding) string {
	if s < 0 {
		text := Clock(-s, opposite(r))
		if text == "0s" {
			return text
		}
		return "-" + text
	}
	if s < 10 {
		return decimal(s, r)
	}
	for i, u := range units {
		if s < u.size {
			continue
		}
		small := units[min(i+1, len(units)-1)]
		s = rounded(s, small.size, r)
		if i > 0 && s >= units[i-1].size { // rounding filled the next unit
			return Clock(s, r)
		}
		if u.size == small.size {
			return fmt.Sprintf("%.0fs", float64(s))
		}
		whole := math.Floor(float64(s / u.size))
		rest := math.Round(float64((s - retry.Seconds(whole)*u.size) / small.size))
		return strings.TrimSuffix(fmt.Sprintf("%.0f%s %.0f%s", whole, u.name, rest, small.name), " 0"+small.name)
	}
	return fmt.Sprintf("%.0fs", float64(s))
}

func opposite(r Rounding) Rounding {
	switch r {
	case RoundDown:
		return RoundUp
	case RoundUp:
		return RoundDown
	default:
		return RoundNearest
	}
}

// noise is what sums of floats miss by, in units; it must not fill one.
const noise = 1e-9

// rounded rounds to whole units. What is left of a microsecond is not looked at,
// as in JSON (retry.Time).
func rounded(s, unit retry.Seconds, r Rounding) retry.Seconds {
	n := math.Round(float64(s)*1e6) / 1e6 / float64(unit)
	switch r {
	case RoundDown:
		n = math.Floor(n + noise)
	case RoundUp:
		n = math.Ceil(n - noise)
	default:
		n = math.Round(n)
	}
	if n == 0 {
		return 0 // never -0
	}
	return retry.Seconds(n) * unit
}

// Whole is a time in whole seconds.
func Whole(s retry.Seconds, r Rounding) retry.Seconds { return rounded(s, 1, r) }

// decimal writes seconds to the hundredth.
func decimal(s retry.Seconds, r Rounding) string {
	text := fmt.Sprintf("%.2f", float64(rounded(s, 0.01, r)))
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + "s"
}
