package config

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseDurationReadsDays(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "30d": 720 * time.Hour, "1.5d": 36 * time.Hour,
		"7d12h": 180 * time.Hour, "0s": 0, "0": 0, "1d0.5s": 24*time.Hour + 500*time.Millisecond,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: %v %v, want %v", text, got, err, want)
		}
	}
}

func TestParseDurationRefusesWhatCouldMeanSomethingElse(t *testing.T) {
	for _, text := range []string{
		"", "120", "-1s", "-1d", "d", "1d-1h", "1d+1h", "1h1d", "1d1d", "1e3d", "infd", "NaNd", "0x1d", "1 d", " 1s",
		"2 minutes", "forever", "106752d", "106751d24h", "999999999999999999999h", "1.2.3d", ".d", "+1d",
	} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestFormatDurationIsReadBackToTheSame(t *testing.T) {
	for d, want := range map[time.Duration]string{
		24 * time.Hour: "1d", 36 * time.Hour: "36h", 2 * time.Minute: "2m", 90 * time.Second: "1m30s",
		10 * time.Minute: "10m", 0: "0s", time.Hour + time.Second: "1h0m1s", 720 * time.Hour: "30d",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Min(0).Draw(t, "d"))
		if back, err := ParseDuration(FormatDuration(d)); err != nil || back != d {
			t.Fatalf("%v → %q → %v %v", d, FormatDuration(d), back, err)
		}
	})
}
