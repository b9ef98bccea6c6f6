package retry

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseSecondsReadsDaysAndFractions(t *testing.T) {
	for text, want := range map[string]Seconds{
		"0": 0, "0s": 0, "90s": 90, "1h30m": 5400, "7d": 604800, "1d12h": 129600, "1.5h": 5400,
		"500ms": 0.5, "100ms": 0.1, "250us": 0.00025, "1µs": 1e-6, "3ns": 3e-9, "\t2m\n": 120, "-5s": -5,
		"300000d": 300000 * 86400, // longer than any time.Duration
	} {
		if got, err := ParseSeconds(text); err != nil || got != want {
			t.Errorf("%q is %v (%v), want %v", text, float64(got), err, float64(want))
		}
	}
	for _, text := range []string{"", "-", "s", "5", "5 s", "5x", "1..5s", "0x10s", "1e3s", "NaNs", "Infs", "--5s", "+5s"} {
		if got, err := ParseSeconds(text); err == nil {
			t.Errorf("%q is accepted as %v", text, got)
		}
	}
}

func TestSecondsStringIsReadBackUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Seconds(rapid.Float64Range(-1e18, 1e18).Draw(t, "s"))
		if rapid.Bool().Draw(t, "whole") {
			s = Seconds(math.Trunc(float64(s)))
		}
		if got, err := ParseSeconds(s.String()); err != nil || got != s {
			t.Fatalf("%v became %q became %v (%v)", float64(s), s, float64(got), err)
		}
	})
}

func TestSecondsDurationSaturates(t *testing.T) {
	for s, want := range map[Seconds]time.Duration{
		1e300: math.MaxInt64, -1e300: math.MinInt64, longest: math.MaxInt64, 1.5: 1500 * time.Millisecond, 0.3: 300 * time.Millisecond,
	} {
		if got := s.Duration(); got != want {
			t.Errorf("%g seconds became %v, want %v", float64(s), got, want)
		}
	}
	if got := Seconds(math.NaN()).Duration(); got != 0 {
		t.Errorf("NaN became %v", got)
	}
}
