package payload

import (
	"bytes"
	"math"
	"slices"
	"strconv"
)

// reread starts to walk a retained record again. The walker makes no new paths;
// it is valid until the next call.
func (a *analysis) reread(r int32) *walker {
	c := a.corpus
	_ = c.parser.parse(a.records[r].payload, nil) // it was JSON when it was added
	w := &c.walker
	w.tree, w.grow, w.nfc = &a.tree, false, false
	w.start(&c.parser.document)
	return w
}

// rewalk visits the values of a retained record, without the ends of containers.
func (a *analysis) rewalk(r int32, visitor func(visit)) {
	if len(a.records[r].payload) == 0 {
		return
	}
	w := a.reread(r)
	for v := w.next(); v.kind != tokenEnd; v = w.next() {
		if v.kind != tokenEndObject && v.kind != tokenEndArray {
			visitor(v)
		}
	}
}

// findVariants applies the corpus rules on payloads that are nearly equal.
func (a *analysis) findVariants() {
	a.findArrayOrders()
	a.findJitter()
}

// maxRewalks bounds how many payloads are read again to explain one rule.
const maxRewalks = 200_000

// findJitter looks for payloads that differ in one number, by no more than
// rounding. Clocks are numbers too, but not amounts.
func (a *analysis) findJitter() {
	left := maxRewalks
	for i := range a.tree.nodes {
		n := &a.tree.nodes[i]
		at := int32(i)
		if n.fractions == 0 || at == overflowNode || slices.Contains(a.volatile, at) {
			continue
		}
		if h := n.hint(); h == hintName || h == hintStrong {
			continue
		}
		g := a.groupBy(a.remainders(append(slices.Clone(a.volatile), at)))
		a.findJitterAt(at, g, &left)
	}
}

func (a *analysis) findJitterAt(at int32, g grouping, left *int) {
	count := 0
	var examples [2]Example
	for _, list := range g.members(g.isMixed) {
		if *left -= len(list); *left < 0 {
			break
		}
		values := make([]numbered, 0, len(list))
		for _, r := range list {
			values = append(values, numbered{r, a.numbersAt(r, at)})
		}
		slices.SortStableFunc(values, func(x, y numbered) int { return slices.Compare(x.numbers, y.numbers) })
		near := 0
		for k := 1; k < len(values); k++ {
			if isJitter(values[k-1].numbers, values[k].numbers) {
				near++
				if count+near == 1 {
					examples = [2]Example{a.example(values[k-1].record), a.example(values[k].record)}
				}
			}
		}
		count += near
	}
	if count > 0 {
		a.find(CorpusFinding{
			Rule: FloatJitter, Path: a.tree.path(at), Count: count,
			Message:  "payloads are equal but for the last digits of this number",
			Examples: examples,
		})
	}
}

// numbered is a record and its numbers at one path.
type numbered struct {
	record  int32
	numbers []float64
}

func (a *analysis) numbersAt(r, at int32) []float64 {
	var numbers []float64
	a.rewalk(r, func(v visit) {
		if v.node == at && v.kind == tokenNumber {
			f, _ := strconv.ParseFloat(string(v.value), 64) // canonical numbers are in range
			numbers = append(numbers, f)
		}
	})
	return numbers
}

// isJitter says whether two lists of numbers are not equal but nearly so, and not
// all integers: neighbouring identifiers are as close to each other.
func isJitter(a, b []float64) bool {
	const relative = 1e-9
	if len(a) != len(b) || slices.Equal(a, b) {
		return false
	}
	fraction := false
	for i, x := range a {
		y := b[i]
		if x == y {
			continue
		}
		if math.Abs(x-y) > relative*max(math.Abs(x), math.Abs(y)) {
			return false
		}
		fraction = fraction || x != math.Trunc(x) || y != math.Trunc(y)
	}
	return fraction
}

// findUnicodeVariants looks for payloads that only normalisation makes equal.
func (a *analysis) findUnicodeVariants() {
	abnormal := make([]bool, len(a.records))
	some := false
	for i := range a.records {
		abnormal[i] = a.records[i].abnormal
		some = some || abnormal[i]
	}
	if !some {
		return
	}
	plain := a.remainders(a.volatile)
	normal := slices.Clone(plain)
	for i, is := range abnormal {
		if is {
			normal[i] = a.normalForm(int32(i))
		}
	}
	found := map[string]*CorpusFinding{}
	g := a.groupBy(normal)
	for _, list := range g.members(g.isMixed) {
		for _, r := range list[1:] {
			if plain[r] != plain[list[0]] {
				a.noteVariant(found, list[0], r)
			}
		}
	}
	for _, f := range found {
		a.find(*f)
	}
}

// normalForm is the hash of a record in normalisation form C without the volatile
// paths.
func (a *analysis) normalForm(r int32) uint64 {
	w := a.reread(r)
	w.nfc = true
	sum := uint64(0)
	for v := w.next(); v.kind != tokenEnd; v = w.next() {
		if v.kind != tokenEndObject && v.kind != tokenEndArray && !slices.Contains(a.volatile, v.node) {
			sum += w.share(v)
		}
	}
	return sum
}

func (a *analysis) noteVariant(found map[string]*CorpusFinding, x, y int32) {
	for _, path := range variantPaths(a.records[x].payload, a.records[y].payload) {
		f := found[path]
		if f == nil {
			f = &CorpusFinding{
				Rule: UnicodeVariant, Path: path,
				Message:  "texts that look alike are composed differently",
				Examples: [2]Example{a.example(x), a.example(y)},
			}
			found[path] = f
		}
		f.Count++
	}
}

// variantPaths are the generalised paths at which two payloads differ in
// normalisation only.
func variantPaths(a, b []byte) []string {
	var left, right parser
	if left.parse(a, nil) != nil || right.parse(b, nil) != nil {
		return nil
	}
	c := newComparison(&left.document, &right.document)
	c.general = true
	c.run()
	var paths []string
	for _, change := range c.values {
		if change.Kind != ChangeValue && isNFC([]byte(change.Path)) {
			continue
		}
		if change.Kind == ChangeValue && !sameNFC(a[change.A.Start:change.A.End], b[change.B.Start:change.B.End]) {
			continue
		}
		if !slices.Contains(paths, change.Path) {
			paths = append(paths, change.Path)
		}
	}
	return paths
}

func sameNFC(a, b []byte) bool {
	if a[0] != '"' || b[0] != '"' {
		return false
	}
	x := nfc(unescape(nil, a[1:len(a)-1]))
	return bytes.Equal(x, nfc(unescape(nil, b[1:len(b)-1])))
}
