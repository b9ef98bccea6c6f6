package tui

import (
	"fmt"

	"github.com/idemctl/idemctl/internal/visible"
)

// chartRow is one line of counts over time, with their sum in words.
type chartRow struct {
	name, words string
	counts      []int
}

// coming are the charts of an audit, at length or briefly.
func coming(a *Audit, short bool) []chartRow {
	rows := []chartRow{
		{"archived an hour", "in the last day", reversed(a.Archived)},
		{"retries a minute", "in the next hour", a.Due},
		{"locks that end", "in the next hour", a.Ending},
	}
	write := count
	if short {
		rows[0].name, rows[1].name, rows[2].name = "archived", "retries", "locks end"
		rows[0].words, rows[1].words, rows[2].words = "in a day", "in 1h", "in 1h"
		write = brief
	}
	for i := range rows {
		rows[i].words = write(sum(rows[i].counts)) + " " + rows[i].words
	}
	if a.Overdue > 0 {
		rows[1].words = fmt.Sprintf("! %s overdue, %s", write(a.Overdue), rows[1].words)
	}
	return rows
}

const (
	mostBars  = 60
	goodBars  = 24 // fewer are drawn only where the words are brief already
	leastBars = 6
)

// charts draws what the last audit said of the last day and the next hour. The
// words are made brief before bars are left out, and bars before words are cut.
func (s *overview) charts(w *writer) {
	if s.audit == nil {
		return
	}
	w.title("COMING AND GONE", s.audited("audited "+ago(s.auditAt, s.now())))
	rows := coming(s.audit, false)
	names, bars := chartRoom(rows, w.width)
	if bars < goodBars {
		rows = coming(s.audit, true)
		names, bars = chartRoom(rows, w.width)
	}
	paint := s.theme.note
	if s.auditOld() {
		paint = s.theme.dim
	}
	for _, r := range rows {
		line := "    " + visible.Pad(r.name, names) + "  "
		if bars >= leastBars {
			line += paint.Render(visible.Pad(spark(r.counts, bars), min(bars, len(r.counts)))) + "  "
		}
		w.raw(line + s.theme.dim.Render(r.words))
	}
}

// chartRoom is how many cells the names take, and how many are left for bars.
func chartRoom(rows []chartRow, width int) (names, bars int) {
	words := 0
	for _, r := range rows {
		names, words = max(names, visible.Width(r.name)), max(words, visible.Width(r.words))
	}
	const margins = 4 + 2 + 2
	return names, min(mostBars, width-margins-names-words)
}
