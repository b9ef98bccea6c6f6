package inspect

import (
	"bytes"
	"time"
)

// Ref names one task. IDs are unique per queue only.
type Ref struct {
	Queue string
	ID    string
}

// Defect says why a task could not be read whole. The zero value is DefectNone.
type Defect uint8

const (
	// DefectNone: the message was read and decoded.
	DefectNone Defect = iota
	// DefectDangling: a list or set holds the ID, but there is no hash.
	DefectDangling
	// DefectUndecodable: the stored message is missing or cannot be decoded.
	DefectUndecodable
	// DefectResultOnly: the hash has a result, and neither a message nor a state:
	// a handler wrote its result after the task was gone (rdb.go: WriteResult).
	// It blocks the task ID, and no call of asynq's Inspector deletes it. State is
	// StateUnknown where no list or set named one. Read cannot tell an empty
	// result from no hash; Raw can.
	DefectResultOnly
)

// Task is one task as Redis had it at one instant. Absent facts are zero values.
type Task struct {
	Ref
	Type    string
	Payload []byte
	Headers map[string]string

	// State is what the hash says; for a task whose hash is gone or says
	// nothing, it is Listed.
	State State
	// Listed is the state whose list or set a listing found the ID in. It differs
	// from State when the task was just moving, or lies in the wrong place.
	// StateUnknown for tasks that were read by their ID.
	Listed State

	Retried  int // counted failures so far (asynq: TaskMessage.Retried)
	MaxRetry int

	LastErr      string
	LastFailedAt time.Time // whole seconds, written by the worker's clock; zero: no failure yet
	Timeout      time.Duration
	Deadline     time.Time
	Retention    time.Duration
	// CompletedAt is zero unless the task once succeeded and was retained; a
	// re-run or a move by hand keeps it (asynq inspect.go: runTaskCmd).
	CompletedAt time.Time

	Group string // group key; also set on tasks that left their group

	// NextProcessAt is the score of a scheduled or retry task, whole seconds.
	NextProcessAt time.Time
	// ArchivedAt is the score of an archived task, whole seconds.
	ArchivedAt time.Time
	// ExpiresAt is the score of a completed task: when its retention ends.
	ExpiresAt time.Time
	// GroupedAt is the score of an aggregating task: when it was enqueued.
	GroupedAt time.Time
	// PendingSince is the hash field of the same name; it is absent after
	// RunTask, a graceful requeue or while the task is not pending.
	PendingSince time.Time
	// LeaseExpiresAt is the lease score of an active task; zero: no lease entry.
	LeaseExpiresAt time.Time

	// UniqueKey is the uniqueness lock that the task was enqueued with: the
	// hash field unique_key, else the message's own (field 10). "" when the
	// task was not enqueued with asynq.Unique.
	UniqueKey string

	// Prev is the state in which the same listing has yielded the task before;
	// StateUnknown the first time.
	Prev State

	// Digest is the first 16 bytes of SHA-256 over the stored message. It is
	// zero for tasks that came from asynq.Inspector, which hides the message.
	Digest [16]byte

	// ResultSize is the length of the stored result in bytes.
	ResultSize int

	Defect Defect
}

// LeaseValid says whether an active task holds a lease at now (Redis time).
func (t Task) LeaseValid(now time.Time) bool {
	return !t.LeaseExpiresAt.IsZero() && t.LeaseExpiresAt.After(now)
}

// Unmoved says whether u is the same task as t with nothing changed that a
// verdict rests on: state, counters, times, payload, and the stored message
// where both sides have read it. A lease that was extended is no change; a lease
// that came or went is.
func (t Task) Unmoved(u Task) bool {
	var zero [16]byte
	if t.Digest != zero && u.Digest != zero && t.Digest != u.Digest {
		return false
	}
	if !t.PendingSince.IsZero() && !u.PendingSince.IsZero() && !t.PendingSince.Equal(u.PendingSince) {
		return false // enqueued again under its ID
	}
	return t.Ref == u.Ref &&
		t.Defect == u.Defect &&
		t.State == u.State &&
		t.Type == u.Type &&
		t.Retried == u.Retried &&
		t.LastErr == u.LastErr &&
		t.LastFailedAt.Equal(u.LastFailedAt) &&
		t.CompletedAt.Equal(u.CompletedAt) &&
		t.NextProcessAt.Equal(u.NextProcessAt) &&
		t.ArchivedAt.Equal(u.ArchivedAt) &&
		t.LeaseExpiresAt.IsZero() == u.LeaseExpiresAt.IsZero() &&
		bytes.Equal(t.Payload, u.Payload)
}
