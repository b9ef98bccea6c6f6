package main

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// The cells of a picture, in pixels.
const (
	cellWidth, cellHeight = 8.4, 18
	padding               = 12
	paper, ink            = "#16181d", "#d7dae0"
)

// pen is how text is painted.
type pen struct {
	fg, bg           string
	bold, dim, flips bool
}

// draw makes an SVG of what tmux captured.
func draw(screen string, width, height int) []byte {
	var b strings.Builder
	w, h := float64(width)*cellWidth+2*padding, height*cellHeight+2*padding
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14">`+"\n", w, h)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", paper)
	for row, line := range strings.Split(strings.TrimRight(screen, "\n"), "\n") {
		drawLine(&b, row, line)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// drawLine writes the runs of one line that are painted alike.
func drawLine(b *strings.Builder, row int, line string) {
	p := pen{}
	column := 0
	for line != "" {
		if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
			codes, after, _ := strings.Cut(rest, "m")
			p.apply(codes)
			line = after
			continue
		}
		text := line
		if i := strings.IndexByte(line, '\x1b'); i >= 0 {
			text = line[:i]
		}
		line = line[len(text):]
		p.write(b, row, column, text)
		column += displaywidth.String(text)
	}
}

// write draws a run: its ground, and what is not blank of it.
func (p *pen) write(b *strings.Builder, row, column int, text string) {
	fg, bg := p.fg, p.bg
	if fg == "" {
		fg = ink
	}
	if p.flips {
		if bg == "" {
			bg = paper
		}
		fg, bg = bg, fg
	}
	cells := displaywidth.String(text)
	x, y := padding+float64(column)*cellWidth, padding+row*cellHeight
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", x, y, float64(cells)*cellWidth, cellHeight, bg)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	style := ""
	if p.bold {
		style = ` font-weight="bold"`
	}
	if p.dim {
		style += ` opacity="0.7"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" fill="%s"%s textLength="%.1f" xml:space="preserve">`, x, y+cellHeight-5, fg, style, float64(cells)*cellWidth)
	_ = xml.EscapeText(b, []byte(text)) // a builder takes everything
	b.WriteString("</text>\n")
}

// apply follows the codes of one SGR sequence.
func (p *pen) apply(codes string) {
	list := strings.Split(codes, ";")
	for i := 0; i < len(list); i++ {
		n, _ := strconv.Atoi(list[i])
		switch {
		case n == 0:
			*p = pen{}
		case n == 1:
			p.bold = true
		case n == 2:
			p.dim = true
		case n == 7:
			p.flips = true
		case n == 22:
			p.bold, p.dim = false, false
		case n == 27:
			p.flips = false
		case n >= 30 && n <= 37:
			p.fg = palette(n - 30)
		case n >= 90 && n <= 97:
			p.fg = palette(n - 90 + 8)
		case n == 39:
			p.fg = ""
		case n >= 40 && n <= 47:
			p.bg = palette(n - 40)
		case n == 49:
			p.bg = ""
		case (n == 38 || n == 48) && i+2 < len(list) && list[i+1] == "5":
			c, _ := strconv.Atoi(list[i+2])
			if n == 38 {
				p.fg = palette(c)
			} else {
				p.bg = palette(c)
			}
			i += 2
		}
	}
}

// first are the sixteen colours that terminals choose themselves.
var first = []string{
	"#1c1c1c", "#d75f5f", "#87af5f", "#d7af5f", "#5f87d7", "#af87d7", "#5fafaf", "#d0d0d0",
	"#808080", "#ff8787", "#afd787", "#ffd787", "#87afff", "#d7afff", "#87d7d7", "#ffffff",
}

// palette is one of xterm's 256 colours.
func palette(n int) string {
	switch {
	case n < 0 || n > 255:
		return ink
	case n < 16:
		return first[n]
	case n >= 232:
		grey := 8 + (n-232)*10
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}
	n -= 16
	level := func(v int) int {
		if v == 0 {
			return 0
		}
		return 55 + v*40
	}
	return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
}
