package tui

import (
	"cmp"
	"slices"
	"strings"
)

// order is how a list of tasks is sorted. Only a list that keeps its rows can be.
type order struct {
	by    int // column; -1: as read
	down  bool
	index []int32 // place in the list to place in the spine; nil: the same

	lastBy   int // as chosen was asked last
	lastDown bool
}

// chosen says whether the order is another than when that was asked last.
func (o *order) chosen() bool {
	is := o.by != o.lastBy || o.by >= 0 && o.down != o.lastDown
	o.lastBy, o.lastDown = o.by, o.down
	return is
}

func (o *order) reset() { o.index = nil }

// at is the place in the spine of what is at place i of the list.
func (o *order) at(i int) int {
	if i < len(o.index) && i >= 0 {
		return int(o.index[i])
	}
	return i
}

// place is where in the list the spine's i-th is.
func (o *order) place(i int) int {
	if o.index == nil {
		return i
	}
	return slices.Index(o.index, int32(i))
}

// arrange sorts what has been gathered. Equal ones stay as they were read.
func (o *order) arrange(g *gathering) {
	if o.by < 0 || !g.keeps {
		o.index = nil
		return
	}
	rows := make([]*Row, g.spine.len())
	for i := range rows {
		rows[i] = g.rows[g.spine.at(i)]
	}
	for i := len(o.index); i < len(rows); i++ {
		o.index = append(o.index, int32(i))
	}
	slices.SortStableFunc(o.index, func(a, b int32) int {
		x, y := rows[a], rows[b]
		if x == nil || y == nil {
			return 0
		}
		c := compareRows(o.by, x, y)
		if o.down {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(a, b))
	})
}

// compareRows compares two rows by a column.
func compareRows(column int, x, y *Row) int {
	switch column {
	case columnTask:
		return strings.Compare(x.ID, y.ID)
	case columnQueue:
		return strings.Compare(x.Queue, y.Queue)
	case columnType:
		return strings.Compare(x.Type, y.Type)
	case columnState:
		return cmp.Compare(x.State, y.State)
	case columnEffect:
		return cmp.Or(cmp.Compare(y.Severity, x.Severity), cmp.Compare(x.Status, y.Status))
	case columnCause:
		return strings.Compare(string(x.Cause), string(y.Cause))
	case columnTries:
		return cmp.Compare(x.Retried, y.Retried)
	case columnWhen:
		return cmp.Or(x.Next.Compare(y.Next), y.Since.Compare(x.Since))
	case columnLock:
		return cmp.Or(strings.Compare(string(x.Lock), string(y.Lock)), cmp.Compare(x.LockTTL, y.LockTTL))
	case columnKey:
		return strings.Compare(x.Key, y.Key)
	case columnReason:
		return strings.Compare(string(x.Reason), string(y.Reason))
	default:
		return strings.Compare(x.LastErr, y.LastErr)
	}
}
