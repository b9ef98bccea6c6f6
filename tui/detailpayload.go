package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/idemctl/idemctl/internal/visible"
)

const (
	// maxPayloadLines bounds what is compared and shown of a payload.
	maxPayloadLines = 400
	// besideWidth is from which width on two texts stand beside each other.
	besideWidth = 90
)

// payload shows the payload as it is and in its canonical form, with the lines that
// differ marked.
func (s *detail) payload(w *writer, d *Dossier) {
	if d.PayloadSize == 0 {
		w.title("PAYLOAD", "empty")
		return
	}
	w.title("PAYLOAD", fmt.Sprintf("%s bytes", count(d.PayloadSize)))
	w.hang("  ", 2, sentence(safe(d.Spelling)), nil)
	own, omitted := prettyLines(d.Payload, d.PayloadJSON)
	form, _ := prettyLines(d.Canonical, true)
	switch {
	case d.Canonical == "" || d.Canonical == d.Payload:
		for _, l := range own {
			w.raw("  " + visible.Fit(safe(l), w.width-2))
		}
	case w.width >= besideWidth:
		s.beside(w, own, form)
	default:
		s.above(w, own, form)
	}
	if omitted > 0 {
		w.raw(s.theme.dim.Render(fmt.Sprintf("  … %s more; e shows all", plural(omitted, "line", "lines"))))
	}
}

// prettyLines spreads JSON over lines without respelling any of it.
func prettyLines(text string, isJSON bool) (lines []string, omitted int) {
	if isJSON {
		var b bytes.Buffer
		if json.Indent(&b, []byte(text), "", "  ") == nil {
			text = b.String()
		}
	}
	lines = strings.Split(text, "\n")
	if len(lines) > maxPayloadLines {
		return lines[:maxPayloadLines], len(lines) - maxPayloadLines
	}
	return lines, 0
}

// beside shows two texts in two columns, equal lines on one line.
func (s *detail) beside(w *writer, own, form []string) {
	half := (w.width - 2 - 3) / 2
	w.raw("  " + s.theme.dim.Render(visible.Pad("as it is", half)+"   canonical"))
	for _, p := range pairLines(own, form) {
		left, right, sign := "", "", s.theme.dim.Render(" │ ")
		if p.a >= 0 {
			left = visible.Fit(safe(own[p.a]), half)
		}
		if p.b >= 0 {
			right = visible.Fit(safe(form[p.b]), half)
		}
		left = visible.Pad(left, half)
		if p.a < 0 || p.b < 0 || own[p.a] != form[p.b] {
			sign = s.theme.warn.Render(" ≠ ")
			left, right = s.theme.warn.Render(left), s.theme.good.Render(right)
		}
		w.raw("  " + left + sign + right)
	}
}

// above shows the differences in one column, as diff does.
func (s *detail) above(w *writer, own, form []string) {
	w.raw("  " + s.theme.dim.Render("- as it is   + canonical"))
	for _, p := range pairLines(own, form) {
		same := p.a >= 0 && p.b >= 0 && own[p.a] == form[p.b]
		switch {
		case same:
			w.raw("    " + visible.Fit(safe(own[p.a]), w.width-4))
			continue
		case p.a >= 0:
			w.raw("  " + s.theme.warn.Render("- "+visible.Fit(safe(own[p.a]), w.width-4)))
		}
		if p.b >= 0 {
			w.raw("  " + s.theme.good.Render("+ "+visible.Fit(safe(form[p.b]), w.width-4)))
		}
	}
}

// pair is a line of one text with its like in the other; -1 is none.
type pair struct{ a, b int }

// pairLines aligns two texts by their longest common lines. Lines that only one has
// stand beside each other as far as they go.
func pairLines(a, b []string) []pair {
	common := make([][]int16, len(a)+1)
	for i := range common {
		common[i] = make([]int16, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []pair
	var left, right []int
	flush := func() {
		for n := range max(len(left), len(right)) {
			p := pair{-1, -1}
			if n < len(left) {
				p.a = left[n]
			}
			if n < len(right) {
				p.b = right[n]
			}
			out = append(out, p)
		}
		left, right = nil, nil
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			flush()
			out = append(out, pair{i, j})
			i, j = i+1, j+1
		case j >= len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			left = append(left, i)
			i++
		default:
			right = append(right, j)
			j++
		}
	}
	flush()
	return out
}
