package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/internal/visible"
	"github.com/idemctl/idemctl/reconcile"
)

// The columns of a list of tasks.
const (
	columnTask = iota
	columnQueue
	columnType
	columnState
	columnEffect
	columnCause
	columnTries
	columnWhen
	columnLock
	columnKey
	columnReason
	columnError
)

// columns are those of this list: what is the same in all its lines is left out.
func (s *tasks) columns() []column {
	when := "WHEN"
	switch s.state {
	case inspect.StateRetry, inspect.StateScheduled:
		when = "NEXT"
	case inspect.StateArchived:
		when = "ARCHIVED"
	case inspect.StateCompleted:
		when = "DONE"
	case inspect.StatePending:
		when = "SINCE"
	}
	return []column{
		columnTask:   {title: "TASK", least: 8, good: 18},
		columnQueue:  {title: "QUEUE", least: 6, good: 10, spare: 3},
		columnType:   {title: "TYPE", least: 8, good: 14, spare: 1},
		columnState:  {title: "STATE", spare: 4},
		columnEffect: {title: "EFFECT"},
		columnCause:  {title: "CAUSE", spare: 7},
		columnTries:  {title: "TRIES", right: true, spare: 6},
		columnWhen:   {title: when, right: true, spare: 5},
		columnLock:   {title: "LOCK", spare: 8},
		columnKey:    {title: "KEY", least: 6, spare: 9},
		columnReason: {title: "REASON", spare: 10, wide: true},
		columnError:  {title: "LAST ERROR", least: 12, spare: 11, wide: true},
	}
}

// left says whether a column has nothing to tell here.
func (s *tasks) left(column int) bool {
	return column == columnQueue && s.queue != "" || column == columnState && s.state != inspect.StateUnknown
}

// cells are a row's texts.
func (s *tasks) cells(ref inspect.Ref, r *Row, now time.Time) []string {
	if r == nil {
		return []string{columnTask: safe(ref.ID), columnQueue: safe(ref.Queue), columnEffect: "…", columnError: ""}
	}
	out := make([]string, columnError+1)
	out[columnTask], out[columnQueue], out[columnType] = safe(r.ID), safe(r.Queue), safe(r.Type)
	out[columnState] = r.State.String()
	out[columnEffect] = statusShape(r.Status) + " " + r.Status.String()
	if r.Cause != reconcile.CauseNone {
		out[columnCause] = string(r.Cause)
	}
	if r.Retried > 0 || r.State == inspect.StateRetry || r.State == inspect.StateArchived {
		out[columnTries] = fmt.Sprintf("%d/%d", r.Retried, r.MaxRetry)
	}
	out[columnWhen] = ago(r.Since, now)
	if !r.Next.IsZero() {
		out[columnWhen] = ago(r.Next, now)
	}
	out[columnLock] = lockCell(r)
	if r.Key != r.ID {
		out[columnKey] = safe(r.Key)
	}
	out[columnReason], out[columnError] = string(r.Reason), safe(r.LastErr)
	if r.Gone() {
		out[columnState], out[columnEffect], out[columnWhen], out[columnLock] = "gone", "- gone", "", ""
	} else if s.state != inspect.StateUnknown && r.State != s.state {
		out[columnEffect] = "→ " + r.State.String() // it has moved on since the list was read
	}
	return out
}

func lockCell(r *Row) string {
	switch r.Lock {
	case reconcile.LockHeld:
		return lockShape(r.Lock) + " " + span(r.LockTTL)
	case reconcile.LockTaken, reconcile.LockFree:
		return lockShape(r.Lock) + " " + string(r.Lock)
	}
	if r.Unique {
		return "■ ?"
	}
	return ""
}

// tabs are the states with their counts, the one shown in brackets.
func (s *tasks) tabs(width int) string {
	states := append([]inspect.State{inspect.StateUnknown}, inspect.States()...)
	tab := func(st inspect.State) string {
		name := wordAll
		if st != inspect.StateUnknown {
			name = stateTitle(st)
		}
		if n, ok := s.countOf(st); ok && n > 0 {
			name += " " + brief(n)
		}
		return name
	}
	at := slices.Index(states, s.state)
	cells := func(i int) int {
		if i == at {
			return visible.Width(tab(states[i])) + 3
		}
		return visible.Width(tab(states[i])) + 1
	}
	from, to := around(len(states), at, width, cells)
	if to-from < len(states) {
		from, to = around(len(states), at, width-4, cells)
	}
	var b strings.Builder
	for i := from; i < to; i++ {
		if i == at {
			b.WriteString(" " + s.theme.tab.Render("["+tab(states[i])+"]"))
			continue
		}
		b.WriteString(s.theme.dim.Render(" " + tab(states[i])))
	}
	line := b.String()
	if from > 0 {
		line = s.theme.dim.Render(" ‹") + line
	}
	if to < len(states) {
		line += s.theme.dim.Render(" ›")
	}
	return line
}

// around is which of n things stand in a line with the one at a place, as many on
// either side as there is room for.
func around(n, at, room int, cells func(int) int) (from, to int) {
	from, to = at, at+1
	room -= cells(at)
	for grown := true; grown; {
		grown = false
		if to < n && cells(to) <= room {
			room -= cells(to)
			to, grown = to+1, true
		}
		if from > 0 && cells(from-1) <= room {
			from--
			room -= cells(from)
			grown = true
		}
	}
	return from, to
}

// countOf is how many tasks the queues had last.
func (s *tasks) countOf(st inspect.State) (int, bool) {
	if s.counts == nil {
		return 0, false
	}
	n := 0
	for _, q := range s.counts.Queues {
		switch {
		case s.queue != "" && q.Name != s.queue:
		case st == inspect.StateUnknown:
			n += q.Size()
		default:
			n += q.Count(st)
		}
	}
	return n, true
}

func (s *tasks) body(width, height int) []string {
	lines := []string{s.tabs(width)}
	s.list.resize(s.now.spine.len(), height-2)
	if s.now.spine.len() == 0 {
		return append(lines, s.empty(width)...)
	}
	from, to := s.list.window()
	s.saw(from, to)
	now := s.redisNow()
	rows := make([][]string, 0, to-from)
	for i := from; i < to; i++ {
		ref := s.ref(i)
		cells := s.cells(ref, s.now.rows[ref], now)
		for c := range cells {
			if s.left(c) {
				cells[c] = ""
			}
		}
		rows = append(rows, cells)
	}
	shown, widths := s.table.fit(rows, width-margin, s.wide)
	lines = append(lines, strings.Repeat(" ", margin)+s.theme.dim.Render(s.table.line(s.table.titles(s.order.by, s.order.down), shown, widths, nil)))
	for n, cells := range rows {
		lines = append(lines, s.line(from+n, cells, shown, widths, width))
	}
	return lines
}

// margin is what stands before a row: cursor, mark, severity.
const margin = 4

// line draws one task.
func (s *tasks) line(i int, cells []string, shown, widths []int, width int) string {
	ref := s.ref(i)
	r := s.now.rows[ref]
	cursor, mark, sign := " ", " ", " "
	if i == s.list.cursor {
		cursor = "▸"
	}
	if s.marks[ref] {
		mark = "●"
	}
	if r != nil && r.Severity != reconcile.SeverityNone && !r.Gone() {
		sign = shape(r.Severity)
	}
	if i == s.list.cursor {
		return s.theme.cursor.Render(clip(cursor+mark+sign+" "+s.table.line(cells, shown, widths, nil), width))
	}
	if r == nil || r.Gone() {
		return cursor + s.theme.key.Render(mark) + "  " + s.theme.dim.Render(s.table.line(cells, shown, widths, nil))
	}
	return cursor + s.theme.key.Render(mark) + s.theme.severity(r.Severity, sign) + " " + s.table.line(cells, shown, widths, func(c int, text string) string {
		switch c {
		case columnEffect:
			return s.theme.status(r.Status, text)
		case columnCause, columnKey, columnReason, columnError, columnQueue:
			return s.theme.dim.Render(text)
		case columnLock:
			if r.Lock == reconcile.LockTaken || r.Lock == reconcile.LockFree {
				return s.theme.warn.Render(text)
			}
		}
		return text
	})
}

// empty says why there is nothing.
func (s *tasks) empty(width int) []string {
	words := "reading …"
	switch {
	case s.err != nil:
		words = "the list cannot be read: " + safe(s.err.Error()) + "; " + s.triedAgain()
	case s.now.done && !s.where.empty():
		words = fmt.Sprintf("none of %s passes the filter; esc clears it", plural(s.now.read, "task", "tasks"))
		if n := s.now.leftOut(); n > 0 {
			words = fmt.Sprintf("none of %s passes the filter, which cannot be evaluated for %s; esc clears it", plural(s.now.read, "task", "tasks"), count(n))
		}
	case s.now.done:
		words = "no task"
		if s.state != inspect.StateUnknown {
			words += " is " + s.state.String()
		}
		if s.queue != "" {
			words += " in " + safe(s.queue)
		}
		words += "; h and l go to other states"
	}
	return append([]string{""}, indented(words, width)...)
}
