package inspect

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Rewriting says what becomes of the texts of a message that a payload can be
// read from. A nil function leaves its texts as they are; none is called for an
// empty one.
type Rewriting struct {
	Payload, LastErr func([]byte) []byte
	Header           func(name, value string) string
}

// RewritePayload is the message with its payload, the text of its last error and
// its headers rewritten. Every other field, known or not, keeps its bytes and its
// place: IDs, and the unique key, which holds an MD5 of the payload. A field that a
// message has more than once, of which only the last counts, is rewritten each
// time.
//
// The result decodes as the message did. A task that is put back with it is
// another one: its lock was made from the payload it had.
func RewritePayload(msg []byte, to Rewriting) ([]byte, error) {
	if _, err := DecodeMessage(Ref{}, msg); err != nil {
		return nil, fmt.Errorf("rewriting %d bytes: %w", len(msg), err)
	}
	out := make([]byte, 0, len(msg))
	for len(msg) > 0 {
		number, kind, size := protowire.ConsumeField(msg)
		field := msg[:size]
		msg = msg[size:]
		if kind != protowire.BytesType {
			out = append(out, field...)
			continue
		}
		_, _, tag := protowire.ConsumeTag(field)
		value, _ := protowire.ConsumeBytes(field[tag:])
		rewritten, changed := to.field(number, value)
		if !changed {
			out = append(out, field...)
			continue
		}
		out = append(out, field[:tag]...)
		out = protowire.AppendBytes(out, rewritten)
	}
	return out, nil
}

func (to *Rewriting) field(number protowire.Number, value []byte) (rewritten []byte, changed bool) {
	switch {
	case len(value) == 0:
	case number == fieldPayload && to.Payload != nil:
		return to.Payload(value), true
	case number == fieldErrorMsg && to.LastErr != nil:
		return to.LastErr(value), true
	case number == fieldHeaders && to.Header != nil:
		return to.header(value)
	}
	return nil, false
}

// header rewrites one entry of the map, see setHeader.
func (to *Rewriting) header(entry []byte) (rewritten []byte, changed bool) {
	var t Task
	if err := new(interner).setHeader(entry, &t); err != nil {
		return nil, false // it was decoded before
	}
	for name, value := range t.Headers {
		if value == "" {
			return nil, false
		}
		to := to.Header(name, value)
		if to == value {
			return nil, false
		}
		out := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
		out = protowire.AppendString(protowire.AppendTag(out, 2, protowire.BytesType), to)
		return out, true
	}
	return nil, false
}

// DecodeMessage reads an encoded TaskMessage, such as the field msg of a task's
// hash. What stands in other fields of the hash, its state among them, is not
// known from it. The payload is a part of msg, not a copy.
func DecodeMessage(r Ref, msg []byte) (Task, error) {
	t := Task{Ref: r}
	if err := new(interner).decodeMessage(msg, &t); err != nil {
		return Task{Ref: r, Defect: DefectUndecodable}, err
	}
	return t, nil
}
