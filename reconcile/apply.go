package reconcile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	// Found is why nothing was done, where the world was not as planned.
	Found string
	Err   error
	// Unbegun says that the run ended before the step: the journal has it as
	// refused.
	Unbegun bool
}

// applyChunk is how many steps share one sync of the journal.
const applyChunk = 50

// Apply makes the steps of a plan that are not held. Each is judged again first:
// a step that is right only while its effect is what it was is refused when that
// has changed. What is about to be changed is in the journal, and synced, before
// anything is; what came of it follows. An error ends the run: a journal that
// cannot be written, or a Redis that is gone.
//
// A change whose answer was lost has the outcome unknown, and stays pending in
// the journal.
func (a *Auditor) Apply(ctx context.Context, q Structure, j *journal.Journal, run journal.Run, plan Plan, tell func(Applied)) error {
	if err := a.Prepare(ctx); err != nil {
		return err // nothing can be judged again
	}
	id, err := j.Begin(run)
	if err != nil {
		return err
	}
	var steps []Step
	for _, s := range plan.Steps {
		if s.Hold == "" {
			steps = append(steps, s)
		}
	}
	n := 0
	for chunk := range slices.Chunk(steps, applyChunk) {
		items := make([]Applied, len(chunk))
		for i, s := range chunk {
			n++
			items[i] = Applied{Step: s, Item: strconv.Itoa(n)}
		}
		err := a.applyChunk(ctx, q, j, items)
		for _, it := range items {
			tell(it)
		}
		if err != nil {
			return errors.Join(err, j.End(id))
		}
	}
	return j.End(id)
}

// applyChunk judges, writes intents, changes, and writes results.
func (a *Auditor) applyChunk(ctx context.Context, q Structure, j *journal.Journal, items []Applied) error {
	if err := a.judgeAgain(ctx, q, items); err != nil {
		return notBegun(items, err)
	}
	raws, err := q.Raw(ctx, refsOfItems(items))
	if err != nil {
		return notBegun(items, err)
	}
	var intents []journal.Record
	for i := range items {
		if items[i].Outcome == journal.OutcomeUnknown {
			intents = append(intents, intentOf(&items[i], raws[i]))
		}
	}
	if err := j.Intend(intents...); err != nil {
		return notBegun(items, err)
	}
	var broken error
	for i := range items {
		it := &items[i]
		switch {
		case it.Outcome != journal.OutcomeUnknown:
		case broken != nil:
			it.Outcome, it.Found, it.Unbegun = journal.OutcomeRefused, "not begun: the run ended before it", true
		case ctx.Err() != nil:
			broken = ctx.Err()
			it.Outcome, it.Found, it.Unbegun = journal.OutcomeRefused, "not begun: interrupted", true
		default:
			broken = it.make(ctx, q)
		}
	}
	var results []journal.Record
	for i := range items {
		results = append(results, items[i].result())
	}
	if err := j.Settle(results...); err != nil {
		return err
	}
	return broken
}

// notBegun marks what an error kept from being tried.
func notBegun(items []Applied, err error) error {
	for i := range items {
		if items[i].Outcome == journal.OutcomeUnknown {
			items[i].Outcome, items[i].Err, items[i].Unbegun = journal.OutcomeFailed, err, true
		}
	}
	return err
}

func refsOfItems(items []Applied) []inspect.Ref {
	refs := make([]inspect.Ref, len(items))
	for i := range items {
		refs[i] = items[i].Step.Ref()
	}
	return refs
}

// judgeAgain refuses the steps whose reason has gone: another status, or a
// worker that runs the task after all.
func (a *Auditor) judgeAgain(ctx context.Context, q Structure, items []Applied) error {
	running := map[inspect.Ref]bool{}
	servers, err := q.Servers(ctx)
	if err != nil {
		return err
	}
	for _, s := range servers {
		for _, w := range s.Workers {
			running[w.Ref] = true
		}
	}
	byRule := map[*Bound][]*Applied{}
	for i := range items {
		it := &items[i]
		if it.Step.Change != journal.ChangeReleaseLock && running[it.Step.Ref()] {
			it.Outcome, it.Found = journal.OutcomeRefused, "a worker runs it now"
			continue
		}
		if it.Step.depends {
			t := it.Step.Finding.Task
			b := a.match(t.Type, t.Queue)
			byRule[b] = append(byRule[b], it)
		}
	}
	r := &run{Auditor: a, out: &findingList{}, aim: aimStructure}
	for b, group := range byRule {
		if err := r.statusAgain(ctx, b, group); err != nil {
			return err
		}
	}
	return nil
}

// statusAgain looks the effects up once more.
func (r *run) statusAgain(ctx context.Context, b *Bound, items []*Applied) error {
	suspects := make([]suspect, len(items))
	for i, it := range items {
		suspects[i].task = it.Step.Finding.Task
		suspects[i].key, suspects[i].keyProblem, _ = r.keyAgain(b, suspects[i].task)
	}
	now, err := r.queue.Now(ctx)
	if err != nil {
		return err
	}
	f := r.lookUpFenced(ctx, b, itemsOf(suspects), true)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, it := range items {
		s := &suspects[i]
		s.rows, s.lagging, s.unread = f.rows[i], f.lagging, f.unread
		v := Judge(r.evidence(b, s, Moment{Now: now}), Moment{Now: now})
		if v.Status != it.Step.Finding.Status {
			it.Outcome = journal.OutcomeRefused
			it.Found = fmt.Sprintf("its effect is %s now, and was %s when this was planned", v.Status, it.Step.Finding.Status)
		}
	}
	return nil
}

// make makes the change. An error is one that ends the run.
func (it *Applied) make(ctx context.Context, q Structure) error {
	change, err := it.Step.apply(ctx, q)
	switch {
	case err == nil && change.Done:
		it.Outcome = journal.OutcomeDone
	case err == nil:
		it.Outcome, it.Found = journal.OutcomeRefused, change.Found
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

// apply sends the change.
func (s *Step) apply(ctx context.Context, q Structure) (inspect.Change, error) {
	t := s.Finding.Task
	switch s.Change {
	case journal.ChangeReleaseLock:
		because := inspect.Release{Why: inspect.OwnerAbsent}
		if s.Finding.Code == CodeLockPhantom {
			because.Why = inspect.OwnerElsewhere
			if s.expect == nil {
				return inspect.Change{Found: "its owner is gone"}, nil
			}
			because.Fingerprint = s.expect.Fingerprint
		}
		return q.ReleaseLock(ctx, s.Target, s.Finding.Lock.Owner, because)
	case journal.ChangeRegisterGroup:
		return q.RegisterGroup(ctx, t.Queue, s.Target)
	case journal.ChangeDropLease:
		return q.DropLease(ctx, t.Ref, t.LeaseExpiresAt)
	case journal.ChangeDropDangling:
		return q.DropDangling(ctx, t.Ref, t.State, t.Group)
	}
	if s.expect == nil {
		return inspect.Change{Found: "the task is gone"}, nil
	}
	switch s.Change {
	case journal.ChangePutBack:
		return q.PutBack(ctx, *s.expect, s.Score)
	case journal.ChangeArchive:
		return q.Archive(ctx, *s.expect, s.Score)
	case journal.ChangeExpireLease:
		return q.ExpireLease(ctx, *s.expect, s.Score)
	case journal.ChangeDeleteResult:
		return q.DeleteResult(ctx, t.Ref, s.expect.Fingerprint)
	case journal.ChangeSetState:
		return q.SetState(ctx, *s.expect, t.Listed)
	case journal.ChangeClose:
		return q.CloseTask(ctx, *s.expect)
	}
	return inspect.Change{}, fmt.Errorf("no such change: %q", s.Change)
}

// intentOf is what the journal says before the change.
func intentOf(it *Applied, raw inspect.Raw) journal.Record {
	s := &it.Step
	r := journal.Record{
		Item: it.Item, Change: s.Change, Queue: s.Ref().Queue, TaskID: s.Ref().ID, Target: s.Target,
		Evidence: evidenceOf(s), Task: imageOf(raw),
	}
	if l := s.Finding.Lock; l != nil && s.Change == journal.ChangeReleaseLock {
		if r.Task == nil {
			r.Task = &journal.TaskImage{}
		}
		r.Task.Lock = lockImage(*l, s.Finding.ConfirmedAt)
	}
	return r
}

func lockImage(l Lock, at time.Time) *journal.LockImage {
	image := &journal.LockImage{Key: l.Key, Owner: l.Owner}
	if l.TTL > 0 {
		image.ExpireAt = at.Add(l.TTL).UTC()
	}
	return image
}

// evidenceOf is why a step is right, as data.
func evidenceOf(s *Step) json.RawMessage {
	f := s.Finding
	e := map[string]any{"code": f.Code, "confirmed_at": f.ConfirmedAt.UTC().Format(time.RFC3339Nano)}
	if f.OfEffect() {
		e["status"] = f.Status.String()
	}
	if f.Reason != ReasonNone {
		e["reason"] = f.Reason
	}
	if s.expect != nil {
		e["state"], e["fingerprint"] = s.expect.State.String(), s.expect.Fingerprint
	}
	if s.Forced {
		e["forced"] = true
	}
	b, err := json.Marshal(e)
	if err != nil {
		return nil
	}
	return b
}

// imageOf is a task as Redis holds it; nil where there is none.
func imageOf(raw inspect.Raw) *journal.TaskImage {
	if raw.Fields == nil {
		return nil
	}
	image := &journal.TaskImage{Key: inspect.TaskKey(raw.Ref)}
	for name, value := range raw.Fields {
		image.Fields = append(image.Fields, journal.Field{Name: name, Value: string(value)})
	}
	slices.SortFunc(image.Fields, func(a, b journal.Field) int { return cmp.Compare(a.Name, b.Name) })
	if raw.Place.Key != "" {
		score := raw.Place.Score
		image.Places = append(image.Places, journal.Place{Key: raw.Place.Key, Score: &score})
	}
	if raw.Lock.Held {
		image.Lock = &journal.LockImage{Key: raw.Lock.Key, Owner: raw.Lock.Owner}
		if raw.Lock.TTL > 0 {
			image.Lock.ExpireAt = time.Now().Add(raw.Lock.TTL).UTC()
		}
	}
	return image
}

// result is what the journal says after the change.
func (it *Applied) result() journal.Record {
	r := journal.Record{Item: it.Item, Outcome: it.Outcome, Found: it.Found}
	if it.Err != nil {
		r.Error = it.Err.Error()
	}
	return r
}
