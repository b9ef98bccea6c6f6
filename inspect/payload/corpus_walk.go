package payload

import (
	"bytes"
	"hash/maphash"
	"math/bits"
)

// walker visits the values of a payload in the order in which they are written and
// knows the node and the place of each. Place is a hash of the concrete path, so
// that a sum over places and values stands for the canonical form: the order of
// members does not matter to it, the order of elements does.
type walker struct {
	tree   *tree
	seed   maphash.Seed
	cursor cursor
	open   []place
	grow   bool // make nodes that are missing
	nfc    bool // take names and strings in normalisation form C
	text   []byte
	digits []byte
}

// place is an open container.
type place struct {
	node   int32
	object bool
	hash   uint64
	index  uint64
	child  int32 // the member whose value comes next
	below  uint64
	sorted bool // elements count without their order
}

// visit is one value, or the end of a container.
type visit struct {
	token
	node  int32
	hash  uint64 // of its place
	value []byte // unescaped string, canonical number, or literal; until the next visit
	count uint64 // at the end of an array: its elements
}

func (w *walker) start(d *document) {
	w.cursor.rewind(d)
	w.open = w.open[:0]
	if w.digits == nil {
		w.digits = make([]byte, 0, maxDigits)
	}
}

// next returns the next value or end; its kind is tokenEnd after the last one.
func (w *walker) next() visit {
	t := w.cursor.next()
	if t.kind == tokenName {
		w.name(t)
		t = w.cursor.next()
	}
	switch t.kind {
	case tokenEnd:
		return visit{token: t}
	case tokenEndObject, tokenEndArray:
		top := w.open[len(w.open)-1]
		w.open = w.open[:len(w.open)-1]
		return visit{token: t, node: top.node, hash: top.hash, count: top.index}
	}
	v := visit{token: t}
	v.node, v.hash = w.where()
	if t.opens() {
		w.open = append(w.open, place{node: v.node, hash: v.hash, object: t.kind == tokenObject})
	} else {
		v.value = w.value(t)
	}
	return v
}

// where is the node and the place of the value that comes next.
func (w *walker) where() (node int32, hash uint64) {
	if len(w.open) == 0 {
		return rootNode, 1
	}
	top := &w.open[len(w.open)-1]
	if top.object {
		return top.child, top.below
	}
	node = w.tree.elementOf(top.node, w.grow)
	if top.sorted {
		return node, 2
	}
	top.index++
	return node, mix(top.hash, top.index)
}

func (w *walker) name(t token) {
	top := &w.open[len(w.open)-1]
	name := w.content(t)
	top.child = w.tree.member(top.node, name, w.grow)
	if w.nfc {
		name = nfc(name)
	}
	top.below = mix(top.hash, maphash.Bytes(w.seed, name))
}

func (w *walker) content(t token) []byte {
	content := w.cursor.p[t.start+1 : t.end-1]
	if bytes.IndexByte(content, '\\') < 0 {
		return content
	}
	w.text = unescape(w.text[:0], content)
	return w.text
}

func (w *walker) value(t token) []byte {
	literal := w.cursor.p[t.start:t.end]
	switch t.kind {
	case tokenString:
		return w.content(t)
	case tokenNumber:
		w.text, _ = parseDecimal(literal, w.digits).appendCanonical(w.text[:0])
		return w.text
	default:
		return literal
	}
}

// hashValue is the hash of a scalar by its canonical form.
func (w *walker) hashValue(v visit) uint64 {
	value := v.value
	if w.nfc && v.kind == tokenString {
		value = nfc(value)
	}
	return mix(maphash.Bytes(w.seed, value), uint64(v.kind))
}

// share is what a value or the opening of a container adds to the form's hash.
func (w *walker) share(v visit) uint64 {
	if v.opens() {
		return mix(v.hash, uint64(v.kind))
	}
	return mix(v.hash, w.hashValue(v))
}

// mix combines two hashes; the order matters. Its constants are those of the
// 128-bit multiplication of wyhash.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0xa0761d6478bd642f, b^0xe7037ed1a0b428db)
	return bits.RotateLeft64(high, 23) + low*0x9E3779B97F4A7C15
}
