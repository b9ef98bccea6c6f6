package render

import (
	"bytes"
	"errors"
	"io"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// Tasks writes a list of tasks with their first, unconfirmed verdicts. Unless an
// order is asked for, they come in the order in which they were read, and most
// formats write them at once. It is not safe for concurrent use.
type Tasks struct {
	base
	list taskList
	err  error
}

// taskList is one format of a list.
type taskList interface {
	task(j *reconcile.Judged) error
	end(r *reconcile.Report, h *Header) error
}

// NewTasks prepares a list. Nothing is written before the first task. Options
// that Validate refuses are read on the safe side: no order, and no payload.
func NewTasks(w io.Writer, o Options) *Tasks {
	t := &Tasks{base: newBase(w, o.filled())}
	b := &t.base
	switch {
	case b.opt.Format == FormatJSON:
		t.list = &jsonTasks{b}
	case b.opt.Format == FormatNDJSON:
		t.list = &ndjsonTasks{b}
	case b.opt.Format == FormatCSV:
		t.list = &lineTasks{base: b, head: csvNames(taskFields), line: csvTask, tail: csvTasksEnd}
	case b.opt.Format == FormatMarkdown:
		t.list = &lineTasks{base: b, head: markdownTaskHead(b.opt), line: markdownTask(b.opt), tail: markdownTasksEnd}
	case b.opt.Format == FormatName:
		t.list = &lineTasks{base: b, line: nameTask}
	case !b.opt.TTY:
		fields := chosen(taskFields, b.opt.Format == FormatWide)
		t.list = &lineTasks{base: b, head: []byte(plainNames(fields) + "\n"), line: plainTask(fields), tail: plainTasksEnd}
	case b.opt.Format == FormatWide:
		t.list = &wideTasks{base: b}
	default:
		t.list = newTableTasks(b)
	}
	return t
}

// Judged takes one task. An error is kept for Close; nothing more is written then.
func (t *Tasks) Judged(j reconcile.Judged) {
	if t.err == nil {
		t.err = t.list.task(&j)
	}
}

// Close writes all that is not written yet. It is called once, with what the
// audit behind the list concluded, also when that is not complete.
func (t *Tasks) Close(r reconcile.Report, h Header) error {
	if t.err == nil {
		t.err = t.list.end(&r, &h)
	}
	return errors.Join(t.err, t.spool.close())
}

// Discard drops everything that is not written. It is safe to repeat, and after
// Close.
func (t *Tasks) Discard() error { return t.spool.close() }

// keepTask takes a rendered task to its place in the order; without an order
// that is where it came.
func (b *base) keepTask(j *reconcile.Judged, blob []byte) error {
	b.n++
	var key []byte
	if b.opt.Sort != "" {
		key = b.order.key(taskFacts(j))
	}
	return b.spool.add(key, blob)
}

// past says that another task is more than the limit allows.
func (b *base) past() bool {
	b.n++
	return b.n > b.limit()
}

func taskFacts(j *reconcile.Judged) *facts {
	f := &facts{task: &j.Task, key: j.Key, status: j.Verdict.Status, cause: j.Verdict.Cause, applied: j.Verdict.AppliedAt}
	for _, c := range j.Verdict.Codes {
		if s := j.Verdict.Severity(c, j.Task.State); s > f.severity {
			f.severity, f.code = s, c
		}
	}
	return f
}

// shapeTask is the contract's form of a listed task.
func (b *base) shapeTask(j *reconcile.Judged) taskJSON {
	t, v := &j.Task, &j.Verdict
	s := taskJSON{
		Queue: t.Queue, TaskID: t.ID, TaskIDHex: hexOf(t.ID),
		Type:          text(t.Type),
		Key:           text(j.ShownKey()),
		Status:        v.Status.String(),
		Reason:        text(v.Reason),
		Cause:         text(v.Cause),
		Attribution:   text(v.Attribution),
		Codes:         make([]string, 0, len(v.Codes)),
		LastFailedAt:  instant(t.LastFailedAt),
		NextProcessAt: instant(t.NextProcessAt),
		ArchivedAt:    instant(t.ArchivedAt),
		CompletedAt:   instant(t.CompletedAt),
		LeaseExpires:  instant(t.LeaseExpiresAt),
		AppliedAt:     instant(v.AppliedAt),
		UniqueKey:     text(t.UniqueKey),
		Lock:          shapeLock(j.Lock, j.At),
		Group:         text(t.Group),
		Sources:       shapeReadings(j.Readings),
	}
	if t.State != inspect.StateUnknown {
		s.State = text(t.State.String())
	}
	for _, c := range v.Codes {
		s.Codes = append(s.Codes, string(c))
	}
	if j.Rule != nil {
		s.Rule = &j.Rule.Number
	}
	s.Retried, s.MaxRetry, s.LastError = shapeAttempts(t)
	if b.opt.ShowPayload {
		s.Payload, s.PayloadEncoding = b.redact.show(t.Payload).json()
	}
	return s
}

// lineTasks is every format in which a task is a line that stands by itself.
type lineTasks struct {
	*base
	head []byte // written before the first task; nil: nothing
	line func(*taskJSON) []byte
	tail func(*reconcile.Report) []byte // nil: nothing
	open bool
}

func (l *lineTasks) task(j *reconcile.Judged) error {
	s := l.shapeTask(j)
	if l.opt.Sort != "" {
		return l.keepTask(j, l.line(&s))
	}
	if l.past() {
		return nil
	}
	return l.write(l.line(&s))
}

func (l *lineTasks) end(r *reconcile.Report, _ *Header) error {
	if err := l.write(nil); err != nil {
		return err
	}
	out := newOutput(l.w)
	if l.opt.Sort != "" {
		if err := l.each(func(line []byte) { out.put(string(line)) }); err != nil {
			return err
		}
	}
	if l.tail != nil {
		out.put(string(l.tail(r)))
	}
	return out.flush()
}

// write writes a line at once, and the head before the first.
func (l *lineTasks) write(line []byte) error {
	if !l.open && !l.opt.NoHeaders {
		line = append(bytes.Clone(l.head), line...)
	}
	l.open = true
	_, err := l.w.Write(line)
	return err
}

func csvTask(t *taskJSON) []byte { return csvLine(taskFields, t) }

func csvTasksEnd(r *reconcile.Report) []byte {
	if r.Complete {
		return nil
	}
	return csvLine(taskFields, &taskJSON{Queue: incomplete(r)})
}

func nameTask(t *taskJSON) []byte {
	return []byte(Name(inspect.Ref{Queue: t.Queue, ID: t.TaskID}) + "\n")
}

func plainTask(fields []field[taskJSON]) func(*taskJSON) []byte {
	return func(t *taskJSON) []byte { return []byte(plainLine(fields, t) + "\n") }
}

func plainTasksEnd(r *reconcile.Report) []byte {
	if r.Complete {
		return nil
	}
	return []byte("# " + incomplete(r) + "\n")
}

func markdownTaskHead(o Options) []byte {
	names := []string{"Queue", "Task", "Type", "State", "Key", "Effect", "Cause", "Retried", "Next"}
	if o.ShowPayload {
		names = append(names, "Payload")
	}
	return []byte(markdownHead(names))
}

func markdownTask(o Options) func(*taskJSON) []byte {
	return func(t *taskJSON) []byte {
		cells := []string{
			code(t.Queue), code(t.TaskID), codeOrNone(t.Type), word(t.State), codeOrNone(t.Key),
			t.Status, word(t.Cause), tries(t), word(t.NextProcessAt),
		}
		if o.ShowPayload {
			cells = append(cells, codeOrNone(text(payloadCell(t.Payload, t.PayloadEncoding))))
		}
		return []byte(markdownRow(cells))
	}
}

func markdownTasksEnd(r *reconcile.Report) []byte {
	if r.Complete {
		return nil
	}
	return []byte("\n**" + prose(incomplete(r)) + "**\n")
}

// tries is such as "3/25"; "" for a task that could not be read.
func tries(t *taskJSON) string {
	if t.Retried == nil || t.MaxRetry == nil {
		return ""
	}
	return number(t.Retried) + "/" + number(t.MaxRetry)
}
