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
	// forcing says that the operator names it, with a reason: then every reason to
	// hold it is looked for, also is what stands behind the first.
	forcing bool
	also    []alsoHeld
}

// alsoHeld is a further reason to hold a task, and its words.
type alsoHeld struct {
	reason HoldReason
	words  string
}

func newCandidate(a Archived, m Moves, forcing bool) candidate {
	c := candidate{Archived: a, locks: contentLocks(a.Task), forcing: forcing && m.Action == ActionRun}
	c.Accepted = slices.Contains(m.Unprotected, a.Task.Type)
	c.action, c.reason = m.decide(c.Archived)
	if c.forcing && c.action == ActionHold {
		for _, reason := range c.behind(c.reason) {
			c.hold(reason, "")
		}
	}
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
	switch known := func(h alsoHeld) bool { return h.reason == reason }; {
	case c.action != ActionHold || !c.forcing:
		c.action, c.reason, c.words = ActionHold, reason, words
	case c.reason != reason && !slices.ContainsFunc(c.also, known):
		c.also = append(c.also, alsoHeld{reason, words})
	}
}

// behind are the reasons to hold a task from running again that stand behind the
// first, as far as the task alone shows them.
func (a *Archived) behind(first HoldReason) []HoldReason {
	var reasons []HoldReason
	for _, held := range []struct {
		reason HoldReason
		holds  bool
	}{
		{HoldTwin, a.Twin || a.Verdict.Has(CodeUnsettled) && a.Verdict.Reason == ReasonTwin},
		{HoldLocked, !a.Twin && a.Lock != nil && a.Lock.State == LockTaken},
		{HoldDeadline, !a.Task.Deadline.IsZero() && !a.Task.Deadline.After(a.Now)},
		{HoldNoIndex, a.Rule != nil && !a.Accepted && a.Verdict.Status != StatusNatural && first != HoldUnprotected && !a.Rule.stopsSecondRow()},
	} {
		if held.holds && held.reason != first {
			reasons = append(reasons, held.reason)
		}
	}
	return reasons
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
		c.relock = 0
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
	for _, also := range c.also {
		words := also.words
		if words == "" {
			words = c.Archived.hold(also.reason)
		}
		s.Also, s.alsoWords = append(s.Also, also.reason), append(s.alsoWords, words)
	}
	s.never = c.reason == HoldUndecodable
	return s
}
