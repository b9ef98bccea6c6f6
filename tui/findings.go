package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// findings lists what the last audit found, by signature; a signature opens into
// its findings. Cursor, marks and what is open are kept from one audit to the next.
type findings struct {
	*hub
	desk  *desk
	where filter
	open1 map[string]bool // groups that are open, by key
	lines []findingLine
	made  *Audit // what lines were made of
	list  list
	marks map[inspect.Ref]bool
	begun string // the group to go to at first
}

// findingLine is a group, or one of its findings.
type findingLine struct {
	group *Group
	count int                  // of the group; under a filter, of those kept that pass it
	kept  []*reconcile.Finding // of a group: its examples that pass the filter
	find  *reconcile.Finding
}

func (l *findingLine) name() string {
	if l.find == nil {
		return l.group.key()
	}
	return l.group.key() + "\x01" + l.find.Task.Queue + "\x00" + l.find.Task.ID + "\x00" + l.find.Key
}

func newFindings(h *hub) *findings {
	return &findings{hub: h, desk: h.newDesk(), open1: map[string]bool{}, marks: map[inspect.Ref]bool{}}
}

// newFindingsAt begins at a group, opened.
func newFindingsAt(h *hub, key string) *findings {
	s := newFindings(h)
	s.open1[key], s.begun = true, key
	return s
}

func (s *findings) papers() *desk        { return s.desk }
func (s *findings) name() string         { return "Findings" }
func (s *findings) answer(reply) tea.Cmd { return nil }
func (s *findings) again() tea.Cmd       { return nil }

func (s *findings) begin() tea.Cmd {
	if s.audit == nil && s.total() <= autoAudit {
		return s.auditNow()
	}
	return nil
}

func (s *findings) command() string {
	line := reconcile.Command("audit")
	if e := s.where.expression(); e != "" {
		line = line.Flag("where", e)
	}
	return s.lineOf(line)
}

func (s *findings) shown() shown {
	out := shown{at: s.auditAt, busy: s.auditing()}
	var parts []string
	if s.audit != nil {
		n := 0
		for _, c := range s.audit.Totals.BySeverity {
			n += c
		}
		parts = append(parts, plural(n, "finding", "findings"))
		if !s.audit.Complete {
			parts = append(parts, "! incomplete")
		}
	}
	if len(s.marks) > 0 {
		parts = append(parts, "● "+count(len(s.marks))+" marked")
	}
	out.filter = s.where.text
	if !s.where.empty() && s.audit != nil && slices.ContainsFunc(s.audit.Groups, func(g *Group) bool { return g.Count > len(g.Examples) }) {
		out.more = append(out.more, "of those kept")
	}
	out.words = joined(parts...)
	return out
}

func (s *findings) filter() string { return s.where.text }

func (s *findings) setFilter(text string) error {
	f, err := parseFilter(text)
	if err != nil {
		return err
	}
	s.where, s.made = f, nil
	return nil
}

// arrange makes the lines of what was found, and keeps the cursor on its line.
func (s *findings) arrange() {
	if s.audit == s.made && s.made != nil {
		return
	}
	here := s.begun
	if s.list.cursor < len(s.lines) && s.begun == "" {
		here = s.lines[s.list.cursor].name()
	}
	s.lines = s.lines[:0]
	s.made = s.audit
	if s.audit != nil {
		for _, g := range s.audit.Groups {
			s.addGroup(g)
		}
	}
	s.list.resize(len(s.lines), s.list.height)
	for i := range s.lines {
		if s.lines[i].name() == here {
			s.list.keep(i)
			s.begun = ""
		}
	}
}

func (s *findings) addGroup(g *Group) {
	var inside []*reconcile.Finding
	for i := range g.Examples {
		if s.where.finding(&g.Examples[i]) {
			inside = append(inside, &g.Examples[i])
		}
	}
	n := g.Count
	if !s.where.empty() {
		if n = len(inside); n == 0 {
			return
		}
	}
	s.lines = append(s.lines, findingLine{group: g, count: n, kept: inside})
	if s.open1[g.key()] {
		for _, f := range inside {
			s.lines = append(s.lines, findingLine{group: g, find: f})
		}
	}
}

func (s *findings) line() (findingLine, bool) {
	s.arrange()
	if s.list.cursor < len(s.lines) {
		return s.lines[s.list.cursor], true
	}
	return findingLine{}, false
}

// current is the task under the cursor: of a finding, or the first of a group.
func (s *findings) current() (inspect.Ref, bool) {
	l, ok := s.line()
	switch {
	case !ok:
		return inspect.Ref{}, false
	case l.find != nil:
		return l.find.Task.Ref, l.find.Task.ID != ""
	case len(l.kept) > 0:
		ref := l.kept[0].Task.Ref
		return ref, ref.ID != ""
	}
	return inspect.Ref{}, false
}

func (s *findings) actions() []action {
	k := &s.keys
	moved := func() tea.Cmd { return nil }
	out := []action{
		act(named(k.open, "open a signature, or a task"), "open", s.enter),
		act(named(k.right, "open the signature"), "", func() tea.Cmd { s.expand(true); return nil }),
		act(named(k.left, "close the signature"), "", func() tea.Cmd { s.expand(false); return nil }),
		act(k.mark, "mark", func() tea.Cmd { s.toggle(); return nil }),
		act(k.markAll, "", func() tea.Cmd { s.markShown(); return nil }),
		act(k.clearMarks, "", func() tea.Cmd { clear(s.marks); return nil }),
		act(k.requeue, "requeue", func() tea.Cmd { return s.change(VerbRequeue) }),
		act(k.resolve, "resolve", func() tea.Cmd { return s.change(VerbResolve) }),
		act(k.audit, "audit now", func() tea.Cmd { return s.auditNow() }),
	}
	out = append(out, s.refActions(s.current)...)
	return append(out, k.moves(&s.list, moved)...)
}

func (s *findings) enter() tea.Cmd {
	l, ok := s.line()
	switch {
	case !ok:
		return nil
	case l.find == nil:
		s.expand(!s.open1[l.group.key()])
		return nil
	case l.find.Task.ID == "":
		s.say(sentence(safe(l.find.Message())))
		return nil
	}
	return s.open(newDetail(s.hub, l.find.Task.Ref))
}

// expand opens or closes the group under the cursor.
func (s *findings) expand(open bool) {
	l, ok := s.line()
	if !ok {
		return
	}
	if open {
		s.open1[l.group.key()] = true
	} else {
		delete(s.open1, l.group.key())
	}
	if !open && l.find != nil { // the cursor goes to the group
		for i := s.list.cursor; i >= 0; i-- {
			if s.lines[i].find == nil {
				s.list.to(i)
				break
			}
		}
	}
	s.redo()
}

// redo makes the lines again.
func (s *findings) redo() {
	here := ""
	if s.list.cursor < len(s.lines) {
		here = s.lines[s.list.cursor].name()
	}
	s.begun, s.made = here, nil
	s.arrange()
	s.begun = ""
}

func (s *findings) click(line int) {
	if i := s.list.top + line; line >= 0 && i < len(s.lines) && line < s.list.height {
		s.list.to(i)
	}
}
