package reconcile

import (
	"context"
	"fmt"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// What Redis says of a change whose outcome nobody knows. Every change is one
// script that compares the task with what was read, so that a task which is still
// the one of the intent was not changed; and asynq changes a task's message or
// its score whenever it runs or archives it, so that a change which was made is
// not mistaken for one that was not. Whoever looks does not need to know who made
// it.

const (
	notMade   = "not made before its run ended"
	resultNow = "its ID has a leftover result" // of a handler that outlived its task
)

// look says what became of the intents of tasks, and which were not made.
func (p *resuming) look(ctx context.Context) error {
	var refs []inspect.Ref
	var at []int
	for i := range p.intents {
		if looks[p.intents[i].Record.Change] != nil {
			refs = append(refs, refOf(&p.intents[i].Record))
			at = append(at, i)
		}
	}
	raws, err := p.q.Raw(ctx, refs)
	if err != nil {
		return err
	}
	for n, i := range at {
		in := &p.intents[i]
		k := keptIn(&in.Record)
		looks[in.Record.Change](in, &k, raws[n])
	}
	return nil
}

var looks = map[journal.Change]func(*OpenIntent, *kept, inspect.Raw){
	journal.ChangeRequeue: (*OpenIntent).lookRequeued,
	journal.ChangeResolve: (*OpenIntent).lookDeleted,
	journal.ChangeClose:   (*OpenIntent).lookDeleted,
	journal.ChangeRestore: (*OpenIntent).lookRestored,
}

func (in *OpenIntent) done(found string) { in.Outcome, in.Found = journal.OutcomeDone, found }

func (in *OpenIntent) refused(found string) { in.Outcome, in.Found = journal.OutcomeRefused, found }

// unmade says that the change was not made, and may be made now.
func (in *OpenIntent) unmade() {
	in.refused(notMade)
	in.Again = in.Record.Change != journal.ChangeClose
	if !in.Again {
		in.Command = repairCommand(refOf(&in.Record))
	}
}

func (in *OpenIntent) lookRequeued(k *kept, now inspect.Raw) {
	t := now.Task()
	again := !t.LastFailedAt.Equal(k.task.LastFailedAt) || t.Retried != k.task.Retried && k.evidence.Attempts == nil
	switch {
	case now.Fields == nil:
		in.done("taken as made: gone since: completed, or deleted")
	case t.Defect == inspect.DefectResultOnly:
		in.done("taken as made: gone since; " + resultNow)
	case t.State != inspect.StateArchived:
		in.done("taken as made: " + placeWords(t) + " now")
	case now.Place.Key == "":
		in.refused(notMade + "; no set holds the task")
		in.Command = repairCommand(t.Ref)
	case k.unchanged(now) && now.Place.Score == k.raw.Place.Score:
		in.unmade()
	case again:
		in.done("taken as made: ran, and failed again since")
	case now.Place.Score == k.raw.Place.Score:
		in.unmade() // something else of its hash has changed, such as its result
	default:
		in.done("taken as made: archived again by hand since")
	}
}

func (in *OpenIntent) lookDeleted(k *kept, now inspect.Raw) {
	t := now.Task()
	switch {
	case now.Fields == nil:
		in.done("taken as made: gone")
	case t.Defect == inspect.DefectResultOnly:
		in.done("taken as made: gone; " + resultNow)
	case k.unchanged(now), k.sameMessage(now) && now.State == k.raw.State:
		in.unmade()
	case k.sameMessage(now):
		in.refused(notMade + ": " + placeWords(t) + " now, not deleted")
	default:
		in.done("taken as made: its ID has another message now, which is " + placeWords(t))
	}
}

func (in *OpenIntent) lookRestored(k *kept, now inspect.Raw) {
	t := now.Task()
	switch {
	case now.Fields == nil:
		in.unmade()
	case k.sameMessage(now) && t.State == inspect.StateArchived:
		in.done("")
	case k.sameMessage(now) && !k.task.LastFailedAt.IsZero():
		in.done("put back, and " + placeWords(t) + " since")
	default:
		in.refused(notMade + ": another task has its ID, or it ran since: " + placeWords(t) + " now")
	}
}

// repairCommand mends one task, or what is wrong with a queue; "" where no shell can
// pass its name on.
func repairCommand(r inspect.Ref) string {
	c := Command("idemctl integrity repair").Only("queue", r.Queue)
	if r.ID != "" {
		c = c.Flag("id", r.ID)
	}
	return c.String()
}

// lookRepairs asks whether the findings still stand that the other changes were to
// mend.
func (p *resuming) lookRepairs(ctx context.Context) error {
	var mends, releases []*OpenIntent
	var scope Scope
	var keys []string
	for i := range p.intents {
		switch in := &p.intents[i]; {
		case looks[in.Record.Change] != nil:
		case in.Record.Change == journal.ChangeReleaseLock:
			releases, keys = append(releases, in), append(keys, in.Record.Target)
		case in.Record.Change.Known():
			mends = append(mends, in)
			scope.Queues = append(scope.Queues, in.Record.Queue)
		default:
			in.Found = fmt.Sprintf("another version of idemctl made the change %q: let that resume it", in.Record.Change)
		}
	}
	if err := p.lookReleases(ctx, releases, keys); err != nil {
		return err
	}
	return p.lookMends(ctx, mends, scope)
}

// lookMends settles repairs by what is wrong now.
func (p *resuming) lookMends(ctx context.Context, intents []*OpenIntent, scope Scope) error {
	if len(intents) == 0 {
		return nil
	}
	one, err := p.narrowed(ctx, scope)
	if err != nil {
		return err
	}
	var plan Plan
	if one != nil {
		var report Report
		if plan, report, err = one.PlanRepairs(ctx, p.q, &findingList{}, Selection{}); err != nil {
			return err
		}
		if !report.Complete {
			return fmt.Errorf("looking at what was to be mended: %w", report.Problem)
		}
	}
	for _, in := range intents {
		in.done("taken as made: there is nothing to mend")
		for i := range plan.Steps {
			if s := &plan.Steps[i]; s.mends(&in.Record) {
				in.refused(notMade)
				in.Command = repairCommand(s.Ref())
			}
		}
	}
	return nil
}

// mends says whether the step mends what the intent was to mend, by the same
// change or, since more is known by now, by another.
func (s *Step) mends(intent *journal.Record) bool {
	if s.Ref() != refOf(intent) || s.Target != intent.Target {
		return false
	}
	switch intent.Change {
	case s.Change:
		return true
	case journal.ChangePutBack, journal.ChangeArchive:
		return s.Finding.Code == CodeGhost
	case journal.ChangeExpireLease:
		return s.Finding.Code == CodeNoLease
	}
	return false
}

// lookReleases settles releases by who holds the locks now.
func (p *resuming) lookReleases(ctx context.Context, intents []*OpenIntent, keys []string) error {
	if len(intents) == 0 {
		return nil
	}
	locks, err := p.queue.Locks(ctx, keys)
	if err != nil {
		return err
	}
	for i, in := range intents {
		owner := ""
		if image := in.Record.Task; image != nil && image.Lock != nil {
			owner = image.Lock.Owner
		}
		switch l := locks[i]; {
		case !l.Held:
			in.done("taken as made: the lock is free")
		case l.Owner != owner:
			in.done(fmt.Sprintf("taken as made: task %q holds the lock now", l.Owner))
		default:
			in.refused(notMade + ": the lock is held by the same task still, or again")
			in.Command = releaseCommand(l.Key)
		}
	}
	return nil
}
