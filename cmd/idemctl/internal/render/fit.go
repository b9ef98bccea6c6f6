package render

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Widths are terminal cells, as tablewriter counts them: by grapheme, with
// ambiguous East Asian characters narrow.

const ellipsis = "…"

// width is the number of cells of text that Visible has passed.
func width(s string) int { return displaywidth.String(s) }

// fit shortens text to at most the given number of cells. What was cut ends in
// an ellipsis; a grapheme is kept whole or dropped.
func fit(s string, cells int) string {
	switch {
	case cells <= 0:
		return ""
	case width(s) <= cells:
		return s
	}
	head, _ := split(s, cells-1)
	return head + ellipsis
}

// split cuts text after as many graphemes as fit into the cells.
func split(s string, cells int) (head, tail string) {
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

// pad fills text up to the given number of cells with spaces on its right.
func pad(s string, cells int) string {
	if missing := cells - width(s); missing > 0 {
		return s + strings.Repeat(" ", missing)
	}
	return s
}

// padLeft fills text up to the given number of cells with spaces on its left.
func padLeft(s string, cells int) string {
	if missing := cells - width(s); missing > 0 {
		return strings.Repeat(" ", missing) + s
	}
	return s
}

// wrap breaks text at spaces into lines of at most the given number of cells. A
// word longer than a line is broken between graphemes. Runs of spaces inside a
// line are kept: they may be part of an ID.
func wrap(s string, cells int) []string {
	cells = max(cells, 1)
	var lines []string
	for {
		head, tail := split(s, cells)
		if head == "" && tail != "" { // one grapheme wider than the line
			head, tail = split(s, 2)
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
