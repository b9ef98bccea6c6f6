package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/internal/visible"
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
	count int // of the group, as far as the filter lets them through
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
	line := "audit"
	if e := s.where.expression(); e != "" {
		line += " --where " + reconcile.ShellQuote(e)
	}
	return s.commandLine(line)
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
	if !s.where.empty() {
		parts = append(parts, "/"+safe(s.where.text))
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
	s.lines = append(s.lines, findingLine{group: g, count: n})
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
	case len(l.group.Examples) > 0:
		ref := l.group.Examples[0].Task.Ref
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
		act(k.requeue, "requeue", func() tea.Cmd { return s.change(VerbRequeue, s.chosen()) }),
		act(k.resolve, "resolve", func() tea.Cmd { return s.change(VerbResolve, s.chosen()) }),
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

// refsOf are the tasks of a line.
func refsOf(l findingLine) []inspect.Ref {
	var refs []inspect.Ref
	add := func(f *reconcile.Finding) {
		if f.Task.ID != "" {
			refs = append(refs, f.Task.Ref)
		}
	}
	if l.find != nil {
		add(l.find)
		return refs
	}
	for i := range l.group.Examples {
		add(&l.group.Examples[i])
	}
	return refs
}

func (s *findings) toggle() {
	l, ok := s.line()
	if !ok {
		return
	}
	s.markAllOf(refsOf(l))
	if l.find == nil && l.count > len(l.group.Examples) {
		s.say(fmt.Sprintf("of %s only %s are kept here; a command with --where plans all", count(l.count), count(len(l.group.Examples))))
	}
	s.list.move(1)
}

// markAllOf marks tasks, or takes the marks off where all have one.
func (s *findings) markAllOf(refs []inspect.Ref) {
	all := len(refs) > 0
	for _, r := range refs {
		all = all && s.marks[r]
	}
	for _, r := range refs {
		switch {
		case all:
			delete(s.marks, r)
		case len(s.marks) < maxMarks:
			s.marks[r] = true
		}
	}
}

func (s *findings) markShown() {
	var refs []inspect.Ref
	for _, l := range s.lines {
		refs = append(refs, refsOf(l)...)
	}
	s.markAllOf(refs)
}

// chosen are the marked tasks, or those of the line under the cursor.
func (s *findings) chosen() []inspect.Ref {
	if len(s.marks) == 0 {
		l, ok := s.line()
		if !ok {
			return nil
		}
		return refsOf(l)
	}
	return sortedRefs(s.marks)
}

func (s *findings) click(line int) {
	if i := s.list.top + line; line >= 0 && i < len(s.lines) && line < s.list.height {
		s.list.to(i)
	}
}

func (s *findings) body(width, height int) []string {
	s.arrange()
	if s.audit == nil {
		return append([]string{""}, indented(s.noAudit(), width)...)
	}
	if len(s.lines) == 0 {
		words := "✓ nothing is wrong"
		if !s.where.empty() {
			words = "no finding passes the filter; esc clears it"
		}
		return append([]string{""}, indented(words, width)...)
	}
	foot := s.foot(width, height)
	s.list.resize(len(s.lines), height-len(foot))
	from, to := s.list.window()
	digits := 1
	for _, l := range s.lines {
		digits = max(digits, len(count(l.count)))
	}
	var lines []string
	for i := from; i < to; i++ {
		lines = append(lines, s.drawn(i, digits, width))
	}
	return append(padded(lines, height-len(foot)), foot...)
}

// drawn draws a line.
func (s *findings) drawn(i, digits, width int) string {
	l := s.lines[i]
	mark := " "
	refs := refsOf(l)
	marked := 0
	for _, r := range refs {
		if s.marks[r] {
			marked++
		}
	}
	switch {
	case marked > 0 && marked == len(refs):
		mark = "●"
	case marked > 0:
		mark = "◐"
	}
	var text string
	if l.find != nil {
		text = s.findingText(l, digits)
	} else {
		text = s.groupText(l, digits)
	}
	if i == s.list.cursor {
		return s.theme.cursor.Render(clip("▸"+mark+plainText(text), width))
	}
	return " " + s.theme.key.Render(mark) + text
}

func (s *findings) groupText(l findingLine, digits int) string {
	g := l.group
	fold := "▹"
	if s.open1[g.key()] {
		fold = "▿"
	}
	isNew := " "
	if s.news[g.key()] {
		isNew = "+"
	}
	return s.theme.severity(g.Severity, shape(g.Severity)) + " " + visible.PadLeft(count(l.count), digits) + s.theme.warn.Render(isNew) + fold + " " +
		string(g.Code) + "  " + safe(g.Type) + "  " + s.theme.dim.Render(joined(causeWord(g.Cause), safe(g.Text)))
}

func (s *findings) findingText(l findingLine, digits int) string {
	f := l.find
	what := refText(f.Task.Ref)
	if f.Task.ID == "" {
		what = safe(f.Task.Type)
	}
	key := ""
	if f.Key != "" && f.Key != f.Task.ID {
		key = "key " + safe(f.Key)
	}
	status := ""
	if f.OfEffect() {
		status = s.theme.status(f.Status, statusShape(f.Status)+" "+f.Status.String()) + "  "
	}
	state := f.Task.State.String()
	if f.Task.State == inspect.StateUnknown {
		state = ""
	}
	return strings.Repeat(" ", digits+5) + what + "  " + status + s.theme.dim.Render(joined(state, key, whenText(s, f)))
}

func whenText(s *findings, f *reconcile.Finding) string {
	if f.Task.LastFailedAt.IsZero() {
		return ""
	}
	return "failed " + ago(f.Task.LastFailedAt, s.redisNow())
}

// refText is a task's name.
func refText(r inspect.Ref) string { return safe(r.Queue) + "/" + safe(r.ID) }

// foot says of the line under the cursor what it means, and what acts.
func (s *findings) foot(width, height int) []string {
	l, ok := s.line()
	if !ok || height < 10 {
		return nil
	}
	f := l.find
	if f == nil {
		if len(l.group.Examples) == 0 {
			return nil
		}
		f = &l.group.Examples[0]
	}
	return s.findingFoot(f, width, max(3, height/3))
}

// findingFoot says of a finding what it means and what acts, in so many lines.
func (h *hub) findingFoot(f *reconcile.Finding, width, most int) []string {
	t := &h.theme
	w := &writer{theme: t, width: width}
	message, consequence := findingWords(f, h.redisNow())
	w.hang(t.severity(f.Severity, shape(f.Severity))+" ", 2, message, t.boldText)
	w.hang("  ", 2, consequence, nil)
	if a := f.Action(); a != "" {
		w.hang(t.dim.Render("$ "), 2, safe(a), t.keyText)
	}
	return append([]string{t.dim.Render(strings.Repeat("─", width))}, padded(w.lines, min(len(w.lines), most))...)
}
