// Package face has what pages and screens show alike: how long ago something was,
// and the signs that stand beside colours.
package face

import (
	"fmt"
	"time"
)

// Ago is a time beside now as people say it: "3m ago", "in 2h", "now"; "" for the
// zero time.
func Ago(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	d := now.Sub(t)
	switch {
	case d >= time.Second:
		return Span(d) + " ago"
	case d <= -time.Second:
		return "in " + Span(-d)
	default:
		return "now"
	}
}

// Span is a duration in its largest unit, e.g. "45s", "3m", "2h", "5d", cut and
// never rounded up: what is said to be 3m old is at least that.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int64(d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int64(d/time.Minute))
	case d < 2*day:
		return fmt.Sprintf("%dh", int64(d/time.Hour))
	case d < 730*day:
		return fmt.Sprintf("%dd", int64(d/day))
	default:
		return fmt.Sprintf("%dy", int64(d/(365*day)))
	}
}

// Sign is that of a severity by its name, told apart without colour.
func Sign(severity string) string {
	switch severity {
	case "critical":
		return "✗"
	case "high":
		return "▲"
	case "warning":
		return "!"
	case "info":
		return "·"
	default:
		return "✓"
	}
}
