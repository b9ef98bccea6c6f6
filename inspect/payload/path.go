package payload

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Paths are cut so that a hostile name or a deep nesting cannot make one finding
// as large as the payload.
const (
	maxPathEnd  = 2048 // bytes kept at either end of a path
	maxPathName = 1024 // bytes of one name
	ellipsis    = "…"
)

// step is one element of a path: a member name or an array index.
type step struct {
	name  []byte // unescaped; lone surrogates in three bytes each
	index int    // used when member is false; negative stands for every element
	isKey bool
}

// formatPath writes $.a.b[0]['odd name']. Names that are not ASCII identifiers
// are quoted, with \' and \\ for quote and backslash; whatever is not UTF-8
// becomes U+FFFD. Long paths lose their middle, which cut reports.
func formatPath(n int, at func(int) step) (path string, cut bool) {
	head := []byte{'$'}
	i := 0
	for ; i < n && len(head) < maxPathEnd; i++ {
		head = appendStep(head, at(i))
	}
	if i == n {
		return string(head), false
	}
	var tail [][]byte
	size := 0
	last := n
	for ; last > i && size < maxPathEnd; last-- {
		one := appendStep(nil, at(last-1))
		size += len(one)
		tail = append(tail, one)
	}
	if cut = last > i; cut {
		head = append(head, ellipsis...)
	}
	for j := len(tail) - 1; j >= 0; j-- {
		head = append(head, tail[j]...)
	}
	return string(head), cut
}

func appendStep(dst []byte, s step) []byte {
	if !s.isKey {
		if s.index < 0 {
			return append(dst, "[*]"...)
		}
		dst = append(dst, '[')
		dst = strconv.AppendInt(dst, int64(s.index), 10)
		return append(dst, ']')
	}
	if isIdentifier(s.name) {
		dst = append(dst, '.')
		return append(dst, s.name...)
	}
	name := s.name
	cut := ""
	if len(name) > maxPathName {
		end := maxPathName
		for end > maxPathName-utf8.UTFMax && !utf8.RuneStart(name[end]) {
			end--
		}
		name, cut = name[:end], ellipsis
	}
	text := strings.ToValidUTF8(oneReplacement(name), "\uFFFD")
	dst = append(dst, "['"...)
	for i := range len(text) {
		if c := text[i]; c == '\'' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, text[i])
	}
	dst = append(dst, cut...)
	return append(dst, "']"...)
}

// oneReplacement turns each lone surrogate, which is held in three bytes, into
// one U+FFFD; ToValidUTF8 would make one out of a whole run.
func oneReplacement(name []byte) string {
	if !strings.Contains(string(name), "\xED") {
		return string(name)
	}
	out := make([]byte, 0, len(name))
	for len(name) > 0 {
		if r, size := decodeWide(name); size > 0 {
			out = utf8.AppendRune(out, r)
			name = name[size:]
			continue
		}
		out = append(out, name[0])
		name = name[1:]
	}
	return string(out)
}

// decodeWide reads one rune, or one surrogate in three bytes; size 0 means that
// the bytes are neither.
func decodeWide(b []byte) (rune, int) {
	r, size := utf8.DecodeRune(b)
	if r != utf8.RuneError || size > 1 {
		return r, size
	}
	if len(b) >= 3 && b[0] == 0xED && b[1] >= 0xA0 && b[1] <= 0xBF && b[2] >= 0x80 && b[2] <= 0xBF {
		return 0xD000 | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F), 3
	}
	return utf8.RuneError, 0
}

func isIdentifier(name []byte) bool {
	if len(name) == 0 || len(name) > maxPathName {
		return false
	}
	for i, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}
