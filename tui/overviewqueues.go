package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
)

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
