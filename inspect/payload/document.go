package payload

import (
	"errors"
	"fmt"
	"slices"
	"sort"
)

// MaxDepth is how deep arrays and objects may nest. A payload that nests deeper
// is reported as not-json, because it is not judged.
const MaxDepth = 100_000

// maxSize keeps offsets in 32 bits. A Redis string holds at most 512 MiB.
const maxSize = 1<<31 - 1

var (
	errTooDeep  = fmt.Errorf("nested deeper than %d levels, which is not judged", MaxDepth)
	errTooLarge = errors.New("larger than 2 GiB, which is not judged")
)

// document is what one pass over a payload learned about it. It holds offsets
// only, so that a canonical payload costs no more memory than its depth.
type document struct {
	payload  []byte
	body     int        // where the JSON text starts: after a byte order mark
	end      int        // where its value ends: before trailing whitespace
	shuffled []shuffled // objects whose members are not in canonical order, by open
	order    []slot     // their members, in canonical order

	respelt   bool // a token of the value is not spelled canonically, or blanks stand between
	undefined Rule // why there is no canonical form; RuleUnknown if there is one
	at        span // where that was seen first
	root      byte // first byte of the value
}

// shuffled is one object whose members have to be reordered.
type shuffled struct {
	open, end    uint32 // offsets of its brackets
	first, count uint32 // its members in document.order
}

// slot is one member of a shuffled object. The end holds only where no blanks
// stand between tokens.
type slot struct{ open, end uint32 }

// isCanonical says whether the payload is its own canonical form.
func (d *document) isCanonical() bool {
	return d.undefined == RuleUnknown && !d.respelt && len(d.shuffled) == 0 && d.body == 0 && d.end == len(d.payload)
}

// firstShuffled is the first object of shuffled at or after an offset.
func (d *document) firstShuffled(offset int) int {
	return sort.Search(len(d.shuffled), func(i int) bool { return int(d.shuffled[i].open) >= offset })
}

// memberOrder finds the object at the bracket in shuffled; -1 if its members are
// in order.
func (d *document) memberOrder(open int) int {
	i := d.firstShuffled(open)
	if i == len(d.shuffled) || int(d.shuffled[i].open) != open {
		return -1
	}
	return i
}

func (d *document) sortShuffled() {
	slices.SortFunc(d.shuffled, func(a, b shuffled) int { return int(a.open) - int(b.open) })
}

// isContainer says whether the value is an object or an array.
func (d *document) isContainer() bool { return d.root == '{' || d.root == '[' }

// syntaxError says why bytes are not one JSON text.
type syntaxError struct {
	offset  int
	message string
	limit   bool // it may be JSON, but exceeds a limit of this package
}

func (e *syntaxError) Error() string { return e.message }
