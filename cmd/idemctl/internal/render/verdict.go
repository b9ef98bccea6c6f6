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
	case r.Aspect == reconcile.AspectStructure:
		return verdict{text: fmt.Sprintf("The structure is sound%s: %s looked at, and not what took effect (idemctl audit).",
			within, plural(t.Tasks, "task was", "tasks were"))}
	case r.Aspect == reconcile.AspectBlocked:
		return verdict{text: fmt.Sprintf("Nothing refuses new work%s: %s looked at, and what took effect only where a task is in the way (idemctl audit).",
			within, plural(t.Tasks, "task was", "tasks were"))}
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
