package main

import (
	"cmp"
	"slices"
)

// nearest is the n names most like the one that was typed, best first.
func nearest(typed string, names []string, n int) []string {
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int {
		return cmp.Compare(distance(typed, a), distance(typed, b))
	})
	return sorted[:min(n, len(sorted))]
}

// distance is the Levenshtein distance of two names, over their first 64 bytes.
func distance(a, b string) int {
	const limit = 64
	a, b = a[:min(len(a), limit)], b[:min(len(b), limit)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		previous := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := previous
			if a[i] != b[j] {
				cost++
			}
			previous = row[j+1]
			row[j+1] = min(cost, row[j]+1, previous+1)
		}
	}
	return row[len(b)]
}
