package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// A run that was killed, or lost its connection, leaves intents without a result.
// Resuming looks at each in Redis: what was made is settled as done; what was not
// is judged anew and, if that is still right, made by a run of its own. Whatever
// moment that is killed at, nothing is lost and nothing runs twice by us:
//
//   - What is settled as done needs nothing more.
//   - An intent that is taken up again stays pending until that run has its own
//     intent for the task in the journal. Between the two the task has two pending
//     intents, and both are looked at by the next resumption: the task is moved
//     once, or it is where it was.
//   - A change whose bytes are still on their way finds another task than it
//     expects, or does what was going to be done, and then the new one finds
//     another task: each is one script that compares first.

// DeliveryTime is how long after its intent a change of a process that was killed
// is given to reach Redis before anybody says that it was not made.
const DeliveryTime = 10 * time.Second

// DeliveryWait is how long to wait until none of the intents can still be on its
// way. now is this machine's clock, which wrote them.
func DeliveryWait(pending []journal.Record, now time.Time) time.Duration {
	wait := time.Duration(0)
	for i := range pending {
		if age := now.Sub(pending[i].At); age < DeliveryTime {
			wait = max(wait, DeliveryTime-max(age, 0))
		}
	}
	return wait
}

// OpenIntent is an intent without a known outcome, and what Redis says of it.
type OpenIntent struct {
	Record journal.Record
	// Outcome is what it is settled as: done or refused. Unknown: it stays open.
	Outcome journal.Outcome
	// Found is why, in words.
	Found string
	// Again says that the change was not made, and that one of the resumption's
	// plans has a step for it, which may be held.
	Again bool
	// Command is what makes the change that was not made, where no plan does; ""
	// for nothing.
	Command string
}

// Resumption is what became of intents, and what is to be done about them.
type Resumption struct {
	Intents []OpenIntent // in the order in which they were given
	// Plans make what was not made, each with the options of the runs that it goes
	// on for.
	Plans []Plan
}

// Runnable counts the changes that are to be made again.
func (r *Resumption) Runnable() int {
	n := 0
	for i := range r.Plans {
		n += r.Plans[i].Runnable()
	}
	return n
}

// resuming is one PlanResume under way.
type resuming struct {
	*Auditor
	q       Structure
	intents []OpenIntent
}

// PlanResume looks at pending intents, and plans anew what was not made. They come
// from journal.Pending, of a journal that is open for writing, so that nobody
// works on them; and no earlier than DeliveryWait says. Nothing is written.
func (a *Auditor) PlanResume(ctx context.Context, q Structure, pending []journal.Record) (Resumption, error) {
	p := &resuming{Auditor: a, q: q}
	for _, r := range pending {
		p.intents = append(p.intents, OpenIntent{Record: r})
	}
	if err := p.look(ctx); err != nil {
		return Resumption{}, err
	}
	if err := p.lookRepairs(ctx); err != nil {
		return Resumption{}, err
	}
	plans, err := p.plans(ctx)
	return Resumption{Intents: p.intents, Plans: plans}, err
}

// narrowed is the auditor without its own scope and filter, of those of the scope's
// queues that there are; nil where there is none.
func (a *Auditor) narrowed(ctx context.Context, scope Scope) (*Auditor, error) {
	known, err := a.queue.Queues(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(scope.Queues)
	scope.Queues = slices.DeleteFunc(slices.Compact(scope.Queues), func(q string) bool { return !slices.Contains(known, q) })
	if len(scope.Queues) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to look at
	}
	one := &Auditor{queue: a.queue, opt: a.opt, rules: a.rules}
	one.opt.Scope, one.opt.Where, one.opt.OnJudged = scope, nil, nil
	return one, nil
}

// Resume settles the intents of a resumption in the journal and makes what is
// planned, in one run of the name run.ID, which must be given where there are
// plans. It ends the runs of which nothing is pending any more, and gives their
// IDs. Intents whose change could not be begun again stay pending.
func (a *Auditor) Resume(ctx context.Context, q Structure, j *journal.Journal, run journal.Run, r Resumption, o Application) (ended []string, err error) {
	s := &settling{j: j, run: run.ID, again: map[inspect.Ref][]*OpenIntent{}}
	if err := s.settle(&r); err != nil {
		return nil, err
	}
	err = a.takeUp(ctx, q, j, run, &r, s.follow(o))
	ended, endErr := j.EndSettled()
	return ended, errors.Join(err, s.err, endErr)
}

// takeUp makes what is planned.
func (a *Auditor) takeUp(ctx context.Context, q Structure, j *journal.Journal, run journal.Run, r *Resumption, o Application) error {
	if r.Runnable() == 0 {
		return nil
	}
	var all []*execution
	for i := range r.Plans {
		e := &execution{Auditor: a, q: q, j: j, plan: &r.Plans[i], opt: o.filled()}
		if r.Plans[i].Runnable() == 0 {
			continue
		}
		if err := e.prepare(ctx); err != nil {
			return e.early(ctx, err, r.Runnable())
		}
		all = append(all, e)
	}
	run.Planned = r.Runnable()
	id, err := j.Begin(run)
	if err != nil {
		return err
	}
	items, begun := 0, 0
	for _, e := range all {
		e.items, e.begun = items, begun
		if err := e.all(ctx); err != nil {
			return endEarly(j, id, e.early(ctx, err, run.Planned))
		}
		items, begun = e.items, e.begun
	}
	return j.End(id)
}

// settling writes what became of intents.
type settling struct {
	j     *journal.Journal
	run   string                        // that goes on
	again map[inspect.Ref][]*OpenIntent // that are settled once the run has them
	err   error
}

// settle writes at once what does not hang on the run that goes on.
func (s *settling) settle(r *Resumption) error {
	holds := map[inspect.Ref]string{}
	for i := range r.Plans {
		for _, step := range r.Plans[i].Steps {
			holds[step.Ref()] = step.Hold
		}
	}
	var results []journal.Record
	for i := range r.Intents {
		in := &r.Intents[i]
		hold, planned := holds[refOf(&in.Record)]
		switch {
		case in.Outcome == journal.OutcomeUnknown:
		case in.Again && planned && hold == "":
			s.again[refOf(&in.Record)] = append(s.again[refOf(&in.Record)], in)
		case in.Again && planned:
			results = append(results, in.result(in.Found+", and held now: "+hold))
		default:
			results = append(results, in.result(in.Found))
		}
	}
	return errors.Join(s.j.Settle(results...), s.j.Sync())
}

func (in *OpenIntent) result(found string) journal.Record {
	return journal.Record{Run: in.Record.Run, Item: in.Record.Item, Outcome: in.Outcome, Found: found}
}

// follow settles an intent that was taken up again, once the journal has what
// came of it under the run that goes on.
func (s *settling) follow(o Application) Application {
	tell := o.filled().Tell
	o.Tell = func(a Applied) {
		if !a.Unbegun && a.Outcome != journal.OutcomeFailed {
			s.taken(&a)
		}
		tell(a)
	}
	return o
}

func (s *settling) taken(a *Applied) {
	found := fmt.Sprintf("%s; taken up again by run %s, item %s", notMade, s.run, a.Item)
	var results []journal.Record
	for _, in := range s.again[a.Step.Ref()] {
		results = append(results, in.result(found))
	}
	delete(s.again, a.Step.Ref())
	s.err = errors.Join(s.err, s.j.Settle(results...))
}
