package payload

import (
	"cmp"
	"math"
	"slices"
)

// The chance of a remainder. Deleting a path makes payloads equal that were not,
// and that alone proves nothing: deleting an order number does the same. If the
// remaining columns were independent of each other, λ = C(N,2)·Π q pairs would be
// equal by chance, where q is the share of pairs that are equal in one column.
// Many more than λ mean that whole payloads are repeated, so that the deleted path
// is not what tells works apart. A column that follows from another adds nothing
// and is left out; with one column left the count says nothing (p is about one
// half), and only hints may decide.

// chance is the probability of at least that many equal pairs.
func (a *analysis) chance(removed []int32, equalPairs float64) float64 {
	columns := a.columnsWithout(removed)
	if columns == nil {
		return 1
	}
	var kept []*column
	lambda := pairs(len(a.records))
next:
	for _, c := range columns {
		for _, k := range kept {
			if a.follows(k, c) {
				continue next
			}
		}
		kept = append(kept, c)
		lambda *= c.equal
	}
	return poissonTail(equalPairs, lambda)
}

// column is one path with the values of all records, numbered from 1; 0 is absent.
type column struct {
	node     int32
	ids      []int32
	distinct int32
	equal    float64 // share of pairs that are equal
}

// maxColumnCells bounds the columns of a group that are compared, and maxColumns
// those that vary, since each may be compared with each. Wider groups are not judged
// by chance.
const (
	maxColumnCells = 1 << 25
	maxColumns     = 512
)

// columnsWithout lists the columns that vary, the most selective first; nil if the
// group is too wide.
func (a *analysis) columnsWithout(removed []int32) []*column {
	if a.columns == nil {
		a.buildColumns()
	}
	columns := make([]*column, 0, len(a.columns))
	for _, c := range a.columns {
		if !slices.Contains(removed, c.node) {
			columns = append(columns, c)
		}
	}
	if a.tooWide || len(columns) > maxColumns {
		return nil
	}
	return columns
}

func (a *analysis) buildColumns() {
	a.columns = []*column{}
	if len(a.byNode)*len(a.records) > maxColumnCells {
		a.tooWide = true
		return
	}
	for at, entries := range a.byNode {
		if c := a.buildColumn(int32(at), entries); c != nil {
			a.columns = append(a.columns, c)
		}
	}
	slices.SortStableFunc(a.columns, func(x, y *column) int { return cmp.Compare(x.equal, y.equal) })
}

// buildColumn is nil for a path that is the same in all records.
func (a *analysis) buildColumn(at int32, entries []entry) *column {
	if len(entries) == 0 {
		return nil
	}
	c := &column{node: at, ids: make([]int32, len(a.records))}
	known := map[uint64]int32{}
	counts := []int{len(a.records) - len(entries)}
	for _, e := range entries {
		id, ok := known[e.sum]
		if !ok {
			id = int32(len(counts))
			known[e.sum] = id
			counts = append(counts, 0)
		}
		counts[id]++
		c.ids[e.record] = id
	}
	c.distinct = int32(len(counts))
	equal := 0.0
	for _, n := range counts {
		equal += pairs(n)
	}
	c.equal = equal / pairs(len(a.records))
	if c.equal == 1 {
		return nil
	}
	return c
}

// follows says whether every value of k goes with one value of c.
func (a *analysis) follows(k, c *column) bool {
	key := [2]int32{k.node, c.node}
	if known, ok := a.following[key]; ok {
		return known
	}
	image := make([]int32, k.distinct)
	result := true
	for i, id := range k.ids {
		switch image[id] {
		case 0:
			image[id] = c.ids[i] + 1
		case c.ids[i] + 1:
		default:
			result = false
		}
		if !result {
			break
		}
	}
	a.following[key] = result
	return result
}

func pairs(n int) float64 { return float64(n) * float64(n-1) / 2 }

// poissonTail is P(X ≥ k) for a Poisson variable of mean lambda.
func poissonTail(k, lambda float64) float64 {
	switch {
	case k <= 0:
		return 1
	case lambda <= 0:
		return 0
	case k > 1e5 || lambda > 1e5:
		// P(X ≥ k) is the gamma distribution's P(Γ(k) ≤ λ), which the cube root makes
		// nearly normal (Wilson and Hilferty).
		z := (math.Cbrt(lambda/k) - 1 + 1/(9*k)) * 3 * math.Sqrt(k)
		return math.Erfc(-z/math.Sqrt2) / 2
	case k > lambda:
		return poissonSum(k, lambda, 1)
	default:
		return 1 - poissonSum(k-1, lambda, -1)
	}
}

// poissonSum adds the probabilities of k, k+step, k+2·step … away from the mean.
func poissonSum(k, lambda, step float64) float64 {
	logGamma, _ := math.Lgamma(k + 1)
	term := math.Exp(k*math.Log(lambda) - lambda - logGamma)
	sum := 0.0
	for term > 0 && k >= 0 && sum+term != sum {
		sum += term
		if step > 0 {
			k++
			term *= lambda / k
		} else {
			term *= k / lambda
			k--
		}
	}
	return sum
}
