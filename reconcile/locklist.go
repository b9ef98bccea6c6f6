package reconcile

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// HeldLock is one uniqueness lock with the task that owns it, or, of verdicts
// lost and taken, with the task that should.
type HeldLock struct {
	// Finding carries the evidence: Task is the owner (State unknown and only its
	// ID where it is gone), Lock what was read of the lock, Status that of the
	// owner's effect. Its code is "" where nothing is wrong.
	Finding
	Verdict LockVerdict
	// Type and Queue are the lock's own, as its key says.
	Type, Queue string
}

// Locks tells every uniqueness lock in scope, and every live unique task whose
// lock is not its own. Locks come in no order. Only the lost, taken, orphaned and
// phantom ones were looked at twice: they are what somebody may act on.
func (a *Auditor) Locks(ctx context.Context, o Observer, tell func(HeldLock)) (Report, error) {
	r := &run{Auditor: a, out: o, aim: aimList}
	if err := r.open(ctx); err != nil {
		return Report{}, err
	}
	r.hashes = hashCounts{}
	l := &lockLister{run: r, tell: tell}
	// The live tasks first: a lock's owner that is not among them is looked for.
	if err := errors.Join(l.unheld(ctx), l.held(ctx)); err != nil {
		if l.told == 0 {
			return Report{}, err
		}
		r.fail(err)
	}
	r.hashes = nil // of the few that were looked for
	return r.report(ctx), nil
}

// lockLister lists locks from both sides.
type lockLister struct {
	run  *run
	tell func(HeldLock)
	told int
	seen *inspect.Index
}

// held goes over the keys.
func (l *lockLister) held(ctx context.Context) error {
	r := l.run
	l.seen = inspect.NewIndex()
	known := append(append([]string(nil), r.queues...), r.others...)
	for page, err := range r.queue.Keys(ctx, inspect.Sweep{Queues: r.sweptQueues(), Known: known}) {
		if err != nil {
			return err
		}
		var locks []inspect.Key
		for _, k := range page {
			if k.Kind == inspect.KeyLock && r.wantsType(inspect.Task{Type: k.Type}) &&
				l.seen.Note(inspect.Ref{Queue: k.Queue, ID: k.Name}, 1) == 0 {
				locks = append(locks, k)
			}
		}
		if err := l.page(ctx, locks); err != nil {
			return err
		}
		r.progress("sweeping", nil)
	}
	return ctx.Err()
}

func (l *lockLister) page(ctx context.Context, keys []inspect.Key) error {
	if len(keys) == 0 {
		return nil
	}
	r := l.run
	first, err := r.readOwned(ctx, keys)
	if err != nil {
		return err
	}
	now, err := r.queue.Now(ctx)
	if err != nil {
		return err
	}
	first, err = l.twice(ctx, first)
	if err != nil {
		return err
	}
	if err := l.stuck(ctx, first); err != nil {
		return err
	}
	byRule := map[*Bound][]heldLock{}
	for _, h := range first {
		b := r.match(h.key.Type, h.key.Queue)
		byRule[b] = append(byRule[b], h)
	}
	for b, locks := range byRule {
		l.judge(ctx, b, locks, now)
	}
	return ctx.Err()
}

// twice reads again the locks that seem to have been left behind, and leaves out
// those that have changed.
func (l *lockLister) twice(ctx context.Context, locks []heldLock) ([]heldLock, error) {
	var suspects []inspect.Key
	kept := locks[:0:0]
	before := map[string]heldLock{}
	for _, h := range locks {
		if h.verdict == LockOrphaned || h.verdict == LockPhantom {
			suspects = append(suspects, h.key)
			before[h.key.Name] = h
		} else {
			kept = append(kept, h)
		}
	}
	if len(suspects) == 0 {
		return kept, nil
	}
	again, err := l.run.readOwned(ctx, suspects)
	for _, h := range again {
		if old := before[h.key.Name]; h.verdict != old.verdict || h.lock.Owner != old.lock.Owner {
			continue
		}
		kept = append(kept, h)
	}
	return kept, err
}

// stuck finds the owners that no list or set holds. Only those that the listing
// has not met, and that are in no set of their state, are looked for.
func (l *lockLister) stuck(ctx context.Context, locks []heldLock) error {
	r := l.run
	var suspects []inspect.Task
	for _, h := range locks {
		state, seen := r.index.Seen(h.owner.Ref)
		if h.verdict == LockGuards && h.owner.Defect == inspect.DefectNone && !inPlace(h.owner) && (!seen || state == inspect.StateUnknown) {
			suspects = append(suspects, h.owner)
		}
	}
	for range 2 {
		if len(suspects) == 0 {
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
		var err error
		if suspects, err = r.unheld(ctx, suspects); err != nil {
			return err
		}
	}
	for i := range locks {
		if slices.ContainsFunc(suspects, func(t inspect.Task) bool { return t.Ref == locks[i].owner.Ref }) {
			locks[i].verdict = LockStuck
		}
	}
	return nil
}

// judge tells locks of one rule with the status of their owners' effects.
func (l *lockLister) judge(ctx context.Context, b *Bound, locks []heldLock, now time.Time) {
	r := l.run
	suspects := make([]suspect, len(locks))
	for i, h := range locks {
		s := &suspects[i]
		s.task = h.owner
		s.lock = &Lock{Key: h.key.Name, Owner: h.lock.Owner, TTL: h.lock.TTL, State: LockHeld, OwnerState: h.owner.State}
		if h.verdict == LockOrphaned {
			s.keyProblem = "its task is gone"
			continue
		}
		// The owner of a phantom is another type's, perhaps, and has its own rule.
		s.keyProblem = "its owner is under another rule"
		if r.ruleOf(h.owner) == b {
			s.key, s.keyProblem, s.hash = r.keyAgain(b, h.owner)
		}
	}
	f := r.lookUp(ctx, b, itemsOf(suspects))
	if ctx.Err() != nil {
		return
	}
	m := Moment{Now: now, Skew: r.clocks.skew, Settle: r.opt.Settle}
	for i, h := range locks {
		s := &suspects[i]
		row := HeldLock{Verdict: h.verdict, Type: h.key.Type, Queue: h.key.Queue}
		row.Task, row.ConfirmedAt, row.Lock = h.owner, now, s.lock
		if h.verdict != LockOrphaned && r.ruleOf(h.owner) == b {
			s.rows, s.lagging, s.unread = f.rows[i], f.lagging, f.unread
			v := Judge(r.evidence(b, s, m), r.around(m, s.task))
			row.Finding.Key, row.KeyHidden = s.key, b.HidesKey()
			row.Status, row.Reason, row.Cause, row.AppliedAt = v.Status, v.Reason, v.Cause, v.AppliedAt
			if row.Verdict == LockGuards && v.Has(CodeLockExpiresEarly) {
				row.Verdict = LockEarly
			}
		}
		if h.verdict == LockOrphaned {
			row.Task = inspect.Task{Ref: inspect.Ref{Queue: h.key.Queue, ID: h.lock.Owner}, Type: h.key.Type, Defect: inspect.DefectDangling}
		}
		if h.verdict == LockPhantom {
			s.lock.Needed = 0 // that other work's life is not this lock's concern
			row.Detail = phantomWords(h.owner)
		}
		l.say(row)
	}
}

// unheld lists the live tasks for those whose lock is not their own.
func (l *lockLister) unheld(ctx context.Context) error {
	r := l.run
	var live []inspect.State
	for _, s := range r.states {
		if s.Live() {
			live = append(live, s)
		}
	}
	if len(live) == 0 {
		return nil
	}
	listing := inspect.Listing{Lenient: true, Queues: r.queues, States: live, PageSize: r.opt.PageSize, Index: r.index, Plain: true, InFlight: 2}
	for page, err := range r.queue.Pages(ctx, listing) {
		if err != nil {
			return err
		}
		var unique []inspect.Task
		for _, t := range page {
			if t.UniqueKey != "" && t.State.Live() && r.inScope(t) {
				unique = append(unique, t)
			}
		}
		if err := l.bereft(ctx, unique); err != nil {
			return err
		}
		r.progress("listing", page)
	}
	return ctx.Err()
}

// bereft tells the tasks that do not hold their locks: the lock, then the task,
// and both again.
func (l *lockLister) bereft(ctx context.Context, tasks []inspect.Task) error {
	r := l.run
	for range 2 {
		items := make([]item, len(tasks))
		for i, t := range tasks {
			items[i].task = t
		}
		locks := r.locks(ctx, items)
		refs := make([]inspect.Ref, 0, len(tasks))
		for i, lock := range locks {
			if lock != nil && lock.State != LockHeld {
				refs = append(refs, tasks[i].Ref)
			}
		}
		if len(refs) == 0 {
			return ctx.Err()
		}
		again, err := r.queue.Read(ctx, refs)
		if err != nil {
			return err
		}
		tasks = again[:0]
		for _, t := range again {
			if t.State.Live() && t.UniqueKey != "" {
				tasks = append(tasks, t)
			}
		}
	}
	return l.tellBereft(ctx, tasks)
}

func (l *lockLister) tellBereft(ctx context.Context, tasks []inspect.Task) error {
	r := l.run
	now, err := r.queue.Now(ctx)
	if err != nil {
		return err
	}
	byRule := map[*Bound][]inspect.Task{}
	for _, t := range tasks {
		byRule[r.ruleOf(t)] = append(byRule[r.ruleOf(t)], t)
	}
	for b, group := range byRule {
		suspects := make([]suspect, len(group))
		for i, t := range group {
			suspects[i].task = t
			suspects[i].key, suspects[i].keyProblem, suspects[i].hash = r.keyAgain(b, t)
		}
		locks := r.locks(ctx, itemsOf(suspects))
		f := r.lookUp(ctx, b, itemsOf(suspects))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for i := range suspects {
			suspects[i].lock = locks[i]
			suspects[i].rows, suspects[i].lagging, suspects[i].unread = f.rows[i], f.lagging, f.unread
		}
		r.ownerStates(ctx, suspects)
		for i := range suspects {
			l.sayBereft(b, &suspects[i], now)
		}
	}
	return ctx.Err()
}

func (l *lockLister) sayBereft(b *Bound, s *suspect, now time.Time) {
	if s.lock == nil || s.lock.State == LockHeld {
		return // it came back: the task was enqueued again
	}
	row := HeldLock{Verdict: LockMissing, Type: s.task.Type, Queue: s.task.Queue}
	if s.lock.State == LockTaken {
		row.Verdict = LockStolen
	}
	r := l.run
	m := Moment{Now: now, Skew: r.clocks.skew, Settle: r.opt.Settle}
	v := Judge(r.evidence(b, s, m), r.around(m, s.task))
	row.Task, row.ConfirmedAt, row.Lock = s.task, now, s.lock
	row.Finding.Key, row.KeyHidden = s.key, b.HidesKey()
	row.Status, row.Reason, row.Cause, row.AppliedAt = v.Status, v.Reason, v.Cause, v.AppliedAt
	l.say(row)
}

// say hands a lock on, unless the filter or the scope keeps it back.
func (l *lockLister) say(row HeldLock) {
	s := l.run.opt.Scope
	if len(s.IDs) > 0 && !slices.Contains(s.IDs, row.Task.ID) {
		return
	}
	if len(s.States) > 0 && !slices.Contains(s.States, row.Task.State) {
		return
	}
	row.Code = row.Verdict.Code()
	row.Severity = row.Code.Severity()
	if !l.run.opt.Where.Passes(Subject{Finding: &row.Finding}) {
		return
	}
	l.told++
	l.tell(row)
}
