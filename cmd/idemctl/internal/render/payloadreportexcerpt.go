package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// extent is a range of bytes of a payload; end is exclusive.
type extent struct{ start, end int }

// spellOut shows bytes so that no two payloads look alike: unlike in Visible a newline
// is not shown as \n, which JSON writes for a newline inside a string. ASCII
// controls become the pictures of Unicode's block 2400, bytes that are not UTF-8
// <ff>, and other characters without ink of their own <U+202E>.
func spellOut(text []byte) string {
	var b strings.Builder
	b.Grow(len(text) + 16)
	marks := -1 // combining marks since the last base character; -1: no base
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		base := marks
		marks = -1
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "<%02x>", text[0])
		case r < ' ':
			b.WriteRune('\u2400' + r)
		case r == 0x7f:
			b.WriteRune('\u2421')
		case r < utf8.RuneSelf:
			b.WriteRune(r)
			if r != ' ' {
				marks = 0
			}
		case r >= '\u2400' && r <= '\u2426' || !shows(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		case extends(r):
			if base < 0 || base == maxMarks {
				fmt.Fprintf(&b, "<U+%04X>", r)
				break
			}
			b.WriteRune(r)
			marks = base + 1
		default:
			b.WriteRune(r)
			marks = 0
		}
		text = text[size:]
	}
	return b.String()
}

// secrets are the ranges of a payload that may not be shown, in order.
type secrets struct {
	ranges []extent
	all    bool // nothing of it may be shown
}

// secretsIn finds the fields that the paths name. Where a payload is not a JSON
// object or array no path can point into it, and all of it is hidden.
func (r redactor) secretsIn(p []byte) secrets {
	if !r.active() {
		return secrets{}
	}
	ranges, err := r.extents(p)
	if r.hidesPayloads() || err != nil {
		return secrets{all: true}
	}
	if first := bytes.TrimLeft(p, " \t\r\n"); len(first) == 0 || !isContainer(first) {
		return secrets{all: true}
	}
	return secrets{ranges: ranges}
}

// extents are the bytes of the values that the paths name.
func (r redactor) extents(p []byte) ([]extent, error) {
	dec := json.NewDecoder(bytes.NewReader(p))
	dec.UseNumber()
	w := rewriter{redactor: r, dec: dec}
	var spots []spot
	for i := range r.paths {
		spots = append(spots, spot{path: i})
	}
	var found []extent
	start, depth := -1, 0 // of the value that is being hidden
	for {
		from := int(dec.InputOffset())
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		if start < 0 && w.ends(spots) {
			start, depth = from, len(w.open)
		}
		done, err := w.token(t, &spots)
		if err != nil {
			return nil, err
		}
		if start >= 0 && len(w.open) == depth {
			value := bytes.TrimLeft(p[start:int(dec.InputOffset())], " \t\r\n,:")
			end := int(dec.InputOffset())
			found = append(found, extent{end - len(value), end})
			start = -1
		}
		if done {
			break
		}
		if spots, err = w.next(); err != nil {
			return nil, err
		}
		w.out.Reset() // only the places are wanted
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return found, nil
}

// widen makes a range that meets a hidden one cover it.
func (s secrets) widen(at extent, size int) extent {
	if s.all {
		return extent{0, size}
	}
	for _, h := range s.ranges {
		if at.start < h.end && h.start < at.end || at.start == at.end && h.start < at.start && at.start < h.end {
			at.start, at.end = min(at.start, h.start), max(at.end, h.end)
		}
	}
	return at
}

// show is spellOut for a part of the payload, with one word for every hidden range
// that it meets.
func (s secrets) show(p []byte, at extent) string {
	if s.all && len(p) > 0 {
		if at.start == at.end {
			return ""
		}
		return redacted
	}
	var b strings.Builder
	for _, h := range s.ranges {
		if h.end <= at.start {
			continue
		}
		if h.start >= at.end {
			break
		}
		if h.start > at.start {
			b.WriteString(spellOut(p[at.start:h.start]))
		}
		b.WriteString(redacted)
		at.start = min(h.end, at.end)
	}
	b.WriteString(spellOut(p[at.start:at.end]))
	return b.String()
}

// excerpt is a part of a payload in three pieces: what stands before the marked
// bytes, they themselves, and what follows.
type excerpt struct{ before, marked, after string }

// bytesPerCell is how many bytes are looked at to fill one cell of a line.
const bytesPerCell = 8

// excerptOf cuts a payload to a line of the given cells around the marked bytes.
func excerptOf(p []byte, at extent, hidden secrets, cells int) excerpt {
	at = extent{min(max(at.start, 0), len(p)), min(max(at.end, at.start, 0), len(p))}
	at = hidden.widen(at, len(p))
	cells = max(cells, 16)
	e := excerpt{marked: middle(p, at, hidden, cells*2/3)}
	room := cells - max(width(e.marked), 1)
	reach := cells * bytesPerCell
	head := extent{min(runeStart(p, max(0, at.start-reach)), at.start), at.start}
	tail := extent{at.end, runeStart(p, min(len(p), at.end+reach))}
	before, after := hidden.show(p, head), hidden.show(p, tail)
	left := max(room/2, room-width(after))
	if width(before) > left || head.start > 0 {
		before = ellipsis + lastCells(before, left-1)
	}
	right := room - width(before)
	if width(after) > right || tail.end < len(p) {
		after = fit(after+ellipsis, right)
	}
	e.before, e.after = before, after
	return e
}

// middle shows the marked bytes, without their middle where they are too long.
func middle(p []byte, at extent, hidden secrets, cells int) string {
	reach := cells * bytesPerCell
	if at.end-at.start <= 2*reach || hidden.all {
		all := hidden.show(p, at)
		if width(all) <= cells {
			return all
		}
		head, _ := split(all, cells/2)
		return head + ellipsis + lastCells(all, cells-cells/2-1)
	}
	head, _ := split(hidden.show(p, extent{at.start, runeStart(p, at.start+reach)}), cells/2)
	return head + ellipsis + lastCells(hidden.show(p, extent{runeStart(p, at.end-reach), at.end}), cells-cells/2-1)
}

// runeStart moves an offset forward to the next start of a character.
func runeStart(p []byte, i int) int {
	for n := 0; n < utf8.UTFMax-1 && i < len(p) && !utf8.RuneStart(p[i]); n++ {
		i++
	}
	return i
}

// lastCells is the end of text, as much as fits into the cells.
func lastCells(s string, cells int) string {
	for width(s) > cells && s != "" {
		_, tail := split(s, max(1, (width(s)-cells+1)/2))
		if tail == s { // a character wider than that
			_, tail = split(s, 2)
		}
		s = tail
	}
	return s
}

// sgrReverse swaps the colours of text and background.
const sgrReverse = "\x1b[7m"

// excerpt writes part of a payload and marks below it. Nothing is marked where there
// is nothing at the very beginning: that is where a thing that one of two payloads
// lacks would stand.
func (p *page) excerpt(margin string, e excerpt, sgr string) {
	if e.before == "" && e.marked == "" {
		p.raw(margin + e.after)
		return
	}
	colour := sgr
	if strings.TrimSpace(e.marked) == "" { // a blank has no colour of its own
		colour = sgrReverse
	}
	p.raw(margin + e.before + p.with(colour, e.marked) + e.after)
	p.raw(strings.Repeat(" ", width(margin)+width(e.before)) + p.with(sgr, strings.Repeat("^", max(1, width(e.marked)))))
}

// VisibleJSON is JSON text without power over a terminal: every character that
// Visible would not show as it is becomes a \u escape, which is the same value.
func VisibleJSON(text []byte) string { return string(escapeInvisible(text)) }
