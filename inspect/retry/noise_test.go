package retry

import "testing"

// A sum of floats that misses a whole second by less than a nanosecond is that
// second: the lock that is recommended for it is not called too short.
func TestNoiseOfFloatsIsNoRisk(t *testing.T) {
	d := distribution{low: 2571.0000000000005, high: 2571.0000000000005}
	if got := d.exceeds(ceil(d.high)); got != 0 {
		t.Errorf("a life of %v exceeds its own whole seconds, %v, with %v", d.high, ceil(d.high), got)
	}
	if got := d.exceeds(ceil(d.high) - 1); got != 1 {
		t.Errorf("it exceeds a second less with %v", got)
	}
}
