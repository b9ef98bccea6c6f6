package inspect

import (
	"errors"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

var errWire = errors.New("malformed protobuf")

// eachField calls visit for every field of an encoded message: with the number
// of a varint or the bytes of a length-delimited field, which are a part of b.
// Fields of other kinds are checked and passed over.
func eachField(b []byte, visit func(number protowire.Number, n uint64, bytes []byte) error) error {
	for len(b) > 0 {
		number, kind, size := protowire.ConsumeTag(b)
		if size < 0 || number > protowire.MaxValidNumber {
			return errWire
		}
		b = b[size:]
		var n uint64
		var bytes []byte
		switch kind {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			bytes, size = protowire.ConsumeBytes(b)
		default:
			size = protowire.ConsumeFieldValue(number, kind, b)
		}
		if size < 0 {
			return errWire
		}
		b = b[size:]
		if kind != protowire.VarintType && kind != protowire.BytesType {
			continue
		}
		if err := visit(number, n, bytes); err != nil {
			return err
		}
	}
	return nil
}

// timestamp reads a google.protobuf.Timestamp: 1 seconds, 2 nanoseconds. What
// asynq makes of Go's zero time is the zero time again.
func timestamp(b []byte) (time.Time, error) {
	var s, nanos int64
	err := eachField(b, func(number protowire.Number, n uint64, _ []byte) error {
		switch number {
		case 1:
			s = int64(n)
		case 2:
			nanos = int64(int32(n))
		}
		return nil
	})
	at := time.Unix(s, nanos)
	if err != nil || at.UTC().IsZero() {
		return time.Time{}, err
	}
	return at, nil
}
