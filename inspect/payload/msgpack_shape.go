package payload

import (
	"errors"
	"fmt"
	"time"
)

// msgpackKind is what the head byte of an item announces.
type msgpackKind uint8

const (
	msgpackScalar msgpackKind = iota
	msgpackText
	msgpackBytes
	msgpackMap
	msgpackArray
	msgpackExtension
)

// msgpackShape reads a head byte (MessagePack specification, formats overview):
// what it announces, and how many bytes of length follow; 0 means that the length
// is in the head itself. For extensions of fixed length it is that length, negated.
func msgpackShape(c byte) (kind msgpackKind, size int) {
	switch {
	case c >= 0x80 && c <= 0x8F:
		return msgpackMap, 0
	case c >= 0x90 && c <= 0x9F:
		return msgpackArray, 0
	case c >= 0xA0 && c <= 0xBF:
		return msgpackText, 0
	case c >= 0xC4 && c <= 0xC6:
		return msgpackBytes, 1 << (c - 0xC4)
	case c >= 0xC7 && c <= 0xC9:
		return msgpackExtension, 1 << (c - 0xC7)
	case c >= 0xD4 && c <= 0xD8:
		return msgpackExtension, -(1 << (c - 0xD4))
	case c >= 0xD9 && c <= 0xDB:
		return msgpackText, 1 << (c - 0xD9)
	case c == 0xDC || c == 0xDD:
		return msgpackArray, 2 << (c - 0xDC)
	case c == 0xDE || c == 0xDF:
		return msgpackMap, 2 << (c - 0xDE)
	default:
		return msgpackScalar, 0
	}
}

const timestampType = 0xFF // extension type −1

// extension reads the timestamp extension; JSON has nothing for others.
func (r *msgpackReader) extension(size int) error {
	length := uint64(-size)
	if size > 0 {
		var err error
		if length, err = r.length(0, size, 0); err != nil {
			return err
		}
	}
	kind, err := r.take(1)
	if err != nil {
		return err
	}
	content, err := r.run(length)
	if err != nil || r.mute {
		return err
	}
	if kind[0] != timestampType {
		return fmt.Errorf("extension type %d has no JSON form", int8(kind[0]))
	}
	return r.timestamp(content)
}

func (r *msgpackReader) timestamp(content []byte) error {
	var at time.Time
	switch len(content) {
	case 4:
		at = time.Unix(int64(bigEndian(content)), 0)
	case 8:
		both := bigEndian(content)
		at = time.Unix(int64(both&(1<<34-1)), int64(both>>34))
	case 12:
		at = time.Unix(int64(bigEndian(content[4:])), int64(bigEndian(content[:4])))
	default:
		return errors.New("a timestamp of unknown length")
	}
	at = at.UTC()
	if at.Year() < 0 || at.Year() > 9999 {
		return errors.New("a timestamp outside the years 0 to 9999")
	}
	r.out = append(r.out, '"')
	r.out = at.AppendFormat(r.out, time.RFC3339Nano)
	r.out = append(r.out, '"')
	return nil
}
