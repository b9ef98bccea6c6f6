package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

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
func (s *journalScreen) command() string { return s.lineOf(reconcile.Command("journal list")) }

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
