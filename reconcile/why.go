package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// Question is an enqueue that somebody wonders about.
type Question struct {
	Queue, Type string
	// Payload, where nil, is asynq's nil payload; an empty one has another lock.
	Payload []byte
	// ID is the explicit task ID; "" asks for the lock alone.
	ID string
	// IDOnly asks for the ID alone: no type and payload are given.
	IDOnly bool
}

// Barrier says what refuses an enqueue.
type Barrier string

const (
	BarrierUnknown Barrier = ""
	BarrierLock    Barrier = "lock"    // asynq.ErrDuplicateTask, of a unique task
	BarrierTaskID  Barrier = "task-id" // asynq.ErrTaskIDConflict
)

// Error is the name of the error that asynq gives (client.go).
func (b Barrier) Error() string {
	switch b {
	case BarrierLock:
		return "asynq.ErrDuplicateTask"
	case BarrierTaskID:
		return "asynq.ErrTaskIDConflict"
	}
	return ""
}

// Refusal is one barrier in the way of an enqueue, with what is known of the
// task behind it.
type Refusal struct {
	Barrier Barrier
	// Finding carries the evidence: Task is the one behind the barrier, Lock is
	// set for BarrierLock, Status is that of the task's effect.
	Finding
	Verdict LockVerdict // BarrierLock only
	// Until is when the barrier goes by itself; zero: with the end of the task, or
	// never. Why says in words when and how it goes.
	Until time.Time
	Why   string
	// Stuck is the fault of the queue's structure that keeps the task behind the
	// barrier from running; "" for none.
	Stuck Code
	// Next is the one safe thing to do, in words, and Command what to type; "" is
	// none.
	Next, Command string
}

// Answer says whether an enqueue would be refused now.
type Answer struct {
	Question
	LockKey  string // "" when only the ID was asked for
	Refusals []Refusal
	// Known says whether asynq knows the queue. Paused and Served are the queue's.
	Known, Paused, Served bool
	// Twins are live tasks of equal content in other queues: locks guard one
	// queue.
	Elsewhere   []inspect.Ref
	ConfirmedAt time.Time
}

// Refused says whether an enqueue with asynq.Unique (and the ID, where one is
// given) would fail.
func (a *Answer) Refused() bool { return len(a.Refusals) > 0 }

// Why looks at the barriers in the order in which asynq meets them: a unique
// enqueue takes its lock first, then the ID is tested (rdb.go:
// enqueueUniqueCmd). Each is read twice, and what does not hold still is looked at again.
func (a *Auditor) Why(ctx context.Context, q Question) (Answer, error) {
	one := &Auditor{queue: a.queue, opt: a.opt, rules: a.rules}
	one.opt.Scope, one.opt.Where, one.opt.OnJudged = Scope{}, nil, nil
	r := &run{Auditor: one, out: &findingList{}, aim: aimList}
	if err := r.open(ctx); err != nil {
		return Answer{}, err
	}
	answer := Answer{Question: q, Served: r.facts[q.Queue].served, Paused: r.facts[q.Queue].Paused}
	_, answer.Known = slices.BinarySearch(r.queues, q.Queue)
	if !q.IDOnly {
		answer.LockKey = inspect.UniqueKey(q.Queue, q.Type, q.Payload)
		refusal, err := r.lockBarrier(ctx, answer.LockKey, q)
		if err != nil {
			return Answer{}, err
		}
		if refusal != nil {
			answer.Refusals = append(answer.Refusals, *refusal)
		}
		if answer.Elsewhere, err = r.elsewhere(ctx, q); err != nil {
			return Answer{}, err
		}
	}
	if q.ID != "" {
		refusal, err := r.idBarrier(ctx, q)
		if err != nil {
			return Answer{}, err
		}
		if refusal != nil {
			answer.Refusals = append(answer.Refusals, *refusal)
		}
	}
	now, err := r.queue.Now(ctx)
	answer.ConfirmedAt = now
	return answer, err
}

// ErrChanging says that what was asked for would not hold still.
var ErrChanging = errors.New("it keeps changing: ask again")

// lockBarrier is the lock that refuses the enqueue; nil when it is free.
func (r *run) lockBarrier(ctx context.Context, key string, q Question) (*Refusal, error) {
	k := inspect.Key{Kind: inspect.KeyLock, Queue: q.Queue, Name: key, Type: q.Type}
	for range confirmRounds {
		first, err := r.readOwned(ctx, []inspect.Key{k})
		if err != nil {
			return nil, err
		}
		if len(first) == 0 {
			return nil, nil
		}
		now, err := r.queue.Now(ctx)
		if err != nil {
			return nil, err
		}
		b := r.ruleOf(first[0].owner)
		s := suspect{item: item{task: first[0].owner}}
		s.key, s.keyProblem, s.hash = r.keyAgain(b, s.task)
		f := r.lookUpFenced(ctx, b, []item{s.item}, true)
		again, err := r.readOwned(ctx, []inspect.Key{k})
		if err != nil {
			return nil, err
		}
		if len(again) == 0 || again[0].verdict != first[0].verdict || again[0].lock.Owner != first[0].lock.Owner ||
			!sameHash(first[0].owner, again[0].owner) {
			continue
		}
		h := again[0]
		s.rows, s.lagging, s.unread = f.rows[0], f.lagging, f.unread
		s.lock = &Lock{Key: key, Owner: h.lock.Owner, TTL: h.lock.TTL, State: LockHeld, OwnerState: h.owner.State}
		refusal := r.lockRefusal(b, h, &s, now)
		return refusal, errors.Join(r.ledgers.first(), r.stick(ctx, refusal))
	}
	return nil, fmt.Errorf("lock %s: %w", key, ErrChanging)
}

func (r *run) lockRefusal(b *Bound, h heldLock, s *suspect, now time.Time) *Refusal {
	f := Refusal{Barrier: BarrierLock, Verdict: h.verdict}
	f.Task, f.Lock, f.ConfirmedAt = h.owner, s.lock, now
	if h.verdict == LockOrphaned {
		f.Task = inspect.Task{Ref: inspect.Ref{Queue: h.key.Queue, ID: h.lock.Owner}, Type: h.key.Type, Defect: inspect.DefectDangling}
	} else {
		r.judgeRefusal(b, s, &f, now)
	}
	if f.Verdict == LockGuards && s.lock.Needed > 0 && s.lock.TTL < s.lock.Needed {
		f.Verdict = LockEarly
	}
	f.Code = f.Verdict.Code()
	f.Severity = f.Code.Severity()
	if f.Verdict == LockPhantom {
		f.Detail = phantomWords(h.owner)
	}
	f.Until = f.lockEnd()
	f.tellLock(r.facts[h.key.Queue])
	return &f
}

// stick finds out whether the task behind the barrier can run at all, and says
// what to do where it cannot.
func (r *run) stick(ctx context.Context, f *Refusal) (err error) {
	if f.Verdict == LockOrphaned || f.Verdict == LockPhantom || f.Task.Defect == inspect.DefectResultOnly {
		return nil
	}
	if f.Stuck, err = r.stuckTwice(ctx, f.Task.Ref); f.Stuck == "" || err != nil {
		return err
	}
	if f.Barrier == BarrierLock {
		f.Verdict = LockStuck
	}
	held := f.Finding
	held.Code = f.Stuck
	f.Command = held.Action()
	switch f.Stuck {
	case CodeGhost:
		f.Next = "mend it: no list or set holds that task, so that it never runs and no asynq call reaches it"
	case CodeNoLease:
		f.Next = "mend it: that task is active without a lease, so that no recoverer ever takes it"
	case CodeGroupUnregistered:
		f.Next = "mend it: no aggregator knows that task's group"
	case CodeUndecodable:
		f.Next = "look at it: no worker can run that task, since its message cannot be read"
	default:
		f.Next = "mend it: the hash of that task and the lists contradict each other"
	}
	return nil
}

func (r *run) judgeRefusal(b *Bound, s *suspect, f *Refusal, now time.Time) {
	m := Moment{Now: now, Skew: r.clocks.skew, Settle: r.opt.Settle}
	v := Judge(r.evidence(b, s, m), r.around(m, s.task))
	f.Finding.Key, f.KeyHidden = s.key, b.HidesKey()
	f.Status, f.Reason, f.Cause, f.AppliedAt = v.Status, v.Reason, v.Cause, v.AppliedAt
	f.Settle, f.Attribution = v.Settle, v.Attribution
	f.Readings = readings(b, s.rows)
}

// idBarrier is the task that has the ID; nil when it is free. Any hash under the
// task's key refuses it, in whatever state (asynq rdb.go: enqueueCmd).
func (r *run) idBarrier(ctx context.Context, q Question) (*Refusal, error) {
	ref := inspect.Ref{Queue: q.Queue, ID: q.ID}
	for range confirmRounds {
		first, err := r.queue.Read(ctx, []inspect.Ref{ref})
		if err != nil {
			return nil, err
		}
		if first[0].Defect == inspect.DefectDangling {
			return nil, nil
		}
		now, err := r.queue.Now(ctx)
		if err != nil {
			return nil, err
		}
		b := r.ruleOf(first[0])
		s := suspect{item: item{task: first[0]}}
		s.key, s.keyProblem, s.hash = r.keyAgain(b, s.task)
		f := r.lookUpFenced(ctx, b, []item{s.item}, true)
		again, err := r.queue.Read(ctx, []inspect.Ref{ref})
		if err != nil {
			return nil, err
		}
		if !sameHash(first[0], again[0]) {
			continue
		}
		s.task, s.rows, s.lagging, s.unread = again[0], f.rows[0], f.lagging, f.unread
		refusal := Refusal{Barrier: BarrierTaskID}
		refusal.Task, refusal.ConfirmedAt, refusal.Code = s.task, now, CodeIDBlocked
		refusal.Severity = CodeIDBlocked.Severity()
		r.judgeRefusal(b, &s, &refusal, now)
		refusal.tellID(r.facts[q.Queue])
		return &refusal, errors.Join(r.ledgers.first(), r.stick(ctx, &refusal))
	}
	return nil, fmt.Errorf("task %q in queue %q: %w", q.ID, q.Queue, ErrChanging)
}

// elsewhere finds the owners of the same content's locks in the other queues.
func (r *run) elsewhere(ctx context.Context, q Question) ([]inspect.Ref, error) {
	var keys []inspect.Key
	for _, queue := range r.queues {
		if queue != q.Queue {
			keys = append(keys, inspect.Key{Kind: inspect.KeyLock, Queue: queue, Type: q.Type, Name: inspect.UniqueKey(queue, q.Type, q.Payload)})
		}
	}
	held, err := r.readOwned(ctx, keys)
	var refs []inspect.Ref
	for _, h := range held {
		if h.owner.State.Live() && h.owner.UniqueKey == h.key.Name {
			refs = append(refs, h.owner.Ref)
		}
	}
	return refs, err
}
