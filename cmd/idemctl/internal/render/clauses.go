package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/payload"
	"github.com/idemctl/idemctl/reconcile"
)

// clause says in a sentence what findings of some codes come to. The codes of
// one clause have one severity.
type clause struct {
	codes []reconcile.Code
	say   func(n int, t *reconcile.Totals) string
}

// clauses are in the order of the report where their severities are equal: damage
// done, damage that a hasty hand would do, damage that comes by itself, loss and
// what is about to be lost, what lets damage happen, and doubt.
var clauses = []clause{
	{codes(reconcile.CodeDuplicated), says(
		"1 task has more effects than it may: its work was repeated.",
		"%s tasks have more effects than they may: their work was repeated.")},
	{codes(reconcile.CodePartial), says(
		"1 task is half applied: one table has it finished, another has not.",
		"%s tasks are half applied: one table has them finished, another has not.")},
	{codes(reconcile.CodeUnmarked), says(
		"1 task ended as done and left no trace: lost in silence, or never marked.",
		"%s tasks ended as done and left no trace: lost in silence, or never marked.")},
	{codes(reconcile.CodeMismatch), says(
		"1 task finds another payload's row under its key, and would be skipped.",
		"%s tasks find another payload's row under their key, and would be skipped.")},
	{codes(reconcile.CodeAppliedArchived), func(n int, t *reconcile.Totals) string {
		if n == 1 {
			return outOfArchived(n, t) + " already took effect: do not re-run it."
		}
		return outOfArchived(n, t) + " already took effect: do not re-run them."
	}},
	{codes(reconcile.CodeAppliedOrphaned), says(
		"1 task of a dead worker already took effect, and will be run again.",
		"%s tasks of dead workers already took effect, and will be run again.")},
	{codes(reconcile.CodeAppliedRetry), says(
		"1 retry is about to repeat finished work.",
		"%s retries are about to repeat finished work.")},
	{codes(reconcile.CodeAppliedWaiting), says(
		"1 waiting task is about to repeat finished work.",
		"%s waiting tasks are about to repeat finished work.")},
	{codes(reconcile.CodeLockTwin), says(
		"1 work is enqueued twice: equal tasks are alive side by side, and all run.",
		"%s works are enqueued twice: equal tasks are alive side by side, and all run.")},
	{codes(reconcile.CodeSchedulerDuplicate), says(
		"1 periodic entry is registered more than once, and every registration fires.",
		"%s periodic entries are registered more than once, and each time they fire.")},
	{codes(reconcile.CodeLost), func(n int, t *reconcile.Totals) string {
		if n == 1 {
			return outOfArchived(n, t) + " is lost: not applied, and nothing will run it."
		}
		return outOfArchived(n, t) + " are lost: not applied, and nothing will run them."
	}},
	kinds("1 task will never run and is hard to see", "%s tasks will never run and are hard to see",
		part{reconcile.CodeGhost, "in no list"},
		part{reconcile.CodeNoLease, "without a lease"},
	),
	{codes(reconcile.CodeGroupUnregistered), says(
		"1 group is unknown to its queue: its tasks will never run.",
		"%s groups are unknown to their queues: their tasks will never run.")},
	kinds("1 task cannot be read", "%s tasks cannot be read",
		part{reconcile.CodeDangling, "without a hash"},
		part{reconcile.CodeUndecodable, "without a sound message"},
	),
	{codes(reconcile.CodeStaleClaim), says(
		"1 task is blocked by the claim of a dead attempt: its work is skipped.",
		"%s tasks are blocked by the claims of dead attempts: their work is skipped.")},
	{codes(reconcile.CodeStaleMark), says(
		"1 task finds a mark that is older than itself, and would be skipped.",
		"%s tasks find marks that are older than themselves, and would be skipped.")},
	{codes(reconcile.CodeIDShared), says(
		"1 task ID is in several queues: one of the works is swallowed.",
		"%s task IDs are in several queues: one of the works is swallowed.")},
	{codes(reconcile.CodeKeyCollision), says(
		"1 key is shared by several tasks: the first makes the others look done.",
		"%s keys are shared by several tasks: the first makes the others look done.")},
	{codes(reconcile.CodeDeadlinePassed), says(
		"1 waiting task is past its deadline: every attempt left will fail.",
		"%s waiting tasks are past their deadlines: every attempt left will fail.")},
	{codes(reconcile.CodeQueueUnserved), says(
		"1 queue has tasks waiting, and no live server takes them.",
		"%s queues have tasks waiting, and no live server takes them.")},
	kinds("1 lock refuses work that nobody does", "%s locks refuse work that nobody does",
		part{reconcile.CodeLockBlocks, "of an archived task"},
		part{reconcile.CodeLockOrphaned, "left behind"},
		part{reconcile.CodeLockPhantom, "of other work"},
	),
	kinds("1 task ID refuses every enqueue", "%s task IDs refuse every enqueue",
		part{reconcile.CodeIDBlocked, "of an ended task"},
		part{reconcile.CodeResultOnly, "of a result alone"},
	),
	{codes(reconcile.CodeGroupedTaskID), says(
		"1 task will run under its group's new ID: no row will be found for it.",
		"%s tasks will run under their groups' new IDs: no rows will be found.")},
	{codes(reconcile.CodeArchiveFull), says(
		"1 archive is nearly full: what fails next pushes its oldest tasks out.",
		"%s archives are nearly full: what fails next pushes their oldest tasks out.")},
	{codes(reconcile.CodeArchiveExpiring), says(
		"1 archive holds tasks that will be deleted within a week.",
		"%s archives hold tasks that will be deleted within a week.")},
	{codes(reconcile.CodeUnprotected), says(
		"1 task type has nothing that stops a second effect.",
		"%s task types have nothing that stops a second effect.")},
	{codes(reconcile.CodeNoUniqueIndex), says(
		"1 task type's table would take a second row of one key.",
		"%s task types' tables would take a second row of one key.")},
	kinds("1 live task no longer holds its lock", "%s live tasks no longer hold their locks",
		part{reconcile.CodeLockLost, "gone"},
		part{reconcile.CodeLockTaken, "taken by an equal task"},
	),
	{codes(reconcile.CodeEntryOnly), says(
		"1 task type is guarded on entry only.",
		"%s task types are guarded on entry only.")},
	kinds("1 lock is no guard for its live task", "%s locks are no guard for their live tasks",
		part{reconcile.CodeLockExpiresEarly, "too short"},
		part{reconcile.CodeLockDrift, "of an old payload"},
	),
	{payloadCodes(reconcile.SeverityHigh, payload.ScopeCorpus), says(
		"In 1 way payloads differ though the work is the same: locks let it past.",
		"In %s ways payloads differ though the work is the same: locks let it past.")},
	{payloadCodes(reconcile.SeverityHigh, payload.ScopeForm), says(
		"In 1 way payloads are spelled so that equal work can take another lock.",
		"In %s ways payloads are spelled so that equal work can take another lock.")},
	{payloadCodes(reconcile.SeverityWarning, payload.ScopeForm, payload.ScopeValue, payload.ScopeCorpus), says(
		"In 1 way payloads are unlike, so that one work may take several locks.",
		"In %s ways payloads are unlike, so that one work may take several locks.")},
	{codes(reconcile.CodeLockTicking), says(
		"1 queue is paused while the locks of its tasks run out.",
		"%s queues are paused while the locks of their tasks run out.")},
	kinds("1 task is not retried as its policy says", "%s tasks are not retried as their policy says",
		part{reconcile.CodeRetryUncounted, "without end"},
		part{reconcile.CodeRetryPolicyDrift, "at other times"},
	),
	{codes(reconcile.CodeInDoubt), says(
		"1 task is in doubt: its row was begun and never finished.",
		"%s tasks are in doubt: their rows were begun and never finished.")},
	{codes(reconcile.CodeKeyMissing), says(
		"1 task has no usable key: nobody can look up its effect.",
		"%s tasks have no usable key: nobody can look up their effects.")},
	{codes(reconcile.CodeRetryDuplicate), says(
		"1 task fails only because its work is done: its handler should return nil.",
		"%s tasks fail only because their work is done: handlers should return nil.")},
	{codes(reconcile.CodeStateMismatch), says(
		"1 task is in two states: its hash says one, a list or set another.",
		"%s tasks are in two states: their hashes say one, lists or sets another.")},
	{codes(reconcile.CodeUnknown), func(n int, t *reconcile.Totals) string {
		if n == 1 {
			return outOfArchived(n, t) + " may or may not have taken effect: nobody can know."
		}
		return outOfArchived(n, t) + " may or may not have taken effect: nobody can know."
	}},
	{codes(reconcile.CodeUnclassified), says(
		"1 task type has no rule: nothing is known of its effects.",
		"%s task types have no rule: nothing is known of their effects.")},
	{codes(reconcile.CodeOrphaned), says(
		"1 task lost its worker before any effect.",
		"%s tasks lost their workers before any effect.")},
	{codes(reconcile.CodeStaleLease), says(
		"1 lease is of no active task: recoverers stumble over it every minute.",
		"%s leases are of no active task: recoverers stumble over them every minute.")},
	{codes(reconcile.CodeClockSkew), says(
		"1 pair of clocks differs by 5 s or more: times cannot be compared closely.",
		"%s pairs of clocks differ by 5 s or more: times cannot be compared closely.")},
	{codes(reconcile.CodeUnsettled), says(
		"1 task is too fresh to be judged: ask again later.",
		"%s tasks are too fresh to be judged: ask again later.")},
}

func codes(c ...reconcile.Code) []reconcile.Code { return c }

// payloadCodes are those of the payload rules of one severity and some scopes.
func payloadCodes(s reconcile.Severity, scopes ...payload.Scope) []reconcile.Code {
	var codes []reconcile.Code
	for _, r := range payload.Rules() {
		if c := reconcile.PayloadCode(r); c.Severity() == s && slices.Contains(scopes, r.Scope()) {
			codes = append(codes, c)
		}
	}
	return codes
}

// says is a sentence in singular and plural.
func says(one, many string) func(int, *reconcile.Totals) string {
	return func(n int, _ *reconcile.Totals) string {
		if n == 1 {
			return one
		}
		return fmt.Sprintf(many, count(n))
	}
}

// part is what a clause says of one of its codes.
type part struct {
	code reconcile.Code
	text string
}

// kinds is a clause that counts several codes together and then says which they
// are, with a number for each where there is more than one kind.
func kinds(one, many string, parts ...part) clause {
	c := clause{}
	for _, p := range parts {
		c.codes = append(c.codes, p.code)
	}
	sentence := says(one, many)
	c.say = func(n int, t *reconcile.Totals) string {
		var texts, numbered []string
		for _, p := range parts {
			if k := t.ByCode[p.code]; k > 0 {
				texts = append(texts, p.text)
				numbered = append(numbered, count(k)+" "+p.text)
			}
		}
		if len(texts) > 1 {
			texts = numbered
		}
		return sentence(n, t) + ": " + strings.Join(texts, ", ") + "."
	}
	return c
}

// outOfArchived is such as "3 of 12 archived tasks".
func outOfArchived(n int, t *reconcile.Totals) string {
	all := t.ByState[inspect.StateArchived]
	switch {
	case all > n:
		return count(n) + " of " + count(all) + " archived tasks"
	case n == 1:
		return "1 archived task"
	default:
		return "All " + count(n) + " archived tasks"
	}
}
