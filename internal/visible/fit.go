package visible

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Widths are terminal cells, as tablewriter counts them: by grapheme, with
// ambiguous East Asian characters narrow.

// Ellipsis ends what was cut.
const Ellipsis = "…"

// Width is the number of cells of text that Text has passed.
func Width(s string) int { return displaywidth.String(s) }

// Fit shortens text to at most the given number of cells. What was cut ends in
// an Ellipsis; a grapheme is kept whole or dropped.
func Fit(s string, cells int) string {
	switch {
	case cells <= 0:
		return ""
	case Width(s) <= cells:
		return s
	}
	head, _ := Split(s, cells-1)
	return head + Ellipsis
}

// Split cuts text after as many graphemes as fit into the cells.
func Split(s string, cells int) (head, tail string) {
	g := displaywidth.StringGraphemes(s)
	used, end := 0, 0
	for g.Next() {
		if used+g.Width() > cells {
			break
		}
		used += g.Width()
		end += len(g.Value())
	}
	return s[:end], s[end:]
}

// Pad fills text up to the given number of cells with spaces on its right.
func Pad(s string, cells int) string {
	if missing := cells - Width(s); missing > 0 {
		return s + strings.Repeat(" ", missing)
	}
	return s
}

// PadLeft fills text up to the given number of cells with spaces on its left.
func PadLeft(s string, cells int) string {
	if missing := cells - Width(s); missing > 0 {
		return strings.Repeat(" ", missing) + s
	}
	return s
}

// Wrap breaks text at spaces into lines of at most the given number of cells. A
// word longer than a line is broken between graphemes. Runs of spaces inside a
// line are kept: they may be part of an ID.
func Wrap(s string, cells int) []string {
	cells = max(cells, 1)
	var lines []string
	for {
		head, tail := Split(s, cells)
		if head == "" && tail != "" { // one grapheme wider than the line
			head, tail = Split(s, 2)
		}
		if tail == "" {
			break
		}
		if cut := strings.LastIndexByte(head, ' '); cut > 0 && !strings.HasPrefix(tail, " ") {
			tail = head[cut+1:] + tail
			head = head[:cut]
		}
		lines = append(lines, strings.TrimRight(head, " "))
		s = strings.TrimLeft(tail, " ")
	}
	if s != "" || len(lines) == 0 {
		lines = append(lines, s)
	}
	return lines
}
