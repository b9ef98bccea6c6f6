package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// What asynq's archive can hold, and for how long (rdb.go: maxArchiveSize,
// archivedExpirationInDays; it is cut whenever another task is archived).
const (
	archiveCap      = 10_000
	archiveNearCap  = archiveCap * 9 / 10
	archiveDays     = 90
	archiveLastDays = 7
)

const (
	skewWarning = 5 * time.Second
	// skewHigh is the recoverer's allowance (recoverer.go: recover): from here on
	// it takes tasks whose leases still run.
	skewHigh = 30 * time.Second
)

// archiveAge is what a listing saw of the archived tasks that will soon be
// deleted.
type archiveAge struct {
	count  int
	oldest time.Time
}

// age notes an archived task that has little time left.
func (r *run) age(t inspect.Task) {
	if t.State != inspect.StateArchived || t.ArchivedAt.IsZero() || t.Prev == inspect.StateArchived {
		return
	}
	if r.now().Sub(t.ArchivedAt) < (archiveDays-archiveLastDays)*24*time.Hour {
		return
	}
	a := r.archives[t.Queue]
	if a == nil {
		a = &archiveAge{oldest: t.ArchivedAt}
		r.archives[t.Queue] = a
	}
	a.count++
	if t.ArchivedAt.Before(a.oldest) {
		a.oldest = t.ArchivedAt
	}
}

// tick is what was seen of the locks of waiting tasks in a paused queue.
type tick struct {
	count int
	first suspect // whose lock ends first
}

// ticks notes a waiting task whose lock runs out while its queue is paused.
func (r *run) ticks(s suspect) {
	t := s.task
	waits := t.State.Live() && t.State != inspect.StateActive
	if !r.facts[t.Queue].Paused || !waits || t.Prev.Live() || s.lock == nil || s.lock.State != LockHeld || s.lock.TTL <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.ticking[t.Queue]
	if k == nil {
		k = &tick{first: s}
		r.ticking[t.Queue] = k
	}
	k.count++
	if s.lock.TTL-time.Since(s.seen) < k.first.lock.TTL-time.Since(k.first.seen) {
		k.first = s
	}
}

// queueFindings tells what is wrong with the queues as such. What was read when
// the audit began has to hold at its end, too.
func (r *run) queueFindings(ctx context.Context) error {
	if len(r.opt.Scope.Types) > 0 {
		return nil
	}
	servers, err := r.queue.Servers(ctx)
	if err != nil {
		return err
	}
	for _, q := range r.queues {
		now, err := r.queue.Queue(ctx, q)
		if errors.Is(err, inspect.ErrQueueNotFound) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return err
		}
		if err := r.tellTicking(ctx, now); err != nil {
			return err
		}
		waiting := now.Pending + now.Scheduled + now.Retry + now.Aggregating
		if waiting > 0 && !serves(servers, q) && !r.facts[q].served {
			r.tellQueue(CodeQueueUnserved, inspect.Task{Ref: inspect.Ref{Queue: q}}, waiting)
		}
		if now.Archived >= archiveNearCap {
			r.tellQueue(CodeArchiveFull, inspect.Task{Ref: inspect.Ref{Queue: q}}, now.Archived)
		}
		if a := r.archives[q]; a != nil && now.Archived > 0 {
			r.tellQueue(CodeArchiveExpiring, inspect.Task{Ref: inspect.Ref{Queue: q}, ArchivedAt: a.oldest}, a.count)
		}
	}
	r.tellSkew()
	return nil
}

func (r *run) tellQueue(code Code, t inspect.Task, count int) {
	r.publish(nil, Finding{Code: code, Severity: code.Severity(), Task: t, TaskCount: count, ConfirmedAt: r.now()})
}

// tellTicking reports a queue that is still paused, by the task whose lock ends
// first, if that still holds it.
func (r *run) tellTicking(ctx context.Context, q inspect.Queue) error {
	k := r.ticking[q.Name]
	if k == nil || !q.Paused {
		return nil
	}
	now, err := r.queue.Now(ctx)
	if err != nil {
		return err
	}
	locks, err := r.queue.Locks(ctx, []string{k.first.lock.Key})
	if err != nil {
		return err
	}
	lock := lockOf(k.first.task, locks[0])
	if lock.State != LockHeld {
		return nil
	}
	lock.OwnerState = k.first.task.State
	r.publish(r.match(k.first.task.Type, q.Name), Finding{
		Code: CodeLockTicking, Severity: CodeLockTicking.Severity(), Task: k.first.task,
		Key: k.first.key, Lock: lock, TaskCount: k.count, ConfirmedAt: now,
	})
	return nil
}

// tellSkew reports the two clocks that differ most, where they surely differ by
// too much.
func (r *run) tellSkew() {
	difference, words := r.clocks.widest()
	if difference < skewWarning {
		return
	}
	severity := CodeClockSkew.Severity()
	if difference >= skewHigh {
		severity = SeverityHigh
	}
	r.publish(nil, Finding{Code: CodeClockSkew, Severity: severity, Detail: words, ConfirmedAt: r.now()})
}

// widest is the largest difference between two clocks that is sure, and what it
// is between.
func (c clocks) widest() (difference time.Duration, words string) {
	for i, a := range c.readings {
		for _, b := range c.readings[i+1:] {
			ahead, behind := a, b
			if ahead.offset < behind.offset {
				ahead, behind = behind, ahead
			}
			sure := ahead.offset - behind.offset - ahead.margin - behind.margin
			if sure > difference {
				difference = sure
				words = fmt.Sprintf("%s is %s ahead of %s", ahead.name, Span(ahead.offset-behind.offset), behind.name)
			}
		}
	}
	return difference, words
}
