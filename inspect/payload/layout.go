package payload

import (
	"bytes"
	"hash/maphash"
)

var layoutSeed = maphash.MakeSeed()

// layout digests the insignificant whitespace of a document: each run of it and
// the token it stands before. It is 0 if there is none.
func layout(d *document) uint64 {
	if d.body == 0 && d.firstBlank().size() == 0 && d.newline().size() == 0 {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(layoutSeed)
	p, tokens := d.payload, 0
	for i := d.body; i < len(p); {
		start := i
		for i < len(p) && isBlank(p[i]) {
			i++
		}
		if i > start {
			var n [8]byte
			for k := range n {
				n[k] = byte(tokens >> (8 * k))
			}
			_, _ = h.Write(n[:])       // a maphash never fails
			_, _ = h.Write(p[start:i]) // nor does this
			_ = h.WriteByte(0)
		}
		if i < len(p) {
			i = skipToken(p, i)
			tokens++
		}
	}
	if d.body > 0 {
		_, _ = h.WriteString(byteOrderMark)
	}
	return h.Sum64()
}

// skipToken returns the offset after the token at i of a valid document.
func skipToken(p []byte, i int) int {
	switch c := p[i]; {
	case c == '"':
		return skipString(p, i)
	case c == '-' || isDigit(c):
		end, _ := scanNumber(p, i)
		return end
	case isLower(c):
		for i < len(p) && isLower(p[i]) {
			i++
		}
		return i
	default:
		return i + 1
	}
}

// layoutSpellings names what differs outside of tokens.
func layoutSpellings(a, b *document) []Spelling {
	var out []Spelling
	if a.body != b.body {
		out = append(out, Spelling{Path: "$", Rule: BOM, A: Range{0, a.body}, B: Range{0, b.body}})
	}
	tailA, tailB := a.newline(), b.newline()
	if tailA.size() != tailB.size() {
		out = append(out, Spelling{Path: "$", Rule: TrailingNewline, A: tailA.public(), B: tailB.public()})
	}
	if blankA, blankB := a.firstBlank(), b.firstBlank(); blankA.size()+blankB.size() > 0 || len(out) == 0 {
		out = append(out, Spelling{Path: "$", Rule: Whitespace, A: blankA.public(), B: blankB.public()})
	}
	return out
}

func (s span) size() int { return s.end - s.start }

// newline is the final \n or \r\n, or an empty range at the end.
func (d *document) newline() span {
	tail, n := d.payload[d.end:], len(d.payload)
	switch {
	case bytes.HasSuffix(tail, []byte("\r\n")):
		return span{n - 2, n}
	case bytes.HasSuffix(tail, []byte("\n")):
		return span{n - 1, n}
	default:
		return span{n, n}
	}
}

// firstBlank is the first run of insignificant whitespace before the final
// newline; empty if there is none.
func (d *document) firstBlank() span {
	limit := d.newline().start
	for i := d.body; i < limit; i = skipToken(d.payload, i) {
		start := i
		for i < limit && isBlank(d.payload[i]) {
			i++
		}
		if i > start {
			return span{start, i}
		}
	}
	return span{}
}
