package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// What a report opens with: what must be done, or must not be done, worst first,
// in words for someone who has just been woken up. Counts come from the report's
// totals, so that they are right however few findings are printed below. Nothing
// is called fine that was not looked at.

// verdict is one line of it.
type verdict struct {
	// severity of the line's sign; SeverityNone says that all is well.
	severity reconcile.Severity
	text     string
	codes    []reconcile.Code // the findings it speaks of
}

// clause says in a sentence what findings of some codes come to.
type clause struct {
	codes []reconcile.Code
	say   func(n int, t *reconcile.Totals) string
}

// clauses are in the order of the report where their severities are equal: damage
// done, damage that a hasty hand would do, damage that comes by itself, loss,
// what lets damage happen, and doubt.
var clauses = []clause{
	{[]reconcile.Code{reconcile.CodeDuplicated}, says(
		"1 task has more effects than it may: its work was repeated.",
		"%s tasks have more effects than they may: their work was repeated.")},
	{[]reconcile.Code{reconcile.CodePartial}, says(
		"1 task is half applied: one table has it, another has not.",
		"%s tasks are half applied: one table has them, another has not.")},
	{[]reconcile.Code{reconcile.CodeUnmarked}, says(
		"1 task ended as done and left no trace: lost in silence, or never marked.",
		"%s tasks ended as done and left no trace: lost in silence, or never marked.")},
	{[]reconcile.Code{reconcile.CodeMismatch}, says(
		"1 task finds another payload's row under its key, and would be skipped.",
		"%s tasks find another payload's row under their key, and would be skipped.")},
	{[]reconcile.Code{reconcile.CodeAppliedArchived}, func(n int, t *reconcile.Totals) string {
		if n == 1 {
			return outOfArchived(n, t) + " already took effect: do not re-run it."
		}
		return outOfArchived(n, t) + " already took effect: do not re-run them."
	}},
	{[]reconcile.Code{reconcile.CodeAppliedOrphaned}, says(
		"1 task of a dead worker already took effect, and will be run again.",
		"%s tasks of dead workers already took effect, and will be run again.")},
	{[]reconcile.Code{reconcile.CodeAppliedRetry}, says(
		"1 retry is about to repeat finished work.",
		"%s retries are about to repeat finished work.")},
	{[]reconcile.Code{reconcile.CodeAppliedWaiting}, says(
		"1 waiting task is about to repeat finished work.",
		"%s waiting tasks are about to repeat finished work.")},
	{[]reconcile.Code{reconcile.CodeLost}, func(n int, t *reconcile.Totals) string {
		if n == 1 {
			return outOfArchived(n, t) + " is lost: not applied, and nothing will run it."
		}
		return outOfArchived(n, t) + " are lost: not applied, and nothing will run them."
	}},
	{[]reconcile.Code{reconcile.CodeStaleClaim}, says(
		"1 task is blocked by the claim of a dead attempt: its work is skipped.",
		"%s tasks are blocked by the claims of dead attempts: their work is skipped.")},
	{[]reconcile.Code{reconcile.CodeStaleMark}, says(
		"1 task finds a mark that is older than itself, and would be skipped.",
		"%s tasks find marks that are older than themselves, and would be skipped.")},
	{[]reconcile.Code{reconcile.CodeIDShared}, says(
		"1 task ID is in several queues: one of the works is swallowed.",
		"%s task IDs are in several queues: one of the works is swallowed.")},
	{[]reconcile.Code{reconcile.CodeKeyCollision}, says(
		"1 key is shared by several tasks: the first makes the others look done.",
		"%s keys are shared by several tasks: the first makes the others look done.")},
	{[]reconcile.Code{reconcile.CodeUnprotected}, says(
		"1 task type has nothing that stops a second effect.",
		"%s task types have nothing that stops a second effect.")},
	{[]reconcile.Code{reconcile.CodeNoUniqueIndex}, says(
		"1 task type's table would take a second row of one key.",
		"%s task types' tables would take a second row of one key.")},
	{[]reconcile.Code{reconcile.CodeEntryOnly}, says(
		"1 task type is guarded on entry only.",
		"%s task types are guarded on entry only.")},
	{[]reconcile.Code{reconcile.CodeInDoubt}, says(
		"1 task is in doubt: its row was begun and never finished.",
		"%s tasks are in doubt: their rows were begun and never finished.")},
	{[]reconcile.Code{reconcile.CodeKeyMissing}, says(
		"1 task has no usable key: nobody can look up its effect.",
		"%s tasks have no usable key: nobody can look up their effects.")},
	{[]reconcile.Code{reconcile.CodeUnknown}, func(n int, t *reconcile.Totals) string {
		if n == 1 {
			return outOfArchived(n, t) + " may or may not have taken effect: nobody can know."
		}
		return outOfArchived(n, t) + " may or may not have taken effect: nobody can know."
	}},
	{[]reconcile.Code{reconcile.CodeUnclassified}, says(
		"1 task type has no rule: nothing is known of its effects.",
		"%s task types have no rule: nothing is known of their effects.")},
	{[]reconcile.Code{reconcile.CodeOrphaned}, says(
		"1 task lost its worker before any effect.",
		"%s tasks lost their workers before any effect.")},
	{[]reconcile.Code{reconcile.CodeUnsettled}, says(
		"1 task is too fresh to be judged: ask again later.",
		"%s tasks are too fresh to be judged: ask again later.")},
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

// verdictOf is what a report comes to; it has at least one line.
func verdictOf(r *reconcile.Report) []verdict {
	var lines []verdict
	if !r.Complete {
		lines = append(lines, verdict{severity: reconcile.SeverityCritical, text: incomplete(r)})
	}
	said := map[reconcile.Code]bool{}
	for _, c := range clauses {
		v := verdict{codes: c.codes}
		n := 0
		for _, code := range c.codes {
			n += r.Totals.ByCode[code]
			said[code] = true
			v.severity = max(v.severity, code.Severity())
		}
		if n > 0 {
			v.text = c.say(n, &r.Totals)
			lines = append(lines, v)
		}
	}
	lines = append(lines, restOf(r, said)...)
	slices.SortStableFunc(lines, func(a, b verdict) int { return cmp.Compare(b.severity, a.severity) })
	if needsNothing(lines) && r.Complete {
		return append([]verdict{allWell(r)}, lines...)
	}
	if len(lines) > manyLines && r.Complete {
		return append(headline(r, lines[0].severity), lines...)
	}
	return lines
}

// manyLines is how many lines of a verdict can be taken in at a glance.
const manyLines = 4

// headline puts the night's two questions into one line, where there is more to
// say than can be taken in at a glance: what of the archive may be run again, and
// what is about to go wrong by itself.
func headline(r *reconcile.Report, worst reconcile.Severity) []verdict {
	t := &r.Totals
	var archived []string
	for _, part := range []struct {
		code reconcile.Code
		text string
	}{
		{reconcile.CodeAppliedArchived, "took effect"},
		{reconcile.CodeLost, "lost"},
		{reconcile.CodeUnknown, "unknown"},
	} {
		if n := t.ByCode[part.code]; n > 0 {
			archived = append(archived, count(n)+" "+part.text)
		}
	}
	var text string
	if len(archived) > 0 {
		text = fmt.Sprintf("Of %s: %s.",
			plural(t.ByState[inspect.StateArchived], "archived task", "archived tasks"), strings.Join(archived, ", "))
	}
	repeats := t.ByCode[reconcile.CodeAppliedRetry] + t.ByCode[reconcile.CodeAppliedWaiting] + t.ByCode[reconcile.CodeAppliedOrphaned]
	if repeats > 0 {
		text = strings.TrimSpace(text + " " + plural(repeats, "task is", "tasks are") + " about to repeat finished work.")
	}
	if text == "" {
		return nil
	}
	return []verdict{{severity: worst, text: text}}
}

// incomplete says that a report is not whole, and why.
func incomplete(r *reconcile.Report) string {
	return fmt.Sprintf("INCOMPLETE (%s): %s judged. What is not listed is not cleared.",
		Visible(problemOf(r)), plural(r.Totals.Tasks, "task was", "tasks were"))
}

// restOf counts the findings that no clause speaks of, by severity.
func restOf(r *reconcile.Report, said map[reconcile.Code]bool) []verdict {
	bySeverity := map[reconcile.Severity][]reconcile.Code{}
	for code, n := range r.Totals.ByCode {
		if n == 0 || said[code] {
			continue
		}
		s := code.Severity()
		if s == reconcile.SeverityNone {
			s = reconcile.SeverityWarning // a code that is not known is no reason to be calm
		}
		bySeverity[s] = append(bySeverity[s], code)
	}
	var lines []verdict
	for _, s := range reconcile.Severities() {
		codes := bySeverity[s]
		if len(codes) == 0 {
			continue
		}
		slices.Sort(codes)
		var names []string
		for _, code := range codes {
			names = append(names, count(r.Totals.ByCode[code])+" "+string(code))
		}
		text := "Also: " + strings.Join(names, ", ") + "."
		if s == reconcile.SeverityInfo {
			text = "Worth knowing: " + strings.Join(names, ", ") + "."
		}
		lines = append(lines, verdict{severity: s, text: text, codes: codes})
	}
	return lines
}

func needsNothing(lines []verdict) bool {
	return !slices.ContainsFunc(lines, func(v verdict) bool { return v.severity > reconcile.SeverityInfo })
}

// allWell is the line that takes a worry away, and no more than was checked.
func allWell(r *reconcile.Report) verdict {
	t := &r.Totals
	unknown := t.ByStatus[reconcile.StatusUnknown]
	within := ""
	if r.Scope.Narrowed() {
		within = " in this selection"
	}
	switch {
	case r.Filter != "" && t.Tasks > 0:
		return verdict{text: fmt.Sprintf("No finding passes the filter; %s read.", plural(t.Tasks, "task was", "tasks were"))}
	case t.Tasks == 0 && within != "":
		return verdict{text: "Nothing to reconcile: no task is in this selection."}
	case t.Tasks == 0 && len(r.Queues) == 0:
		return verdict{text: "Nothing to reconcile: there is no queue."}
	case t.Tasks == 0 && len(r.Queues) == 1:
		return verdict{text: fmt.Sprintf("Nothing to reconcile: the queue %s is empty.", Visible(r.Queues[0]))}
	case t.Tasks == 0:
		return verdict{text: fmt.Sprintf("Nothing to reconcile: all %s queues are empty.", count(len(r.Queues)))}
	case unknown >= t.Tasks:
		return verdict{
			severity: reconcile.SeverityWarning,
			text: fmt.Sprintf("Nothing found, and nothing known: no rule or ledger speaks of the %s%s.",
				plural(t.Tasks, "task", "tasks"), within),
		}
	case unknown > 0:
		return verdict{text: fmt.Sprintf("Nothing to do%s: %s agree with the ledger; of %s more nobody can say.",
			within, plural(t.Tasks-unknown, "task", "tasks"), count(unknown))}
	case t.Tasks == 1:
		return verdict{text: "Nothing to do" + within + ": the 1 task agrees with the ledger."}
	default:
		return verdict{text: fmt.Sprintf("Nothing to do%s: all %s tasks agree with the ledger.", within, count(t.Tasks))}
	}
}
