package tui

import (
	"fmt"
	"sort"
	"unicode/utf8"

	"github.com/idemctl/idemctl/internal/visible"
	"github.com/idemctl/idemctl/reconcile"
)

// lineOf is a command line with what it needs to find the same place, before all
// that is told by its place; "" where no shell can pass it on.
func (h *hub) lineOf(c reconcile.CommandLine) string {
	p := h.backend.Place()
	line := c.Words(p.Flags).String()
	if line == "" {
		return ""
	}
	return p.Command + " " + line
}

// lineShown is a command line as far as the footer has room for it. Where it is cut
// it says so: what is there must not be taken for the whole.
func (h *hub) lineShown(line string) string {
	line = safe(line)
	width, most := h.width-2, min(maxFlash, max(1, h.height-leastHeight))
	fits := func(s string) bool { return len(visible.Wrap(s, width)) <= most }
	if fits(line) {
		return line
	}
	ends := make([]int, 0, len(line)+1) // of every character
	for i := range line {
		ends = append(ends, i)
	}
	for _, says := range []string{"… (%s more characters; @ again copies the whole line)", "… (+%s; @ copies it)"} {
		cut := func(kept int) string {
			return line[:ends[kept]] + fmt.Sprintf(says, count(utf8.RuneCountInString(line)-kept))
		}
		if kept := sort.Search(len(ends), func(n int) bool { return !fits(cut(n)) }) - 1; kept > 0 {
			return cut(kept)
		}
	}
	return line
}
