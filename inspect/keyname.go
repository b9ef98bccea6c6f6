package inspect

import (
	"slices"
	"strings"
	"time"
)

// KeyKind says what asynq keeps under a key. The zero value is KeyUnknown.
type KeyKind uint8

// What asynq keeps under a queue's keys (internal/base/base.go), with the type
// that Redis gives it.
const (
	KeyUnknown         KeyKind = iota // none of asynq's, or not to be told
	KeyTask                           // HASH: a task
	KeyLock                           // STRING: a uniqueness lock
	KeyGroup                          // ZSET: a group, or a set being aggregated, which look alike
	KeyPlace                          // LIST or ZSET: the tasks of a state
	KeyLease                          // ZSET: the leases of active tasks
	KeyGroups                         // SET: the names of the groups that aggregators look at
	KeyAggregationSets                // ZSET: the keys of the sets being aggregated
	KeyPaused                         // STRING: when the queue was paused
	KeyCounter                        // STRING: tasks processed or failed, on one day or in all
)

var keyKindNames = [...]string{
	"unknown", "task", "lock", "group", "place", "lease", "groups", "aggregation-sets", "paused", "counter",
}

// String is a lower-case word for the kind.
func (k KeyKind) String() string {
	if int(k) < len(keyKindNames) {
		return keyKindNames[k]
	}
	return keyKindNames[KeyUnknown]
}

// Key is the name of one key, taken apart. Anybody may have written it: none of
// its parts is known to be valid UTF-8, short, or free of control characters.
type Key struct {
	Kind KeyKind
	// Queue is the queue that the key is one of. It is "" when that cannot be
	// told, and for KeyUnknown it is a guess.
	Queue string
	Name  string // the whole key

	ID    string // KeyTask
	Type  string // KeyLock: the task type, which may hold colons
	Sum   string // KeyLock: MD5 of the payload in hex; "" for a nil payload
	Group string // KeyGroup: the group's name, or name:set of a set being aggregated
	State State  // KeyPlace
}

const (
	queueOpen  = "asynq:{"
	queueClose = "}:"
)

// ParseKey tells what a key is by its name alone. A queue's name may hold
// anything, also the "}:" that ends it; then the names in known settle where
// that is: the queue is one of them if the rest makes a key of asynq's.
// Otherwise it is the shortest name that leaves such a key. A key that two known
// queues could both have is KeyUnknown without a queue.
func ParseKey(name string, known []string) Key {
	k := Key{Name: name}
	inner, ok := strings.CutPrefix(name, queueOpen)
	if !ok {
		return k
	}
	first := strings.Index(inner, queueClose)
	if first < 0 {
		return k
	}
	if !strings.Contains(inner[first+1:], queueClose) {
		k.read(inner, first)
		return k
	}
	if candidates := k.readKnown(inner, known); candidates > 1 {
		return Key{Name: name}
	}
	for at := first; k.Kind == KeyUnknown; {
		k.read(inner, at)
		next := strings.Index(inner[at+1:], queueClose)
		if next < 0 {
			break
		}
		at += 1 + next
	}
	if k.Kind == KeyUnknown {
		k.Queue = inner[:first]
	}
	return k
}

// ambiguous says whether the name alone does not settle where the queue's ends.
func (k Key) ambiguous() bool { return strings.Count(k.Name, queueClose) > 1 }

// isLockOf says whether the key is a lock of the queue.
func isLockOf(key, queue string) bool {
	k := ParseKey(key, []string{queue})
	return k.Kind == KeyLock && k.Queue == queue
}

// readKnown reads the key as one of a known queue's, and returns how many could
// have it.
func (k *Key) readKnown(inner string, known []string) (candidates int) {
	for i, q := range known {
		if !strings.HasPrefix(inner, q) || !strings.HasPrefix(inner[len(q):], queueClose) || slices.Contains(known[:i], q) {
			continue
		}
		as := Key{Name: k.Name}
		if as.read(inner, len(q)); as.Kind != KeyUnknown {
			*k = as
			candidates++
		}
	}
	return candidates
}

// read takes the queue's name to end at the given place.
func (k *Key) read(inner string, end int) {
	k.Queue = inner[:end]
	rest := inner[end+len(queueClose):]
	kind, after, named := strings.Cut(rest, ":")
	if !named {
		k.Kind, k.State = plainKey(rest)
		return
	}
	switch kind {
	case "t":
		k.Kind, k.ID = KeyTask, after
	case "g":
		k.Kind, k.Group = KeyGroup, after
	case "unique":
		k.readLock(after)
	case "processed", "failed":
		if _, err := time.Parse(time.DateOnly, after); err == nil {
			k.Kind = KeyCounter
		}
	}
}

// readLock reads what base.UniqueKey wrote: the sum is behind the last colon,
// since a type may hold some.
func (k *Key) readLock(rest string) {
	at := strings.LastIndexByte(rest, ':')
	if at < 0 || !isSum(rest[at+1:]) {
		return
	}
	k.Kind, k.Type, k.Sum = KeyLock, rest[:at], rest[at+1:]
}

// isSum says whether s is what asynq ends a lock's key with.
func isSum(s string) bool {
	const hexOfMD5 = 32
	return s == "" || len(s) == hexOfMD5 && strings.Trim(s, "0123456789abcdef") == ""
}

// plainKey reads a key that has nothing behind its word.
func plainKey(word string) (KeyKind, State) {
	switch word {
	case "lease":
		return KeyLease, StateUnknown
	case "groups":
		return KeyGroups, StateUnknown
	case "aggregation_sets":
		return KeyAggregationSets, StateUnknown
	case "paused":
		return KeyPaused, StateUnknown
	case "processed", "failed":
		return KeyCounter, StateUnknown
	}
	if s := stateOf(word); s != StateUnknown && s != StateAggregating {
		return KeyPlace, s
	}
	return KeyUnknown, StateUnknown
}
