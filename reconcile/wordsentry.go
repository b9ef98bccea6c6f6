package reconcile

import (
	"fmt"
	"strings"

	"github.com/idemctl/idemctl/inspect"
)

// entryWords are those of the findings on IDs and schedulers.
func (f *Finding) entryWords() (message, consequence string) {
	switch f.Code {
	case CodeIDBlocked:
		state := "archived"
		if f.Task.State == inspect.StateCompleted {
			state = "kept until " + stamp(f.Task.ExpiresAt)
		}
		message = fmt.Sprintf("%s under an ID that its producer chose%s", state, f.effect())
		if f.Detail != "" {
			message += "; " + f.Detail
		}
		return message, fmt.Sprintf("every enqueue of the ID %q is refused while the task is there; a producer that takes the refusal for success drops work", f.Task.ID)
	case CodeGroupedTaskID:
		return fmt.Sprintf("it waits in group %q, and its rule looks for its task ID", f.Task.Group),
			"the group is run as one task under a new ID: no row will ever be found under this one"
	case CodeSchedulerDuplicate:
		return fmt.Sprintf("the periodic entry %q of type %s is registered %d times: %s", f.Key, f.Task.Type, f.TaskCount, f.Detail),
			"each registration enqueues a task of its own at every tick; a lock or a fixed ID stops the second only while the first is unfinished (a scheduler that was killed is still seen until its last heartbeat expires)"
	}
	return string(f.Code), ""
}

// retryWords are those of the findings on retries.
func (f *Finding) retryWords() (message, consequence string) {
	switch f.Code {
	case CodeRetryDuplicate:
		return "its handler found the effect there (" + f.Task.LastErr + ") and called that a failure",
			"the task fails for ever though nothing is left to do: the handler should return nil when the row is there"
	case CodeRetryUncounted:
		return "in retry with no failure counted: the server's IsFailure calls its errors none",
			"it is retried without end, and no lock can be long enough"
	case CodeRetryPolicyDrift:
		delay, _ := observedDelay(f.Task)
		return fmt.Sprintf("after %s it waits %s, and the declared policy says %s", plural(f.Task.Retried, "counted failure"), Span(delay), f.Detail),
			"what is computed from the declared policy (lock lifetimes, first attempts) does not hold for this type"
	case CodeDeadlinePassed:
		return fmt.Sprintf("its deadline passed at %s, and it still waits (%s)", stamp(f.Task.Deadline), f.Task.State),
			"every attempt left fails before its handler is called, and then it is archived"
	}
	return string(f.Code), ""
}

// list joins names as people do.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
