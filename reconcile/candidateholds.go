package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

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
		if c.action != ActionRun && !c.forcing {
			continue
		}
		q := m.queue(c.Task.Queue)
		switch idle := !slices.Contains(m.Idle, q.Name); {
		case idle && q.Paused:
			c.hold(HoldPaused, "")
		case idle && !q.Served:
			c.hold(HoldUnserved, "")
		}
		if c.action == ActionRun || c.forcing {
			c.plan(m, q, now)
		}
	}
	return nil
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
		if c := &found[i]; c.action == ActionRun || c.forcing {
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
