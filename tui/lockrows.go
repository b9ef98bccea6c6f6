package tui

import (
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

func lockColumns() []column {
	return []column{
		{title: "LOCK"},
		{title: "TYPE", least: 8, good: 14},
		{title: "QUEUE", least: 6, spare: 3},
		{title: "TIME LEFT", right: true},
		{title: "NEEDED", right: true, spare: 5},
		{title: "TASK", least: 8, good: 18, spare: 1},
		{title: "STATE", spare: 2},
		{title: "EFFECT", spare: 4},
		{title: "KEY", least: 16, spare: 6, wide: true},
	}
}

func lockCells(r *LockRow) []string {
	f := &r.Finding
	left, needed, key := "", "", ""
	if l := f.Lock; l != nil {
		key = safe(l.Key)
		if l.State != reconcile.LockFree {
			left = span(l.TTL)
		}
		if l.Needed > 0 {
			needed = span(l.Needed)
		}
	}
	state, effect := f.Task.State.String(), statusShape(f.Status)+" "+f.Status.String()
	if f.Task.State == inspect.StateUnknown {
		state, effect = "gone", ""
	}
	return []string{string(r.Verdict), safe(r.Type), safe(r.Queue), left, needed, safe(f.Task.ID), state, effect, key}
}

func (s *locks) body(width, height int) []string {
	switch {
	case s.all == nil && s.err != nil:
		return append([]string{""}, indented("the locks cannot be read: "+safe(s.err.Error())+"; "+s.triedAgain(), width)...)
	case s.all == nil:
		return append([]string{""}, indented("sweeping the keys for locks …", width)...)
	case len(s.rows) == 0 && !s.where.empty():
		return append([]string{""}, indented("no lock passes the filter; esc clears it", width)...)
	case len(s.rows) == 0:
		return append([]string{""}, indented("no lock: nothing was enqueued with asynq.Unique, or all have ended", width)...)
	}
	foot := s.foot(width, height)
	s.list.resize(len(s.rows), height-1-len(foot))
	from, to := s.list.window()
	var cells [][]string
	for _, r := range s.rows[from:to] {
		cells = append(cells, lockCells(r))
	}
	shown, widths := s.table.fit(cells, width-margin, s.wide)
	lines := []string{"    " + s.theme.dim.Render(s.table.line(s.table.titles(-1, false), shown, widths, nil))}
	for i, row := range cells {
		r := s.rows[from+i]
		sign := shape(r.Finding.Severity)
		if from+i == s.list.cursor {
			lines = append(lines, s.theme.cursor.Render(clip("▸ "+sign+" "+s.table.line(row, shown, widths, nil), width)))
			continue
		}
		lines = append(lines, "  "+s.theme.severity(r.Finding.Severity, sign)+" "+s.table.line(row, shown, widths, func(c int, text string) string {
			switch c {
			case 0:
				return s.theme.severity(r.Finding.Severity, text)
			case 7:
				return s.theme.status(r.Finding.Status, text)
			}
			return text
		}))
	}
	return append(padded(lines, height-len(foot)), foot...)
}

// foot says what is wrong with the lock under the cursor.
func (s *locks) foot(width, height int) []string {
	r := s.row()
	if r == nil || height < 10 || r.Finding.Code == "" {
		return nil
	}
	return s.findingFoot(&r.Finding, width, max(3, height/3))
}
