package reconcile

import (
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// Attribution says which attempt can have written the row. The zero value says
// that nobody can tell.
type Attribution string

const (
	AttributionUnknown Attribution = ""
	AttributionLast    Attribution = "last-attempt"
	AttributionEarlier Attribution = "earlier-attempt"
	AttributionAfter   Attribution = "after-failure" // a handler that outlived its attempt, or a twin
	AttributionBefore  Attribution = "predates-task" // older than the task can be
)

// Lock is what a finding says of its task's uniqueness lock.
type Lock struct {
	Key   string
	Owner string        // "" when the lock is free
	TTL   time.Duration // what is left of it; 0 when the lock is free
	State LockState
	// OwnerState is the owner's state; StateUnknown when it has none or nobody
	// looked.
	OwnerState inspect.State
	// Needed is the longest that the task can still live under its retry policy;
	// 0 where nothing bounds it.
	Needed time.Duration
}

// LockState says how a task stands to its own uniqueness lock. The zero value
// is LockUnread.
type LockState string

const (
	LockUnread LockState = ""
	LockHeld   LockState = "held"  // the task owns it
	LockTaken  LockState = "taken" // another task owns it
	LockFree   LockState = "free"  // it ran out or was released
)

// Reading is what one source says of a finding's key.
type Reading struct {
	Source SourceFacts
	Row    Row
}

// Finding is one thing that is wrong, with its evidence. It is a value: nothing
// in it changes after it was reported. Absent facts are zero values.
type Finding struct {
	Code     Code
	Severity Severity

	// Task is the task the finding speaks of; its Ref is zero for findings on a
	// task type. Its payload is the task's own.
	Task inspect.Task
	// Tasks names every task concerned when there are several, oldest first; at
	// most MaxTasks, and TaskCount says how many there are.
	Tasks     []inspect.Ref
	TaskCount int
	// Queues are the queues concerned when the finding speaks of a type.
	Queues []string

	Key string
	// KeyHidden says that no output may show the key, see ShownKey.
	KeyHidden   bool
	Status      Status
	Reason      Reason
	Cause       Cause
	Attribution Attribution
	AppliedAt   time.Time
	// SettlesAt is when an unsettled effect will be settled, if nothing else
	// happens to it.
	SettlesAt time.Time
	// Settle is the time no attempt is taken to outlive; lost and unmarked rest
	// on it.
	Settle   time.Duration
	Lock     *Lock
	Readings []Reading
	// Marked are the bytes that a finding on payloads speaks of, in one task or in
	// two that differ there; nil where no task is left that has them.
	Marked []Marked
	// Detail is a fact in words that no other field carries, e.g. why a key is
	// missing or an index is not unique.
	Detail string
	// ConfirmedAt is the instant the finding speaks of, by Redis's clock.
	ConfirmedAt time.Time

	// longest is how long before its last sign of life a row of the task can have
	// been written.
	longest time.Duration
	// held says that a live worker names the task.
	held bool
	// stays says that neither requeue nor resolve moves the archived task.
	stays bool
}

// Marked is a range of bytes of one task's payload. It is not redacted.
type Marked struct {
	ID         string
	Payload    []byte
	Start, End int // End is exclusive; both are -1 where the payload lacks what the other has
}

// HiddenKey stands where a key is not shown.
const HiddenKey = "[redacted]"

func shownKey(key string, hidden bool) string {
	if hidden && key != "" {
		return HiddenKey
	}
	return key
}

// ShownKey is the key as an output may show it.
func (f *Finding) ShownKey() string { return shownKey(f.Key, f.KeyHidden) }

// OfEffect says whether the finding's status is that of its task's effect. Those
// on keys, twins and locks left behind ask nobody for it.
func (f *Finding) OfEffect() bool {
	switch f.Code {
	case CodeKeyCollision, CodeIDShared, CodeLockTwin, CodeLockCrossQueue, CodeLockOrphaned, CodeLockPhantom, CodeLockTicking:
		return false
	}
	return f.Task.ID != ""
}

// MaxTasks bounds how many tasks one finding names.
const MaxTasks = 100

// Less orders findings: severity (highest first), code, queue, task ID, type.
func (f *Finding) Less(g *Finding) bool {
	switch {
	case f.Severity != g.Severity:
		return f.Severity > g.Severity
	case f.Code != g.Code:
		return f.Code < g.Code
	case f.Task.Queue != g.Task.Queue:
		return f.Task.Queue < g.Task.Queue
	case f.Task.ID != g.Task.ID:
		return f.Task.ID < g.Task.ID
	default:
		return f.Task.Type < g.Task.Type
	}
}
