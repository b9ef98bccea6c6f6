package render

import (
	"github.com/idemctl/idemctl/reconcile"
)

// jsonTasks writes one document, and nothing before it is whole.
type jsonTasks struct{ *base }

func (l *jsonTasks) task(j *reconcile.Judged) error {
	blob, err := marshal(l.shapeTask(j))
	if err != nil {
		return err
	}
	return l.keepTask(j, blob)
}

func (l *jsonTasks) end(r *reconcile.Report, h *Header) error {
	head, err := marshal(shapeTasks(r, h, l.n-l.limit()))
	if err != nil {
		return err
	}
	out := newDocument(l.w, l.opt.TTY)
	out.head(head, "tasks")
	if err := l.each(out.member); err != nil {
		return err
	}
	return out.end()
}

// ndjsonTasks writes tasks as they are read, one a line, and then the summary.
type ndjsonTasks struct{ *base }

func (l *ndjsonTasks) task(j *reconcile.Judged) error {
	if l.past() {
		return nil
	}
	return writeLine(l.w, l.shapeTask(j))
}

func (l *ndjsonTasks) end(r *reconcile.Report, h *Header) error {
	s := shapeTasks(r, h, l.n-l.limit())
	s.Summary = true
	return writeLine(l.w, s)
}

func shapeTasks(r *reconcile.Report, h *Header, omitted int) tasksJSON {
	return tasksJSON{
		Schema:     SchemaTasks,
		Complete:   r.Complete,
		Problem:    text(problemOf(r)),
		StartedAt:  instant(r.StartedAt),
		FinishedAt: instant(r.FinishedAt),
		Redis:      shapeRedis(h.Redis),
		Ledgers:    shapeLedgers(r, h),
		Scope:      shapeScope(r, h),
		Totals: taskTotalsJSON{
			Tasks:    r.Totals.Tasks,
			ByState:  counts(r.Totals.ByState),
			ByStatus: counts(r.Totals.ByStatus),
		},
		Omitted: omitted,
	}
}
