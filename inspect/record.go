package inspect

import (
	"context"
	"crypto/sha256"

	"github.com/redis/go-redis/v9"
)

// recordFields are the fields of a task's hash that a task is read from
// (internal/rdb/rdb.go: enqueueUniqueCmd, addToGroupCmd). They are read by one
// HMGET, and so are of one instant.
var recordFields = [...]any{"msg", "state", "pending_since", "unique_key", "group"}

const (
	recordMsg = iota
	recordState
	recordPendingSince
	recordUniqueKey
	recordGroup
)

// record is a pipeline's question for one task, and later the answer.
type record struct {
	ref    Ref
	fields *redis.SliceCmd
	result *redis.IntCmd
	lease  *redis.FloatCmd // active tasks of a listing only
}

// asker queues the questions for the tasks of one pipeline.
type asker struct {
	pipe redis.Pipeliner

	args   []any // one array for the arguments of all commands
	queue  string
	prefix string // of the queue's task keys
}

// argsPerTask is what the two commands of a task take.
const argsPerTask = 2 + len(recordFields) + 3

func newAsker(pipe redis.Pipeliner, tasks int) *asker {
	return &asker{pipe: pipe, args: make([]any, 0, tasks*argsPerTask)}
}

// ask queues the commands for one task.
func (a *asker) ask(ctx context.Context, r Ref) record {
	if a.prefix == "" || a.queue != r.Queue {
		a.queue, a.prefix = r.Queue, keysOf(r.Queue).taskPrefix()
	}
	var key any = a.prefix + r.ID
	rec := record{ref: r}
	rec.fields = redis.NewSliceCmd(ctx, a.take("hmget", key, recordFields[:]...)...)
	rec.result = redis.NewIntCmd(ctx, a.take("hstrlen", key, "result")...)
	// Nothing is sent, and can fail, before exec.
	_ = a.pipe.Process(ctx, rec.fields)
	_ = a.pipe.Process(ctx, rec.result)
	return rec
}

func (a *asker) take(name, key any, rest ...any) []any {
	from := len(a.args)
	a.args = append(append(a.args, name, key), rest...)
	return a.args[from:len(a.args):len(a.args)]
}

// text is a field of the answer; "" when the hash does not have it.
func (r record) text(field int) string {
	if v := r.fields.Val(); field < len(v) {
		s, _ := v[field].(string)
		return s
	}
	return ""
}

// gone says whether the hash has none of the fields, nor a result; a key of
// another type is no hash either.
func (r record) gone() bool {
	for _, v := range r.fields.Val() {
		if v != nil {
			return false
		}
	}
	return r.result.Val() == 0
}

// has says whether the hash has the field, be it empty.
func (r record) has(field int) bool {
	v := r.fields.Val()
	return field < len(v) && v[field] != nil
}

// task reads the answer. A hash without a message, or with one that cannot be
// decoded, gives a task with DefectUndecodable and the other fields; one with a
// result alone, DefectResultOnly.
func (r record) task(names *interner) Task {
	t := Task{Ref: r.ref}
	if r.gone() {
		t.Defect = DefectDangling
		return t
	}
	switch msg := r.text(recordMsg); {
	case msg != "":
		names.fill(&t, []byte(msg))
	case !r.has(recordMsg) && !r.has(recordState) && r.result.Val() > 0:
		t.Defect = DefectResultOnly
	default:
		t.Defect = DefectUndecodable
	}
	t.State = stateOf(r.text(recordState))
	t.PendingSince = unixNanos(r.text(recordPendingSince))
	if key := r.text(recordUniqueKey); key != "" {
		t.UniqueKey = key
	}
	if t.Group == "" {
		t.Group = r.text(recordGroup)
	}
	t.ResultSize = int(r.result.Val())
	if r.lease != nil {
		t.setScore(StateActive, r.lease.Val())
	}
	return t
}

// fill decodes the message into the task. The task keeps msg.
func (n *interner) fill(t *Task, msg []byte) {
	if err := n.decodeMessage(msg, t); err != nil {
		*t = Task{Ref: t.Ref, Defect: DefectUndecodable}
	}
	sum := sha256.Sum256(msg)
	t.Digest = [16]byte(sum[:16])
}

// stateOf reads the hash field exactly as asynq writes it.
func stateOf(s string) State {
	for state, name := range stateNames {
		if s == name {
			return State(state)
		}
	}
	return StateUnknown
}

// setScore stores the score of the task in the set of the given state, or, for
// an active task, in the leases. 0 is no score.
func (t *Task) setScore(s State, score float64) {
	if score == 0 {
		return
	}
	at := scoreTime(score)
	switch s {
	case StateScheduled, StateRetry:
		t.NextProcessAt = at
	case StateArchived:
		t.ArchivedAt = at
	case StateCompleted:
		t.ExpiresAt = at
	case StateAggregating:
		t.GroupedAt = at
	case StateActive:
		t.LeaseExpiresAt = at
	}
}
