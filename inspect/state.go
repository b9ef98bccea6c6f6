package inspect

import (
	"fmt"
	"strings"
)

// State is the state asynq keeps a task in. The zero value is StateUnknown.
type State uint8

// The seven states of asynq (internal/base/base.go: TaskState), in the order in
// which its command line names them.
const (
	StateUnknown State = iota
	StateActive
	StatePending
	StateAggregating
	StateScheduled
	StateRetry
	StateArchived
	StateCompleted
)

var stateNames = [...]string{
	"unknown", "active", "pending", "aggregating", "scheduled", "retry", "archived", "completed",
}

// States lists the seven states in the order asynq's command line uses.
func States() []State {
	return []State{
		StateActive, StatePending, StateAggregating, StateScheduled,
		StateRetry, StateArchived, StateCompleted,
	}
}

// ParseState reads the name of one of the seven states, in any case.
func ParseState(name string) (State, error) {
	for _, s := range States() {
		if strings.EqualFold(name, s.String()) {
			return s, nil
		}
	}
	return StateUnknown, fmt.Errorf("unknown task state %q (one of %s)", name, strings.Join(stateNames[1:], ", "))
}

// String is the name asynq stores in the hash field "state".
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return stateNames[StateUnknown]
}

// Live says whether asynq will still run the task by itself: it is active,
// pending, aggregating, scheduled or in retry.
func (s State) Live() bool {
	return s >= StateActive && s <= StateRetry
}

// Unfinished says whether the task is live or archived.
func (s State) Unfinished() bool {
	return s.Live() || s == StateArchived
}
