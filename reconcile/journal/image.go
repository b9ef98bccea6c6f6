package journal

import (
	"reflect"
	"slices"
	"time"
)

// TaskImage is a task as Redis held it: enough to put it back byte for byte.
// Its strings are bytes and need not be UTF-8.
type TaskImage struct {
	// Key is that of the task's hash, asynq:{queue}:t:<id>.
	Key string
	// Fields are the hash's, all of them (asynq writes msg, state,
	// pending_since, unique_key, group and result), in the order they were read.
	Fields []Field
	// Places are the lists and sorted sets that named the task, its lease among
	// them.
	Places []Place
	// Lock is the uniqueness lock; nil when none was held.
	Lock *LockImage
	// Redacted says that bytes were replaced before the image was written, so
	// that it can no longer restore the task. The journal sets it.
	Redacted bool
}

// Field is one field of a hash.
type Field struct{ Name, Value string }

// Place is a list or sorted set that named the task.
type Place struct {
	Key string
	// Score is the member's (asynq's are Unix seconds); nil in a list. Redis
	// allows infinities, never NaN.
	Score *float64
}

// LockImage is a uniqueness lock that was held.
type LockImage struct {
	Key string
	// Owner is the task ID the lock held, perhaps another task's.
	Owner string
	// ExpireAt is when it would have run out; zero when it does not expire.
	ExpireAt time.Time
}

func (t *TaskImage) clone() *TaskImage {
	c := *t
	c.Fields = slices.Clone(t.Fields)
	c.Places = slices.Clone(t.Places)
	for i, p := range c.Places {
		if p.Score != nil {
			score := *p.Score
			c.Places[i].Score = &score
		}
	}
	if t.Lock != nil {
		lock := *t.Lock
		c.Lock = &lock
	}
	return &c
}

// redacted is the image after hide, which gets a copy. An image that hide changed
// says so whether or not hide does.
func (t *TaskImage) redacted(hide func(*TaskImage)) *TaskImage {
	if t == nil || hide == nil {
		return t
	}
	shown := t.clone()
	hide(shown)
	if !reflect.DeepEqual(t, shown) {
		shown.Redacted = true
	}
	return shown
}
