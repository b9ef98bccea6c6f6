package payload

import (
	"encoding/base64"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is what a payload is, or, if it is not JSON, looks like. The zero value
// is EncodingUnknown.
type Encoding uint8

// Encodings.
const (
	EncodingUnknown    Encoding = iota
	EncodingEmpty               // zero bytes
	EncodingJSON                // one JSON text
	EncodingMsgpack             // one MessagePack map, array, string or byte string
	EncodingBinary              // protobuf, gob or anything else that is not text
	EncodingGzip                // gzip
	EncodingUTF16               // text in UTF-16
	EncodingBase64JSON          // base64 of a JSON object or array
	EncodingText                // UTF-8 text that is not JSON
)

var encodingNames = [...]string{"unknown", "empty", "json", "msgpack", "binary", "gzip", "utf-16", "base64-json", "text"}

// String is the encoding's public name, such as "base64-json".
func (e Encoding) String() string {
	if int(e) < len(encodingNames) {
		return encodingNames[e]
	}
	return encodingNames[EncodingUnknown]
}

// MarshalText writes the public name.
func (e Encoding) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

func (e Encoding) describe() string {
	switch e {
	case EncodingMsgpack:
		return "MessagePack"
	case EncodingBinary:
		return "binary (protobuf, gob or the like)"
	case EncodingUTF16:
		return "UTF-16"
	case EncodingBase64JSON:
		return "base64 of JSON"
	default:
		return e.String()
	}
}

// guessEncoding looks at a payload that is not JSON.
func guessEncoding(p []byte) Encoding {
	switch {
	case len(p) >= 3 && p[0] == 0x1F && p[1] == 0x8B && p[2] == 8: // RFC 1952 section 2.3.1
		return EncodingGzip
	case isUTF16(p):
		return EncodingUTF16
	case isMsgpack(p):
		return EncodingMsgpack
	case !isText(p):
		return EncodingBinary
	case new(parser).isBase64JSON(p):
		return EncodingBase64JSON
	default:
		return EncodingText
	}
}

// isText holds for UTF-8 without control characters other than white space.
func isText(p []byte) bool {
	for _, c := range p {
		if c < '\t' || c > '\r' && c < ' ' || c == 0x7F {
			return false
		}
	}
	return utf8.Valid(p)
}

// isUTF16 wants a byte order mark, or text in which most units are ASCII.
func isUTF16(p []byte) bool {
	if len(p) < 2 || len(p)%2 != 0 {
		return false
	}
	switch {
	case p[0] == 0xFF && p[1] == 0xFE:
		return isUnits(p[2:], binary.LittleEndian, false)
	case p[0] == 0xFE && p[1] == 0xFF:
		return isUnits(p[2:], binary.BigEndian, false)
	case p[0] == 0:
		return isUnits(p, binary.BigEndian, true)
	case p[1] == 0:
		return isUnits(p, binary.LittleEndian, true)
	default:
		return false
	}
}

func isUnits(p []byte, order binary.ByteOrder, mostlyASCII bool) bool {
	ascii := 0
	for i := 0; i < len(p); i += 2 {
		unit := rune(order.Uint16(p[i:]))
		switch {
		case utf16.IsSurrogate(unit):
			if i+4 > len(p) || utf16.DecodeRune(unit, rune(order.Uint16(p[i+2:]))) == utf8.RuneError {
				return false
			}
			i += 2
		case unit < '\t' || unit > '\r' && unit < ' ':
			return false
		case unit < utf8.RuneSelf:
			ascii++
		}
	}
	return !mostlyASCII || ascii*4 >= len(p)
}

// isBase64JSON says whether the text is base64 (standard or URL alphabet, with or
// without padding) of a JSON object or array.
func (s *parser) isBase64JSON(text []byte) bool {
	alphabets := []*base64.Encoding{base64.StdEncoding, base64.URLEncoding}
	if len(text)%4 != 0 {
		alphabets = []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding}
	}
	if len(text) < 4 {
		return false
	}
	decoded := make([]byte, len(text))
	for _, alphabet := range alphabets {
		if n, err := alphabet.Decode(decoded, text); err == nil {
			return s.parse(decoded[:n], nil) == nil && s.isContainer()
		}
	}
	return false
}

// isDoubleEncoded says whether the text of a top-level string is a JSON object or
// array, or base64 of one.
func (s *parser) isDoubleEncoded(text []byte) bool {
	if s.parse(text, nil) == nil {
		return s.isContainer()
	}
	return s.isBase64JSON(text)
}
