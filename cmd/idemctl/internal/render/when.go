package render

import (
	"fmt"
	"strconv"
	"time"

	"github.com/idemctl/idemctl/internal/face"
)

// stampOf is a time in RFC 3339; "" when there is none. A year that RFC 3339
// cannot write, which a hostile score may claim, is shown as the nearest it can.
func stampOf(t time.Time, loc *time.Location) string {
	if t.IsZero() {
		return ""
	}
	t = t.In(loc)
	switch {
	case t.Year() > 9999:
		t = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	case t.Year() < 0:
		t = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return t.Format(time.RFC3339Nano)
}

// ago is a time beside now as people say it: "3m ago", "in 2h", "now".
func ago(t, now time.Time) string { return face.Ago(t, now) }

// span is a duration in its largest unit, e.g. "45s", "3m", "2h", "5d", cut and
// never rounded up: what is said to be 3m old is at least that.
func span(d time.Duration) string { return face.Span(d) }

// took is how long something ran, with a decimal where seconds are few.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int64(d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int64(d/time.Minute), int64(d%time.Minute/time.Second))
	default:
		return fmt.Sprintf("%d h %02d min", int64(d/time.Hour), int64(d%time.Hour/time.Minute))
	}
}

// seconds is a duration in seconds, to the millisecond.
func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

// secondsOf is a duration that is absent when it is 0, and never 0 when it is
// not.
func secondsOf(d time.Duration) *float64 {
	if d <= 0 {
		return nil
	}
	s := max(seconds(d), 0.001)
	return &s
}

// count writes a number with commas between thousands.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural is a count and its noun: "1 task", "2,000 tasks".
func plural(n int, one, many string) string {
	return count(n) + " " + noun(n, one, many)
}

func noun(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
