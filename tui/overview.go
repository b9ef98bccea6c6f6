package tui

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
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
func (s *overview) command() string      { return s.lineOf(reconcile.Command("audit")) }

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
