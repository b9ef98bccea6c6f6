package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// Dossier is everything that is known of one task.
type Dossier struct {
	Task inspect.Task
	// Findings hold for the task as of ConfirmedAt, worst first.
	Findings []Finding
	Rule     *Bound // nil: none matches
	Key      string
	// KeyProblem says why there is no key.
	KeyProblem string
	Verdict    Verdict
	Readings   []Reading
	Lock       *Lock // nil: the task was enqueued without one
	// FormLock is the lock of the payload's canonical form, held by whoever holds
	// it; nil where that is the task's own lock, where the payload has no canonical
	// form, or where the task was enqueued without a lock.
	FormLock *Lock
	// Life is the longest that a live task can still live if every attempt fails;
	// 0 where nothing bounds it, and Endless says why.
	Life    time.Duration
	Endless string
	// HeldIn are the lists and sets that hold its ID, "lease" among them; empty
	// for a ghost.
	HeldIn []string
	// rival is the task that holds a lock of an archived task's content; nil: none.
	rival *inspect.Task
	// Periodic is the entry that enqueues under the task's ID; nil: none does.
	Periodic    *Periodic
	Worker      *inspect.Worker
	Queue       inspect.Queue
	Served      bool // a live server consumes the queue
	ConfirmedAt time.Time
	// Next is what happens to the task if nobody acts.
	Next string
	// Choices is what each thing a person can do would do.
	Choices []Choice
}

// ShownKey is the key as an output may show it.
func (d *Dossier) ShownKey() string { return shownKey(d.Key, d.Rule.HidesKey()) }

// Choice is one thing that can be done with a task.
type Choice struct {
	Verb    string // "leave", "run", "delete"
	Outcome string
	Safe    bool
}

// TaskError says that a task is not in its queue.
type TaskError struct {
	Ref inspect.Ref
	// HeldIn are the lists and sets that hold its ID all the same.
	HeldIn []string
}

func (e *TaskError) Error() string {
	if len(e.HeldIn) > 0 {
		return fmt.Sprintf("no task %q in queue %q, though this holds its ID: %s", e.Ref.ID, e.Ref.Queue, list(e.HeldIn))
	}
	return fmt.Sprintf("no task %q in queue %q", e.Ref.ID, e.Ref.Queue)
}

// Explain reads one task and everything around it, and judges it as an audit of
// all queues would. It gives *TaskError when there is no such task.
func (a *Auditor) Explain(ctx context.Context, ref inspect.Ref) (Dossier, error) {
	var sink findingList
	one := &Auditor{queue: a.queue, opt: a.opt, rules: a.rules}
	one.opt.Scope = Scope{Queues: []string{ref.Queue}, Exact: true, IDs: []string{ref.ID}}
	one.opt.Where = nil
	one.opt.OnJudged = nil
	r := &run{Auditor: one, out: &sink}
	if err := r.open(ctx); err != nil {
		return Dossier{}, err
	}
	placed, err := r.placeOf(ctx, ref)
	if err != nil {
		return Dossier{}, err
	}
	look := r.judgeOne
	if !placed.sound() {
		look = func(ctx context.Context) error { return r.tellPlace(ctx, placed) }
	}
	if err := look(ctx); err != nil {
		return Dossier{}, err
	}
	if placed.unregistered {
		r.tellUnknownGroup(placed.task)
	}
	if err := r.twinsOf(ctx, placed.task); err != nil {
		return Dossier{}, err
	}
	d := Dossier{Findings: sink, HeldIn: placed.names()}
	return d, r.describe(ctx, ref, &d)
}

// judgeOne judges the one task in scope.
func (r *run) judgeOne(ctx context.Context) error {
	for _, phase := range []func(context.Context) error{r.list, r.recheck, r.settle, r.collide} {
		if err := phase(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tellUnknownGroup tells that no aggregator knows the task's group.
func (r *run) tellUnknownGroup(t inspect.Task) {
	r.publish(nil, Finding{
		Code: CodeGroupUnregistered, Severity: CodeGroupUnregistered.Severity(),
		Task:      inspect.Task{Ref: inspect.Ref{Queue: t.Queue}, Group: t.Group, State: inspect.StateAggregating},
		TaskCount: 1, ConfirmedAt: r.now(),
	})
}

// maxTwinSearch is how many live tasks of its queue are read for a task's twins.
const maxTwinSearch = 50_000

// twinsOf looks for live tasks of equal content beside a live task that was read
// alone, where its queue is not too long for that.
func (r *run) twinsOf(ctx context.Context, t inspect.Task) error {
	if r.keyed() || !t.State.Live() || t.Defect != inspect.DefectNone {
		return nil // not live, or its keys' collision has shown them
	}
	q := r.facts[t.Queue]
	if q.Active+q.Pending+q.Aggregating+q.Scheduled+q.Retry > maxTwinSearch {
		return nil
	}
	c := &collision{members: map[inspect.Ref]member{}, count: 0}
	live := []inspect.State{
		inspect.StateActive, inspect.StatePending, inspect.StateAggregating, inspect.StateScheduled, inspect.StateRetry,
	}
	listing := inspect.Listing{Queues: []string{t.Queue}, States: live, Plain: true, Passes: 1, Lenient: true}
	for page, err := range r.queue.Pages(ctx, listing) {
		if err != nil {
			return err
		}
		for _, other := range page {
			if other.Type == t.Type && contentOf(other) == contentOf(t) && c.add(r.match(t.Type, t.Queue), item{task: other}) {
				c.count++
			}
		}
	}
	return r.tellCollision(ctx, c, false)
}

// describe reads the task's facts as they are now.
func (r *run) describe(ctx context.Context, ref inspect.Ref, d *Dossier) error {
	tasks, err := r.queue.Read(ctx, []inspect.Ref{ref})
	if err != nil {
		return err
	}
	d.Task = tasks[0]
	if d.Task.Defect == inspect.DefectDangling {
		return &TaskError{Ref: ref}
	}
	if d.ConfirmedAt, err = r.queue.Now(ctx); err != nil {
		return err
	}
	d.Rule = r.match(d.Task.Type, ref.Queue)
	s := suspect{item: item{task: d.Task}}
	s.key, s.keyProblem, s.hash = r.keyAgain(d.Rule, d.Task)
	m, err := r.surroundings(ctx, d.Rule, []suspect{s})
	if err != nil {
		return err
	}
	f := r.lookUpFenced(ctx, d.Rule, []item{s.item}, true)
	if err := r.ledgers.first(); err != nil {
		return err
	}
	s.rows, s.lagging, s.unread = f.rows[0], f.lagging, f.unread
	m.Now = d.ConfirmedAt
	s.conclude(r, d.Rule, m)
	d.Key, d.KeyProblem, d.Verdict = s.key, s.keyProblem, s.verdict
	d.Readings = readings(d.Rule, s.rows)
	if around := r.around(m.Moment, d.Task); d.Task.State.Live() {
		d.Life, d.Endless = longestLife(d.Task, d.Rule, around), endless(d.Task, d.Rule, around)
	}
	one := []suspect{s}
	one[0].lock = r.locks(ctx, []item{s.item})[0]
	r.evidence(d.Rule, &one[0], m.Moment)
	r.ownerStates(ctx, one)
	d.Lock = one[0].lock
	if d.FormLock, err = r.formLock(ctx, d.Task); err != nil {
		return err
	}
	if d.rival, err = r.rivalOf(ctx, d.Task); err != nil {
		return err
	}
	if p, ok := r.silenced(ref); ok {
		d.Periodic = &p
	}
	if err := r.workers(ctx, ref, d); err != nil {
		return err
	}
	d.Next = next(d)
	d.Choices = choices(d)
	return nil
}

// rivalOf is the task that holds one of the locks of an archived task's content, as
// requeue looks for it; nil where none does.
func (r *run) rivalOf(ctx context.Context, t inspect.Task) (*inspect.Task, error) {
	if t.State != inspect.StateArchived {
		return nil, nil //nolint:nilnil // only archived tasks run again
	}
	locks, err := r.queue.Locks(ctx, contentLocks(t))
	if err != nil {
		return nil, err
	}
	for _, l := range locks {
		if !l.Held || l.Owner == t.ID {
			continue
		}
		tasks, err := r.queue.Read(ctx, []inspect.Ref{{Queue: t.Queue, ID: l.Owner}})
		if err != nil {
			return nil, err
		}
		return &tasks[0], nil
	}
	return nil, nil //nolint:nilnil // none does
}

// workers notes who serves the queue and who runs the task.
func (r *run) workers(ctx context.Context, ref inspect.Ref, d *Dossier) error {
	queue, err := r.queue.Queue(ctx, ref.Queue)
	if err != nil {
		return err
	}
	d.Queue = queue
	servers, err := r.queue.Servers(ctx)
	if err != nil {
		return err
	}
	for _, s := range servers {
		// A server that is stopped or closed takes no tasks.
		if _, serves := s.Queues[ref.Queue]; serves && s.Status == "active" {
			d.Served = true
		}
		for _, w := range s.Workers {
			if w.Ref == ref {
				d.Worker = &w
			}
		}
	}
	return nil
}

// found says whether the code is among the dossier's findings.
func (d *Dossier) found(code Code) bool {
	return slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Code == code })
}

// findingList collects findings, and minds no progress.
type findingList []Finding

func (l *findingList) Finding(f Finding) { *l = append(*l, f) }
func (l *findingList) Progress(Progress) {}
