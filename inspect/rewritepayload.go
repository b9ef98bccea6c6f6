package inspect

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// RewritePayload is the message with its payload and the text of its last error
// replaced by what the functions make of them; nil leaves one as it is. Neither is
// called for a field that is absent or empty. Every other field, known or not,
// keeps its bytes and its place: headers, IDs, and the unique key, which holds an
// MD5 of the payload. A field that a message has more than once, of which only the
// last counts, is replaced each time.
//
// The result decodes as the message did. A task that is put back with it is
// another one: its lock was made from the payload it had.
func RewritePayload(msg []byte, payload, lastErr func([]byte) []byte) ([]byte, error) {
	if _, err := DecodeMessage(Ref{}, msg); err != nil {
		return nil, fmt.Errorf("rewriting %d bytes: %w", len(msg), err)
	}
	change := map[protowire.Number]func([]byte) []byte{fieldPayload: payload, fieldErrorMsg: lastErr}
	out := make([]byte, 0, len(msg))
	for len(msg) > 0 {
		number, kind, size := protowire.ConsumeField(msg)
		field := msg[:size]
		msg = msg[size:]
		rewrite := change[number]
		if kind != protowire.BytesType || rewrite == nil {
			out = append(out, field...)
			continue
		}
		_, _, tag := protowire.ConsumeTag(field)
		value, _ := protowire.ConsumeBytes(field[tag:])
		if len(value) == 0 {
			out = append(out, field...)
			continue
		}
		out = append(out, field[:tag]...)
		out = protowire.AppendBytes(out, rewrite(value))
	}
	return out, nil
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
