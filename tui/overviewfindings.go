package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/idemctl/idemctl/internal/visible"
	"github.com/idemctl/idemctl/reconcile"
)

// mostSignatures is how many are shown here.
const mostSignatures = 6

func (s *overview) findings(w *writer) {
	a := s.audit
	if a == nil {
		w.title("FINDINGS", s.noAudit())
		return
	}
	note := fmt.Sprintf("%s audited %s", plural(a.Tasks, "task", "tasks"), ago(s.auditAt, s.now()))
	if !a.Complete {
		note = "! incomplete: " + note
	}
	if s.refused != nil {
		note = joined(note, s.auditFailed())
	}
	w.title("FINDINGS", s.audited(note))
	var parts, brief []string
	for _, sev := range reconcile.Severities() {
		if n := a.Totals.BySeverity[sev]; n > 0 {
			parts = append(parts, s.theme.severity(sev, fmt.Sprintf("%s %s %s", shape(sev), count(n), sev)))
			brief = append(brief, s.theme.severity(sev, shape(sev)+" "+count(n)))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, s.theme.good.Render("✓ nothing is wrong"))
	}
	line := "  " + strings.Join(parts, "   ")
	if ansi.StringWidth(line) > w.width {
		line = "  " + strings.Join(brief, "   ")
	}
	w.raw(line)
	digits := 0
	for _, g := range a.Groups[:min(len(a.Groups), mostSignatures)] {
		digits = max(digits, len(count(g.Count)))
	}
	for n, g := range a.Groups {
		if n == mostSignatures {
			s.point(w, "more", "", func() tea.Cmd { return s.open(newFindings(s.hub)) })
			w.raw("    " + s.theme.dim.Render(fmt.Sprintf("… %s more", plural(len(a.Groups)-n, "signature", "signatures"))))
			break
		}
		s.point(w, "group "+g.key(), "", func() tea.Cmd { return s.open(newFindingsAt(s.hub, g.key())) })
		isNew := " "
		if s.news[g.key()] {
			isNew = "+"
		}
		head := "  " + s.theme.severity(g.Severity, shape(g.Severity)) + " " + visible.PadLeft(count(g.Count), digits) + s.theme.warn.Render(isNew) + " "
		w.raw(head + string(g.Code) + "  " + safe(g.Type) + "  " + s.theme.dim.Render(joined(causeWord(g.Cause), safe(g.Text))))
	}
}

// audited is a note on what the last audit said; a sign says that it is old.
func (s *overview) audited(note string) string {
	if s.auditOld() && !strings.HasPrefix(note, "!") {
		return "! " + note
	}
	return note
}

// auditOld says whether the last audit is older than it would be if all went well:
// since the next one failed, or is not run by itself.
func (h *hub) auditOld() bool {
	return h.audit != nil && (h.refused != nil || h.now().Sub(h.auditAt) > 2*max(auditEvery, auditShare*h.audit.Took))
}

func causeWord(c reconcile.Cause) string {
	if c == reconcile.CauseNone || c == reconcile.CauseUnknown {
		return ""
	}
	return string(c)
}

// noAudit says why there are no findings yet.
func (h *hub) noAudit() string {
	switch {
	case h.progress != nil:
		return h.auditing()
	case h.refused != nil:
		return h.auditFailed()
	case h.counts == nil && h.unread != nil:
		return h.notRead()
	case h.total() > autoAudit:
		return fmt.Sprintf("%s: a audits them", plural(h.total(), "task", "tasks"))
	}
	return "reading …"
}

// auditFailed says when the last audit failed, and why.
func (h *hub) auditFailed() string {
	at := ago(h.auditTried, h.now())
	if at == "now" {
		at = "just now"
	}
	return "! the audit failed " + at + ": " + safe(briefly(h.refused))
}

// notRead says why there are no counts, and that they are asked for again.
func (h *hub) notRead() string {
	return "! not read: " + safe(briefly(h.unread)) + "; " + h.triedAgain()
}
