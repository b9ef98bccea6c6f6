package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

var (
	errNotThat  = errors.New("")
	errNoUnit   = errors.New("it has no unit")
	errTooLong  = errors.New("it is longer than 292 years")
	errNegative = errors.New("it is negative")
)

// ParseDuration reads a Go duration whose first unit may be a day: "90s", "1h30m", "30d", "1.5d", "7d12h". A
// day is 24 hours. Negative durations are errors: nothing configured here runs backwards.
func ParseDuration(text string) (time.Duration, error) {
	if text == "" {
		return 0, errNotThat
	}
	if text[0] == '-' {
		return 0, errNegative
	}
	days, rest, found := strings.Cut(text, "d")
	if !found {
		return parseGoDuration(text)
	}
	if !isDecimal(days) {
		return 0, errNotThat
	}
	n, err := strconv.ParseFloat(days, 64)
	if err != nil {
		return 0, errNotThat
	}
	whole := n * float64(day)
	if whole >= math.MaxInt64 {
		return 0, errTooLong
	}
	if rest == "" {
		return time.Duration(math.Round(whole)), nil
	}
	if rest[0] == '+' || rest[0] == '-' {
		return 0, errNotThat
	}
	tail, err := parseGoDuration(rest)
	if err != nil {
		return 0, err
	}
	sum := time.Duration(math.Round(whole)) + tail
	if sum < 0 {
		return 0, errTooLong
	}
	return sum, nil
}

func parseGoDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err == nil && d < 0:
		return 0, errNegative
	case err == nil:
		return d, nil
	case isDecimal(text):
		return 0, errNoUnit
	default:
		return 0, errNotThat
	}
}

// isDecimal reports whether text is digits with at most one dot.
func isDecimal(text string) bool {
	digits := strings.Replace(text, ".", "", 1)
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// FormatDuration writes a duration as people do: whole days as "30d", else hours, minutes and seconds without
// their zero parts ("24h" is "1d", "90s" is "1m30s"). [ParseDuration] reads it back to the same value.
func FormatDuration(d time.Duration) string {
	if d >= day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Retention is how long a ledger keeps the rows of a source. The zero Retention means that nobody said.
type Retention struct {
	// Forever: rows are never pruned. Keep is then zero.
	Forever bool
	// Keep is how long a row stays after it was written.
	Keep time.Duration
}

// String gives "forever", a duration such as "30d", or "" for the zero Retention.
func (r Retention) String() string {
	switch {
	case r.Forever:
		return "forever"
	case r.Keep == 0:
		return ""
	default:
		return FormatDuration(r.Keep)
	}
}

func (r *Retention) parse(text string) error {
	if text == "forever" {
		*r = Retention{Forever: true}
		return nil
	}
	keep, err := ParseDuration(text)
	if err != nil {
		return err
	}
	if keep == 0 {
		return errNotThat
	}
	*r = Retention{Keep: keep}
	return nil
}

func (*Retention) expects() string { return "forever or a positive duration such as 30d" }
