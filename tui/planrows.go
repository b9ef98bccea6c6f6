package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/internal/visible"
)

// leastRows is how many tasks of a plan are shown, whatever there is to say of it.
const leastRows = 3

func (s *planScreen) body(width, height int) []string {
	w := &writer{theme: &s.theme, width: width}
	switch {
	case s.phase == phasePlanning:
		return append([]string{""}, indented("planning: every task is judged with all its twins, as an audit would …", width)...)
	case s.plan == nil:
		words := "no plan"
		if s.err != nil {
			words = "no plan: " + safe(s.err.Error())
		}
		return append([]string{""}, indented(words, width)...)
	}
	s.summary(w)
	foot := s.foot(width)
	if s.input == nil && height >= 12 {
		foot = s.words(width)
	}
	s.table.columns[3].title = "EFFECT"
	if s.phase == phaseApplying || s.phase == phaseApplied {
		s.table.columns[3].title = "EFFECT WAS" // when it was planned
	}
	if room := max(2, height-len(foot)-1-leastRows); len(w.lines) > room { // the tasks are what the plan is about
		w.lines = append(w.lines[:room-1], s.theme.dim.Render("  … a larger window says more"))
	}
	s.list.resize(len(s.rows), max(1, height-len(w.lines)-1-len(foot)))
	from, to := s.list.window()
	var cells [][]string
	for _, i := range s.rows[from:to] {
		cells = append(cells, s.cells(&s.plan.Items[i]))
	}
	shown, widths := s.table.fit(cells, width-2, true)
	w.raw("  " + s.theme.dim.Render(s.table.line(s.table.titles(-1, false), shown, widths, nil)))
	for n, row := range cells {
		it := &s.plan.Items[s.rows[from+n]]
		if from+n == s.list.cursor {
			w.raw(s.theme.cursor.Render(clip("▸ "+s.table.line(row, shown, widths, nil), width)))
			continue
		}
		w.raw("  " + s.table.line(row, shown, widths, func(c int, text string) string { return s.paint(it, c, text) }))
	}
	return append(padded(w.lines, height-len(foot)), foot...)
}

func (s *planScreen) paint(it *PlanItem, column int, text string) string {
	switch {
	case column == 0 && s.outcomes[it.Ref].FateBad:
		return s.theme.worst.Render(text)
	case column == 0 && s.outcomes[it.Ref].Outcome == OutcomeDone:
		return s.theme.good.Render(text)
	case column == 0 && (s.outcomes[it.Ref].Outcome == OutcomeFailed || s.outcomes[it.Ref].Outcome == OutcomeUnknown):
		return s.theme.worst.Render(text)
	case column == 0 && it.Runs:
		return s.theme.note.Render(text)
	case column == 3:
		return s.theme.status(it.Status, text)
	case column == 4, column == 0:
		return s.theme.dim.Render(text)
	}
	return text
}

// cells are an item's texts: what came of it, or what would be done.
func (s *planScreen) cells(it *PlanItem) []string {
	sign, why := "hold", it.Words
	if it.Runs {
		sign = it.Action
	} else if it.Reason != "" {
		why = it.Reason + ": " + why
	}
	if e, ok := s.outcomes[it.Ref]; ok {
		switch {
		case e.FateBad:
			sign = "✗ " + e.Fate
		case e.Fate != "":
			sign = outcomeShape(e.Outcome) + " " + e.Fate
		case e.Outcome != OutcomeNone:
			sign = outcomeShape(e.Outcome) + " " + string(e.Outcome)
		case s.phase == phaseApplied:
			sign = "not begun"
		}
		if e.Words != "" {
			why = e.Words
		}
	}
	if _, told := s.outcomes[it.Ref]; it.Runs && !told && s.phase == phaseApplied {
		sign = "not begun"
	}
	return []string{sign, refText(it.Ref), safe(it.Type), statusShape(it.Status) + " " + it.Status.String(), safe(why)}
}

// summary says what the plan comes to, and what has come of it.
func (s *planScreen) summary(w *writer) {
	p := s.plan
	run := p.Running()
	switch s.phase {
	case phaseShown:
		words := fmt.Sprintf("%s %s, hold %s.", sentenceWord(string(s.ask.Verb)), count(run), count(len(p.Items)-run))
		if run == 0 {
			words += " There is nothing to apply."
		}
		w.hang("  ", 2, words, s.theme.boldText)
		if reasons := s.reasons(); reasons != "" {
			w.hang("  ", 2, "held: "+reasons, s.theme.dimText)
		}
		for _, n := range p.Notes {
			w.hang(s.theme.warn.Render("! "), 2, sentence(safe(n)), nil)
		}
		if s.canary > 0 {
			w.hang(s.theme.note.Render("◇ "), 2, "Canary: one is run first, and watched until it is done and applied; only then the others.", nil)
		}
	case phaseFailed: // it was not applied
		w.hang(s.theme.warn.Render("! "), 2, sentence("nothing was changed: "+safe(s.err.Error())), nil)
	default:
		s.applied(w, run)
	}
	w.blank()
}

// applied says how far the application is, or what came of it.
func (s *planScreen) applied(w *writer, run int) {
	total := 0
	var parts []string
	for _, o := range []Outcome{OutcomeDone, OutcomeRefused, OutcomeFailed, OutcomeUnknown} {
		n := s.done[o]
		total += n
		if o == OutcomeDone { // those that came to no good have their own line
			n -= s.spoilt
		}
		if n > 0 {
			parts = append(parts, outcomeShape(o)+" "+count(n)+" "+string(o))
		}
	}
	head := "Applying"
	if s.phase == phaseApplied {
		head = "Applied"
		if n := run - total; n > 0 {
			parts = append(parts, count(n)+" never begun")
		}
	}
	words := fmt.Sprintf("%s %s of %s", head, count(total), count(run))
	if len(parts) > 0 {
		words += ": " + strings.Join(parts, ", ")
	}
	w.hang("  ", 2, words, s.theme.boldText)
	cells := max(4, min(w.width-4, 60))
	full := 0
	if run > 0 {
		full = min(cells, cells*total/run)
	}
	w.raw("  " + s.theme.good.Render(strings.Repeat("█", full)) + s.theme.dim.Render(strings.Repeat("░", cells-full)))
	if s.spoilt > 0 {
		w.hang(s.theme.worst.Render("✗ "), 2, plural(s.spoilt, "task was run and its work is not done", "tasks were run and their work is not done")+".", nil)
	}
	if s.err != nil {
		w.hang(s.theme.worst.Render("✗ "), 2, sentence("it ended early: "+safe(s.err.Error())), nil)
	}
	if s.waiting != "" {
		w.hang("  ", 2, safe(s.waiting), nil)
	}
	for _, l := range s.said[max(0, len(s.said)-3):] {
		w.hang("  ", 2, safe(l), nil)
	}
	if s.phase == phaseApplied && s.run != "" {
		words := "Journal run " + safe(s.run)
		switch {
		case s.undoneBy != "":
			words += ", undone by run " + safe(s.undoneBy) + "."
		case s.undoes():
			words += ": z plans to undo it."
		default:
			words += "."
		}
		w.hang("  ", 2, words, s.theme.dimText)
	}
}

// words say in full why the item under the cursor is run or held.
func (s *planScreen) words(width int) []string {
	if s.list.cursor >= len(s.rows) {
		return nil
	}
	it := &s.plan.Items[s.rows[s.list.cursor]]
	words := it.Words
	if e, ok := s.outcomes[it.Ref]; ok && e.Words != "" {
		words = e.Words
	}
	w := &writer{theme: &s.theme, width: width}
	w.raw(s.theme.dim.Render(strings.Repeat("─", width)))
	w.hang("  ", 2, sentence(safe(words)), nil)
	return padded(w.lines, min(len(w.lines), 4))
}

// sentenceWord begins with a capital.
func sentenceWord(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// reasons counts why items are held, most first.
func (s *planScreen) reasons() string {
	counts := map[string]int{}
	for i := range s.plan.Items {
		if it := &s.plan.Items[i]; !it.Runs {
			counts[cmp.Or(it.Reason, "held")]++
		}
	}
	names := sortedKeys(counts)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %s", count(counts[n]), safe(n))
	}
	return strings.Join(names, ", ")
}

// foot is the confirmation while it is typed.
func (s *planScreen) foot(width int) []string {
	if s.input == nil {
		return nil
	}
	what := fmt.Sprintf("This will %s %s", s.ask.Verb, plural(s.plan.Running(), "task", "tasks"))
	if s.backend.Place().Protected {
		what += " in a protected context"
	}
	w := &writer{theme: &s.theme, width: width}
	w.hang(" ", 1, what+". Type "+safe(s.password())+" to go on.", nil)
	for i := range w.lines {
		w.lines[i] = s.theme.danger.Render(clip(w.lines[i], width))
	}
	lines := w.lines
	line := s.theme.key.Render("> ") + s.theme.typedLine(s.input, width-2)
	if s.typo != "" {
		line = sides(line, s.theme.bad.Render(visible.Fit("✗ "+safe(s.typo), width/2)), width)
	}
	return append(lines, line)
}
