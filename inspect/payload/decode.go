package payload

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
)

// DecodeLimit is the largest result of one decoding, in bytes: a small gzip
// payload can claim to hold gigabytes.
const DecodeLimit = 64 << 20

// ErrDecodedTooLarge says that a decoding would exceed DecodeLimit.
var ErrDecodedTooLarge = errors.New("decoded payload is larger than 64 MiB")

// Decoding is one step from the bytes of a payload to JSON. The zero value is
// DecodingUnknown.
type Decoding uint8

// Decodings.
const (
	DecodingUnknown Decoding = iota
	DecodingNone             // the bytes as they are
	DecodingBase64           // standard or URL alphabet, with or without padding
	DecodingGzip             // gzip, all members
	DecodingMsgpack          // MessagePack to JSON
)

var decodingNames = [...]string{"unknown", "none", "base64", "gzip", "msgpack"}

// String is the decoding's public name, such as "gzip".
func (d Decoding) String() string {
	if int(d) < len(decodingNames) {
		return decodingNames[d]
	}
	return decodingNames[DecodingUnknown]
}

// ParseDecoding finds the decoding with that public name.
func ParseDecoding(name string) (Decoding, error) {
	for d := DecodingNone; int(d) < len(decodingNames); d++ {
		if decodingNames[d] == name {
			return d, nil
		}
	}
	return DecodingUnknown, fmt.Errorf("unknown decoding %q: use none, base64, gzip or msgpack", name)
}

// Decode applies the steps in order. The lock is that of the payload as it was
// before: see UniqueKey. Without steps, or with DecodingNone alone, the result is
// the payload itself.
//
// MessagePack becomes JSON with its members in their order and duplicates kept.
// Byte strings become base64, the timestamp extension RFC 3339, and floats that
// hold an integer are written with .0, because the same number as an integer has
// other bytes and another lock. Widths of integers and lengths, which MessagePack
// leaves to the encoder, are not seen in the result.
func Decode(payload []byte, steps ...Decoding) ([]byte, error) {
	for _, step := range steps {
		decoded, err := decodeOne(payload, step)
		if err != nil {
			return nil, fmt.Errorf("decode payload of %d bytes as %s: %w", len(payload), step, err)
		}
		payload = decoded
	}
	return payload, nil
}

func decodeOne(payload []byte, step Decoding) ([]byte, error) {
	switch step {
	case DecodingNone:
		return payload, nil
	case DecodingBase64:
		return decodeBase64(payload)
	case DecodingGzip:
		return decodeGzip(payload)
	case DecodingMsgpack:
		return decodeMsgpack(payload)
	default:
		return nil, errors.New("unknown decoding: use none, base64, gzip or msgpack")
	}
}

func decodeBase64(payload []byte) ([]byte, error) {
	text := bytes.TrimRight(bytes.TrimSpace(payload), "=")
	alphabet := base64.RawStdEncoding
	if bytes.ContainsAny(text, "-_") {
		alphabet = base64.RawURLEncoding
	}
	decoded := make([]byte, alphabet.DecodedLen(len(text)))
	n, err := alphabet.Decode(decoded, text)
	if err != nil {
		return nil, err
	}
	if n > DecodeLimit {
		return nil, ErrDecodedTooLarge
	}
	return decoded[:n], nil
}

func decodeGzip(payload []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	decoded, err := io.ReadAll(io.LimitReader(reader, DecodeLimit+1))
	if err != nil {
		return nil, err
	}
	if len(decoded) > DecodeLimit {
		return nil, ErrDecodedTooLarge
	}
	return decoded, nil
}
