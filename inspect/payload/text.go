package payload

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// text is one string literal of a payload. Offsets are into the bytes that were
// scanned; spans of what was not found are empty.
type text struct {
	start, end int // content, without the quotes
	flags      textFlags
	html       span // first \u003c, \u003e or \u0026
	other      span // first other escape that is not the canonical spelling
	lone       span // first unpaired surrogate escape
	bad        span // first byte that is not UTF-8
}

type textFlags uint8

const (
	textEscaped  textFlags = 1 << iota // holds a backslash
	textWide                           // holds characters that normalisation may change
	textHTML                           // html is set
	textOther                          // other is set
	textLone                           // lone is set
	textBad                            // bad is set
	textBadInput = textLone | textBad
	textRespelt  = textHTML | textOther
)

// span is a range of bytes; end is exclusive.
type span struct{ start, end int }

const (
	everyByte = 0x0101010101010101
	highBits  = 0x8080808080808080
)

// scanText reads the string literal whose opening quote is at open and returns
// the offset after its closing quote. A negative result is the complement (^) of
// the offset of what is not JSON.
func scanText(p []byte, open int, t *text) int {
	i := open + 1
	t.start = i
	t.flags = 0
	for {
		for i+8 <= len(p) {
			special := specialBytes(binary.LittleEndian.Uint64(p[i:]))
			if special != 0 {
				i += bits.TrailingZeros64(special) >> 3
				break
			}
			i += 8
		}
		if i >= len(p) {
			return ^len(p)
		}
		switch c := p[i]; {
		case c == '"':
			t.end = i
			return i + 1
		case c == '\\':
			next := scanEscape(p, i, t)
			if next < 0 {
				return next
			}
			i = next
		case c < ' ':
			return ^i
		case c >= utf8.RuneSelf:
			i = scanWide(p, i, t)
		default:
			i++
		}
	}
}

// specialBytes marks the first byte of w that is a quote, a backslash, a control
// or not ASCII by its high bit; marks above the first one may be wrong.
func specialBytes(w uint64) uint64 {
	quote := w ^ '"'*everyByte
	slash := w ^ '\\'*everyByte
	return ((w-' '*everyByte)&^w | (quote-everyByte)&^quote | (slash-everyByte)&^slash | w) & highBits
}

// firstComposable is the first character that normalisation form C may change or
// combine with the one before it.
const firstComposable = 0x300

func scanWide(p []byte, i int, t *text) int {
	for i < len(p) && p[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && size == 1 {
			if t.flags&textBad == 0 {
				t.flags |= textBad
				t.bad = span{i, i + 1}
			}
		} else if r >= firstComposable && !isInert(r) {
			t.flags |= textWide
		}
		i += size
	}
	return i
}

// scanEscape reads the escape at i. A surrogate pair is one escape.
func scanEscape(p []byte, i int, t *text) int {
	t.flags |= textEscaped
	if i+1 >= len(p) {
		return ^len(p)
	}
	switch p[i+1] {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case '/':
		t.note(textOther, &t.other, span{i, i + 2})
		return i + 2
	case 'u':
		unit, ok := hexUnit(p, i+2)
		if !ok {
			return ^badHex(p, i+2)
		}
		return scanUnit(p, i, unit, t)
	default:
		return ^(i + 1)
	}
}

func scanUnit(p []byte, i int, unit rune, t *text) int {
	end := i + 6
	switch {
	case unit == '<' || unit == '>' || unit == '&':
		t.note(textHTML, &t.html, span{i, end})
	case utf16.IsSurrogate(unit):
		if low, ok := lowSurrogate(p, i, unit); ok {
			end = i + 12
			t.note(textOther, &t.other, span{i, end})
			if !isInert(utf16.DecodeRune(unit, low)) {
				t.flags |= textWide
			}
			break
		}
		t.note(textLone, &t.lone, span{i, end})
	default:
		if unit >= firstComposable && !isInert(unit) {
			t.flags |= textWide
		}
		if !canonicalUnit(p, i, unit) {
			t.note(textOther, &t.other, span{i, end})
		}
	}
	return end
}

func (t *text) note(flag textFlags, at *span, where span) {
	if t.flags&flag == 0 {
		t.flags |= flag
		*at = where
	}
}

// canonicalUnit says whether a \u escape is how the canonical form writes that
// character: a control without a short escape, in lower-case hex.
func canonicalUnit(p []byte, i int, unit rune) bool {
	switch unit {
	case '\b', '\t', '\n', '\f', '\r':
		return false
	}
	return unit < ' ' && p[i+4] == '0'+byte(unit>>4) && p[i+5] == lowerHex[unit&15]
}

const lowerHex = "0123456789abcdef"

// lowSurrogate reads the second half of the pair whose first half is at i.
func lowSurrogate(p []byte, i int, high rune) (rune, bool) {
	if high >= 0xDC00 || i+12 > len(p) || p[i+6] != '\\' || p[i+7] != 'u' {
		return 0, false
	}
	low, ok := hexUnit(p, i+8)
	return low, ok && low >= 0xDC00 && low <= 0xDFFF
}

func hexUnit(p []byte, i int) (rune, bool) {
	if i+4 > len(p) {
		return 0, false
	}
	d := p[i : i+4 : i+4]
	a, b, c, e := hexValues[d[0]], hexValues[d[1]], hexValues[d[2]], hexValues[d[3]]
	if a|b|c|e < 0 {
		return 0, false
	}
	return rune(a)<<12 | rune(b)<<8 | rune(c)<<4 | rune(e), true
}

func badHex(p []byte, i int) int {
	for i < len(p) && hexDigit(p[i]) >= 0 {
		i++
	}
	return i
}

// hexDigit is the digit's value, negative for what is none.
func hexDigit(c byte) int8 { return hexValues[c] }

var hexValues = func() (values [256]int8) {
	for i := range values {
		values[i] = -1
	}
	for i, c := range []byte(lowerHex) {
		values[c] = int8(i)
		if c >= 'a' {
			values[c-'a'+'A'] = int8(i)
		}
	}
	return values
}()
