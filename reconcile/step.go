package reconcile

import (
	"fmt"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// What may be changed, and when. A change that only mends the structure (a
// result without a task, a lease without work, an ID without a task, a group that
// nobody looks at) loses nothing. One that runs work again needs its effect not
// to be applied; one that ends work for good needs it to be applied. Where neither
// is known, a ghost goes into the archive: nothing runs from there, and nothing is
// lost. Whatever is held can be let through only one task at a time, by its name
// and with a reason.

// Step is one change that is planned.
type Step struct {
	Change journal.Change
	// Finding is why, with its evidence.
	Finding Finding
	// Target is the lock's key or the group's name, where that is changed.
	Target string
	// Hold says why the step is not to be applied; "" is to be applied. Reason is
	// its code, where an archived task is held, or would be.
	Hold   string
	Reason HoldReason
	// Evidence is a digest of what the move of an archived task rests on (see
	// evidenceOf); "" for other changes.
	Evidence string
	// Relock is how long a task that runs again is to hold its lock; 0: the lock
	// is left as it is.
	Relock time.Duration
	// Forced says that the operator named the task and gave a reason. Reason and
	// Overrides are then why it would be held, Also what else would hold it, and
	// only that is overridden.
	Forced    bool
	Overrides string
	Also      []HoldReason
	// alsoWords are those of Also.
	alsoWords []string
	// because is that reason, where it is not the run's.
	because string
	// Score is what a task that is put back is given.
	Score time.Time
	// expect is the task as the plan saw it, or as it was read right before it is
	// moved; nil where no hash is concerned.
	expect *inspect.Expect
	// requeue says how a task runs again; set right before it is moved.
	requeue inspect.Requeue
	// attempts is what its counters are made; nil: they stay.
	attempts *attemptsChange
	// accepted says that the operator took the risk of a second effect, idle that a
	// queue will do which nobody takes tasks from.
	accepted, idle bool
	// restore is the deleted task that is put back.
	restore *inspect.Restore
	// depends says that the step is only right while the status is the one
	// planned on.
	depends bool
	// never says that the step stays held whatever reason is given.
	never bool
	// note says why the step is this one, where that is not plain.
	note string
}

// Ref names the task concerned; its ID is "" for groups.
func (s *Step) Ref() inspect.Ref { return s.Finding.Task.Ref }

// Words say what the step does, in an operator's words.
func (s *Step) Words() string {
	if s.note == "" {
		return s.words()
	}
	return s.words() + ": " + s.note
}

func (s *Step) words() string {
	t := s.Finding.Task
	switch s.Change {
	case journal.ChangeReleaseLock:
		return "release the lock"
	case journal.ChangePutBack:
		if t.State == inspect.StateActive {
			return "put it back into active with an expired lease: a recoverer takes it"
		}
		if t.State == inspect.StateRetry {
			return "put it back among the retry tasks, due at once"
		}
		return fmt.Sprintf("put it back among the %s tasks", t.State)
	case journal.ChangeArchive:
		return "put it into the archive, from where nothing runs by itself"
	case journal.ChangeExpireLease:
		return "give it an expired lease: a recoverer takes it, which spends a retry or archives it"
	case journal.ChangeRegisterGroup:
		return "register the group, so that aggregators look at it"
	case journal.ChangeDeleteResult:
		return "delete the leftover result"
	case journal.ChangeDropLease:
		return "remove the lease"
	case journal.ChangeDropDangling:
		return fmt.Sprintf("remove the ID from the %s tasks", t.State)
	case journal.ChangeSetState:
		return fmt.Sprintf("set its state to %s, where it is", t.Listed)
	case journal.ChangeClose:
		return "close it: delete the task with its own lock, since its work is done"
	case journal.ChangeRequeue:
		return "run it again"
	case journal.ChangeResolve:
		return "delete it, with its own lock, since its work is done"
	case journal.ChangeRestore:
		return "put it back into the archive"
	}
	return "nothing"
}

// repairOf plans the one safe repair of a finding. A step without a change has
// only a reason why there is none.
func repairOf(f Finding, now time.Time) Step {
	s := Step{Finding: f}
	t := f.Task
	switch f.Code {
	case CodeResultOnly:
		s.Change = journal.ChangeDeleteResult
	case CodeStaleLease:
		s.Change = journal.ChangeDropLease
	case CodeDangling:
		s.Change = journal.ChangeDropDangling
	case CodeGroupUnregistered:
		s.Change, s.Target = journal.ChangeRegisterGroup, t.Group
	case CodeStateMismatch:
		s.Change = journal.ChangeSetState
		s.depends = true
		switch t.Listed {
		case inspect.StateActive:
			s.Hold, s.never = "a worker may be running it, and sets its state when it ends", true
		case inspect.StatePending, inspect.StateAggregating:
			s.Hold, s.never = fmt.Sprintf("whoever takes it from the %s tasks sets its state", t.Listed), true
		case inspect.StateCompleted:
			if f.Status != StatusApplied && f.Status != StatusNatural {
				s.Hold = "that would call it done, and " + why(f)
			}
		}
	case CodeNoLease:
		repairUnleased(&s, now)
	case CodeGhost:
		repairGhost(&s, now)
	case CodeUndecodable:
		s.Hold = "nobody can say what its work was: export it (explain -o json), and delete it by hand if it is worthless"
	default:
		s.Hold = "no change to the queue mends it"
	}
	return s
}

// deadLease is how long ago the lease ended that a stuck task is given: the
// recoverer takes those that ended 30 s ago (recoverer.go: recover).
const deadLease = 31 * time.Second

func repairUnleased(s *Step, now time.Time) {
	s.depends = true
	s.Score = now.Add(-deadLease)
	if s.Finding.held {
		s.Change, s.Hold, s.never = journal.ChangeExpireLease, "a worker still runs it", true
		return
	}
	switch s.Finding.Status {
	case StatusApplied:
		s.Change = journal.ChangeClose
		s.Hold = staleRow(s.Finding)
	case StatusNotApplied, StatusNatural:
		s.Change = journal.ChangeExpireLease
		s.Hold = rival(s.Finding)
	default:
		s.Change = journal.ChangeExpireLease
		s.Hold = "a recoverer would run it again, and nobody can say whether its work is done (" + why(s.Finding) + ")"
	}
}

func repairGhost(s *Step, now time.Time) {
	f := s.Finding
	t := f.Task
	s.depends = true
	if f.Status == StatusApplied {
		if s.note = staleRow(f); s.note == "" {
			s.Change = journal.ChangeClose
			return
		}
	}
	s.Score = now
	switch t.State {
	case inspect.StateArchived:
		s.Change, s.depends = journal.ChangePutBack, false
		if !t.LastFailedAt.IsZero() {
			s.Score = t.LastFailedAt
		}
	case inspect.StateCompleted:
		// Its retention may be over, and the janitor would delete it at once.
		s.Change, s.depends = journal.ChangePutBack, false
		s.Score = now.Add(24 * time.Hour)
	case inspect.StateScheduled:
		// When it was due went with its place in the set.
		s.Change, s.depends = journal.ChangeArchive, false
		s.note = "nobody knows any more when it was due"
	case inspect.StatePending, inspect.StateRetry, inspect.StateAggregating:
		s.Change = journal.ChangePutBack
		if note := rival(f); note != "" {
			s.Change, s.depends, s.note = journal.ChangeArchive, false, note
		}
		if f.Status != StatusNotApplied && f.Status != StatusNatural {
			s.Change, s.depends = journal.ChangeArchive, false
		}
	case inspect.StateActive:
		// An attempt of it may still be running where no lease shows it.
		s.Change, s.depends = journal.ChangeArchive, false
	default:
		s.Change, s.depends = journal.ChangePutBack, false
		s.Hold = "its hash names no state to put it back to"
	}
}

// rival says who else may do the work of a task that is not applied; "" for
// nobody that its lock shows.
func rival(f Finding) string {
	if f.Lock == nil || f.Lock.State != LockTaken {
		return ""
	}
	return fmt.Sprintf("its lock belongs to task %q, which may do this work", f.Lock.Owner)
}

// staleRow says why a row that seems to be the task's may be an earlier run's,
// under an ID or key that is used again; "" where it may not.
func staleRow(f Finding) string {
	if !ExplicitID(f.Key) {
		return ""
	}
	if f.AppliedAt.IsZero() {
		return "the row under its key bears no time, and the key may have been used before"
	}
	if f.Attribution == AttributionBefore {
		return "the row under its key is older than the task"
	}
	last := lastSign(f.Task)
	if last.IsZero() || f.AppliedAt.Before(last.Add(-f.longest)) {
		return "the row under its key may be an earlier run's"
	}
	return ""
}

// why is a finding's reason for an unknown status, or the status itself.
func why(f Finding) string {
	if f.Reason != ReasonNone {
		return f.Reason.Words()
	}
	return "its effect is " + f.Status.String()
}
