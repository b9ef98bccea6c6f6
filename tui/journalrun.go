package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

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
	return s.lineOf(reconcile.Command("journal show").Operands(s.run.ID))
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
