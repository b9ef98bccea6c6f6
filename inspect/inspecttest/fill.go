package inspecttest

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/idemctl/idemctl/inspect"
)

// Message is an asynq task message as it is stored (asynq
// internal/proto/asynq.proto), for tests that need more tasks than a client can
// enqueue, or messages that no client writes.
type Message struct {
	Type, ID, Queue, LastErr, UniqueKey, Group string
	Payload                                    []byte
	Headers                                    map[string]string
	MaxRetry, Retried                          int
	Timeout, Deadline, LastFailedAt            int64 // seconds
	Retention, CompletedAt                     int64 // seconds
}

// Encode gives the stored form.
func (m Message) Encode() []byte {
	var b []byte
	b = appendText(b, 1, m.Type)
	b = appendText(b, 2, string(m.Payload))
	b = appendText(b, 3, m.ID)
	b = appendText(b, 4, m.Queue)
	b = appendNumber(b, 5, int64(m.MaxRetry))
	b = appendNumber(b, 6, int64(m.Retried))
	b = appendText(b, 7, m.LastErr)
	b = appendNumber(b, 8, m.Timeout)
	b = appendNumber(b, 9, m.Deadline)
	b = appendText(b, 10, m.UniqueKey)
	b = appendNumber(b, 11, m.LastFailedAt)
	b = appendNumber(b, 12, m.Retention)
	b = appendNumber(b, 13, m.CompletedAt)
	b = appendText(b, 14, m.Group)
	for k, v := range m.Headers {
		b = appendText(b, 15, string(appendText(appendText(nil, 1, k), 2, v)))
	}
	return b
}

func appendText(b []byte, number protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), s)
}

func appendNumber(b []byte, number protowire.Number, n int64) []byte {
	if n == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), uint64(n))
}

// Fill writes n tasks into a queue's list or set, as asynq would have left them,
// and returns their references. edit may change each message before it is
// stored; nil: all alike, with a JSON payload of some 250 bytes. An aggregating
// task goes into the group "g" unless edit names another.
func (s *Server) Fill(queue string, state inspect.State, n int, edit func(i int, m *Message)) []inspect.Ref {
	s.t.Helper()
	refs := make([]inspect.Ref, 0, n)
	s.must(s.Client().SAdd(s.ctx(), "asynq:queues", queue).Err())
	const batch = 500
	for from := 0; from < n; from += batch {
		pipe := s.Client().Pipeline()
		for i := from; i < min(from+batch, n); i++ {
			m := Message{
				Type: "payment:charge", ID: uuid.NewString(), Queue: queue, MaxRetry: 25, Timeout: 1800,
				Payload: fmt.Appendf(nil, `{"event_id":"evt_%d","amount":%d,"currency":"EUR","note":%q}`, i, i%1000, fillNote),
			}
			if state == inspect.StateAggregating {
				m.Group = "g"
			}
			if edit != nil {
				edit(i, &m)
			}
			s.store(pipe, state, m, i)
			refs = append(refs, inspect.Ref{Queue: queue, ID: m.ID})
		}
		_, err := pipe.Exec(s.ctx())
		s.must(err)
	}
	return refs
}

const fillNote = "the quick brown fox jumps over the lazy dog, and then over the next one, and then over the one after that, " +
	"until there is no dog left to jump over but the very first of them all"

// store queues the writes that put one task where its state says.
func (s *Server) store(pipe redis.Pipeliner, state inspect.State, m Message, i int) {
	r := inspect.Ref{Queue: m.Queue, ID: m.ID}
	now := time.Now()
	fields := []any{"msg", m.Encode(), "state", state.String()}
	if m.UniqueKey != "" {
		fields = append(fields, "unique_key", m.UniqueKey)
		pipe.Set(s.ctx(), m.UniqueKey, m.ID, time.Hour)
	}
	set := key(m.Queue, state.String())
	score := seconds(now) - float64(i%86400)
	switch state {
	case inspect.StatePending:
		fields = append(fields, "pending_since", now.UnixNano())
		pipe.LPush(s.ctx(), set, m.ID)
	case inspect.StateActive:
		pipe.LPush(s.ctx(), set, m.ID)
		pipe.ZAdd(s.ctx(), key(m.Queue, "lease"), redis.Z{Score: seconds(now) + 30, Member: m.ID})
	case inspect.StateAggregating:
		fields = append(fields, "group", m.Group)
		pipe.SAdd(s.ctx(), key(m.Queue, "groups"), m.Group)
		pipe.ZAdd(s.ctx(), key(m.Queue, "g:"+m.Group), redis.Z{Score: score, Member: m.ID})
	case inspect.StateScheduled, inspect.StateRetry, inspect.StateCompleted:
		score = seconds(now) + 3600 + float64(i%86400)
		pipe.ZAdd(s.ctx(), set, redis.Z{Score: score, Member: m.ID})
	default:
		pipe.ZAdd(s.ctx(), set, redis.Z{Score: score, Member: m.ID})
	}
	pipe.HSet(s.ctx(), taskKey(r), fields...)
}
