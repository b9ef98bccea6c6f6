package reconcile

import (
	"fmt"

	"github.com/idemctl/idemctl/inspect"
)

// next says what happens to the task if nobody acts.
func next(d *Dossier) string {
	t := d.Task
	words := stateWords(t)
	switch {
	case d.found(CodeGroupUnregistered):
		return "no aggregator knows its group: it never runs"
	case t.Defect == inspect.DefectUndecodable:
		return "no worker can run it, since its message cannot be read"
	case d.found(CodeStateMismatch):
		return "it is where " + list(d.HeldIn) + " says, whatever its hash says: " + stateWords(heldAs(d))
	}
	if d.found(CodeGhost) {
		return "no list or set holds it: it never runs, and no asynq call reaches it"
	}
	if d.found(CodeResultOnly) {
		return "only a result is left of it, which nothing deletes"
	}
	if t.State == inspect.StateActive && !t.LeaseValid(d.ConfirmedAt) {
		words = "its worker is gone; a server's recoverer takes it back within two minutes"
		if t.LeaseExpiresAt.IsZero() {
			words = "it is active without a lease: no recoverer will ever take it"
		}
	}
	if t.State.Live() && t.State != inspect.StateActive && d.Queue.Paused {
		words += ", but the queue is paused"
	}
	if t.State.Live() && !d.Served {
		words += ", but no live server serves the queue"
	}
	if t.State.Live() && !t.Deadline.IsZero() && t.Deadline.Before(d.ConfirmedAt) {
		words += "; its deadline has passed, so that every attempt fails before the handler is called"
	}
	return words
}

// choices says what leaving, running and deleting the task would do.
func choices(d *Dossier) []Choice {
	t := d.Task
	out := []Choice{leave(d)}
	if c, ok := repairChoice(d); ok {
		out = append(out, c)
		if d.found(CodeGhost) || d.found(CodeResultOnly) {
			return out // nothing else reaches it
		}
	}
	if t.State == inspect.StateArchived || t.State == inspect.StateCompleted {
		out = append(out, rerun(d))
	}
	if t.State != inspect.StateActive {
		out = append(out, remove(d))
	}
	return out
}

// heldAs is the task as the list or set that holds it would have it.
func heldAs(d *Dossier) inspect.Task {
	t := d.Task
	for _, name := range d.HeldIn {
		if s, err := inspect.ParseState(name); err == nil && s != d.Task.State {
			t.State = s
			break
		}
	}
	return t
}

// repairChoice is what integrity repair would do for the task.
func repairChoice(d *Dossier) (Choice, bool) {
	for _, f := range d.Findings {
		s := repairOf(f, d.ConfirmedAt)
		if !mendable(f.Code) || s.Change == "" {
			continue
		}
		if s.Hold != "" {
			return Choice{Verb: "repair", Outcome: "held: " + s.Hold}, true
		}
		c := Choice{Verb: "repair", Outcome: s.Words(), Safe: true}
		if action := f.Action(); action != "" {
			c.Outcome += " (" + action + ")"
		}
		return c, true
	}
	return Choice{}, false
}

func leave(d *Dossier) Choice {
	c := Choice{Verb: "leave", Outcome: d.Next, Safe: true}
	v := d.Verdict
	switch {
	case d.found(CodeGhost), d.found(CodeNoLease), d.found(CodeGroupUnregistered), d.found(CodeUndecodable), d.found(CodeResultOnly):
		c.Safe = false
	case d.found(CodeLockTwin):
		c.Outcome += "; an equal task runs as well"
		c.Safe = false
	case v.Has(CodeAppliedRetry), v.Has(CodeAppliedWaiting), v.Has(CodeAppliedOrphaned):
		c.Outcome += "; its effect is repeated unless the handler finds its mark"
		c.Safe = false
	case v.Has(CodeLost), v.Has(CodeUnmarked):
		c.Outcome += "; the work stays undone"
		c.Safe = false
	case v.Has(CodeStaleMark), v.Has(CodeMismatch), v.Has(CodeStaleClaim):
		c.Outcome += "; a row that is not its own makes its handler skip the work"
		c.Safe = false
	case d.mayBeEarliers():
		c.Outcome += "; the row may be an earlier run's, and the work undone"
		c.Safe = false
	case v.Status == StatusNotApplied && d.tooLate() && d.Task.State != inspect.StateCompleted:
		c.Outcome += "; the work stays undone"
		c.Safe = false
	case v.Has(CodePartial), v.Has(CodeInDoubt), v.Status == StatusUnknown:
		c.Outcome += "; nobody can say whether the work is done"
		c.Safe = false
	case d.found(CodeIDShared), d.found(CodeKeyCollision):
		c.Outcome += "; another task of the same key makes this one look done, or the other way round"
		c.Safe = false
	}
	return c
}

// mayBeEarliers says that the row of an archived task may be that of an earlier run
// under its ID or key.
func (d *Dossier) mayBeEarliers() bool {
	a := d.archived()
	return a.Task.State == inspect.StateArchived && a.Verdict.Status == StatusApplied && stale(a)
}

// tooLate says that no attempt of a waiting task comes before its deadline.
func (d *Dossier) tooLate() bool {
	return d.pastDeadline() || !d.Task.Deadline.IsZero() && d.Task.NextProcessAt.After(d.Task.Deadline)
}

func (d *Dossier) pastDeadline() bool {
	return !d.Task.Deadline.IsZero() && d.Task.Deadline.Before(d.ConfirmedAt)
}

func rerun(d *Dossier) Choice {
	t, v := d.Task, d.Verdict
	c := Choice{Verb: "run"}
	if d.pastDeadline() {
		c.Outcome = "its deadline has passed: it is archived again and the handler is not called"
		return c
	}
	attempts := max(1, t.MaxRetry-t.Retried+1)
	budget := fmt.Sprintf("it gets %s", plural(attempts, "attempt"))
	switch {
	case v.Has(CodeMismatch):
		c.Outcome = budget + "; its handler finds a row that is not its own, and skips the work"
	case v.Has(CodeUnmarked):
		c.Outcome = budget + "; that does the work if it was lost, and repeats it if the handler writes no mark"
	case v.Has(CodeLost):
		c.Outcome = budget + "; the work is done if one succeeds"
		c.Safe = true
	case v.Has(CodeParked):
		c.Outcome = budget + "; no attempt of it has failed before"
		c.Safe = true
	case v.Status == StatusNatural:
		c.Outcome = budget + "; repeating it is harmless by its nature"
		c.Safe = true
	case v.Status == StatusApplied:
		c.Outcome = budget + "; its effect is repeated unless the handler finds its mark"
	case v.Has(CodeUnsettled):
		c.Outcome = budget + "; its effect may be written by another attempt at the same time"
	default:
		c.Outcome = budget + "; its effect may be repeated: nobody can say"
	}
	a := d.archived()
	switch action, reason := d.requeue(a); {
	case a.Task.State != inspect.StateArchived:
	case action == ActionRun && d.rival != nil:
		_, words := lockedWords(*d.rival)
		c.Outcome += "; requeue holds it: " + words
		c.Safe = false
	default:
		c.decided("requeue", a, action == ActionRun, reason)
		c.Safe = c.Safe && action == ActionRun
	}
	return c
}

// requeue is what requeue would do with the task.
func (d *Dossier) requeue(a Archived) (Action, HoldReason) {
	action, reason := DecideRequeue(a)
	switch {
	case action != ActionRun:
	case d.Queue.Paused:
		return ActionHold, HoldPaused
	case !d.Served:
		return ActionHold, HoldUnserved
	}
	return action, reason
}

// archived is the task as a plan would decide on it.
func (d *Dossier) archived() Archived {
	return Archived{
		Task: d.Task, Rule: d.Rule, Key: d.Key, KeyProblem: d.KeyProblem, Verdict: d.Verdict, Readings: d.Readings, Lock: d.Lock,
		Shared: d.found(CodeIDShared), Now: d.ConfirmedAt, StaleAfter: oldestRow(d.Task, d.Rule, d.ConfirmedAt),
		Twin: d.Lock != nil && d.Lock.State == LockTaken && d.Lock.OwnerState.Live(),
	}
}

// decided adds what the command would do with the task.
func (c *Choice) decided(command string, a Archived, does bool, reason HoldReason) {
	if line := moveCommand(command, a.Task.Ref); does && line != "" {
		c.Outcome += " (" + line + ")"
		return
	}
	if !does {
		c.Outcome += "; " + command + " holds it: " + a.hold(reason)
	}
}

func remove(d *Dossier) Choice {
	v := d.Verdict
	c := Choice{Verb: "delete", Outcome: "frees its ID"}
	if d.Lock != nil && d.Lock.State == LockHeld {
		c.Outcome += " and its lock"
	}
	if v.Status == StatusApplied && !v.Has(CodeMismatch) && !v.Has(CodeStaleMark) && !v.Has(CodeDuplicated) {
		return removeDone(d, c)
	}
	if v.Has(CodeDuplicated) {
		c.Outcome += "; its effect stays, as often as it is there"
		return c
	}
	c.Outcome += "; the work is lost if it was not done"
	return c
}

// removeDone is remove where a row says that the work is done. An archived task
// can be deleted as far as resolve would.
func removeDone(d *Dossier, c Choice) Choice {
	a := d.archived()
	action, reason := DecideResolve(a)
	if a.Task.State == inspect.StateArchived && action != ActionResolve {
		c.Outcome += "; a row says that its work is done"
		c.decided("resolve", a, false, reason)
		return c
	}
	c.Outcome += "; its effect is applied, so that nothing is lost"
	c.Safe = true
	if a.Task.State == inspect.StateArchived {
		c.decided("resolve", a, true, reason)
	}
	return c
}
