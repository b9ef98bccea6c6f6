package reconcile

import (
	"fmt"

	"github.com/idemctl/idemctl/inspect"
)

// integrityWords says what a queue's own lists hide, and what comes of it.
func (f *Finding) integrityWords() (message, consequence string) {
	t := f.Task
	switch f.Code {
	case CodeGhost:
		return fmt.Sprintf("its hash says %s, and no list or set holds it%s", stateOr(t.State, "nothing of a state"), f.effect()), f.ghostConsequence()
	case CodeResultOnly:
		return fmt.Sprintf("a result of %s is stored under this ID, and no task", plural(t.ResultSize, "byte")),
			"every enqueue of this ID is refused, and no Inspector call can delete it"
	case CodeDangling:
		return fmt.Sprintf("the %s tasks hold this ID, and there is no task", t.State), danglingConsequence(t.State)
	case CodeUndecodable:
		return fmt.Sprintf("the message of this %s task is missing or cannot be decoded", stateOr(t.State, "stateless")),
			"no Inspector call shows it, no worker can run it, and nobody can say what its work was"
	case CodeNoLease:
		message = "active without a lease" + f.effect()
		if f.Detail != "" {
			message += "; " + f.Detail
		}
		return message, f.noLeaseConsequence()
	case CodeStaleLease:
		ends := "ended"
		if t.LeaseExpiresAt.After(f.ConfirmedAt) {
			ends = "ends"
		}
		return fmt.Sprintf("a lease (it %s at %s) of a task that is not active", ends, stamp(t.LeaseExpiresAt)),
			"once it has ended, every server's recoverer stumbles over it once a minute"
	case CodeGroupUnregistered:
		return fmt.Sprintf("group %q of queue %s holds %s, and the queue does not know it", t.Group, t.Queue, plural(f.TaskCount, "task")),
			"no aggregator ever looks at it: its tasks never run"
	case CodeResidue:
		return fmt.Sprintf("queue %s is removed, and these of its keys are left: %s", t.Queue, f.Detail),
			"task IDs and locks among them refuse enqueues as soon as the queue is used again"
	case CodeStateMismatch:
		return fmt.Sprintf("its hash says %s, and the %s tasks hold it%s", t.State, t.Listed, f.effect()),
			"Inspector calls refuse it or fail half-way, and whoever reads it by its ID is misled"
	case CodeArchiveFull:
		return fmt.Sprintf("the archive of queue %s holds %d tasks, and can hold 10,000", t.Queue, f.TaskCount),
			"the next archived tasks push the oldest out: hash and error are deleted without a word, and their locks stay"
	case CodeArchiveExpiring:
		return fmt.Sprintf("queue %s has %s in its archive that will be deleted soon, the oldest archived at %s", t.Queue, plural(f.TaskCount, "task"), stamp(t.ArchivedAt)),
			"90 days after its archiving a task is deleted when the next one is archived, with all that is known of its failure"
	case CodeQueueUnserved:
		return fmt.Sprintf("queue %s has %s waiting, and no live server takes them", t.Queue, plural(f.TaskCount, "task")),
			"nothing in it runs, is retried or recovered until a server is started for it"
	case CodeClockSkew:
		return "the clocks differ: " + f.Detail,
			"times of different systems cannot be compared more closely than that; from 30 s on, recoverers take tasks from living workers"
	}
	return string(f.Code), ""
}

func (f *Finding) ghostConsequence() string {
	switch f.Status {
	case StatusApplied:
		return "it never runs and its ID stays taken; its work is done: repair closes it, or archives it where its key can have been used before"
	case StatusNotApplied:
		return "it never runs, no list shows it, and its ID stays taken: its work is lost, unless another task of its key does it"
	}
	return "it never runs, no list shows it, and its ID stays taken: its work is lost unless it was done"
}

func (f *Finding) noLeaseConsequence() string {
	if f.held {
		return "its worker cannot end it: whatever comes of it, the task stays behind in no list"
	}
	switch f.Status {
	case StatusApplied:
		return "no recoverer will ever take it; its work is done, so that it can be closed"
	case StatusNotApplied:
		return "no recoverer will ever take it: its work is lost, unless another task of its key does it"
	}
	return "no recoverer will ever take it: its work is lost unless it was done"
}

func danglingConsequence(s inspect.State) string {
	if s == inspect.StatePending {
		return "the worker that takes it leaves an active entry without a message, which nothing can end"
	}
	return "lists show a blank line, and counts are wrong; whatever was its task is gone"
}

func stateOr(s inspect.State, otherwise string) string {
	if s == inspect.StateUnknown {
		return otherwise
	}
	return s.String()
}

// repair is the command that mends what can be mended, or that shows more.
func (f *Finding) repair() string {
	queue := func(command string) CommandLine { return Command(command).Only("queue", f.Task.Queue) }
	switch f.Code {
	case CodeGroupUnregistered:
		return queue("idemctl integrity repair").Flag("kind", "group-unregistered").String()
	case CodeArchiveFull, CodeArchiveExpiring:
		return queue("idemctl resolve").String()
	case CodeQueueUnserved:
		return "idemctl doctor"
	case CodeResidue:
		return "" // asynq does not know the queue: nothing can be asked of it by name
	case CodeUndecodable:
		return f.explain()
	}
	return queue("idemctl integrity repair").Flag("id", f.Task.ID).String()
}
