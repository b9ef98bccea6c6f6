package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// A task is judged right before it is moved by the same code as when it was
// planned: read, looked up in the ledger, its lock and the active tasks read, and
// read once more. What that cannot see is a waiting task of the same key, where
// keys are made of payloads; for those every live task is listed when the run
// begins, and again while it goes on or when there is a new queue.

// freshFor is how long a listing of the live tasks is used. In large queues it is
// longer, so that no more than a tenth of a run is spent on listings.
const freshFor = 30 * time.Second

// mover judges archived tasks again, right before they are moved.
type mover struct {
	*Auditor // of the plan's queues, archived tasks only
	moves    *Moves
	// run is the latest listing's.
	run    *run
	listed time.Time
	took   time.Duration
	judged map[inspect.Ref]Archived
	out    *outlook
	// watches says that what is moved is kept in out until it ends.
	watches bool
}

func newMover(a *Auditor, plan *Plan) *mover {
	one := &Auditor{queue: a.queue, opt: a.opt, rules: a.rules}
	one.opt.Scope = Scope{Exact: true, States: []inspect.State{inspect.StateArchived}}
	one.opt.Where, one.opt.OnJudged = nil, nil
	for i := range plan.Steps {
		q := plan.Steps[i].Ref().Queue
		if plan.Steps[i].Hold == "" && !slices.Contains(one.opt.Scope.Queues, q) {
			one.opt.Scope.Queues = append(one.opt.Scope.Queues, q)
		}
	}
	m := &mover{Auditor: one, moves: plan.Moves}
	m.out = &outlook{mover: m}
	return m
}

// look lists what may do the same work.
func (m *mover) look(ctx context.Context) error {
	began := time.Now()
	known, err := m.queue.Queues(ctx)
	if err != nil {
		return err
	}
	// A queue that was removed since has no task to move.
	m.opt.Scope.Queues = slices.DeleteFunc(m.opt.Scope.Queues, func(q string) bool { return !slices.Contains(known, q) })
	r := &run{Auditor: m.Auditor, out: &findingList{}, aim: aimArchived, decided: m.note}
	if err := r.open(ctx); err != nil {
		return err
	}
	if r.keyed() && len(m.opt.Scope.Queues) > 0 {
		if err := r.list(ctx); err != nil {
			return err
		}
	}
	m.run, m.listed = r, time.Now()
	m.took = m.listed.Sub(began)
	return r.ledgers.first()
}

// lookAgain lists anew what was listed too long ago, or before there was one of the
// queues: nobody would look for a twin there.
func (m *mover) lookAgain(ctx context.Context) error {
	known, err := m.queue.Queues(ctx)
	if err != nil {
		return err
	}
	strange := slices.ContainsFunc(known, func(q string) bool {
		return !slices.Contains(m.run.queues, q) && !slices.Contains(m.run.others, q)
	})
	if strange || time.Since(m.listed) > max(freshFor, 10*m.took) {
		return m.look(ctx)
	}
	return nil
}

func (m *mover) note(a Archived) { m.judged[a.Task.Ref] = a }

// judgeAgain refuses the items that are not what they were when they were
// planned, or that would be held now.
func (m *mover) judgeAgain(ctx context.Context, items []Applied) error {
	if err := m.lookAgain(ctx); err != nil {
		return err
	}
	tasks, err := m.queue.Read(ctx, refsOfItems(items))
	if err != nil {
		return err
	}
	byRule := map[*Bound][]suspect{}
	for i, t := range tasks {
		if t.State != inspect.StateArchived {
			refuse(&items[i], foundWords(items[i].Step.Change, stateFound(t)))
			continue
		}
		b := m.match(t.Type, t.Queue)
		s := suspect{item: item{task: t}, verdict: Verdict{Status: StatusNotApplied}}
		s.key, s.keyProblem, s.hash = m.run.keyAgain(b, t)
		byRule[b] = append(byRule[b], s)
	}
	m.judged = map[inspect.Ref]Archived{}
	for b, suspects := range byRule {
		m.run.confirm(ctx, b, suspects, true)
	}
	if err := m.failure(ctx); err != nil {
		return err
	}
	for i := range items {
		if items[i].Outcome == journal.OutcomeUnknown {
			m.compare(&items[i])
		}
	}
	return nil
}

// failure is why nothing was judged: the run is over then.
func (m *mover) failure(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	m.run.mu.Lock()
	defer m.run.mu.Unlock()
	if m.run.problem != nil {
		return m.run.problem
	}
	return m.run.ledgers.first()
}

func refuse(it *Applied, found string) {
	it.Outcome, it.Found = journal.OutcomeRefused, found
}

// compare refuses an item whose evidence is another by now.
func (m *mover) compare(it *Applied) {
	a, ok := m.judged[it.Step.Ref()]
	switch {
	case !ok:
		refuse(it, "it left the archive while it was looked at")
		return
	case a.Task.State != inspect.StateArchived:
		refuse(it, foundWords(it.Step.Change, stateFound(a.Task)))
		return
	}
	a.Accepted = slices.Contains(m.moves.Unprotected, a.Task.Type)
	m.judged[a.Task.Ref] = a
	// The evidence of this moment is what the journal keeps.
	it.Step.Finding.ConfirmedAt = a.Now
	it.Step.Finding.KeyHidden = it.Step.Finding.KeyHidden || a.Rule.HidesKey()
	if action, reason := m.moves.decide(a); action == ActionHold && !it.Step.overrides(reason) {
		refuse(it, "to be held now: "+a.hold(reason))
		return
	}
	if it.Step.Forced && it.Step.Change == journal.ChangeRequeue {
		for _, reason := range a.behind(it.Step.Reason) {
			if !it.Step.overrides(reason) {
				refuse(it, "to be held now: "+a.hold(reason))
				return
			}
		}
	}
	if reason := m.idle(it.Step.Ref().Queue); it.Step.Change == journal.ChangeRequeue && reason != HoldNone && !it.Step.overrides(reason) {
		refuse(it, "to be held now: "+reason.Words())
		return
	}
	if now := a.evidence(); now != it.Step.Evidence {
		refuse(it, it.Step.differs(&a))
	}
}

// overrides says whether the operator's reason lets the task through although it
// would be held for this one. It speaks of the holds that were shown, and no other.
func (s *Step) overrides(reason HoldReason) bool {
	return s.Forced && (s.Reason == reason || slices.Contains(s.Also, reason))
}

// idle says why nothing takes tasks of a queue that was not accepted as it is.
func (m *mover) idle(queue string) HoldReason {
	switch f, known := m.run.facts[queue]; {
	case !known || slices.Contains(m.moves.Idle, queue):
		return HoldNone
	case f.Paused:
		return HoldPaused
	case !f.served:
		return HoldUnserved
	}
	return HoldNone
}

// differs says what is not as it was planned on.
func (s *Step) differs(a *Archived) string {
	f := &s.Finding
	switch {
	case f.Status != a.Verdict.Status:
		return fmt.Sprintf("its effect is %s now, and was %s when this was planned", a.Verdict.Status, f.Status)
	case f.Key != a.Key:
		return "its key is another one than when this was planned"
	case !f.Task.LastFailedAt.Equal(a.Task.LastFailedAt), f.Task.Retried != a.Task.Retried, !f.Task.ArchivedAt.Equal(a.Task.ArchivedAt):
		return "it ran, or was archived, again since this was planned"
	}
	return HoldChanged.Words()
}

// arm makes an item ready to be moved if the task is still the one that was
// judged. A nil mover has nothing to arm.
func (m *mover) arm(it *Applied, raw inspect.Raw) {
	if m == nil {
		return
	}
	a := m.judged[it.Step.Ref()]
	if raw.State != inspect.StateArchived {
		refuse(it, foundWords(it.Step.Change, stateFound(inspect.Task{State: raw.State})))
		return
	}
	if digestOf(raw.Fields["msg"]) != a.Task.Digest {
		refuse(it, "it changed while it was looked at")
		return
	}
	if !raw.Task().ArchivedAt.Equal(a.Task.ArchivedAt) {
		refuse(it, "it was archived again while it was looked at")
		return
	}
	e := raw.Expect()
	it.Step.expect = &e
	it.Step.accepted, it.Step.idle = a.Accepted, slices.Contains(m.moves.Idle, a.Task.Queue)
	if it.Step.Change != journal.ChangeRequeue {
		return
	}
	it.Step.requeue = inspect.Requeue{Relock: it.Step.Relock}
	if e.Lock == "" {
		it.Step.requeue.Relock = 0 // it was enqueued without one
	}
	if !it.Step.overrides(HoldTwin) && !it.Step.overrides(HoldLocked) {
		it.Step.requeue.HoldIfLocked = contentLocks(a.Task)
	}
	if n := m.moves.Attempts; n > 0 {
		msg, before, after, err := inspect.RewriteAttempts(raw.Fields["msg"], n)
		if err != nil {
			refuse(it, err.Error())
			return
		}
		it.Step.requeue.Message = msg
		it.Step.attempts = &attemptsChange{Given: n, Before: retriesJSON(before), After: retriesJSON(after)}
	}
}

// stateFound says where a task is that was to be in the archive.
func stateFound(t inspect.Task) string {
	if gone(t) {
		return "the task is gone"
	}
	return fmt.Sprintf(stateNow, t.State)
}

// stateNow is how the scripts say it, too (inspect/lua/common.lua: changed).
const stateNow = "the task is in state %s now"

// foundWords say of a task that was to run again, and does, that somebody else was
// faster.
func foundWords(c journal.Change, found string) string {
	var state string
	if c != journal.ChangeRequeue && c != journal.ChangeResolve {
		return found
	}
	if _, err := fmt.Sscanf(found, stateNow, &state); err != nil || !strings.HasSuffix(found, " now") {
		return found
	}
	return fmt.Sprintf("already %s (by another)", strings.Trim(state, `"`)) // the scripts quote it
}
