package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
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
	over, forcing := false, m.Force != "" && len(a.opt.Scope.IDs) == 1
	report, err := a.Archived(ctx, o, func(t Archived) {
		if len(m.Codes) > 0 && !slices.ContainsFunc(m.Codes, t.Verdict.Has) {
			return
		}
		if over = over || len(found) >= maxSteps; !over {
			found = append(found, newCandidate(t, m, forcing))
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
