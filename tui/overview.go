package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/internal/visible"
	"github.com/idemctl/idemctl/reconcile"
)

// overview is the first screen: what is wrong, what the queues hold, who serves
// them, and what is coming. It draws what the frame has read.
type overview struct {
	*hub
	desk *desk
	list list // of items
	// items are the lines that the cursor stops at, by their line.
	items []item
	top1  int // first line of the window
	table table
	wide  bool
	on    string // the name of the item under the cursor
}

// item is a line of the overview that leads somewhere.
type item struct {
	line int
	name string
	to   func() tea.Cmd
	q    string // queue, if it is one
}

func newOverview(h *hub) *overview {
	return &overview{hub: h, desk: h.newDesk(), table: table{columns: queueColumns()}}
}

func (s *overview) papers() *desk        { return s.desk }
func (s *overview) name() string         { return "Overview" }
func (s *overview) begin() tea.Cmd       { return nil }
func (s *overview) again() tea.Cmd       { return nil }
func (s *overview) answer(reply) tea.Cmd { return nil }
func (s *overview) command() string      { return s.commandLine("audit") }

func (s *overview) shown() shown {
	out := shown{at: s.countsAt, unread: s.unread}
	if s.counts != nil {
		out.words = plural(s.total(), "task", "tasks")
		if l := s.counts.Latency; l >= time.Millisecond {
			out.words += fmt.Sprintf(" · %d ms", l.Milliseconds())
		}
	}
	out.busy = s.auditing()
	return out
}

// auditing says how far an audit is that is under way.
func (h *hub) auditing() string {
	p := h.progress
	switch {
	case p == nil:
		return ""
	case p.Phase == "":
		return "auditing …"
	case p.Expected > 0 && p.Phase == "listing":
		return fmt.Sprintf("auditing %d %%", min(100, p.Tasks*100/p.Expected))
	}
	return "auditing: " + p.Phase
}

func (s *overview) actions() []action {
	k := &s.keys
	moved := func() tea.Cmd { s.remember(); return nil }
	out := []action{
		act(k.open, "open", func() tea.Cmd {
			if i, ok := s.current(); ok && i.to != nil {
				return i.to()
			}
			return nil
		}),
		act(named(k.right, "the archived tasks"), "archived", func() tea.Cmd { return s.openTasks(inspect.StateArchived) }),
		act(k.wide, "", func() tea.Cmd { s.wide = !s.wide; s.table.reset(); return nil }),
		act(named(k.next, "findings"), "findings", func() tea.Cmd { return s.open(newFindings(s.hub)) }),
	}
	return append(out, k.moves(&s.list, moved)...)
}

func (s *overview) remember() {
	if i, ok := s.current(); ok {
		s.on = i.name
	}
}

func (s *overview) current() (item, bool) {
	if s.list.cursor < len(s.items) {
		return s.items[s.list.cursor], true
	}
	return item{}, false
}

func (s *overview) openTasks(state inspect.State) tea.Cmd {
	i, ok := s.current()
	if !ok || i.q == "" {
		return s.open(newTasks(s.hub, "", state))
	}
	return s.open(newTasks(s.hub, i.q, state))
}

func (s *overview) click(line int) {
	for n, i := range s.items {
		if i.line == s.top1+line {
			s.list.to(n)
			s.remember()
		}
	}
}

func (s *overview) body(width, height int) []string {
	w := &writer{theme: &s.theme, width: width}
	s.items = s.items[:0]
	s.findings(w)
	s.queues(w)
	s.servers(w)
	s.charts(w)
	s.list.resize(len(s.items), len(s.items))
	for n, i := range s.items {
		if i.name == s.on {
			s.list.to(n)
		}
	}
	if i, ok := s.current(); ok {
		line := w.lines[i.line]
		w.lines[i.line] = s.theme.cursor.Render(clip("▸"+strings.TrimPrefix(plainText(line), " "), width))
		// The window follows the cursor, with what stands above the first item.
		if s.list.cursor == 0 {
			s.top1 = 0
		}
		s.top1 = min(s.top1, i.line)
		s.top1 = max(s.top1, i.line-height+1)
		if s.list.cursor == len(s.items)-1 {
			s.top1 = max(s.top1, len(w.lines)-height)
		}
	}
	s.top1 = min(s.top1, max(0, len(w.lines)-height))
	s.top1 = max(0, s.top1)
	return w.lines[s.top1:]
}

// point makes the next line one that the cursor stops at.
func (s *overview) point(w *writer, name, queue string, to func() tea.Cmd) {
	s.items = append(s.items, item{line: len(w.lines), name: name, q: queue, to: to})
}

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

func queueColumns() []column {
	out := []column{{title: "QUEUE", least: 8}}
	spare := map[inspect.State]int{
		inspect.StateAggregating: 7, inspect.StateCompleted: 6, inspect.StateScheduled: 5, inspect.StateActive: 3,
	}
	for _, st := range inspect.States() {
		out = append(out, column{title: strings.ToUpper(stateTitle(st)), right: true, spare: spare[st]})
	}
	return append(out, column{title: "WAITS", right: true, spare: 4}, column{title: "", spare: 2})
}

// stateTitle is a state's name where there is little room.
func stateTitle(st inspect.State) string {
	switch st {
	case inspect.StateAggregating:
		return "grouped"
	case inspect.StateCompleted:
		return "done"
	case inspect.StateScheduled:
		return "sched"
	}
	return st.String()
}

func (s *overview) queues(w *writer) {
	c := s.counts
	switch {
	case c == nil && s.unread != nil:
		w.title("QUEUES", s.notRead())
		return
	case c == nil:
		w.title("QUEUES", "reading …")
		return
	}
	w.title("QUEUES", s.changed())
	if len(c.Queues) == 0 {
		w.raw("    Redis knows no queue: is this the right server and database?")
		return
	}
	rows := make([][]string, len(c.Queues))
	for i, q := range c.Queues {
		row := []string{safe(q.Name)}
		for _, st := range inspect.States() {
			row = append(row, s.countCell(q, st))
		}
		waits := ""
		if !q.OldestPending.IsZero() && q.Pending > 0 {
			waits = span(max(0, s.redisNow().Sub(q.OldestPending)))
		}
		rows[i] = append(row, waits, s.queueNote(q))
	}
	shown, widths := s.table.fit(rows, w.width-4, s.wide)
	w.raw("    " + s.theme.dim.Render(s.table.line(s.table.titles(-1, false), shown, widths, nil)))
	for i, row := range rows {
		q := c.Queues[i].Name
		s.point(w, "queue "+q, q, func() tea.Cmd { return s.open(newTasks(s.hub, q, inspect.StateUnknown)) })
		w.raw("    " + s.table.line(row, shown, widths, func(c int, text string) string {
			switch {
			case c == len(row)-1:
				return s.theme.warn.Render(text)
			case c > 0 && text == "0":
				return s.theme.dim.Render(text)
			case c > 0 && inspect.States()[min(c-1, 6)] == inspect.StateArchived:
				return s.theme.warn.Render(text)
			}
			return text
		}))
	}
}

// countCell is a count with how it has changed since the last refresh.
func (s *overview) countCell(q inspect.Queue, st inspect.State) string {
	n := q.Count(st)
	text := count(n)
	if s.before == nil {
		return text
	}
	i := slices.IndexFunc(s.before.Queues, func(b inspect.Queue) bool { return b.Name == q.Name })
	if i < 0 {
		return text
	}
	switch d := n - s.before.Queues[i].Count(st); {
	case d > 0:
		return "+" + brief(d) + " " + text
	case d < 0:
		return "-" + brief(-d) + " " + text
	}
	return text
}

// changed says what has changed since the last refresh, over all queues.
func (s *overview) changed() string {
	if s.before == nil {
		return ""
	}
	var parts []string
	for _, st := range inspect.States() {
		was, is := 0, 0
		for _, q := range s.before.Queues {
			was += q.Count(st)
		}
		for _, q := range s.counts.Queues {
			is += q.Count(st)
		}
		if is != was {
			parts = append(parts, fmt.Sprintf("%+d %s", is-was, st))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "since the last refresh: " + strings.Join(parts, ", ")
}

func (s *overview) queueNote(q inspect.Queue) string {
	var notes []string
	if q.Paused {
		notes = append(notes, "‖ paused")
	}
	if !serves(s.counts.Servers, q.Name) {
		notes = append(notes, "! unserved")
	}
	return strings.Join(notes, " ")
}

// serves says whether a live server takes tasks of the queue.
func serves(servers []inspect.Server, queue string) bool {
	return slices.ContainsFunc(servers, func(s inspect.Server) bool {
		_, ok := s.Queues[queue]
		return ok && s.Status == "active"
	})
}

// mostServers is how many are named.
const mostServers = 4

func (s *overview) servers(w *writer) {
	if s.counts == nil {
		return
	}
	if len(s.counts.Servers) == 0 {
		w.title("SERVERS", "! none is alive: nothing runs")
		return
	}
	w.title("SERVERS", "")
	for n, v := range s.counts.Servers {
		if n == mostServers {
			w.raw("    " + s.theme.dim.Render("… "+count(len(s.counts.Servers)-n)+" more"))
			break
		}
		state := s.theme.good.Render("✓ " + safe(v.Status))
		if v.Status != "active" {
			state = s.theme.warn.Render("! " + safe(v.Status))
		}
		w.raw(fmt.Sprintf("    %s  %s:%d  %s  %s", state, safe(v.Host), v.PID,
			s.theme.dim.Render(fmt.Sprintf("%d of %d workers busy", v.ActiveWorkers, v.Concurrency)),
			s.theme.dim.Render("up "+span(max(0, s.redisNow().Sub(v.StartedAt))))))
	}
}
