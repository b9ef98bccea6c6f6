package reconcile

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// Applied is what came of one step.
type Applied struct {
	Step    Step
	Item    string // its name in the journal's run
	Outcome journal.Outcome
	// Found is why nothing was done, where the world was not as planned; or what
	// is not as it was asked for although the change was made; or, where the
	// answer was lost, where the task is now.
	Found string
	Err   error
	// Unbegun says that the run ended before the step: it is refused, and Found says
	// why the run ended.
	Unbegun bool
	// At is when it was tried, by this machine's clock.
	At time.Time
	// intended says that the journal has an intent of it, which names the task.
	intended bool
}

// Application says how a plan is applied, and who is told. The zero value applies
// it as fast as it goes.
type Application struct {
	// Rate is the most steps a second; 0: no limit.
	Rate float64
	// MaxPending is how many tasks may wait in a queue before more are moved
	// there; 0: any number.
	MaxPending int
	// StopAfterFailures ends the run when so many of the tasks that it has run
	// failed again; 0: never.
	StopAfterFailures int
	// Canary tasks are run first; the others follow if all of these succeed within
	// CanaryWait (0: DefaultCanaryWait). 0: none.
	Canary     int
	CanaryWait time.Duration

	// Tell is told what came of each step, Waits why the run waits and "" when it
	// goes on, Watched what became of tasks that the run keeps an eye on: all from
	// one goroutine. Nil: nobody minds.
	Tell    func(Applied)
	Waits   func(string)
	Watched func(Watched)
}

// DefaultCanaryWait is how long canaries have to succeed.
const DefaultCanaryWait = 2 * time.Minute

func (o Application) filled() Application {
	if o.CanaryWait <= 0 {
		o.CanaryWait = DefaultCanaryWait
	}
	if o.Tell == nil {
		o.Tell = func(Applied) {}
	}
	if o.Waits == nil {
		o.Waits = func(string) {}
	}
	if o.Watched == nil {
		o.Watched = func(Watched) {}
	}
	return o
}

// Apply makes the steps of a plan that are not held, in their order. Each is
// judged again first: one that is right only while its effect, or its task, is
// what it was is refused when that has changed. What is about to be changed is in
// the journal, and synced, before anything is; what came of it follows.
//
// An error ends the run: a journal that cannot be written, a Redis or ledger that
// is gone, ctx, a *CanaryError or a *StoppedError. A change whose answer was lost
// ends it, too: it has the outcome unknown, and stays pending in the journal. The
// error is an *EndedEarlyError then, whose words are for an operator; the journal
// has them as well, and how many steps were planned and never begun. Only where the
// journal cannot even take the beginning of the run, it is the journal's own.
func (a *Auditor) Apply(ctx context.Context, q Structure, j *journal.Journal, run journal.Run, plan Plan, o Application) error {
	e := &execution{Auditor: a, q: q, j: j, plan: &plan, opt: o.filled()}
	run.Planned = plan.Runnable()
	if err := e.prepare(ctx); err != nil {
		return e.early(ctx, err, run.Planned) // nothing can be judged again
	}
	id, err := j.Begin(run)
	if err != nil {
		return err
	}
	if err := e.all(ctx); err != nil {
		return endEarly(j, id, e.early(ctx, err, run.Planned))
	}
	return j.End(id)
}

// execution is one Apply under way.
type execution struct {
	*Auditor
	q     Structure
	j     *journal.Journal
	plan  *Plan
	opt   Application
	moves *mover // nil where no archived task is moved
	pace  pacer
	items int // taken up so far
	begun int // of those, without what the run ended before
	// onCanaries says that those are run, whose failures are waited for anyway.
	onCanaries bool
}

func (e *execution) prepare(ctx context.Context) error {
	if e.plan.Moves == nil || e.plan.Moves.Action == ActionUnknown {
		if slices.ContainsFunc(e.plan.Steps, func(s Step) bool { return s.depends }) {
			return e.Prepare(ctx)
		}
		return nil // no step asks a ledger
	}
	e.moves = newMover(e.Auditor, e.plan)
	e.moves.watches = e.opt.Canary > 0 || e.opt.StopAfterFailures > 0
	return e.moves.look(ctx)
}

// all makes the canaries' steps, and then the others.
func (e *execution) all(ctx context.Context) error {
	var steps []Step
	for _, s := range e.plan.Steps {
		if s.Hold == "" {
			steps = append(steps, s)
		}
	}
	e.pace.begin()
	if n := min(e.opt.Canary, len(steps)); n > 0 {
		e.onCanaries = true
		if err := e.canary(ctx, steps[:n]); err != nil {
			return err
		}
		e.onCanaries = false
		steps = steps[n:]
		e.pace.begin()
	}
	if err := e.paced(ctx, steps); err != nil {
		return err
	}
	return e.lastLook(ctx)
}

// paced makes steps as fast as they may be made.
func (e *execution) paced(ctx context.Context, steps []Step) error {
	for len(steps) > 0 {
		n, err := e.room(ctx, steps)
		if err != nil {
			return err
		}
		if err := e.some(ctx, steps[:n]); err != nil {
			return err
		}
		steps = steps[n:]
		if !e.onCanaries {
			if err := e.failures(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// some makes a few steps, and tells what came of them.
func (e *execution) some(ctx context.Context, steps []Step) error {
	items := make([]Applied, len(steps))
	for i, s := range steps {
		e.items++
		items[i] = Applied{Step: s, Item: strconv.Itoa(e.items)}
	}
	err := e.chunk(ctx, items)
	for i := range items {
		if !items[i].Unbegun {
			e.begun++
		}
		e.opt.Tell(items[i])
		e.moves.ran(&items[i])
	}
	return err
}

// chunk judges, writes intents, changes, and writes results: the journal is
// synced once for all.
func (e *execution) chunk(ctx context.Context, items []Applied) error {
	if err := e.judgeAgain(ctx, items); err != nil {
		return e.giveUp(ctx, items, err)
	}
	now, err := e.queue.Now(ctx)
	if err != nil {
		return e.giveUp(ctx, items, err)
	}
	raws, err := e.q.Raw(ctx, refsOfItems(items))
	if err != nil {
		return e.giveUp(ctx, items, err)
	}
	var intents []journal.Record
	for i := range items {
		it := &items[i]
		if it.Outcome == journal.OutcomeUnknown {
			e.moves.arm(it, raws[i])
		}
		if it.Outcome == journal.OutcomeUnknown {
			intents = append(intents, intentOf(it, raws[i], now))
			it.intended = true
		}
	}
	if err := e.j.Intend(intents...); err != nil {
		return e.giveUp(ctx, items, err)
	}
	broken := e.makeAll(ctx, items)
	var results []journal.Record
	for i := range items {
		results = append(results, items[i].result())
	}
	return errors.Join(broken, e.j.Settle(results...))
}

func (e *execution) judgeAgain(ctx context.Context, items []Applied) error {
	if e.moves != nil {
		return e.moves.judgeAgain(ctx, items)
	}
	return e.Auditor.judgeAgain(ctx, e.q, items)
}

// makeAll makes the changes up to the first whose outcome nobody knows.
func (e *execution) makeAll(ctx context.Context, items []Applied) (broken error) {
	for i := range items {
		it := &items[i]
		switch {
		case it.Outcome != journal.OutcomeUnknown:
		case broken != nil:
			it.leave(e.why(ctx, broken))
		case ctx.Err() != nil:
			broken = ctx.Err()
			it.leave(e.why(ctx, broken))
		default:
			if broken = it.make(ctx, e.q); broken != nil {
				e.whereNow(ctx, it)
			}
		}
	}
	return broken
}

// lookWait bounds the look at a task whose change got no answer.
const lookWait = 2 * time.Second

// whereNow says where a task is whose answer was lost. It proves nothing of who
// put it there, and a change that is still under way may yet be made.
func (e *execution) whereNow(ctx context.Context, it *Applied) {
	if it.Outcome != journal.OutcomeUnknown || it.Step.Ref().ID == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookWait)
	defer cancel()
	tasks, err := e.queue.Read(ctx, []inspect.Ref{it.Step.Ref()})
	if err != nil {
		it.Found = "unknown; nor could it be looked at"
		return
	}
	it.Found = "unknown; now: " + placeWords(tasks[0])
}

// placeWords say where a task is.
func placeWords(t inspect.Task) string {
	if gone(t) {
		return "gone"
	}
	return t.State.String()
}

func refsOfItems(items []Applied) []inspect.Ref {
	refs := make([]inspect.Ref, len(items))
	for i := range items {
		refs[i] = items[i].Step.Ref()
	}
	return refs
}

// make makes the change. An error is one that ends the run.
func (it *Applied) make(ctx context.Context, q Structure) error {
	it.At = time.Now()
	change, err := it.Step.apply(ctx, q)
	switch {
	case err == nil && change.Done:
		it.Outcome, it.Found = journal.OutcomeDone, change.Note
	case err == nil:
		it.Outcome, it.Found = journal.OutcomeRefused, foundWords(it.Step.Change, change.Found)
	case inspect.Refused(err) || !sent(err):
		it.Outcome, it.Err = journal.OutcomeFailed, err
		return err
	default:
		// The answer was lost: it may have been made.
		it.Outcome, it.Err = journal.OutcomeUnknown, err
		return err
	}
	return nil
}

// sent says whether a change may have reached Redis before it failed with err:
// what inspect refuses by itself is none of its errors of speaking with Redis.
func sent(err error) bool {
	var spoken *inspect.Error
	return errors.As(err, &spoken) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// result is what the journal says after the change.
func (it *Applied) result() journal.Record {
	r := journal.Record{Item: it.Item, Outcome: it.Outcome, Found: it.Found}
	if s := &it.Step; !it.intended {
		r.Change, r.Queue, r.TaskID, r.Target = s.Change, s.Ref().Queue, s.Ref().ID, s.Target
	}
	if it.Unbegun {
		r.NotBegun = 1
	}
	if it.Err != nil {
		r.Error = it.Err.Error()
	}
	return r
}
