package inspect

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Retries are the two numbers of a message that say how often a task may still
// run (internal/proto/asynq.proto: retried, retry).
type Retries struct {
	Retried  int // counted failures so far
	MaxRetry int
}

// Attempts is how often a task with these numbers runs, if every run fails and
// counts as a failure (processor.go: handleFailedMessage archives a task as soon
// as retried >= max retry).
func (r Retries) Attempts() int { return max(r.MaxRetry-r.Retried, 0) + 1 }

// MaxAttempts is the most that RewriteAttempts gives. asynq's default delay
// leaves the range of a time.Duration at retry 310 and is then negative, so that
// the task would be retried without a pause (server.go: DefaultRetryDelayFunc).
const MaxAttempts = 300

// RewriteAttempts is the message with its two numbers changed so that the task
// runs attempts times, if every run fails. Every other field, known or not, keeps
// its bytes and its place among the others.
//
// One attempt leaves the retried count and lowers the maximum to it; a task that
// has used up its retries has one attempt left as it is, and its message is
// returned as it is, not a copy. For more attempts the count begins anew, at 1 for a task
// that has failed before and else at 0, since asynq's default delay grows with its
// fourth power: after 25 failures, the second attempt would come 4.5 days after
// the first. It does not begin at 0 for a task that has failed: a handler that
// looks for earlier work only if asynq.GetRetryCount says that this is a retry
// would take the task for a new one. Either way the last attempt is the one where
// the count has reached the maximum.
//
// What the numbers said before is then nowhere in Redis; the caller keeps before.
func RewriteAttempts(msg []byte, attempts int) (rewritten []byte, before, after Retries, err error) {
	var names interner
	var t Task
	if err := names.decodeMessage(msg, &t); err != nil {
		return nil, Retries{}, Retries{}, fmt.Errorf("rewriting %d bytes: %w", len(msg), err)
	}
	if attempts < 1 || attempts > MaxAttempts {
		return nil, Retries{}, Retries{}, fmt.Errorf("%d attempts: want 1 to %d", attempts, MaxAttempts)
	}
	before = Retries{Retried: t.Retried, MaxRetry: t.MaxRetry}
	after = t.GiveAttempts(attempts)
	if after == before {
		return msg, before, after, nil
	}
	return rewriteRetries(msg, after), before, after, nil
}

// GiveAttempts is the numbers that give the task so many attempts, one or more
// (see RewriteAttempts). A message may claim any numbers: a negative count is taken
// for none.
func (t *Task) GiveAttempts(attempts int) Retries {
	r := Retries{Retried: t.Retried, MaxRetry: t.MaxRetry}
	switch {
	case attempts == 1 && r.Attempts() == 1:
		return r
	case attempts == 1:
		r.Retried = max(r.Retried, 0)
	case r.Retried > 0 || !t.LastFailedAt.IsZero() || t.LastErr != "":
		r.Retried = 1 // it has failed, be it without a count (asynq.SkipRetry)
	default:
		r.Retried = 0
	}
	return Retries{Retried: r.Retried, MaxRetry: r.Retried + attempts - 1}
}

// rewriteRetries copies a well-formed message field by field. Both numbers go
// where asynq writes them, in front of the first field with a higher number. A
// field with one of their numbers that is no varint is one that protobuf does
// not know, and stays.
func rewriteRetries(msg []byte, to Retries) []byte {
	out := make([]byte, 0, len(msg)+2*binary.MaxVarintLen64)
	written := false
	for len(msg) > 0 {
		number, kind, size := protowire.ConsumeField(msg)
		if number > fieldRetried && !written {
			out, written = appendRetries(out, to), true
		}
		if kind != protowire.VarintType || number != fieldRetry && number != fieldRetried {
			out = append(out, msg[:size]...)
		}
		msg = msg[size:]
	}
	if !written {
		out = appendRetries(out, to)
	}
	return out
}

// appendRetries leaves zeros out, as proto3 does.
func appendRetries(b []byte, r Retries) []byte {
	for _, f := range []struct {
		number protowire.Number
		value  int
	}{{fieldRetry, r.MaxRetry}, {fieldRetried, r.Retried}} {
		if f.value != 0 {
			b = protowire.AppendTag(b, f.number, protowire.VarintType)
			b = protowire.AppendVarint(b, uint64(f.value))
		}
	}
	return b
}
