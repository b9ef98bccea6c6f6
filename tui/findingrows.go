package tui

import (
	"strings"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/internal/visible"
	"github.com/idemctl/idemctl/reconcile"
)

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
		digits = max(digits, visible.Width(s.countText(&l)))
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
	refs := l.refs()
	marked := 0
	for _, r := range refs {
		if s.marks[r] {
			marked++
		}
	}
	switch {
	case marked > 0 && marked == len(refs) && l.whole():
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

// countText is how many findings a line stands for; a filter has seen those alone
// that are kept.
func (s *findings) countText(l *findingLine) string {
	if !s.where.empty() && !l.whole() {
		return "≥" + count(l.count)
	}
	return count(l.count)
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
	return s.theme.severity(g.Severity, shape(g.Severity)) + " " + visible.PadLeft(s.countText(&l), digits) + s.theme.warn.Render(isNew) + fold + " " +
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
		key = "key " + safe(f.ShownKey())
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
		if len(l.kept) == 0 {
			return nil
		}
		f = l.kept[0]
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
		w.command(a)
	}
	return append([]string{t.dim.Render(strings.Repeat("─", width))}, padded(w.lines, min(len(w.lines), most))...)
}
