package journal

import (
	"encoding/json"
	"time"
)

// Schema names the format of every line.
const Schema = "idemctl.journal/v1"

// Record is one line of a journal.
type Record struct {
	// Seq numbers the lines of one file from 1 on, without gaps. The journal sets it.
	Seq  uint64
	Kind Kind
	// Run is the run's ID, see NewRunID; Item names an item within it, used once
	// per run. Both are UTF-8. Item is "" in records of a whole run.
	Run, Item string
	// At is when the record was written, in UTC. The journal sets it where it is
	// zero.
	At time.Time

	// Who and why: in the run record and every intent. A result carries Operator
	// and Host where it was written by another run than the one it speaks of.
	Operator, Host, Context, Command, Reason string
	// PlanDigest is that of the plan that was applied; "" when there was none.
	PlanDigest string
	// Server names the Redis that was changed, as inspect.Identity writes it; ""
	// where the writer did not say.
	Server string
	// Planned is, in a run record, how many items the run is to make; 0 where the
	// writer did not say.
	Planned int
	// NotBegun is, in an end record, how many of the planned items were never begun;
	// in a result of refusal 1 where the run ended before its item.
	NotBegun int

	// What an intent is about to change, or a result of refusal speaks of that has
	// no intent. Queue, TaskID and Target (a key or a group's name) are "" where the
	// change has none. They may hold any bytes.
	Change                Change
	Queue, TaskID, Target string
	// Evidence is one JSON text in UTF-8 (kept without insignificant
	// whitespace), nil when there is none.
	Evidence json.RawMessage
	// Task is the task as it stood before the change; nil when none stood there.
	Task *TaskImage

	// What a result says. Outcome is OutcomeUnknown in every other kind.
	Outcome Outcome
	// Found is what stood there instead, where that is why nothing was done.
	Found string
	// Error is the text of the failure, without secrets; in an end record, why
	// the run ended early, in an operator's words.
	Error string
}

// Kind says what a record is.
type Kind uint8

const (
	// KindUnknown is the zero value, and in no record that was read.
	KindUnknown Kind = iota
	// KindRun begins a run.
	KindRun
	// KindIntent is written and synced before a change.
	KindIntent
	// KindResult says what became of an intent, or that an item was refused
	// before there was one.
	KindResult
	// KindEnd says that the run will write no more intents.
	KindEnd
)

var kindNames = [...]string{"unknown", "run", "intent", "result", "end"}

func (k Kind) String() string { return nameOf(kindNames[:], int(k)) }

// Outcome says what became of an intent.
type Outcome uint8

const (
	// OutcomeUnknown: the answer was lost, so the change may have been made or
	// not. Such an item stays pending until another result follows.
	OutcomeUnknown Outcome = iota
	// OutcomeDone: the change was made.
	OutcomeDone
	// OutcomeRefused: nothing was changed, since what stood there was not what
	// was planned on.
	OutcomeRefused
	// OutcomeFailed: the change was not made, and Error says why.
	OutcomeFailed
)

var outcomeNames = [...]string{"unknown", "done", "refused", "failed"}

func (o Outcome) String() string { return nameOf(outcomeNames[:], int(o)) }

// Change names what is done to a task, lock or group. The zero value is unknown.
// Intend takes only the ones below; a journal written by a later version may hold
// others, which are read back as they are and are not Known.
type Change string

const (
	ChangeUnknown       Change = ""
	ChangeReleaseLock   Change = "release-lock"
	ChangePutBack       Change = "put-back"
	ChangeArchive       Change = "archive"
	ChangeExpireLease   Change = "expire-lease"
	ChangeRegisterGroup Change = "register-group"
	ChangeDeleteResult  Change = "delete-result"
	ChangeDropLease     Change = "drop-lease"
	ChangeDropDangling  Change = "drop-dangling"
	ChangeSetState      Change = "set-state"
	ChangeClose         Change = "close"
	ChangeRequeue       Change = "requeue"
	ChangeResolve       Change = "resolve"
	ChangeRestore       Change = "restore"
)

// Known says whether this version of the program makes the change.
func (c Change) Known() bool {
	switch c {
	case ChangeReleaseLock, ChangePutBack, ChangeArchive, ChangeExpireLease, ChangeRegisterGroup,
		ChangeDeleteResult, ChangeDropLease, ChangeDropDangling, ChangeSetState, ChangeClose,
		ChangeRequeue, ChangeResolve, ChangeRestore:
		return true
	}
	return false
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return names[0]
}
