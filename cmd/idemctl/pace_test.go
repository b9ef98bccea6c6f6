package main

import "testing"

// A rate in the configuration file bounds what is read. Changes are not made
// faster by it.
func TestConfiguredRateOnlySlowsMoves(t *testing.T) {
	for _, tt := range []struct {
		written, now string
		want         bool
	}{
		{"5", "20", true}, {"5000", "20", false}, {"0", "20", false}, {"5/s", "0", true}, {"nonsense", "20", true}, {"20", "20", false},
	} {
		if got := slower(tt.written, tt.now); got != tt.want {
			t.Errorf("slower(%q, %q) = %v", tt.written, tt.now, got)
		}
	}
	var r rateValue
	for _, bad := range []string{"", "-1", "NaN", "1e10", "fast", "5/m"} {
		if err := r.Set(bad); err == nil {
			t.Errorf("rate %q is taken", bad)
		}
	}
	if err := r.Set(" 12.5/s "); err != nil || r != 12.5 || r.String() != "12.5" {
		t.Error(err, r)
	}
}
