package reconcile

import (
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// candidate is an archived task while it is decided on.
type candidate struct {
	Archived
	action Action
	reason HoldReason
	words  string // why it is held, where the reason's own words do not say enough
	locks  []string
	relock time.Duration
}

func newCandidate(a Archived, m Moves) candidate {
	c := candidate{Archived: a, locks: contentLocks(a.Task)}
	c.Accepted = slices.Contains(m.Unprotected, a.Task.Type)
	c.action, c.reason = m.decide(c.Archived)
	if m.Action == ActionResolve && (c.reason == HoldUnprotected || c.reason == HoldNoIndex) {
		c.words = "its rule names no table that says whether its work is done"
	}
	c.Task.Payload = nil // its locks and its key are all that is needed of it
	return c
}

func (m *Moves) decide(a Archived) (Action, HoldReason) {
	if m.Action == ActionResolve {
		return DecideResolve(a)
	}
	return DecideRequeue(a)
}

// contentLocks are the locks that guard the task's work: its own, and those that
// asynq.Unique gives equal content.
func contentLocks(t inspect.Task) []string {
	if t.Defect != inspect.DefectNone {
		return nil
	}
	keys := []string{inspect.UniqueKey(t.Queue, t.Type, t.Payload)}
	if len(t.Payload) == 0 {
		// The message does not tell a nil payload from an empty one.
		keys = []string{inspect.UniqueKey(t.Queue, t.Type, nil), inspect.UniqueKey(t.Queue, t.Type, []byte{})}
	}
	if t.UniqueKey != "" && !slices.Contains(keys, t.UniqueKey) {
		keys = append(keys, t.UniqueKey)
	}
	return keys
}

func (c *candidate) hold(reason HoldReason, words string) {
	c.action, c.reason, c.words = ActionHold, reason, words
}

// plan finds out how long the lock is to live.
func (c *candidate) plan(m *Moves, q *PlannedQueue, now time.Time) {
	if c.Task.UniqueKey == "" {
		return
	}
	c.relock = m.Relock.TTL
	if !m.Relock.Auto {
		return
	}
	next := c.Task
	next.State = inspect.StatePending
	next.Retried, next.MaxRetry = attemptsOf(next, m.Attempts)
	c.relock = longestLife(next, c.Rule, Moment{Now: now, Paused: q.Paused, Unserved: !q.Served})
	if c.relock <= 0 {
		c.hold(HoldUnbounded, "")
		return
	}
	c.relock += lockMargin(c.relock)
}

// lockMargin is what a lock outlives its task by: clocks, and the second that
// asynq cuts.
func lockMargin(life time.Duration) time.Duration { return max(time.Minute, life/20) }

// attemptsOf are the counters that a task gets for so many attempts.
func attemptsOf(t inspect.Task, attempts int) (retried, maxRetry int) {
	if attempts == 0 {
		return t.Retried, t.MaxRetry
	}
	after := t.GiveAttempts(attempts)
	return after.Retried, after.MaxRetry
}

// step is what is planned for the task.
func (c *candidate) step(m Moves) Step {
	s := Step{Change: journal.ChangeRequeue, Finding: c.finding(), Evidence: c.evidence(), Relock: c.relock}
	if m.Action == ActionResolve {
		s.Change = journal.ChangeResolve
	}
	if c.action != ActionHold {
		return s
	}
	s.Reason, s.Hold = c.reason, c.words
	if s.Hold == "" {
		s.Hold = c.Archived.hold(c.reason)
	}
	s.never = c.reason == HoldUndecodable
	return s
}
