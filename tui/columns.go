package tui

import (
	"slices"
	"strings"

	"github.com/idemctl/idemctl/internal/visible"
)

// column is one column of a list. Cells are plain text that is safe to show; they
// are painted after they were cut to their width.
type column struct {
	title string
	// least is how narrow it may get where room is short; 0: it is never cut. good is
	// how narrow it gets before columns of little use are left out.
	least, good int
	right       bool
	// spare is the order in which columns are left out where there is no room: the
	// largest goes first, 0 stays.
	spare int
	// wide columns are shown only when asked for.
	wide bool
}

// table lays a list out. It remembers how wide its columns were, so that they do
// not jump while one scrolls.
type table struct {
	columns []column
	widths  []int
	used    []bool // a cell of the column had text; others are left out where they may be
}

const gap = 2

// reset forgets the widths, for other rows.
func (t *table) reset() { t.widths, t.used = nil, nil }

// fit settles which columns are shown and how wide, for the rows of a window.
func (t *table) fit(rows [][]string, cells int, wide bool) (shown []int, widths []int) {
	if len(t.widths) != len(t.columns) {
		t.widths, t.used = make([]int, len(t.columns)), make([]bool, len(t.columns))
		for i, c := range t.columns {
			t.widths[i] = visible.Width(c.title)
		}
	}
	for _, r := range rows {
		for i, cell := range r {
			if i < len(t.widths) {
				t.widths[i] = max(t.widths[i], visible.Width(cell))
				t.used[i] = t.used[i] || cell != ""
			}
		}
	}
	for i, c := range t.columns {
		if (wide || !c.wide) && (t.used[i] || c.spare == 0) {
			shown = append(shown, i)
		}
	}
	widths = slices.Clone(t.widths)
	for _, floor := range []struct {
		of   func(column) int
		keep int // columns of up to this spare stay
	}{
		{func(c column) int { return max(c.least, c.good) }, littleUse - 1},
		{func(c column) int { return c.least }, 0},
	} {
		for {
			copy(widths, t.widths)
			if t.shrink(shown, widths, cells, floor.of) <= 0 {
				return shown, widths
			}
			drop := t.leastUse(shown, floor.keep)
			if drop < 0 {
				break
			}
			shown = slices.Delete(shown, drop, drop+1)
		}
	}
	return shown, widths // and the line is cut
}

// littleUse is the spare from which on a column is of less use than the text of
// others.
const littleUse = 4

// leastUse is which of the columns is left out next; -1 is none.
func (t *table) leastUse(shown []int, keep int) int {
	drop := -1
	for n, i := range shown {
		if spare := t.columns[i].spare; spare > keep && (drop < 0 || spare > t.columns[shown[drop]].spare) {
			drop = n
		}
	}
	return drop
}

// shrink narrows the columns that may be narrowed, the widest first, and says by
// how much the line is still too long.
func (t *table) shrink(shown, widths []int, cells int, floor func(column) int) (over int) {
	over = -cells + gap*max(0, len(shown)-1)
	for _, i := range shown {
		over += widths[i]
	}
	for over > 0 {
		widest := -1
		for _, i := range shown {
			c := t.columns[i]
			if c.least > 0 && widths[i] > max(floor(c), visible.Width(c.title)) && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return over
		}
		widths[widest]--
		over--
	}
	return over
}

// line lays one row out. paint colours a cell that has its final text.
func (t *table) line(row []string, shown, widths []int, paint func(column int, text string) string) string {
	var b strings.Builder
	for n, i := range shown {
		if n > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		cell := ""
		if i < len(row) {
			cell = visible.Fit(row[i], widths[i])
		}
		blank := strings.Repeat(" ", max(0, widths[i]-visible.Width(cell)))
		if paint != nil {
			cell = paint(i, cell)
		}
		if t.columns[i].right {
			b.WriteString(blank + cell)
		} else {
			b.WriteString(cell + blank)
		}
	}
	return b.String()
}

// titles is the row of titles; the column sorted by bears an arrow.
func (t *table) titles(sorted int, down bool) []string {
	out := make([]string, len(t.columns))
	for i, c := range t.columns {
		out[i] = c.title
		if i == sorted {
			arrow := "↑"
			if down {
				arrow = "↓"
			}
			out[i] += arrow
		}
	}
	return out
}
