package render

import (
	"cmp"
	"errors"
	"time"

	"github.com/idemctl/idemctl/reconcile"
)

// tableTasks lists tasks on a terminal, in columns that widen as rows need it.
// Columns that the terminal has no room for when it begins are left out from the
// right; wide has all.
type tableTasks struct {
	*base
	page    *page
	columns []column
	widths  []int // of the rows written last
	rows    [][]string
	begun   time.Time
}

// taskChunk is how many rows are laid out at once.
const taskChunk = 256

func newTableTasks(b *base) *tableTasks { return &tableTasks{base: b} }

func (l *tableTasks) task(j *reconcile.Judged) error {
	if l.opt.Sort != "" {
		return l.keepTask(j, packCells(l.cells(j)))
	}
	if l.past() {
		return nil
	}
	return l.row(l.cells(j))
}

// cells are in the order of the columns below. Ages are counted from the first
// task on, so that a listing which takes minutes is of one moment.
func (l *tableTasks) cells(j *reconcile.Judged) []string {
	if l.begun.IsZero() {
		l.begun = l.opt.Now()
	}
	s := l.shapeTask(j)
	key := word(s.Key)
	if key == s.TaskID {
		key = ""
	}
	return []string{
		refWords(j.Task.Ref), Visible(word(s.Type)), cmp.Or(word(s.State), "unknown"), s.Status,
		tries(&s), ago(j.Task.NextProcessAt, l.begun), causeCell(j.Verdict.Cause), word(s.Reason), Visible(key),
	}
}

func (l *tableTasks) allColumns(p *page) []column {
	return []column{
		{title: "TASK"},
		{title: "TYPE", least: 8},
		{title: "STATE"},
		{title: "EFFECT", paint: p.effect},
		{title: "TRIES", right: true, spare: true},
		{title: "NEXT", right: true, spare: true},
		{title: "CAUSE", spare: true},
		{title: "REASON", spare: true},
		{title: "KEY", least: 12, spare: true},
	}
}

// causeCell says nothing of tasks that never failed.
func causeCell(c reconcile.Cause) string {
	if c == reconcile.CauseNone {
		return ""
	}
	return string(c)
}

// effect colours what stands out in a list.
func (p *page) effect(cell string) string {
	switch firstWord(cell) {
	case reconcile.StatusApplied.String():
		return p.with(sgrGreen, cell)
	case reconcile.StatusPartial.String():
		return p.with(sgrRed, cell)
	case reconcile.StatusInProgress.String():
		return p.with(sgrYellow, cell)
	default:
		return cell
	}
}

func (l *tableTasks) row(cells []string) error {
	l.rows = append(l.rows, cells)
	if len(l.rows) < taskChunk {
		return nil
	}
	return l.flush()
}

// flush writes the rows at hand, under titles where columns begin or end. IDs are
// kept whole as long as there is a column that can be left out instead.
func (l *tableTasks) flush() error {
	if len(l.rows) == 0 {
		return nil
	}
	if l.page == nil {
		l.page = newPage(l.w, l.opt)
		l.columns = l.allColumns(l.page)
	}
	columns := roomFor(l.columns, l.rows, l.opt.Width)
	titles := !l.page.bare && (l.widths == nil || len(columns) != len(l.columns))
	l.columns = columns
	if !titles {
		columns = untitled(columns)
	}
	l.widths = fitted(columns, l.rows, l.opt.Width, l.widths)
	l.page.gridRows("", l.columns, l.widths, l.rows, titles)
	l.rows = l.rows[:0]
	return l.page.flush()
}

func (l *tableTasks) end(r *reconcile.Report, h *Header) error {
	if l.opt.Sort != "" {
		var failed error
		if err := l.each(func(blob []byte) {
			if failed == nil {
				failed = l.row(unpackCells(blob))
			}
		}); err != nil || failed != nil {
			return errors.Join(err, failed)
		}
	}
	if err := l.flush(); err != nil {
		return err
	}
	return listEnd(l.base, r, h)
}

// listEnd says below a list what it holds, and what it is not.
func listEnd(b *base, r *reconcile.Report, h *Header) error {
	p := newPage(b.w, b.opt)
	if b.n > 0 {
		p.blank()
	}
	if !r.Complete {
		p.hang(p.severity(reconcile.SeverityCritical, shape(reconcile.SeverityCritical))+" ", "  ", incomplete(r), sgrBold)
	}
	if b.n == 0 {
		p.text("No task"+within(r, h)+".", "")
		return p.flush()
	}
	p.text(plural(b.n, "task", "tasks")+within(r, h)+": "+statusLine(r)+".", "")
	if omitted := b.n - b.limit(); omitted > 0 {
		p.text(plural(omitted, "task is", "tasks are")+" not shown: --limit N shows more.", sgrDim)
	}
	p.text("First readings, not looked at twice: idemctl audit confirms them.", sgrDim)
	return p.flush()
}

func within(r *reconcile.Report, h *Header) string {
	if r.Scope.Narrowed() || h.Where != "" {
		return " in this selection"
	}
	return ""
}
