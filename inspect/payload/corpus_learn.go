package payload

import "bytes"

// hint is what the values of a path suggest about it.
type hint uint8

const (
	hintNone   hint = iota
	hintName        // the name says that it is set per enqueue
	hintStrong      // clock readings finer than a second
	hintWeak        // clock readings, identifiers or digests
	hintCount
)

var hintNames = [hintCount]string{"none", "name", "strong", "weak"}

// learn walks the payload that was just parsed, and counts it. It returns how many
// values had not been seen at their path.
func (c *Corpus) learn(g *group, r *record) (fresh int) {
	number := int32(len(g.records))
	w := &c.walker
	w.tree, w.grow, w.nfc = &g.tree, true, false
	w.start(&c.parser.document)
	for v := w.next(); v.kind != tokenEnd; v = w.next() {
		switch v.kind {
		case tokenEndObject:
			c.orders.end(&g.tree.nodes[v.node], v.node, number)
			continue
		case tokenEndArray:
			r.spread = r.spread || v.count > 1
			continue
		default:
		}
		share := w.share(v)
		r.form += share
		n := &g.tree.nodes[v.node]
		c.orders.see(n.ordinal, v.kind == tokenObject)
		g.addShare(n, v.node, number, share)
		n.countKind(v.valueKind(), number)
		r.abnormal = r.abnormal || n.abnormal || v.kind == tokenString && !looksNFC(v.value)
		if !v.opens() && n.countScalar(v, number, w.hashValue(v)) {
			fresh++
		}
	}
	return fresh
}

// addShare adds to the record's cell of the node.
func (g *group) addShare(n *node, at, number int32, share uint64) {
	if n.cellOf == number+1 {
		g.cells[n.cell].sum += share
		return
	}
	n.cellOf, n.cell = number+1, int32(len(g.cells))
	g.cells = append(g.cells, cell{at, share})
}

func (n *node) countKind(kind valueKind, number int32) {
	if n.kinds[kind] == 0 {
		n.first[kind] = number
	}
	n.kinds[kind]++
}

// countScalar counts one scalar, and says whether its value is new at this path.
func (n *node) countScalar(v visit, number int32, hash uint64) (fresh bool) {
	n.values++
	if n.scalarOf != number+1 {
		n.scalarOf = number + 1
		n.present++
	}
	if v.kind != tokenNull {
		n.hinted[hintOf(n.scalarFacts(v))]++
	}
	if n.distinct == nil {
		n.distinct = map[uint64]struct{}{}
	}
	before := len(n.distinct)
	n.distinct[hash] = struct{}{}
	return len(n.distinct) > before
}

func (n *node) scalarFacts(v visit) facts {
	switch v.kind {
	case tokenString:
		return stringFacts(v.value, n.class)
	case tokenNumber:
		if n.class&(nameTime|nameVolatile) == 0 && bytes.IndexByte(v.value, '.') < 0 && bytes.IndexByte(v.value, 'e') < 0 {
			return 0
		}
		var digits [32]byte
		d := parseDecimal(v.value, digits[:0])
		if !d.isInteger() {
			n.fractions++
		}
		return numberFacts(d, n.class)
	default:
		return 0
	}
}

func hintOf(found facts) hint {
	switch {
	case found&factVolatile != 0:
		return hintName
	case found&(factSubsecond|factEpoch) != 0:
		return hintStrong
	case found&(factSecond|factRandomID|factHex) != 0:
		return hintWeak
	default:
		return hintNone
	}
}

// hint is what at least 95 % of the path's non-null scalars suggest. A few values
// without a fraction among many with one do not hide a clock; they make it weak.
func (n *node) hint() hint {
	all := n.values - n.kinds[kindNull]
	most := func(count int) bool { return all > 0 && count*100 >= all*95 }
	name, strong, weak := n.hinted[hintName], n.hinted[hintStrong], n.hinted[hintWeak]
	switch {
	case most(name):
		return hintName
	case most(strong):
		return hintStrong
	case most(strong + weak):
		return hintWeak
	default:
		return hintNone
	}
}

// looksNFC is isNFC, fast for text in which all characters are inert.
func looksNFC(text []byte) bool {
	for i, c := range text {
		if c >= 0xCC { // the first lead byte of U+0300 and above
			for _, r := range string(text[i:]) {
				if r >= firstComposable && !isInert(r) {
					return isNFC(text)
				}
			}
			return true
		}
	}
	return true
}
