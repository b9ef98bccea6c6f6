package bench

import (
	"cmp"
	"slices"
)

// median of an odd or even number of values; the zero value of none.
func median[T cmp.Ordered](values []T) T { return percentile(values, 50) }

// percentile is the smallest value that at least p in 100 do not exceed.
func percentile[T cmp.Ordered](values []T, p int) T {
	var none T
	if len(values) == 0 {
		return none
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}
