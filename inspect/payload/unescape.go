package payload

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape appends what a string literal's content means. The content must have
// been scanned. Bytes that are not UTF-8 become U+FFFD, as encoding/json reads
// them; lone surrogates keep their value in three bytes, so that two names that
// differ only there stay two names.
func unescape(dst, content []byte) []byte {
	for len(content) > 0 {
		plain := nextEscape(content)
		if plain < 0 {
			return appendValid(dst, content)
		}
		dst = appendValid(dst, content[:plain])
		content = content[plain:]
		r, size := escapeRune(content)
		dst = appendWide(dst, r)
		content = content[size:]
	}
	return dst
}

// nextEscape is the offset of the next backslash, or -1. Escapes often follow each
// other closely, where a call to IndexByte would cost more than it saves.
func nextEscape(content []byte) int {
	const near = 16
	for i, c := range content[:min(near, len(content))] {
		if c == '\\' {
			return i
		}
	}
	if len(content) <= near {
		return -1
	}
	far := bytes.IndexByte(content[near:], '\\')
	if far < 0 {
		return -1
	}
	return near + far
}

// escapeRune reads the escape at the start of b: its rune, which is a surrogate
// only if it is unpaired, and its length.
func escapeRune(b []byte) (rune, int) {
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		unit, _ := hexUnit(b, 2)
		if low, ok := lowSurrogate(b, 0, unit); utf16.IsSurrogate(unit) && ok {
			return utf16.DecodeRune(unit, low), 12
		}
		return unit, 6
	default:
		return rune(b[1]), 2
	}
}

func appendValid(dst, b []byte) []byte {
	if len(b) == 0 {
		return dst
	}
	if utf8.Valid(b) {
		return append(dst, b...)
	}
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		dst = utf8.AppendRune(dst, r)
		b = b[size:]
	}
	return dst
}

func appendWide(dst []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(dst, r)
}

// appendCanonicalText appends the canonical spelling of a string literal, with
// its quotes. The content must have been scanned and hold neither lone surrogates
// nor bytes that are not UTF-8.
func appendCanonicalText(dst, content []byte) []byte {
	dst = append(dst, '"')
	for {
		plain := nextEscape(content)
		if plain < 0 {
			dst = append(dst, content...)
			return append(dst, '"')
		}
		dst = append(dst, content[:plain]...)
		content = content[plain:]
		r, size := escapeRune(content)
		dst = appendCanonicalRune(dst, r)
		content = content[size:]
	}
}

func appendCanonicalRune(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, `\b`...)
	case '\t':
		return append(dst, `\t`...)
	case '\n':
		return append(dst, `\n`...)
	case '\f':
		return append(dst, `\f`...)
	case '\r':
		return append(dst, `\r`...)
	}
	if r < ' ' {
		return append(dst, '\\', 'u', '0', '0', '0'+byte(r>>4), lowerHex[r&15])
	}
	return utf8.AppendRune(dst, r)
}
