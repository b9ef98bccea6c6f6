package tui

import (
	"strings"

	"github.com/idemctl/idemctl/internal/visible"
)

// pane is a page of painted lines that one scrolls through. It is drawn anew for
// its width, and only then.
type pane struct {
	list list // its items are the first lines that the window can begin with
}

// body shows the window on the lines.
func (p *pane) body(lines []string, height int) []string {
	p.list.resize(len(lines)-height+1, 1)
	return lines[min(p.list.cursor, len(lines)):]
}

// where says how far one has scrolled; "" where everything is on the screen.
func (p *pane) where() string {
	if p.list.n <= 1 {
		return ""
	}
	if p.list.cursor >= p.list.n-1 {
		return "end"
	}
	return count(p.list.cursor*100/max(1, p.list.n-1)) + " %"
}

// writer lays a page out.
type writer struct {
	theme *theme
	width int
	lines []string
}

func (w *writer) blank() {
	if len(w.lines) > 0 && w.lines[len(w.lines)-1] != "" {
		w.lines = append(w.lines, "")
	}
}

// title begins a section. A note that begins with "!" warns.
func (w *writer) title(text, note string) {
	w.blank()
	line := w.theme.title.Render(text)
	if note != "" {
		paint := w.theme.dim
		if strings.HasPrefix(note, "!") {
			paint = w.theme.warn
		}
		line += "  " + paint.Render(note)
	}
	w.lines = append(w.lines, line)
}

// raw writes a line that was laid out already.
func (w *writer) raw(line string) { w.lines = append(w.lines, line) }

// hang writes words behind a head; lines after the first begin under them.
func (w *writer) hang(head string, cells int, words string, paint func(string) string) {
	if paint == nil {
		paint = func(s string) string { return s }
	}
	for i, l := range visible.Wrap(words, max(8, w.width-cells)) {
		if i > 0 {
			head = strings.Repeat(" ", cells)
		}
		w.raw(head + paint(l))
	}
}

// command writes a shell command, folded so that it can be copied from the screen and
// still be one.
func (w *writer) command(cmd string) {
	head, cells := w.theme.dim.Render("$ "), 2
	if safe(cmd) != cmd {
		w.hang(head, cells, safe(cmd), w.theme.keyText)
		return
	}
	for _, l := range visible.FoldCommand(cmd, max(8, w.width-cells), max(8, w.width)) {
		w.raw(head + w.theme.keyText(l))
		head = ""
	}
}

// factCells is where the values of named facts begin.
const factCells = 13

// fact writes a named fact, or nothing where there is none.
func (w *writer) fact(name, value string) { w.painted(name, value, nil) }

func (w *writer) painted(name, value string, paint func(string) string) {
	if value != "" {
		w.hang("  "+w.theme.dim.Render(visible.Pad(name, factCells-2)), factCells, value, paint)
	}
}
