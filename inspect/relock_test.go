package inspect

import (
	"math"
	"testing"
	"time"
)

func TestRelockIsNeverShorterThanAsked(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		0: 0, 1: 1, time.Second - 1: 1, time.Second: 1, time.Second + 1: 2, time.Hour: 3600,
		math.MaxInt64: math.MaxInt64/int64(time.Second) + 1,
	} {
		if got := wholeSeconds(d); got != want {
			t.Errorf("%v: %d s, want %d", d, got, want)
		}
	}
}
