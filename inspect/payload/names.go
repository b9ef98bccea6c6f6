package payload

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// compareNames orders unescaped member names by their UTF-16 code units (RFC 8785
// section 3.2.3). That is the order of their UTF-8 bytes except that characters
// beyond U+FFFF, whose units are surrogates, come before U+E000–U+FFFF.
func compareNames(a, b []byte) int {
	i := commonPrefix(a, b)
	if i == len(a) || i == len(b) {
		return len(a) - len(b)
	}
	// Below 0xED no surrogate is involved: continuation bytes and the leads of
	// U+0080–U+CFFF order like their characters.
	if a[i] < 0xED && b[i] < 0xED {
		return int(a[i]) - int(b[i])
	}
	return compareUnits(a[runeStart(a, i):], b[runeStart(b, i):])
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	// Equal blocks are skipped at memcmp speed: sorting long names with a long
	// common prefix would otherwise be the slowest thing a payload can ask for.
	for block := 256; i+block <= n && bytes.Equal(a[i:i+block], b[i:i+block]); {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func runeStart(b []byte, i int) int {
	for i > 0 && !utf8.RuneStart(b[i]) {
		i--
	}
	return i
}

func compareUnits(a, b []byte) int {
	var ua, ub []uint16
	var bufA, bufB [2]uint16
	for {
		ua, a = nextUnit(ua, a, &bufA)
		ub, b = nextUnit(ub, b, &bufB)
		switch {
		case len(ua) == 0 || len(ub) == 0:
			return len(ua) - len(ub)
		case ua[0] != ub[0]:
			return int(ua[0]) - int(ub[0])
		}
		ua, ub = ua[1:], ub[1:]
	}
}

func nextUnit(have []uint16, rest []byte, buf *[2]uint16) (units []uint16, left []byte) {
	if len(have) > 0 || len(rest) == 0 {
		return have, rest
	}
	r, size := decodeWide(rest)
	if size == 0 {
		r, size = utf8.RuneError, 1
	}
	if r > 0xFFFF {
		high, low := utf16.EncodeRune(r)
		buf[0], buf[1] = uint16(high), uint16(low)
		return buf[:2], rest[size:]
	}
	buf[0] = uint16(r)
	return buf[:1], rest[size:]
}

// nameClass says what a member name alone tells about the values below it.
type nameClass uint8

const (
	nameKnown    nameClass = 1 << iota // the class was computed
	nameVolatile                       // set per enqueue, whatever the value
	nameRequest                        // names a request: volatile over a random identifier
	nameTime                           // time-like
)

// classifyName reads an unescaped name once; values below it share the result.
func classifyName(name []byte) nameClass {
	class := nameKnown
	var buf [longestVolatile]byte
	switch string(squash(name, &buf)) {
	case "traceparent", "tracestate", "baggage", "b3", "traceid", "xtraceid",
		"spanid", "parentspanid", "xb3traceid", "xb3spanid", "xb3parentspanid",
		"xb3sampled", "ubertraceid", "xamzntraceid", "nonce", "salt", "enqueuedat", "queuedat":
		class |= nameVolatile
	case "requestid", "xrequestid", "correlationid", "xcorrelationid":
		class |= nameRequest
	}
	if timeLike(name) {
		class |= nameTime
	}
	return class
}

// nameCache remembers the classes of short names: a queue has few of them, and
// each stands in every payload.
type nameCache [64]struct {
	class nameClass
	size  uint8
	name  [22]byte
}

func (c *nameCache) classify(name []byte) nameClass {
	if len(name) == 0 || len(name) > len(c[0].name) {
		return classifyName(name)
	}
	slot := &c[(int(name[0])+int(name[len(name)-1])*7+int(name[len(name)/2])*13+len(name))%len(c)]
	if int(slot.size) == len(name) && string(slot.name[:len(name)]) == string(name) {
		return slot.class
	}
	slot.class = classifyName(name)
	slot.size = uint8(copy(slot.name[:], name))
	return slot.class
}

const longestVolatile = len("xb3parentspanid")

// squash lower-cases a name into buf and drops what is not alphanumeric; nil if
// more is left than any known name has.
func squash(name []byte, buf *[longestVolatile]byte) []byte {
	n := 0
	for _, c := range name {
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf:
		default:
			continue
		}
		if n == len(buf) {
			return nil
		}
		buf[n] = c
		n++
	}
	return buf[:n]
}

// timeLike splits a name at non-alphanumerics and camelCase and looks for a word
// that speaks of time.
func timeLike(name []byte) bool {
	start := 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && isAlphanumeric(name[i]) && !camelBoundary(name, i) {
			continue
		}
		if start < i && timeWord(name[start:i]) {
			return true
		}
		start = i
		if i < len(name) && !isAlphanumeric(name[i]) {
			start++
		}
	}
	return false
}

func isAlphanumeric(c byte) bool {
	return isLower(c) || isUpper(c) || c >= '0' && c <= '9' || c >= utf8.RuneSelf
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// camelBoundary says whether a word starts at i: eventTs, eventTS, HTTPDate.
func camelBoundary(name []byte, i int) bool {
	if i == 0 || !isUpper(name[i]) {
		return false
	}
	if !isUpper(name[i-1]) {
		return isAlphanumeric(name[i-1])
	}
	return i+1 < len(name) && isLower(name[i+1])
}

func timeWord(word []byte) bool {
	var buf [len("timestamp")]byte
	if len(word) > len(buf) {
		return false
	}
	n := copy(buf[:], word)
	for i, c := range buf[:n] {
		if isUpper(c) {
			buf[i] = c + 'a' - 'A'
		}
	}
	switch string(buf[:n]) {
	case "at", "ts", "time", "timestamp", "datetime", "now", "epoch", "millis", "nanos", "micros", "unix", "date":
		return true
	}
	return false
}
