package payload

import (
	"bytes"
	"encoding/binary"
)

// Likeness is a number that payloads of the same work are likely to share although
// their bytes differ: the order of members and elements, blanks, fractions, texts
// that are escaped or not ASCII, and whatever looks like a clock reading or a
// generated identifier do not count. It proves nothing. It is made for drawing
// samples of which the payloads of one work are all part, or none: in a sample
// drawn payload by payload, hardly any would meet its like. It is the same in
// every process, reads the bytes once, and takes what is not JSON as it comes.
func Likeness(payload []byte) uint64 {
	sum := uint64(0)
	for i := 0; i < len(payload); {
		switch c := payload[i]; {
		case c == '"':
			end, plain := plainString(payload, i+1)
			if content := payload[i+1 : end]; plain && !looksGenerated(content) {
				sum += mix(hashText(content), uint64('"'))
			}
			i = end + 1
		case c == '-' || c >= '0' && c <= '9':
			end := numberEnd(payload, i)
			if literal := payload[i:end]; len(literal) < shortestEpoch && !bytes.ContainsAny(literal, ".eE") {
				sum += mix(hashText(literal), uint64('0'))
			}
			i = end
		default:
			i++
		}
	}
	return mix(sum, 1)
}

// plainString finds the end of a string's content, and says whether it is ASCII
// without escapes.
func plainString(p []byte, i int) (end int, plain bool) {
	plain = true
	for ; i < len(p); i++ {
		switch c := p[i]; {
		case c == '"':
			return i, plain
		case c == '\\':
			plain = false
			i++
		case c >= 0x80:
			plain = false
		}
	}
	return len(p), plain
}

func numberEnd(p []byte, i int) int {
	for i++; i < len(p); i++ {
		if c := p[i]; (c < '0' || c > '9') && c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' {
			break
		}
	}
	return i
}

func looksGenerated(content []byte) bool {
	if len(content) < shortestEpoch || hexDigit(content[0]) < 0 {
		return false
	}
	return timestampFacts(content)|identifierFacts(content) != 0 || isDigits(content) || isTraceparent(content)
}

// hashText is a hash that needs no seed, since nothing depends on it but which
// payloads a sample holds.
func hashText(text []byte) uint64 {
	h := uint64(len(text))
	for ; len(text) >= 8; text = text[8:] {
		h = mix(h, binary.LittleEndian.Uint64(text))
	}
	last := uint64(0)
	for i, c := range text {
		last |= uint64(c) << (8 * i)
	}
	return mix(h, last)
}
