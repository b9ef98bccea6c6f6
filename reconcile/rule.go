package reconcile

import (
	"time"
)

// Class says what a handler does to the world. The zero value is
// ClassUnknown, which is treated as ClassCreate: the careful reading.
type Class uint8

const (
	ClassUnknown   Class = iota
	ClassCreate          // inserts: doing it twice makes two
	ClassIncrement       // adds: doing it twice adds twice
	ClassOverwrite       // writes a value: idempotent by nature
	ClassSetStatus       // moves to a state: idempotent by nature
	ClassDelete          // removes: idempotent by nature
)

var classNames = [...]string{"", "create", "increment", "overwrite", "set-status", "delete"}

func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return ""
}

// Natural says whether repeating the operation is harmless by its nature.
func (c Class) Natural() bool {
	return c == ClassOverwrite || c == ClassSetStatus || c == ClassDelete
}

// Role says what a row in a source means. The zero value is RoleUnknown.
type Role uint8

const (
	RoleUnknown Role = iota
	RoleMark         // "this work is done" was written
	RoleEffect       // the business change itself
	RoleInbox        // the message was received, not yet applied
)

var roleNames = [...]string{"unknown", "mark", "effect", "inbox"}

func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return roleNames[RoleUnknown]
}

// Retention says how long a source keeps its rows. The zero value says nothing
// about it.
type Retention struct {
	Forever bool
	For     time.Duration // > 0 when rows are pruned after this age
}

// Known says whether the operator declared a retention.
func (r Retention) Known() bool { return r.Forever || r.For > 0 }

// Source is one table and column in a ledger that may hold a task's key.
// Identifiers are as an operator writes them: "…" is literal, a dot outside
// quotes separates the schema, a bare name is matched exactly, then lower-cased.
type Source struct {
	Role   Role
	Ledger string // name of the ledger
	Table  string
	// Column holds the key; "" means the first of task_id, key and
	// idempotency_key that the table has, and then At is processed_at, else
	// created_at, where the table has one.
	Column    string
	At        string // column with the time of the row; "" when there is none
	ClaimedAt string // column with the age of a claim; "" means At
	When      string // SQL predicate a finished row passes; "" means every row
	Retention Retention
	// Fingerprint is the column that stores a hash of the raw payload, or "".
	Fingerprint     string
	FingerprintHash string // "md5" or "sha256"
}

// Policy is what the operator declares of the retry policy of a rule's tasks.
// Zero values mean: as stored in the task.
type Policy struct {
	Retry     string // e.g. "default", "fixed(60s)"
	MaxRetry  int
	Timeout   time.Duration
	QueueWait time.Duration
	Set       bool // whether the operator declared anything
}

// Unique is what the operator declares of the uniqueness lock of a rule's tasks.
type Unique struct {
	TTL    time.Duration
	Period time.Duration
}

// Rule maps tasks to a key and to the sources that may hold it. The first rule
// that matches a task is its rule.
type Rule struct {
	// Type and Queue are globs (* and ?); "" matches everything.
	Type, Queue string
	Class       Class
	// Key is an expression over id, type, queue, payload, headers and group; ""
	// means id.
	Key     string
	Sources []Source
	Policy  Policy
	Unique  Unique
	Ignore  []Code
	// Settle is the operator's word that no attempt outlives it; 0 means the
	// larger of two minutes and the task's own timeout.
	Settle time.Duration
	// ConfirmAfter is how long applied and active must persist; 0 means the
	// audit's own.
	ConfirmAfter time.Duration
	// NotAtomic says that mark and effect are not one transaction, so that an
	// absence proves nothing.
	NotAtomic bool
	// MaxEffects is how many effect rows of one key are right; 0 means 1.
	MaxEffects int
	// Implicit marks the rule that applies when nothing is configured.
	Implicit bool
}

// Effects is MaxEffects with its default.
func (r *Rule) Effects() int64 {
	if r.MaxEffects <= 0 {
		return 1
	}
	return int64(r.MaxEffects)
}

// Ignores says whether the operator silenced the code for this rule's tasks.
func (r *Rule) Ignores(c Code) bool {
	for _, i := range r.Ignore {
		if i == c {
			return true
		}
	}
	return false
}
