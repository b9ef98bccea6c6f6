package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// journalScreen lists the runs of the journal, newest first.
type journalScreen struct {
	*hub
	desk  *desk
	runs  []Run
	err   error
	made  shown
	list  list
	table table
}

func newJournal(h *hub) *journalScreen {
	return &journalScreen{hub: h, desk: h.newDesk(), table: table{columns: []column{
		{title: "BEGAN"},
		{title: "CONTEXT", least: 6, spare: 4},
		{title: "BY", least: 6, spare: 3},
		{title: "DONE", right: true},
		{title: "REFUSED", right: true, spare: 2},
		{title: "FAILED", right: true, spare: 1},
		{title: "OPEN", right: true},
		{title: "LEFT", right: true, spare: 1},
		{title: "COMMAND", least: 10},
	}}}
}

func (s *journalScreen) papers() *desk   { return s.desk }
func (s *journalScreen) name() string    { return "Journal" }
func (s *journalScreen) command() string { return s.commandLine("journal list") }

func (s *journalScreen) begin() tea.Cmd {
	c := s.backend.Changes()
	if c == nil {
		s.err = fmt.Errorf("this program keeps no journal")
		return nil
	}
	return askRuns(s.desk, c)
}

func (s *journalScreen) again() tea.Cmd {
	if s.desk.waits(slotRuns) {
		return nil
	}
	return s.begin()
}

func (s *journalScreen) answer(r reply) tea.Cmd {
	s.err = r.err
	runs, ok := r.value.([]Run)
	if r.err != nil || !ok {
		return nil
	}
	here := ""
	if run, ok := s.run(); ok {
		here = run.ID
	}
	s.runs = runs
	s.made.at = s.now()
	s.list.resize(len(runs), s.list.height)
	for i := range runs {
		if runs[i].ID == here {
			s.list.keep(i)
		}
	}
	return nil
}

func (s *journalScreen) run() (Run, bool) {
	if s.list.cursor < len(s.runs) {
		return s.runs[s.list.cursor], true
	}
	return Run{}, false
}

func (s *journalScreen) shown() shown {
	out := s.made
	if !out.at.IsZero() {
		out.words = plural(len(s.runs), "run", "runs")
	} else {
		out.unread = s.err
	}
	return out
}

func (s *journalScreen) actions() []action {
	k := &s.keys
	out := []action{
		act(named(k.open, "open the run"), "open", func() tea.Cmd {
			if run, ok := s.run(); ok {
				return s.open(newRun(s.hub, run))
			}
			return nil
		}),
		act(named(k.undo, "undo the run: plan to restore"), "undo", func() tea.Cmd {
			if run, ok := s.run(); ok {
				return s.undoRun(run.ID)
			}
			return nil
		}),
	}
	return append(out, k.moves(&s.list, func() tea.Cmd { return nil })...)
}

// undoRun plans to put back what a run has changed.
func (h *hub) undoRun(id string) tea.Cmd { return h.plan(Ask{Verb: VerbRestore, Run: id}) }

func (s *journalScreen) body(width, height int) []string {
	switch {
	case s.err != nil && s.runs == nil:
		return append([]string{""}, indented("the journal cannot be read: "+safe(s.err.Error())+"; "+s.triedAgain(), width)...)
	case s.made.at.IsZero():
		return append([]string{""}, indented("reading the journal …", width)...)
	case len(s.runs) == 0:
		return append([]string{""}, indented("nothing was changed yet", width)...)
	}
	s.list.resize(len(s.runs), height-1)
	from, to := s.list.window()
	var cells [][]string
	for _, r := range s.runs[from:to] {
		cells = append(cells, []string{
			ago(r.Began, s.now()), safe(r.Context), safe(r.Operator), r.done(), zero(r.Refused), zero(r.Failed), zero(r.Pending + r.Unknown), zero(r.NotBegun), safe(r.Command),
		})
	}
	shown, widths := s.table.fit(cells, width-margin, true)
	lines := []string{"    " + s.theme.dim.Render(s.table.line(s.table.titles(-1, false), shown, widths, nil))}
	for i, row := range cells {
		sev := runSeverity(&s.runs[from+i])
		if from+i == s.list.cursor {
			lines = append(lines, s.theme.cursor.Render(clip("▸ "+shape(sev)+" "+s.table.line(row, shown, widths, nil), width)))
			continue
		}
		lines = append(lines, "  "+s.theme.severity(sev, shape(sev))+" "+s.table.line(row, shown, widths, nil))
	}
	return lines
}

// zero leaves a count out that is none.
func zero(n int) string {
	if n == 0 {
		return ""
	}
	return count(n)
}

// runSeverity says whether a run needs somebody.
func runSeverity(r *Run) reconcile.Severity {
	switch {
	case r.Pending+r.Unknown > 0:
		return reconcile.SeverityHigh
	case r.Failed > 0 || r.Ended.IsZero() || r.NotBegun > 0:
		return reconcile.SeverityWarning
	}
	return reconcile.SeverityNone
}

// runScreen lists what one run has changed.
type runScreen struct {
	*hub
	desk  *desk
	run   Run
	items []RunItem
	err   error
	made  shown
	list  list
	table table
}

func newRun(h *hub, r Run) *runScreen {
	return &runScreen{hub: h, desk: h.newDesk(), run: r, table: table{columns: []column{
		{title: ""}, {title: "CHANGE"}, {title: "TASK", least: 8}, {title: "WHAT WAS FOUND", least: 10, spare: 1},
	}}}
}

func (s *runScreen) papers() *desk { return s.desk }
func (s *runScreen) name() string  { return s.run.ID }
func (s *runScreen) command() string {
	return s.commandLine("journal show " + reconcile.ShellQuote(s.run.ID))
}

func (s *runScreen) begin() tea.Cmd {
	if c := s.backend.Changes(); c != nil {
		return askItems(s.desk, c, s.run.ID)
	}
	return nil
}

func (s *runScreen) again() tea.Cmd {
	if s.desk.waits(slotItems) {
		return nil
	}
	return s.begin()
}

func (s *runScreen) answer(r reply) tea.Cmd {
	s.err = r.err
	if items, ok := r.value.([]RunItem); ok && r.err == nil {
		s.items, s.made.at = items, s.now()
		s.list.resize(len(items), s.list.height)
	}
	return nil
}

func (s *runScreen) shown() shown {
	out := s.made
	if out.at.IsZero() {
		out.unread = s.err
		return out
	}
	out.words = plural(len(s.items), "change", "changes")
	return out
}

func (s *runScreen) current() (inspect.Ref, bool) {
	if s.list.cursor >= len(s.items) {
		return inspect.Ref{}, false
	}
	ref := s.items[s.list.cursor].Ref
	return ref, ref.ID != ""
}

func (s *runScreen) actions() []action {
	k := &s.keys
	out := []action{
		act(named(k.open, "open the task as it is now"), "open", func() tea.Cmd {
			if ref, ok := s.current(); ok {
				return s.open(newDetail(s.hub, ref))
			}
			return nil
		}),
		act(named(k.undo, "undo the run: plan to restore"), "undo", func() tea.Cmd { return s.undoRun(s.run.ID) }),
	}
	out = append(out, s.refActions(s.current)...)
	return append(out, k.moves(&s.list, func() tea.Cmd { return nil })...)
}

// facts are of the run, those that fit whole into so many lines: half a command
// would be another one.
func (s *runScreen) facts(w *writer, height int) {
	r := &s.run
	for _, f := range []struct {
		name, value string
		paint       func(string) string
	}{
		{"planned", r.left(), s.theme.warnText},
		{"next", s.planAgain(r), nil},
		{"command", safe(r.Command), nil},
		{"by", joined(safe(r.Operator), safe(r.Host), "context "+safe(r.Context)), nil},
		{"began", stamp(r.Began, s.opt.UTC), nil},
		{"reason", safe(r.Reason), nil},
	} {
		before := len(w.lines)
		if w.painted(f.name, f.value, f.paint); len(w.lines) > max(1, height) && before > 0 {
			w.lines = w.lines[:before]
		}
	}
}

func (s *runScreen) body(width, height int) []string {
	w := &writer{theme: &s.theme, width: width}
	s.facts(w, height-4) // what was changed is seen in any case
	w.blank()
	if s.err != nil {
		return append(w.lines, indented("the run cannot be read: "+safe(s.err.Error())+"; "+s.triedAgain(), width)...)
	}
	s.list.resize(len(s.items), max(1, height-len(w.lines)-1))
	from, to := s.list.window()
	var cells [][]string
	for i := from; i < to; i++ {
		it := &s.items[i]
		outcome := outcomeShape(it.Outcome) + " " + string(it.Outcome)
		if it.Pending {
			outcome = "? open"
		}
		what := refText(it.Ref)
		if it.Ref.ID == "" {
			what = safe(it.Target)
		}
		cells = append(cells, []string{outcome, safe(it.Change), what, safe(it.Words)})
	}
	shown, widths := s.table.fit(cells, width-2, true)
	w.raw("  " + s.theme.dim.Render(s.table.line(s.table.titles(-1, false), shown, widths, nil)))
	for i, row := range cells {
		line := s.table.line(row, shown, widths, nil)
		if from+i == s.list.cursor {
			w.raw(s.theme.cursor.Render(clip("▸ "+line, width)))
		} else {
			w.raw("  " + line)
		}
	}
	return w.lines
}
