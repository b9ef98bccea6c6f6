package inspect

import (
	"errors"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of asynq's TaskMessage (internal/proto/asynq.proto). That
// package is internal, so the wire is read directly; a field of an unknown
// number is passed over, as protobuf does.
const (
	fieldType         = 1
	fieldPayload      = 2
	fieldID           = 3
	fieldQueue        = 4
	fieldRetry        = 5
	fieldRetried      = 6
	fieldErrorMsg     = 7
	fieldTimeout      = 8
	fieldDeadline     = 9
	fieldUniqueKey    = 10
	fieldLastFailedAt = 11
	fieldRetention    = 12
	fieldCompletedAt  = 13
	fieldGroupKey     = 14
	fieldHeaders      = 15
)

var errMessage = errors.New("malformed task message")

// decodeMessage reads an encoded TaskMessage into t. The payload is a part of
// msg, not a copy. ID and queue are those of the key that held the message; the
// message's own are not looked at beyond being well formed.
//
// It accepts what asynq's DecodeMessage accepts (internal/base/base.go), but for
// an empty message, which asynq takes for a task without a type. On error t may
// be half filled.
func (n *interner) decodeMessage(msg []byte, t *Task) error {
	if len(msg) == 0 {
		return errMessage
	}
	return eachField(msg, func(number protowire.Number, v uint64, bytes []byte) error {
		if bytes == nil {
			t.setNumber(number, v)
			return nil
		}
		return n.setBytes(number, bytes, t)
	})
}

// setNumber stores a varint; the message's int32 fields are cut to 32 bits, as
// protobuf does.
func (t *Task) setNumber(number protowire.Number, v uint64) {
	switch number {
	case fieldRetry:
		t.MaxRetry = int(int32(v))
	case fieldRetried:
		t.Retried = int(int32(v))
	case fieldTimeout:
		t.Timeout = seconds(int64(v))
	case fieldDeadline:
		t.Deadline = unixOrZero(int64(v))
	case fieldLastFailedAt:
		t.LastFailedAt = unixOrZero(int64(v))
	case fieldRetention:
		t.Retention = seconds(int64(v))
	case fieldCompletedAt:
		t.CompletedAt = unixOrZero(int64(v))
	}
}

func (n *interner) setBytes(number protowire.Number, v []byte, t *Task) error {
	switch number {
	case fieldPayload:
		t.Payload = v[:len(v):len(v)]
		return nil
	case fieldHeaders:
		return n.setHeader(v, t)
	case fieldType, fieldID, fieldQueue, fieldErrorMsg, fieldUniqueKey, fieldGroupKey:
		// proto3 strings are UTF-8, or the whole message does not decode.
		if !utf8.Valid(v) {
			return errMessage
		}
	}
	switch number {
	case fieldType:
		t.Type = n.intern(v)
	case fieldErrorMsg:
		t.LastErr = string(v)
	case fieldUniqueKey:
		t.UniqueKey = string(v)
	case fieldGroupKey:
		t.Group = n.intern(v)
	}
	return nil
}

// setHeader reads one entry of the headers map: field 1 is the key, 2 the value.
func (n *interner) setHeader(entry []byte, t *Task) error {
	var pair [2][]byte
	err := eachField(entry, func(number protowire.Number, _ uint64, v []byte) error {
		if v == nil || number != 1 && number != 2 {
			return nil
		}
		if !utf8.Valid(v) {
			return errMessage
		}
		pair[number-1] = v
		return nil
	})
	if err != nil {
		return err
	}
	if t.Headers == nil {
		t.Headers = make(map[string]string)
	}
	t.Headers[n.intern(pair[0])] = string(pair[1])
	return nil
}

// unixOrZero is the time of a count of seconds; 0 is asynq's word for no time.
func unixOrZero(s int64) time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(s, 0)
}

// seconds multiplies as asynq's newTaskInfo does, wrap-around included, so that
// both show the same for a hostile number.
func seconds(s int64) time.Duration {
	return time.Duration(s) * time.Second
}
