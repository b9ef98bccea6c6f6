package payload

import "fmt"

// findFacts applies the corpus rules that two payloads are enough to prove.
func (a *analysis) findFacts() {
	a.findCollisions()
	a.findEncodings()
	for i := range a.tree.nodes {
		at := int32(i)
		if at == overflowNode {
			continue
		}
		a.findTypes(at)
		a.findNullAndAbsent(at)
		a.findOrders(at)
	}
	a.findUnicodeVariants()
}

func (a *analysis) findCollisions() {
	hashes := a.remainders(nil)
	g := a.groupBy(hashes)
	differ := make([]bool, len(g.sizes))
	count := 0
	var pair [2]int32
	for i, id := range g.of {
		if first := g.sample[id]; a.records[i].bytes != a.records[first].bytes && !differ[id] {
			differ[id] = true
			if count == 0 {
				pair = [2]int32{first, int32(i)}
			}
			count += int(g.sizes[id])
		}
	}
	if count == 0 {
		return
	}
	a.report.Collisions = a.ids(g.members(func(id int32) bool { return differ[id] }))
	a.find(CorpusFinding{
		Rule: CanonicalCollision, Path: "$", Count: count,
		Message:  fmt.Sprintf("works written in several spellings, each with a lock of its own: %d", len(a.report.Collisions)),
		Examples: [2]Example{a.example(pair[0]), a.example(pair[1])},
	})
}

func (a *analysis) findEncodings() {
	if a.json == 0 || a.other == 0 {
		return
	}
	a.find(CorpusFinding{
		Rule: EncodingMix, Path: "$", Count: a.other,
		Message:  fmt.Sprintf("payloads that are JSON: %d, that are not: %d", a.json, a.other),
		Examples: [2]Example{a.firstJSON, a.firstOther},
	})
}

func (a *analysis) findTypes(at int32) {
	n := &a.tree.nodes[at]
	var kinds []valueKind
	for kind := kindBoolean; kind < kindCount; kind++ {
		if n.kinds[kind] > 0 {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) < 2 {
		return
	}
	a.find(CorpusFinding{
		Rule: TypeMix, Path: a.tree.path(at), Count: min(n.kinds[kinds[0]], n.kinds[kinds[1]]),
		Message:  fmt.Sprintf("a %s in some places, a %s in others", kindNames[kinds[0]], kindNames[kinds[1]]),
		Examples: [2]Example{a.example(n.first[kinds[0]]), a.example(n.first[kinds[1]])},
	})
}

// findNullAndAbsent compares a member with the objects that could have it: a
// member of an object that is itself missing is not missing.
func (a *analysis) findNullAndAbsent(at int32) {
	n := &a.tree.nodes[at]
	if n.ordinal < 0 || n.kinds[kindNull] == 0 {
		return
	}
	absent := a.tree.nodes[n.parent].kinds[kindObject]
	for _, count := range n.kinds {
		absent -= count
	}
	if absent <= 0 {
		return
	}
	f := CorpusFinding{
		Rule: NullAbsentMix, Path: a.tree.path(at), Count: n.kinds[kindNull],
		Message:  fmt.Sprintf("null in %d places, missing in %d", n.kinds[kindNull], absent),
		Examples: [2]Example{a.example(n.first[kindNull])},
	}
	if without, ok := a.recordWithout(at); ok {
		f.Examples[1] = a.example(without)
	}
	a.find(f)
}

// recordWithout is the first record that has the parent and not the path.
func (a *analysis) recordWithout(at int32) (int32, bool) {
	own := a.byNode[at]
	for _, e := range a.byNode[a.tree.nodes[at].parent] {
		for len(own) > 0 && own[0].record < e.record {
			own = own[1:]
		}
		if len(own) == 0 || own[0].record != e.record {
			return e.record, true
		}
	}
	return 0, false
}

func (a *analysis) findOrders(at int32) {
	o := a.tree.nodes[at].orders
	if o == nil || !o.varies {
		return
	}
	first, second := a.memberName(at, o.pair[0]), a.memberName(at, o.pair[1])
	f := CorpusFinding{
		Rule: KeyOrderVaries, Path: a.tree.path(at), Count: len(a.byNode[at]),
		Message:  fmt.Sprintf("%q stands before %q in some payloads and after it in others", first, second),
		Examples: [2]Example{a.example(o.record)},
	}
	if other, ok := a.recordWithOrder(at, o.pair); ok {
		f.Examples = [2]Example{a.example(other), a.example(o.record)}
	}
	a.find(f)
}

func (a *analysis) memberName(at, ordinal int32) string {
	for name, child := range a.tree.nodes[at].members {
		if a.tree.nodes[child].ordinal == ordinal {
			return name
		}
	}
	return ""
}

// recordWithOrder is the first record that writes the first of two members before
// the second in one object.
func (a *analysis) recordWithOrder(at int32, pair [2]int32) (int32, bool) {
	for i := range a.records {
		if a.reordered++; a.reordered > maxRewalks {
			return 0, false
		}
		first, found := false, false
		a.rewalk(int32(i), func(v visit) {
			n := &a.tree.nodes[v.node]
			switch {
			case v.node == at && v.kind == tokenObject:
				first = false
			case n.parent != at:
			case n.ordinal == pair[0]:
				first = true
			case n.ordinal == pair[1]:
				found = found || first
			}
		})
		if found {
			return int32(i), true
		}
	}
	return 0, false
}
