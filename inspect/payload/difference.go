package payload

import (
	"bytes"
	"slices"
)

// Sameness says whether two payloads mean the same work. The zero value is
// SamenessUnknown.
type Sameness uint8

// Samenesses.
const (
	SamenessUnknown Sameness = iota // a payload has no canonical form, and the bytes differ
	SameWork                        // equal canonical forms, or equal bytes
	OtherWork                       // different canonical forms
)

var samenessNames = [...]string{"unknown", "same", "different"}

// String is "same", "different" or "unknown".
func (s Sameness) String() string {
	if int(s) < len(samenessNames) {
		return samenessNames[s]
	}
	return samenessNames[SamenessUnknown]
}

// ChangeKind says how a value differs between two payloads. The zero value is
// ChangeUnknown.
type ChangeKind uint8

// Kinds of changes.
const (
	ChangeUnknown ChangeKind = iota
	ChangeValue              // both have it, with another value or type
	ChangeRemoved            // only the first has it
	ChangeAdded              // only the second has it
)

var changeNames = [...]string{"unknown", "value", "removed", "added"}

// String is "value", "removed", "added" or "unknown".
func (k ChangeKind) String() string {
	if int(k) < len(changeNames) {
		return changeNames[k]
	}
	return changeNames[ChangeUnknown]
}

// Change is one path whose value differs.
type Change struct {
	Path string
	Kind ChangeKind
	// A and B are the bytes of the value in each payload; both ends are -1 where it
	// has none.
	A, B Range
	// Rules are the value rules that speak of the value in either payload, such as
	// timestamp-subsecond: a hint that it should not be part of the work's identity.
	Rules []Rule
}

// Spelling is one path whose value is the same in both payloads but is written in
// other bytes, which is enough for another lock.
type Spelling struct {
	Path string
	Rule Rule // the form rule that speaks of the difference
	// A and B are the bytes of the value or, for key-order, of the first names that
	// stand in one place.
	A, B Range
}

// Range is a range of bytes of a payload; End is exclusive.
type Range struct{ Start, End int }

var noRange = Range{-1, -1}

func (s span) public() Range { return Range{s.start, s.end} }

// MaxChanges is how many changes, and how many spellings, a Difference keeps.
const MaxChanges = 1000

// Difference says whether and how two payloads differ.
type Difference struct {
	Work Sameness
	// A and B say why a payload has no canonical form; nil if it has one.
	A, B *UndefinedError
	// SharesLock holds if asynq gives both payloads one lock (in one queue and type):
	// equal bytes, and not nil in one and empty in the other.
	SharesLock bool
	// FirstByte is the offset of the first byte that differs, -1 if none does.
	FirstByte int
	Values    []Change   // empty unless Work is OtherWork
	Spellings []Spelling // empty if the bytes are equal or a canonical form is missing
	// Omitted counts changes and spellings beyond MaxChanges.
	Omitted int
}

// Empty holds if the payloads are the same work. For payloads with a canonical
// form that is exactly when the forms are equal.
func (d Difference) Empty() bool { return d.Work == SameWork }

// Diff compares two payloads of one queue and type.
func Diff(a, b []byte) Difference {
	d := Difference{
		SharesLock: bytes.Equal(a, b) && (a == nil) == (b == nil),
		FirstByte:  firstDifference(a, b),
	}
	left, right := takeParser(), takeParser()
	defer left.giveBack()
	defer right.giveBack()
	d.A, d.B = left.parseWhole(a), right.parseWhole(b)
	switch {
	case d.FirstByte < 0:
		d.Work = SameWork
		if !d.SharesLock {
			d.Spellings = []Spelling{{Path: "$", Rule: EmptyPayload}}
		}
	case d.A != nil || d.B != nil:
		d.Work = SamenessUnknown
	case len(a) == 0 || len(b) == 0:
		d.Work = OtherWork
		d.Values = []Change{wholeChange(a, b)}
	default:
		compareDocuments(&left.document, &right.document, &d)
	}
	return d
}

func firstDifference(a, b []byte) int {
	if i := commonPrefix(a, b); i < len(a) || i < len(b) {
		return i
	}
	return -1
}

func wholeChange(a, b []byte) Change {
	c := Change{Path: "$", Kind: ChangeAdded, A: noRange, B: Range{0, len(b)}}
	if len(b) == 0 {
		c.Kind, c.A, c.B = ChangeRemoved, Range{0, len(a)}, noRange
	}
	return c
}

// compareDocuments compares two payloads that have canonical forms.
func compareDocuments(a, b *document, d *Difference) {
	c := newComparison(a, b)
	c.run()
	d.Values, d.Spellings, d.Omitted = c.values, c.spellings, c.omitted
	d.Work = SameWork
	if c.differs {
		d.Work = OtherWork
	}
	if layout(a) != layout(b) {
		d.Spellings = append(layoutSpellings(a, b), d.Spellings...)
	}
	slices.SortStableFunc(d.Values, func(x, y Change) int { return x.position() - y.position() })
}

// position orders changes as an operator reads the first payload.
func (c Change) position() int { return max(c.A.Start, c.B.Start) }
