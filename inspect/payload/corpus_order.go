package payload

import (
	"math/bits"
	"slices"
)

// orderScan collects, for the objects that are open, the order in which their
// members are written.
type orderScan struct {
	sequence []int32
	bases    []int
}

// see notes a value: a member by its ordinal (negative for what is none), and
// whether it opens an object.
func (s *orderScan) see(ordinal int32, object bool) {
	if ordinal >= 0 {
		s.sequence = append(s.sequence, ordinal)
	}
	if object {
		s.bases = append(s.bases, len(s.sequence))
	}
}

// end closes the innermost object.
func (s *orderScan) end(n *node, at, number int32) {
	base := s.bases[len(s.bases)-1]
	s.bases = s.bases[:len(s.bases)-1]
	if own := s.sequence[base:]; len(own) > 1 && at != overflowNode {
		if n.orders == nil {
			n.orders = new(orders)
		}
		n.orders.learn(own, number)
	}
	s.sequence = s.sequence[:base]
}

// maxOrdered is how many members of one object path are compared by their order.
// Objects with more are maps.
const maxOrdered = 256

type ordinalSet [maxOrdered / 64]uint64

// orders is which members of an object path were seen after which.
type orders struct {
	after  []ordinalSet // by ordinal
	latest []int32      // the sequence learned last: producers repeat themselves
	varies bool
	pair   [2]int32 // the ordinals that occur in both orders
	record int32    // the record that showed the second order
}

func (o *orders) learn(sequence []int32, number int32) {
	if o.varies || slices.Equal(sequence, o.latest) {
		return
	}
	o.latest = append(o.latest[:0], sequence...)
	var seen ordinalSet
	for _, ordinal := range sequence {
		if ordinal >= maxOrdered {
			continue
		}
		for int(ordinal) >= len(o.after) {
			o.after = append(o.after, ordinalSet{})
		}
		for i, word := range o.after[ordinal] {
			if both := word & seen[i]; both != 0 {
				o.varies, o.record = true, number
				o.pair = [2]int32{ordinal, int32(i*64 + bits.TrailingZeros64(both))}
				return
			}
		}
		seen[ordinal>>6] |= 1 << (ordinal & 63)
	}
	o.keep(sequence)
}

func (o *orders) keep(sequence []int32) {
	var later ordinalSet
	for _, ordinal := range slices.Backward(sequence) {
		if ordinal >= maxOrdered {
			continue
		}
		for i := range later {
			o.after[ordinal][i] |= later[i]
		}
		later[ordinal>>6] |= 1 << (ordinal & 63)
	}
}
