package render

import (
	"bytes"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
)

// column is one column of a grid.
type column struct {
	title string
	right bool // numbers
	// least is how narrow the column may become where room is short; 0 means
	// that it is never cut.
	least int
	// spare columns are left out, from the right, where room is short.
	spare bool
	paint func(cell string) string // colours a cell; nil leaves it alone
}

// gridGap is between columns.
const gridGap = "  "

// grid writes rows under titles, in columns, fitted to the page. Cells are one
// line each and have passed Visible.
func (p *page) grid(margin string, columns []column, rows [][]string) {
	titled := columns
	if p.bare {
		titled = untitled(columns)
	}
	p.gridRows(margin, columns, fitted(titled, rows, p.width-width(margin), nil), rows, !p.bare)
}

// fitted are widths of columns that together, with the gaps between them, take
// no more than the room. They are not below those of rows written before, unless
// the room is needed.
func fitted(columns []column, rows [][]string, room int, before []int) []int {
	widths := gridWidths(columns, rows)
	for i := range min(len(widths), len(before)) {
		widths[i] = max(widths[i], before[i])
	}
	shrink(columns, widths, room-len(gridGap)*(len(columns)-1))
	return widths
}

// roomFor leaves out spare columns, the last first, until the others have room
// without being cut below their least. Rows keep all their cells: those of
// columns left out are at the end, and are not looked at.
func roomFor(columns []column, rows [][]string, room int) []column {
	for len(columns) > 0 && columns[len(columns)-1].spare {
		need := len(gridGap) * (len(columns) - 1)
		for i, w := range gridWidths(columns, rows) {
			if c := columns[i]; c.least > 0 {
				w = min(w, c.least)
			}
			need += w
		}
		if need <= room {
			break
		}
		columns = columns[:len(columns)-1]
	}
	return columns
}

func untitled(columns []column) []column {
	bare := slices.Clone(columns)
	for i := range bare {
		bare[i].title = ""
	}
	return bare
}

// gridRows writes rows in columns of given widths.
func (p *page) gridRows(margin string, columns []column, widths []int, rows [][]string, titles bool) {
	var b bytes.Buffer
	t := newTable(&b)
	if titles {
		names := make([]string, len(columns))
		for i, c := range columns {
			c.paint = p.dim
			names[i] = gridCell(c, c.title, widths[i])
		}
		t.Header(names)
	}
	for _, row := range rows {
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = gridCell(c, row[i], widths[i])
		}
		if err := t.Append(cells); err != nil && p.failed == nil {
			p.failed = err
		}
	}
	if err := t.Render(); err != nil && p.failed == nil {
		p.failed = err
	}
	for line := range strings.Lines(b.String()) {
		p.raw(strings.TrimRight(margin+strings.TrimRight(line, "\n"), " "))
	}
}

// gridCell has exactly the column's width, so that tables written one after the
// other line up. Blanks are not painted: they may end a line.
func gridCell(c column, cell string, cells int) string {
	cell = fit(cell, cells)
	blanks := strings.Repeat(" ", max(0, cells-width(cell)))
	if c.paint != nil {
		cell = c.paint(cell)
	}
	if c.right {
		return blanks + cell
	}
	return cell + blanks
}

// newTable is a tablewriter table that only lays out: no lines, no wrapping and
// no change of any cell.
func newTable(b *bytes.Buffer) *tablewriter.Table {
	cell := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
	}
	return tablewriter.NewTable(b,
		tablewriter.WithConfig(tablewriter.Config{
			Header: cell, Row: cell,
			Behavior: tw.Behavior{TrimSpace: tw.Off, TrimLine: tw.Off},
		}),
		tablewriter.WithRenderer(&layout{}),
	)
}

// gridWidths are the widths that columns would like.
func gridWidths(columns []column, rows [][]string) []int {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = width(c.title)
		for _, row := range rows {
			widths[i] = max(widths[i], width(row[i]))
		}
	}
	return widths
}

// shrink takes room from the widest of the columns that may be cut, and from the
// others only when those are at their least.
func shrink(columns []column, widths []int, room int) {
	total := 0
	for _, w := range widths {
		total += w
	}
	for total > room {
		widest := -1
		for i, c := range columns {
			if c.least > 0 && widths[i] > c.least && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			for i := range widths {
				if widest < 0 || widths[i] > widths[widest] {
					widest = i
				}
			}
		}
		if widths[widest] <= 1 {
			return
		}
		widths[widest]--
		total--
	}
}
