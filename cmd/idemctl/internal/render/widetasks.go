package render

import (
	"github.com/idemctl/idemctl/reconcile"
)

// wideTasks is the list of all facts for a terminal: one task a line, as long as
// its facts.
type wideTasks struct {
	*base
	rows wideRows[taskJSON]
}

func (l *wideTasks) task(j *reconcile.Judged) error {
	s := l.shapeTask(j)
	return l.keepTask(j, l.rows.row(taskFields, &s))
}

func (l *wideTasks) end(r *reconcile.Report, h *Header) error {
	p := newPage(l.w, l.opt)
	if l.n > 0 && !p.bare {
		p.raw(p.bold(l.rows.names()))
	}
	if err := l.each(func(row []byte) { p.raw(l.rows.line(row)) }); err != nil {
		return err
	}
	if err := p.flush(); err != nil {
		return err
	}
	return listEnd(l.base, r, h)
}
