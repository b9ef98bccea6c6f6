package reconcile

import (
	"bytes"
	"encoding/json"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// kept is a task as the intent of a change keeps it.
type kept struct {
	rec      *journal.Record
	raw      inspect.Raw
	task     inspect.Task
	evidence intentEvidence
}

// keptIn reads an intent. Evidence that is none of this program's is no evidence.
func keptIn(rec *journal.Record) kept {
	k := kept{rec: rec, raw: inspect.RawOf(refOf(rec), nil)}
	_ = json.Unmarshal(rec.Evidence, &k.evidence)
	if image := rec.Task; image != nil {
		fields := make(map[string][]byte, len(image.Fields))
		for _, f := range image.Fields {
			fields[f.Name] = []byte(f.Value)
		}
		k.raw = inspect.RawOf(refOf(rec), fields)
		for _, p := range image.Places {
			if p.Score != nil {
				k.raw.Place = inspect.Place{Key: p.Key, Score: *p.Score}
			}
		}
	}
	k.task = k.raw.Task()
	return k
}

func refOf(rec *journal.Record) inspect.Ref { return inspect.Ref{Queue: rec.Queue, ID: rec.TaskID} }

// redacted says that the image does not hold the task's own bytes.
func (k *kept) redacted() bool { return k.rec.Task != nil && k.rec.Task.Redacted }

// fingerprint is the hash's as it was; "" where nobody knows.
func (k *kept) fingerprint() string {
	if k.evidence.Fingerprint != "" || k.redacted() {
		return k.evidence.Fingerprint
	}
	return k.raw.Fingerprint()
}

// unchanged says that a task's hash is the one that was kept.
func (k *kept) unchanged(now inspect.Raw) bool {
	return now.Fields != nil && now.Fingerprint() == k.fingerprint()
}

// sameMessage says that a task's message is the one that was kept, as far as the
// journal may hold it: asynq changes it whenever it runs the task.
func (k *kept) sameMessage(now inspect.Raw) bool {
	before, after := k.raw.Fields["msg"], now.Fields["msg"]
	if k.redacted() {
		before, after = veiled(before), veiled(after)
	}
	return len(before) > 0 && bytes.Equal(before, after)
}

// veiled is a message without what a journal may hide.
func veiled(msg []byte) []byte {
	veil := func([]byte) []byte { return []byte{'x'} }
	out, err := inspect.RewritePayload(msg, inspect.Rewriting{
		Payload: veil, LastErr: veil, Header: func(string, string) string { return "x" },
	})
	if err != nil {
		return nil
	}
	return out
}
