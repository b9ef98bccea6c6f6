package sqltext

import (
	"sort"
	"strings"
)

// Near are the candidates an operator may have meant by name, the nearest first,
// three at most.
func Near(name string, candidates []string) []string {
	type scored struct {
		text     string
		distance int
	}
	want := strings.ToLower(name)
	limit := len(want)/4 + 1
	var found []scored
	for _, c := range candidates {
		last := strings.ToLower(c[strings.LastIndexByte(c, '.')+1:])
		d := distance(want, last)
		if strings.Contains(last, want) || strings.Contains(want, last) && len(last) > 3 {
			d = min(d, 1)
		}
		if d <= limit {
			found = append(found, scored{c, d})
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].distance < found[j].distance })
	var out []string
	for _, f := range found[:min(len(found), 3)] {
		out = append(out, f.text)
	}
	return out
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost = 1 + min(diagonal, row[j], row[j-1])
			}
			diagonal, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}
