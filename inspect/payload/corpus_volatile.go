package payload

import "slices"

// Which fields vary although the work is the same. Never on distinctness alone: a
// unique order number and a date are distinct in every payload too.
//
//   - A candidate stands in at least half of the payloads, has at least 20 values,
//     and nine in ten of them differ.
//   - All candidates whose name or values look like a clock or a trace (V) are
//     deleted together: with two volatile fields, deleting one merges nothing.
//   - κ is the share of payloads that are equal to another one afterwards. At 5 %
//     the fields of V are volatile; those that their name gives away always are.
//   - A field that looks like an identifier is volatile, and one that looks like
//     nothing suspect, only if so many payloads become equal that chance cannot have
//     done it.
const (
	candidateValues = 20
	kappaEnough     = 0.05
	chanceSmall     = 0.001
)

type candidate struct {
	node int32
	hint hint
}

func (a *analysis) findFieldsThatVary() {
	if !a.report.Enough {
		return
	}
	var removed, weak []int32
	candidates := a.candidates()
	for _, c := range candidates {
		switch c.hint {
		case hintName, hintStrong:
			removed = append(removed, c.node)
		case hintWeak:
			weak = append(weak, c.node)
		default:
		}
	}
	together := a.groupBy(a.remainders(removed))
	withWeak := together
	if together.kappa() < kappaEnough && len(removed) > 0 && len(weak) > 0 {
		withWeak = a.groupBy(a.remainders(slices.Concat(removed, weak)))
	}
	for _, c := range candidates {
		a.judgeCandidate(c, removed, together, withWeak)
	}
	a.listClusters()
}

func (a *analysis) candidates() []candidate {
	var found []candidate
	for i := range a.tree.nodes {
		n := &a.tree.nodes[i]
		if int32(i) == overflowNode || n.present*2 < len(a.records) || n.values < candidateValues ||
			len(n.distinct)*10 < n.values*9 {
			continue
		}
		found = append(found, candidate{int32(i), n.hint()})
	}
	return found
}

// judgeCandidate has the records grouped without V, and without V and all fields
// that look like identifiers.
func (a *analysis) judgeCandidate(c candidate, removed []int32, together, withWeak grouping) {
	switch c.hint {
	case hintName:
		a.findField(VolatileField, c, together, 1)
	case hintStrong:
		if together.kappa() >= kappaEnough {
			a.findField(VolatileField, c, together, 1)
		} else if withWeak.kappa() >= kappaEnough {
			a.findField(SuspectField, c, withWeak, 1)
		}
	default:
		if a.corpus.Sampled {
			return
		}
		without := append(slices.Clone(removed), c.node)
		alone := a.groupBy(a.remainders(without))
		if alone.kappa() < kappaEnough {
			return
		}
		chance := a.chance(without, alone.equalPairs())
		if chance >= chanceSmall {
			return
		}
		rule := SuspectField
		if c.hint == hintWeak {
			rule = VolatileField
		}
		a.findField(rule, c, alone, chance)
	}
}

var fieldMessages = map[hint]string{
	hintName:   "its name says that it is set per enqueue, and it differs in nearly every payload",
	hintStrong: "it is a clock reading finer than a second, and differs in nearly every payload",
	hintWeak:   "it looks like a generated identifier, and whole payloads repeat without it",
	hintNone:   "it differs in nearly every payload, and whole payloads repeat without it",
}

func (a *analysis) findField(rule Rule, c candidate, g grouping, chance float64) {
	path := a.tree.path(c.node)
	f := CorpusFinding{
		Rule: rule, Path: path, Count: a.tree.nodes[c.node].present, Message: fieldMessages[c.hint],
		Kappa: g.kappa(), Chance: chance,
	}
	pair, ok := a.differingPair(g)
	if !ok {
		pair, ok = a.differingValues(c.node)
	}
	if ok {
		f.Examples = [2]Example{a.example(pair[0]), a.example(pair[1])}
	}
	a.find(f)
	if rule == VolatileField {
		a.volatile = append(a.volatile, c.node)
		a.report.Volatile = append(a.report.Volatile, path)
		return
	}
	a.report.Suspect = append(a.report.Suspect, path)
}

// differingPair are two records of one group with different canonical forms.
func (a *analysis) differingPair(g grouping) (pair [2]int32, ok bool) {
	for i, id := range g.of {
		if first := g.sample[id]; a.records[i].form != a.records[first].form {
			return [2]int32{first, int32(i)}, true
		}
	}
	return pair, false
}

// differingValues are two records with different values at a path.
func (a *analysis) differingValues(node int32) (pair [2]int32, ok bool) {
	entries := a.byNode[node]
	for _, e := range entries {
		if e.sum != entries[0].sum {
			return [2]int32{entries[0].record, e.record}, true
		}
	}
	return pair, false
}

func (a *analysis) listClusters() {
	if len(a.volatile) == 0 {
		return
	}
	g := a.groupBy(a.remainders(a.volatile))
	a.report.Kappa = g.kappa()
	a.report.Clusters = a.ids(g.members(g.isMixed))
}
