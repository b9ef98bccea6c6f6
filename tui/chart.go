package tui

import (
	"strings"
)

// bars are eighths of a cell, none for nothing.
var bars = []rune(" ▁▂▃▄▅▆▇█")

// spark draws counts as bars of one line, in at most so many cells. Where there are
// more counts than cells, neighbours are added up. Anything is seen, however small
// beside the highest.
func spark(counts []int, cells int) string {
	if cells < 1 || len(counts) == 0 {
		return ""
	}
	per := (len(counts) + cells - 1) / cells
	var sums []int
	for i := 0; i < len(counts); i += per {
		n := 0
		for _, c := range counts[i:min(len(counts), i+per)] {
			n += c
		}
		sums = append(sums, n)
	}
	most := 0
	for _, n := range sums {
		most = max(most, n)
	}
	var b strings.Builder
	for _, n := range sums {
		i := 0
		if n > 0 {
			i = max(1, (n*(len(bars)-1)+most-1)/most)
		}
		b.WriteRune(bars[i])
	}
	return b.String()
}

// sum adds up.
func sum(counts []int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// reversed is a copy the other way round.
func reversed(counts []int) []int {
	out := make([]int, len(counts))
	for i, c := range counts {
		out[len(counts)-1-i] = c
	}
	return out
}
