package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// Moves is what a plan does with archived tasks, and how. Its lists name types
// and queues exactly: none is a glob.
type Moves struct {
	// Action is ActionRun or ActionResolve; ActionUnknown in a plan that puts
	// deleted tasks back.
	Action Action
	// Attempts is how often a task that runs again may be tried: 1 to
	// inspect.MaxAttempts, 0 for what its counters leave (one, after its retries
	// were used up).
	Attempts int
	// Relock is the lock that unique tasks take before they run.
	Relock Relock
	// Order is in which order tasks are moved.
	Order Order
	// Max is the most that are moved; 0: all.
	Max int
	// Unprotected are types that run although nothing stops a second effect;
	// Idle are queues that tasks are run in although they are paused, or nobody
	// serves them.
	Unprotected, Idle []string
	// Force is the operator's reason for what would be held. It counts only where
	// the scope names one task by its ID.
	Force string
	// Codes are the findings that select tasks; nil: all archived ones in scope.
	Codes []Code
	// Queues are those of the plan's tasks, by name.
	Queues []PlannedQueue
}

// PlannedQueue is a queue as it was when its tasks were planned.
type PlannedQueue struct {
	Name    string
	Paused  bool
	Served  bool // by a live server
	Pending int
	Run     int // tasks of it that are to be moved
}

// Relock says how long a lock is to live. The zero value leaves locks alone.
type Relock struct {
	TTL time.Duration
	// Auto takes, for each task, the longest that it can still live.
	Auto bool
}

// Order is an order of moves. The zero value is OrderOldest.
type Order string

const (
	OrderOldest Order = "oldest" // those that were archived first
	OrderNewest Order = "newest"
	OrderType   Order = "type" // by type, the oldest of each first
)

// ParseOrder reads an order's name.
func ParseOrder(name string) (Order, error) {
	switch o := Order(name); o {
	case OrderOldest, OrderNewest, OrderType:
		return o, nil
	case "":
		return OrderOldest, nil
	}
	return "", fmt.Errorf("unknown order %q (oldest, newest or type)", name)
}

// PlanRequeue plans which archived tasks in scope run again. Each is judged as an
// audit judges it; see DecideRequeue for what is held.
func (a *Auditor) PlanRequeue(ctx context.Context, o Observer, m Moves) (Plan, Report, error) {
	m.Action = ActionRun
	return a.planMoves(ctx, o, m)
}

// PlanResolve plans which archived tasks in scope are deleted because their work
// is done; see DecideResolve for what is held.
func (a *Auditor) PlanResolve(ctx context.Context, o Observer, m Moves) (Plan, Report, error) {
	m.Action = ActionResolve
	return a.planMoves(ctx, o, m)
}

func (a *Auditor) planMoves(ctx context.Context, o Observer, m Moves) (Plan, Report, error) {
	var found []candidate
	over := false
	report, err := a.Archived(ctx, o, func(t Archived) {
		if len(m.Codes) > 0 && !slices.ContainsFunc(m.Codes, t.Verdict.Has) {
			return
		}
		if over = over || len(found) >= maxSteps; !over {
			found = append(found, newCandidate(t, m))
		}
	})
	switch {
	case err != nil || !report.Complete:
		return Plan{}, report, err
	case over:
		return Plan{}, report, fmt.Errorf("more than %d archived tasks: select fewer with --queue, --type or --where", maxSteps)
	}
	now, err := a.queue.Now(ctx)
	if err != nil {
		return Plan{}, report, err
	}
	m.sort(found)
	plan := Plan{MadeAt: now, Moves: &m}
	if err := a.holdMore(ctx, found, &m, now); err != nil {
		return Plan{}, report, err
	}
	for i := range found {
		plan.Steps = append(plan.Steps, found[i].step(m))
	}
	force(plan.Steps, a.opt.Scope.IDs, m.Force)
	m.limit(plan.Steps)
	for i := range plan.Steps {
		if s := &plan.Steps[i]; s.Hold == "" {
			m.queue(s.Ref().Queue).Run++
		}
	}
	return plan, report, nil
}

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

// sort puts the tasks in the order in which they are moved.
func (m *Moves) sort(found []candidate) {
	slices.SortStableFunc(found, func(a, b candidate) int {
		byType := 0
		if m.Order == OrderType {
			byType = cmp.Compare(a.Task.Type, b.Task.Type)
		}
		age := firstKnown(a.Task).Compare(firstKnown(b.Task))
		if m.Order == OrderNewest {
			age = -age
		}
		return cmp.Or(byType, age, cmp.Compare(a.Task.Queue, b.Task.Queue), cmp.Compare(a.Task.ID, b.Task.ID))
	})
}

// holdMore holds what one task alone does not show: other tasks of its key or
// content, and queues that nobody takes tasks from.
func (a *Auditor) holdMore(ctx context.Context, found []candidate, m *Moves, now time.Time) error {
	if err := a.noteQueues(ctx, found, m); err != nil || m.Action != ActionRun {
		return err
	}
	a.holdSameKey(found)
	if err := a.holdLocked(ctx, found); err != nil {
		return err
	}
	for i := range found {
		c := &found[i]
		if c.action != ActionRun {
			continue
		}
		q := m.queue(c.Task.Queue)
		switch idle := !slices.Contains(m.Idle, q.Name); {
		case idle && q.Paused:
			c.hold(HoldPaused, "")
		case idle && !q.Served:
			c.hold(HoldUnserved, "")
		default:
			c.plan(m, q, now)
		}
	}
	return nil
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

// holdSameKey lets one archived task of a key run, the oldest.
func (a *Auditor) holdSameKey(found []candidate) {
	type place struct {
		space int
		key   string
	}
	spaces := keySpaces(a.rules)
	byKey := map[place][]*candidate{}
	for i := range found {
		c := &found[i]
		if c.action != ActionRun || c.Rule == nil || len(c.Rule.witnesses()) == 0 {
			continue
		}
		p := place{spaces[c.Rule.sourceID(c.Rule.witnesses()[0])], c.Rule.canonical(c.Key)}
		byKey[p] = append(byKey[p], c)
	}
	for _, same := range byKey {
		first := same[0]
		for _, c := range same[1:] {
			if older(c.Task, first.Task) {
				first = c
			}
		}
		for _, c := range same {
			if c != first {
				c.hold(HoldTwin, fmt.Sprintf("archived task %q of queue %q has the same key and is older: one of them is enough", first.Task.ID, first.Task.Queue))
			}
		}
	}
}

func older(a, b inspect.Task) bool {
	return cmp.Or(firstKnown(a).Compare(firstKnown(b)), cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.ID, b.ID)) < 0
}

// holdLocked holds the tasks whose work another task's lock guards.
func (a *Auditor) holdLocked(ctx context.Context, found []candidate) error {
	var keys []string
	var of []*candidate
	for i := range found {
		if c := &found[i]; c.action == ActionRun {
			for _, key := range c.locks {
				keys, of = append(keys, key), append(of, c)
			}
		}
	}
	locks, err := a.queue.Locks(ctx, keys)
	if err != nil {
		return err
	}
	var owners []inspect.Ref
	var held []*candidate
	for i, l := range locks {
		if c := of[i]; l.Held && l.Owner != c.Task.ID {
			owners = append(owners, inspect.Ref{Queue: c.Task.Queue, ID: l.Owner})
			held = append(held, c)
		}
	}
	tasks, err := a.queue.Read(ctx, owners)
	if err != nil {
		return err
	}
	for i, t := range tasks {
		reason, words := lockedWords(t)
		held[i].hold(reason, words)
	}
	return nil
}

// lockedWords say why a task whose lock another one holds does not run.
func lockedWords(owner inspect.Task) (HoldReason, string) {
	switch {
	case owner.State.Live():
		return HoldTwin, fmt.Sprintf("task %q, which is %s, holds the lock of its work", owner.ID, owner.State)
	case gone(owner):
		return HoldLocked, fmt.Sprintf("the lock of its work belongs to task %q, which is gone (idemctl locks why)", owner.ID)
	}
	return HoldLocked, fmt.Sprintf("the lock of its work belongs to task %q, which is %s (idemctl locks why)", owner.ID, owner.State)
}

// noteQueues reads how the queues of the tasks stand.
func (a *Auditor) noteQueues(ctx context.Context, found []candidate, m *Moves) error {
	servers, err := a.queue.Servers(ctx)
	if err != nil {
		return err
	}
	m.Queues = nil
	names := map[string]bool{}
	for i := range found {
		names[found[i].Task.Queue] = true
	}
	for name := range names {
		q, err := a.queue.Queue(ctx, name)
		if errors.Is(err, inspect.ErrQueueNotFound) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return err
		}
		m.Queues = append(m.Queues, PlannedQueue{Name: name, Paused: q.Paused, Served: serves(servers, name), Pending: q.Pending})
	}
	slices.SortFunc(m.Queues, func(a, b PlannedQueue) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// queue is one of the plan's; the zero queue where there is none of the name.
func (m *Moves) queue(name string) *PlannedQueue {
	for i := range m.Queues {
		if m.Queues[i].Name == name {
			return &m.Queues[i]
		}
	}
	return &PlannedQueue{Name: name}
}

// limit holds what is beyond the most that may be moved.
func (m *Moves) limit(steps []Step) {
	n := 0
	for i := range steps {
		if steps[i].Hold != "" {
			continue
		}
		if n++; m.Max > 0 && n > m.Max {
			steps[i].Reason, steps[i].Hold = HoldLimit, HoldLimit.Words()
		}
	}
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
