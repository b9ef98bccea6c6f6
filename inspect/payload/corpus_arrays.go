package payload

import "slices"

// findArrayOrders looks for payloads that are equal once one array is sorted.
// Sorting all arrays first finds the few payloads for which that can be true.
func (a *analysis) findArrayOrders() {
	plain := a.remainders(a.volatile)
	sorted := slices.Clone(plain)
	some := false
	for i := range a.records {
		if a.records[i].spread {
			sorted[i] = a.sortedForm(int32(i), func(int32) bool { return true })
			some = true
		}
	}
	if !some {
		return
	}
	// Records without an array keep a hash that no sorted form can have.
	left := maxRewalks
	byPath := map[int32]*CorpusFinding{}
	g := a.groupBy(sorted)
	for _, list := range g.members(g.isMixed) {
		if !a.sameRest(list, plain) {
			a.findArraysOf(list, plain, byPath, &left)
		}
	}
	for _, f := range byPath {
		a.find(*f)
	}
}

// sameRest says whether the records are equal without sorting anything.
func (a *analysis) sameRest(list []int32, plain []uint64) bool {
	for _, r := range list[1:] {
		if plain[r] != plain[list[0]] {
			return false
		}
	}
	return true
}

// findArraysOf tries each array of records that are equal once all are sorted.
func (a *analysis) findArraysOf(list []int32, plain []uint64, byPath map[int32]*CorpusFinding, left *int) {
	for _, at := range a.arraysOf(list[0]) {
		if *left -= len(list); *left < 0 {
			return
		}
		first := map[uint64]int32{}
		for _, r := range list {
			form := a.sortedForm(r, func(n int32) bool { return n == at })
			other, ok := first[form]
			if !ok {
				first[form] = r
				continue
			}
			if plain[other] == plain[r] {
				continue
			}
			f := byPath[at]
			if f == nil {
				f = &CorpusFinding{
					Rule: ArrayOrderVaries, Path: a.tree.path(at),
					Message:  "payloads are equal but for the order of this array",
					Examples: [2]Example{a.example(other), a.example(r)},
				}
				byPath[at] = f
			}
			f.Count++
		}
	}
}

// arraysOf lists the array paths of a record.
func (a *analysis) arraysOf(r int32) []int32 {
	var found []int32
	a.rewalk(r, func(v visit) {
		if v.kind == tokenArray && v.node != overflowNode && !slices.Contains(found, v.node) {
			found = append(found, v.node)
		}
	})
	return found
}

// sortedForm is the hash of a record without the volatile paths, in which the
// elements of some arrays count without their order.
func (a *analysis) sortedForm(r int32, sorts func(node int32) bool) uint64 {
	w := a.reread(r)
	// sums[0] is the whole; each element of a sorted array that is a container has a
	// sum of its own until it ends.
	sums := []uint64{0}
	for v := w.next(); v.kind != tokenEnd; v = w.next() {
		depth := len(w.open)
		switch {
		case v.kind == tokenEndObject || v.kind == tokenEndArray:
			if a.inSorted(w, depth) {
				whole := sums[len(sums)-1]
				sums = sums[:len(sums)-1]
				sums[len(sums)-1] += mix(w.open[depth-1].hash, whole)
			}
			continue
		case v.opens():
			depth--
			w.open[depth].sorted = v.kind == tokenArray && sorts(v.node)
			if a.inSorted(w, depth) {
				sums = append(sums, 0)
			}
		}
		if slices.Contains(a.volatile, v.node) {
			continue
		}
		share := w.share(v)
		if a.inSorted(w, depth) && !v.opens() {
			share = mix(w.open[depth-1].hash, share)
		}
		sums[len(sums)-1] += share
	}
	return sums[0]
}

// inSorted says whether a value at that depth is an element of a sorted array.
func (a *analysis) inSorted(w *walker, depth int) bool {
	return depth > 0 && w.open[depth-1].sorted
}
