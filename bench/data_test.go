package bench

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/idemctl/idemctl/inspect"
)

// queue is the one that all tasks lie in.
const queue = "default"

// dataset is a queue of size tasks as a bad week leaves it: some pending and
// scheduled, many waiting for a retry, the archive full to its limit, and
// completed tasks that are retained. Task i is a function of i and began alone,
// so that nothing has to be held to fill both stores.
type dataset struct {
	size  int
	began time.Time // when everything else is before or after
}

// archivedTasks is one less than asynq keeps (internal/rdb/rdb.go:
// maxArchiveSize).
const archivedTasks = 9999

// share of a state in the tasks that are not archived, in thousandths.
var shares = []struct {
	state     inspect.State
	thousands int
}{
	{inspect.StateScheduled, 150},
	{inspect.StateCompleted, 200},
	{inspect.StatePending, 200},
	{inspect.StateRetry, 450},
}

// states are those that the dataset has tasks in.
var states = []inspect.State{
	inspect.StatePending, inspect.StateScheduled, inspect.StateRetry,
	inspect.StateArchived, inspect.StateCompleted,
}

// count is how many tasks are in the state.
func (d dataset) count(s inspect.State) int {
	if s == inspect.StateArchived {
		return archivedTasks
	}
	from, to := d.block(s)
	return to - from
}

// block is the range of task numbers in a state other than archived.
func (d dataset) block(s inspect.State) (from, to int) {
	rest, sum := d.size-archivedTasks, 0
	for _, share := range shares {
		next := sum + share.thousands
		if share.state == s {
			return archivedTasks + rest*sum/1000, archivedTasks + rest*next/1000
		}
		sum = next
	}
	return 0, 0
}

func (d dataset) stateOf(i int) inspect.State {
	if i < archivedTasks {
		return inspect.StateArchived
	}
	for _, share := range shares {
		if from, to := d.block(share.state); from <= i && i < to {
			return share.state
		}
	}
	panic(fmt.Sprintf("task %d is outside of the dataset", i))
}

// task is one task as both stores are filled with it.
type task struct {
	id, kind  string
	payload   []byte
	state     inspect.State
	retried   int
	lastErr   string
	failed    time.Time // zero: never
	completed time.Time // zero: never
	score     time.Time // of its sorted set; when it was enqueued, for pending
	uniqueKey string    // "": 7 of 10 have no lock
	luck      uint64    // decides what is in the ledger
}

var kinds = []string{
	"payment:capture", "payment:refund", "email:receipt", "invoice:render", "ledger:post", "webhook:deliver",
}

var failures = []string{
	"context deadline exceeded", "asynq: task lease expired",
	"dial tcp 10.3.0.17:5432: connect: connection refused",
	"charge declined by acquirer: code 05",
}

func (d dataset) task(i int) task {
	luck := mix(uint64(i))
	more := mix(luck)
	t := task{id: idOf(i), kind: kinds[luck%uint64(len(kinds))], state: d.stateOf(i), luck: mix(more)}
	t.payload = payloadOf(i, more)
	ago := func(least, most time.Duration) time.Time {
		return d.began.Add(-least - time.Duration(more%uint64((most-least)/time.Second))*time.Second)
	}
	switch t.state {
	case inspect.StatePending:
		t.score = ago(time.Minute, 20*time.Minute)
	case inspect.StateScheduled:
		t.score = ago(-48*time.Hour, -2*time.Hour)
	case inspect.StateRetry:
		t.retried, t.failed = 1+int(more%8), ago(time.Minute, 10*time.Hour)
		t.score = ago(-48*time.Hour, -2*time.Hour)
	case inspect.StateArchived:
		// Older than an attempt can last, so that an absence is settled.
		t.retried, t.failed = 25, ago(2*time.Hour, 72*time.Hour)
		t.score = t.failed
	case inspect.StateCompleted:
		t.completed = ago(2*time.Hour, 20*time.Hour)
		t.score = t.completed.Add(48 * time.Hour)
	}
	if !t.failed.IsZero() {
		t.lastErr = failures[luck/7%uint64(len(failures))]
	}
	if luck%10 < 3 {
		sum := md5.Sum(t.payload)
		t.uniqueKey = "asynq:{" + queue + "}:unique:" + t.kind + ":" + hex.EncodeToString(sum[:])
	}
	return t
}

// payloadOf is a JSON object of 180 to 400 bytes.
func payloadOf(i int, luck uint64) []byte {
	b := make([]byte, 0, 400)
	b = append(b, `{"order_id":"`...)
	b = append(b, idOf(i^1<<50)...)
	b = append(b, `","customer":`...)
	b = strconv.AppendUint(b, luck%5_000_000, 10)
	b = append(b, `,"amount":{"value":`...)
	b = strconv.AppendUint(b, luck%90_000+100, 10)
	b = append(b, `,"currency":"EUR"},"attempted_by":"checkout-7f9c","note":"`...)
	length := 180 + int(luck>>20%220)
	for len(b) < length-2 {
		luck = luck*6364136223846793005 + 1442695040888963407
		b = append(b, 'a'+byte(luck>>59%26))
	}
	return append(b, `"}`...)
}

// message encodes the task as asynq does (internal/proto/asynq.proto).
func (t *task) message(b []byte) []byte {
	text := func(field protowire.Number, s string) {
		if s != "" {
			b = protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
		}
	}
	number := func(field protowire.Number, n int64) {
		if n != 0 {
			b = protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(n))
		}
	}
	text(1, t.kind)
	b = protowire.AppendBytes(protowire.AppendTag(b, 2, protowire.BytesType), t.payload)
	text(3, t.id)
	text(4, queue)
	number(5, 25)
	number(6, int64(t.retried))
	text(7, t.lastErr)
	number(8, 1800)
	text(10, t.uniqueKey)
	if !t.failed.IsZero() {
		number(11, t.failed.Unix())
	}
	if !t.completed.IsZero() {
		number(12, 48*3600)
		number(13, t.completed.Unix())
	}
	return b
}

// idOf is a UUID; one number, one UUID.
func idOf(i int) string {
	var raw [16]byte
	for n, half := 0, mix(uint64(i)+0x5eed); n < 2; n, half = n+1, mix(half^uint64(i)) {
		for k := range 8 {
			raw[8*n+k] = byte(half >> (8 * k))
		}
	}
	raw[6], raw[8] = raw[6]&0x0f|0x40, raw[8]&0x3f|0x80
	var b [36]byte
	hex.Encode(b[0:8], raw[0:4])
	hex.Encode(b[9:13], raw[4:6])
	hex.Encode(b[14:18], raw[6:8])
	hex.Encode(b[19:23], raw[8:10])
	hex.Encode(b[24:36], raw[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// mix spreads the bits of x (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
