package reconcile

import (
	"context"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// Fate is what became of a task that was moved. The zero value is FateUnknown.
type Fate string

const (
	FateUnknown  Fate = ""              // its ledger could not be read, or nobody can say
	FateWaiting  Fate = "waiting"       // pending, active, or on its way there
	FateApplied  Fate = "applied-once"  // gone or kept as completed, and its effect is there
	FateTwice    Fate = "applied-twice" // its effect is there more often than it may be
	FateFailed   Fate = "failed-again"  // in retry, or archived again
	FateUnproven Fate = "unproven"      // done, as asynq has it, and no row says so
	FateStill    Fate = "not-moved"     // archived, as it was
)

// Words says the fate as a clause.
func (f Fate) Words() string {
	switch f {
	case FateWaiting:
		return "it waits or runs"
	case FateApplied:
		return "its work is done, once"
	case FateTwice:
		return "its effect is there more often than it may be"
	case FateFailed:
		return "it failed again"
	case FateUnproven:
		return "it is gone, and no row says that its work is done"
	case FateStill:
		return "it is in the archive, as it was"
	case FateUnknown:
	}
	return "nobody can say"
}

// Watched is a task that was moved, as it is now.
type Watched struct {
	Ref  inspect.Ref
	Item string
	Fate Fate
	// Task is what Redis has of it now; its State is unknown where it is gone.
	Task   inspect.Task
	Status Status // of its key; StatusUnknown where nobody looked
	// Reason says why the status is unknown.
	Reason Reason
	// AppliedAt is when its effect was written; zero where no row says.
	AppliedAt time.Time
	// Canary says that the run waits for it.
	Canary bool
}

// Moved is a task as it was before it was moved.
type Moved struct {
	Item string
	Task inspect.Task // with its payload where fingerprints are stored
	Key  string       // "" where it has none
}

// Fates says what became of tasks that were moved: each is read, and then the
// ledger, so that a task which is gone has left its row by then.
func (a *Auditor) Fates(ctx context.Context, moved []Moved) ([]Watched, error) {
	if err := a.Prepare(ctx); err != nil {
		return nil, err
	}
	r := &run{Auditor: a, out: &findingList{}}
	return r.fates(ctx, moved)
}

func (r *run) fates(ctx context.Context, moved []Moved) ([]Watched, error) {
	refs := make([]inspect.Ref, len(moved))
	for i := range moved {
		refs[i] = moved[i].Task.Ref
	}
	tasks, err := r.queue.Read(ctx, refs)
	if err != nil {
		return nil, err
	}
	now, err := r.queue.Now(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Watched, len(moved))
	byRule := map[*Bound][]int{}
	for i, m := range moved {
		out[i] = Watched{Ref: m.Task.Ref, Item: m.Item, Task: tasks[i]}
		b := r.match(m.Task.Type, m.Task.Queue)
		byRule[b] = append(byRule[b], i)
	}
	for b, at := range byRule {
		if err := r.fatesOf(ctx, b, moved, at, now, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fatesOf looks the keys of one rule up.
func (r *run) fatesOf(ctx context.Context, b *Bound, moved []Moved, at []int, now time.Time, out []Watched) error {
	items := make([]item, len(at))
	for n, i := range at {
		items[n] = item{task: moved[i].Task, key: moved[i].Key}
		if moved[i].Key == "" {
			items[n].keyProblem = "it has no key"
		}
	}
	f := r.lookUpFenced(ctx, b, items, true)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for n, i := range at {
		e := Evidence{
			Task: moved[i].Task, Rule: b, Key: items[n].key, KeyProblem: items[n].keyProblem,
			Rows: f.rows[n], Unread: f.unread, Lagging: f.lagging,
		}
		w := &out[i]
		w.Status, w.Reason = statusOf(e, Moment{Now: now})
		if e.Rows != nil {
			w.AppliedAt = appliedAt(e)
		}
		w.Fate = fateOf(moved[i].Task, w, repeated(e))
	}
	return nil
}

// repeated says whether a source has more finished rows of the key than is right.
func repeated(e Evidence) bool {
	if e.Rows == nil {
		return false
	}
	for _, i := range e.Rule.witnesses() {
		if e.Rows[i].Passing > e.Rule.Effects() {
			return true
		}
	}
	return false
}

// Succeeded says whether the task is done and, where rows tell, its work with it.
func (w *Watched) Succeeded() bool {
	mute := w.Status == StatusNatural || w.Reason == ReasonNoSource
	return w.Fate == FateApplied || w.Fate == FateUnproven && mute
}

// fateOf concludes from where the task is and what its rows say.
func fateOf(before inspect.Task, w *Watched, duplicated bool) Fate {
	t := w.Task
	switch {
	case duplicated:
		return FateTwice
	case t.State == inspect.StateRetry:
		return FateFailed
	case t.State.Live():
		return FateWaiting
	case t.State == inspect.StateArchived:
		if t.ArchivedAt.Equal(before.ArchivedAt) && t.LastFailedAt.Equal(before.LastFailedAt) {
			return FateStill
		}
		return FateFailed
	}
	switch {
	case w.Status == StatusApplied:
		return FateApplied
	case w.Status == StatusNotApplied, w.Status == StatusInProgress, w.Status == StatusPartial,
		w.Status == StatusNatural, w.Reason == ReasonNoSource:
		return FateUnproven
	}
	return FateUnknown
}
