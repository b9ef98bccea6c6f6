package retry

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Seconds is a length of time in seconds. It holds what time.Duration cannot:
// more than 292 years. Values in this package are finite.
type Seconds float64

const (
	minute Seconds = 60
	hour           = 60 * minute
	day            = 24 * hour
)

// longest is the longest delay a RetryDelayFunc can return: the largest
// time.Duration.
const longest = Seconds(math.MaxInt64) / 1e9

// SecondsOf converts a duration.
func SecondsOf(d time.Duration) Seconds {
	whole, rest := d/time.Second, d%time.Second
	return Seconds(whole) + Seconds(rest)/1e9
}

// Duration converts to the nearest nanosecond; whole seconds are exact. What does
// not fit becomes the smallest or largest time.Duration; NaN becomes 0.
func (s Seconds) Duration() time.Duration {
	whole, rest := math.Modf(float64(s))
	switch {
	case math.IsNaN(whole):
		return 0
	case s >= longest:
		return math.MaxInt64
	case s <= -longest:
		return math.MinInt64
	}
	return time.Duration(whole)*time.Second + time.Duration(math.Round(rest*1e9))
}

// String is what ParseSeconds reads back unchanged: whole seconds as days,
// hours, minutes and seconds ("1d6h", "1m30s"), anything else as a plain number
// of seconds ("0.25s").
func (s Seconds) String() string {
	whole := math.Trunc(float64(s))
	if s < 0 || float64(s) != whole || whole >= 1<<53 {
		return s.decimal() + "s"
	}
	var b strings.Builder
	rest := uint64(whole)
	for _, u := range []struct {
		size uint64
		name byte
	}{{86400, 'd'}, {3600, 'h'}, {60, 'm'}} {
		if rest >= u.size {
			b.WriteString(strconv.FormatUint(rest/u.size, 10))
			b.WriteByte(u.name)
			rest %= u.size
		}
	}
	if rest > 0 || b.Len() == 0 {
		b.WriteString(strconv.FormatUint(rest, 10))
		b.WriteByte('s')
	}
	return b.String()
}

// decimal is the shortest number that reads back as the same float.
func (s Seconds) decimal() string { return strconv.FormatFloat(float64(s), 'f', -1, 64) }

// errDuration says what a duration looks like.
var errDuration = errors.New("not a duration (write 90s, 1h30m, 500ms, 7d)")

// ParseSeconds reads a duration as time.ParseDuration does, with the unit d (24
// hours) added and without its limit of 292 years. A bare 0 is allowed. Negative
// durations are read; whether they make sense is the caller's question.
func ParseSeconds(text string) (Seconds, error) {
	rest, sign := strings.TrimSpace(text), Seconds(1)
	if after, ok := strings.CutPrefix(rest, "-"); ok {
		rest, sign = after, -1
	}
	if rest == "0" {
		return 0, nil
	}
	if rest == "" {
		return 0, fmt.Errorf("%s: %w", quote(text), errDuration)
	}
	var sum Seconds
	for rest != "" {
		part, after, err := leadingPart(rest)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", quote(text), err)
		}
		sum, rest = sum+part, after
	}
	if math.IsInf(float64(sum), 0) {
		return 0, fmt.Errorf("%s: too long", quote(text))
	}
	return sign * sum, nil
}

// leadingPart reads one number with its unit.
func leadingPart(text string) (Seconds, string, error) {
	digits := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if digits <= 0 {
		return 0, "", errDuration
	}
	number, err := strconv.ParseFloat(text[:digits], 64)
	if err != nil {
		return 0, "", errDuration
	}
	rest := text[digits:]
	end := strings.IndexAny(rest, "0123456789.")
	if end < 0 {
		end = len(rest)
	}
	value, ok := inSeconds(number, rest[:end])
	if !ok {
		return 0, "", fmt.Errorf("unknown unit %s (d, h, m, s, ms, us, ns)", quote(rest[:end]))
	}
	return value, rest[end:], nil
}

// inSeconds divides for the small units: 100/1000 is the float nearest to 0.1,
// 100*0.001 need not be.
func inSeconds(number float64, unit string) (Seconds, bool) {
	n := Seconds(number)
	switch unit {
	case "d":
		return n * day, true
	case "h":
		return n * hour, true
	case "m":
		return n * minute, true
	case "s":
		return n, true
	case "ms":
		return n / 1e3, true
	case "us", "µs", "μs":
		return n / 1e6, true
	case "ns":
		return n / 1e9, true
	}
	return 0, false
}

// quote bounds what an error repeats of its input.
func quote(text string) string {
	const most = 80
	if len(text) > most {
		return strconv.QuoteToASCII(text[:most]) + "…"
	}
	return strconv.QuoteToASCII(text)
}
