package face_test

import (
	"testing"
	"time"

	"github.com/idemctl/idemctl/internal/face"
)

// What is said to be 3m old is at least that, and a second is no time at all.
func TestAgesAreCutAndNeverRoundedUp(t *testing.T) {
	now := time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		0: "now", 999 * time.Millisecond: "now", time.Second: "1s ago", 59*time.Second + 999*time.Millisecond: "59s ago",
		3*time.Minute + 59*time.Second: "3m ago", 47 * time.Hour: "47h ago", 2 * day: "2d ago", 730 * day: "2y ago",
		-500 * time.Millisecond: "now", -90 * time.Minute: "in 1h",
	} {
		if got := face.Ago(now.Add(-d), now); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	if got := face.Ago(time.Time{}, now); got != "" {
		t.Errorf("no time at all: %q", got)
	}
}

func TestSignsTellSeveritiesApartWithoutColour(t *testing.T) {
	seen := map[string]string{}
	for _, s := range []string{"critical", "high", "warning", "info", "none"} {
		if other, twice := seen[face.Sign(s)]; twice {
			t.Errorf("%s and %s have one sign", s, other)
		}
		seen[face.Sign(s)] = s
	}
}
