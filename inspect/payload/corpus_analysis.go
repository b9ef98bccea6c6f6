package payload

import (
	"cmp"
	"slices"
)

// analysis is the second half of a corpus: what the retained records of one group
// say together.
type analysis struct {
	*group
	corpus    *Corpus
	byNode    [][]entry // cells by path
	columns   []*column
	tooWide   bool
	following map[[2]int32]bool
	volatile  []int32 // paths found volatile
	reordered int     // payloads read again for key-order-varies
	report    *GroupReport
}

// entry is a record's cell of one path.
type entry struct {
	record int32
	sum    uint64
}

func (c *Corpus) analyse(g *group) GroupReport {
	report := GroupReport{
		Queue: g.queue, Type: g.taskType, Payloads: g.payloads, JSON: g.json, Defined: g.defined,
		Analysed: len(g.records), Enough: len(g.records) >= MinCorpus,
		Volatile: []string{}, Suspect: []string{}, Findings: []CorpusFinding{},
		Clusters: [][]string{}, Collisions: [][]string{}, Stats: []PathStats{},
	}
	a := &analysis{group: g, corpus: c, following: map[[2]int32]bool{}, report: &report}
	a.transpose()
	a.findFieldsThatVary()
	a.findFacts()
	if report.Enough {
		a.findVariants()
	}
	a.listStats()
	slices.SortStableFunc(report.Findings, func(x, y CorpusFinding) int {
		return cmp.Or(compareRules(x.Rule, y.Rule), cmp.Compare(x.Path, y.Path))
	})
	slices.Sort(report.Volatile)
	slices.Sort(report.Suspect)
	return report
}

func (a *analysis) transpose() {
	a.byNode = make([][]entry, len(a.tree.nodes))
	counts := make([]int, len(a.tree.nodes))
	for _, c := range a.cells {
		counts[c.node]++
	}
	all := make([]entry, 0, len(a.cells))
	for i, n := range counts {
		a.byNode[i] = all[len(all) : len(all) : len(all)+n]
		all = all[:len(all)+n]
	}
	for i := range a.records {
		for _, c := range a.cells[a.records[i].from:a.records[i].to] {
			a.byNode[c.node] = append(a.byNode[c.node], entry{int32(i), c.sum})
		}
	}
}

func (a *analysis) listStats() {
	for i := range a.tree.nodes {
		if n := &a.tree.nodes[i]; n.values > 0 && int32(i) != overflowNode {
			a.report.Stats = append(a.report.Stats, n.stats(a.tree.path(int32(i))))
		}
	}
	slices.SortFunc(a.report.Stats, func(x, y PathStats) int { return cmp.Compare(x.Path, y.Path) })
}

// remainders are the hashes of the canonical forms once the paths are deleted.
func (a *analysis) remainders(removed []int32) []uint64 {
	rest := make([]uint64, len(a.records))
	for i := range a.records {
		rest[i] = a.records[i].form
	}
	for _, n := range removed {
		for _, e := range a.byNode[n] {
			rest[e.record] -= e.sum
		}
	}
	return rest
}

// grouping is records by equal hashes.
type grouping struct {
	of     []int32 // group of each record
	sizes  []int32
	mixed  []bool // records of the group differ before deletion
	sample []int32
}

func (a *analysis) groupBy(hashes []uint64) grouping {
	g := grouping{of: make([]int32, len(hashes))}
	known := make(map[uint64]int32, len(hashes))
	for i, h := range hashes {
		id, ok := known[h]
		if !ok {
			id = int32(len(g.sizes))
			known[h] = id
			g.sizes = append(g.sizes, 0)
			g.mixed = append(g.mixed, false)
			g.sample = append(g.sample, int32(i))
		}
		g.of[i] = id
		g.sizes[id]++
		// Payloads that only spell one form differently say nothing about the fields
		// that were deleted; they are a canonical-collision.
		if a.records[g.sample[id]].form != a.records[i].form {
			g.mixed[id] = true
		}
	}
	return g
}

// kappa is the share of records in groups whose members differ before deletion.
func (g grouping) kappa() float64 {
	if len(g.of) == 0 {
		return 0
	}
	return float64(g.inMixed()) / float64(len(g.of))
}

func (g grouping) inMixed() int {
	n := 0
	for id, mixed := range g.mixed {
		if mixed {
			n += int(g.sizes[id])
		}
	}
	return n
}

// equalPairs counts pairs of records in one group.
func (g grouping) equalPairs() float64 {
	n := 0.0
	for _, size := range g.sizes {
		n += pairs(int(size))
	}
	return n
}

// members lists the records of the groups that keep asks for, by group.
func (g grouping) members(keep func(id int32) bool) [][]int32 {
	var lists [][]int32
	place := make([]int32, len(g.sizes))
	for i, id := range g.of {
		if !keep(id) {
			continue
		}
		if place[id] == 0 {
			lists = append(lists, make([]int32, 0, g.sizes[id]))
			place[id] = int32(len(lists))
		}
		at := place[id] - 1
		lists[at] = append(lists[at], int32(i))
	}
	return lists
}

func (g grouping) isMixed(id int32) bool { return g.mixed[id] }

func (a *analysis) ids(lists [][]int32) [][]string {
	out := make([][]string, 0, len(lists))
	for _, list := range lists {
		names := make([]string, len(list))
		for i, r := range list {
			names[i] = a.records[r].id
		}
		out = append(out, names)
	}
	return out
}

func (a *analysis) example(r int32) Example {
	return Example{ID: a.records[r].id, Payload: a.records[r].payload}
}

func (a *analysis) find(f CorpusFinding) { a.report.Findings = append(a.report.Findings, f) }
