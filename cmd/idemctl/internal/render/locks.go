package render

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/idemctl/idemctl/reconcile"
)

// Locks writes a list of uniqueness locks, what hurts most first. It is not safe
// for concurrent use.
type Locks struct {
	base
	counts map[string]int
	err    error
}

// lockFields are the columns of locks in the formats made of lines.
var lockFields = []field[heldLockJSON]{
	{name: "verdict", ours: true, cell: func(l *heldLockJSON) string { return l.Verdict }},
	{name: "queue", cell: func(l *heldLockJSON) string { return l.Queue }},
	{name: "type", cell: func(l *heldLockJSON) string { return l.Type }, most: 40},
	{name: "task_id", cell: func(l *heldLockJSON) string { return l.TaskID }},
	{name: "state", ours: true, cell: func(l *heldLockJSON) string { return word(l.State) }},
	{name: "status", ours: true, cell: func(l *heldLockJSON) string { return word(l.Status) }},
	{name: "ttl_seconds", ours: true, right: true, cell: func(l *heldLockJSON) string { return decimal(l.TTLSeconds) }},
	{name: "ends_at", ours: true, cell: func(l *heldLockJSON) string { return word(l.EndsAt) }},
	{name: "needed_seconds", ours: true, right: true, cell: func(l *heldLockJSON) string { return decimal(l.NeededSeconds) }},
	{name: "message", cell: func(l *heldLockJSON) string { return l.Message }, most: 200},
	{name: "action", cell: func(l *heldLockJSON) string { return word(l.Action) }},
	{name: "key", wide: true, cell: func(l *heldLockJSON) string { return l.Key }},
	{name: "owner", wide: true, cell: func(l *heldLockJSON) string { return word(l.Owner) }, most: 40},
	{name: "reason", wide: true, ours: true, cell: func(l *heldLockJSON) string { return word(l.Reason) }},
	{name: "consequence", wide: true, cell: func(l *heldLockJSON) string { return word(l.Consequence) }, most: 200},
}

// NewLocks prepares a list. Locks have an order of their own: Options.Sort must be "".
func NewLocks(w io.Writer, o Options) *Locks {
	return &Locks{base: newBase(w, o.filled()), counts: map[string]int{}}
}

// Lock takes one lock. An error is kept for Close.
func (l *Locks) Lock(h reconcile.HeldLock) {
	l.counts[string(h.Verdict)]++
	if l.err != nil {
		return
	}
	l.n++
	l.err = l.blob(&h)
}

func (l *Locks) blob(h *reconcile.HeldLock) error {
	s := shapeHeldLock(h)
	switch {
	case l.opt.Format == FormatJSON, l.opt.Format == FormatNDJSON:
		b, err := marshal(s)
		return errors.Join(err, l.spool.add(lockOrder(h), b))
	case l.opt.Format == FormatCSV:
		return l.spool.add(lockOrder(h), csvLine(lockFields, &s))
	case l.opt.Format == FormatName:
		return l.spool.add(lockOrder(h), []byte(Visible(s.Key)))
	case l.opt.TTY && l.opt.Format == FormatTable:
		return l.spool.add(lockOrder(h), packCells(l.cells(h)))
	}
	return l.spool.add(lockOrder(h), []byte(plainLine(chosen(lockFields, l.opt.Format == FormatWide), &s)))
}

// lockOrder sorts by what hurts first: the verdict, then the longest block or
// the shortest guard, then the key.
func lockOrder(h *reconcile.HeldLock) []byte {
	ttl := uint64(max(0, h.Lock.TTL))
	if h.Verdict != reconcile.LockEarly && h.Verdict != reconcile.LockGuards {
		ttl = ^ttl
	}
	key := []byte{byte(h.Verdict.Rank())}
	key = binary.BigEndian.AppendUint64(key, ttl)
	return append(key, h.Lock.Key...)
}

// Close writes the list. It is called once.
func (l *Locks) Close(r reconcile.Report, h Header) error {
	if l.err == nil {
		l.err = l.write(&r, &h)
	}
	return errors.Join(l.err, l.spool.close())
}

// Discard drops everything that is not written.
func (l *Locks) Discard() error { return l.spool.close() }

func (l *Locks) write(r *reconcile.Report, h *Header) error {
	omitted := max(0, l.n-l.limit())
	summary := shapeLocks(r, h, l.counts, omitted)
	switch {
	case l.opt.Format == FormatJSON:
		head, err := marshal(summary)
		if err != nil {
			return err
		}
		out := newDocument(l.w, l.opt.TTY)
		out.head(head, "locks")
		if err := l.each(out.member); err != nil {
			return err
		}
		return out.end()
	case l.opt.Format == FormatNDJSON:
		out := newOutput(l.w)
		if err := l.each(out.line); err != nil {
			return err
		}
		if err := out.flush(); err != nil {
			return err
		}
		summary.Summary = true
		return writeLine(l.w, summary)
	case l.opt.TTY && l.opt.Format == FormatTable:
		return l.table(r, omitted)
	}
	return l.lines(r)
}

func (l *Locks) lines(r *reconcile.Report) error {
	out := newOutput(l.w)
	switch {
	case l.opt.NoHeaders || l.opt.Format == FormatName:
	case l.opt.Format == FormatCSV:
		out.put(string(csvNames(lockFields)))
	default:
		out.put(plainNames(chosen(lockFields, l.opt.Format == FormatWide)), "\n")
	}
	write := out.line
	if l.opt.Format == FormatCSV {
		write = func(record []byte) { out.put(string(record)) } // it ends its line itself
	}
	if err := l.each(write); err != nil {
		return err
	}
	if !r.Complete && l.opt.Format != FormatCSV && l.opt.Format != FormatName {
		out.put("# ", incomplete(r), "\n")
	}
	return out.flush()
}

func (l *Locks) cells(h *reconcile.HeldLock) []string {
	state := "gone"
	if s := stateOrNull(&h.Finding); s != nil {
		state = *s
	}
	effect := ""
	if h.Task.State != 0 {
		effect = h.Status.String()
	}
	needs := ""
	if h.Lock.Needed > 0 {
		needs = reconcile.Span(h.Lock.Needed)
	}
	left := "never ends"
	switch {
	case h.Lock.TTL > 0:
		left = reconcile.Span(h.Lock.TTL)
	case h.Lock.State == reconcile.LockFree:
		left = ""
	}
	return []string{
		severityShape(h), string(h.Verdict), Visible(h.Queue + "/" + h.Task.ID), Visible(h.Type), state, effect, left, needs,
	}
}

func severityShape(h *reconcile.HeldLock) string {
	if h.Code == "" {
		return " "
	}
	return shape(h.Severity)
}

// table is for a terminal: the locks, what they come to, and what to type next.
func (l *Locks) table(r *reconcile.Report, omitted int) error {
	p := newPage(l.w, l.opt)
	p.verdict(l.verdicts())
	var rows [][]string
	err := l.each(func(blob []byte) { rows = append(rows, unpackCells(blob)) })
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		p.blank()
		p.grid("", []column{
			{title: ""},
			{title: "VERDICT"},
			{title: "TASK", least: 20},
			{title: "TYPE", least: 10},
			{title: "STATE"},
			{title: "EFFECT", paint: p.effect},
			{title: "LEFT", right: true},
			{title: "NEEDS", right: true},
		}, rows)
	}
	if omitted > 0 {
		p.text(plural(omitted, "more lock", "more locks")+"; --limit -1 shows all", sgrDim)
	}
	if !r.Complete {
		p.blank()
		p.text(incomplete(r), sgrBold)
	}
	l.commands(p)
	return p.flush()
}

// lockSentences say what locks of a verdict come to.
var lockSentences = map[reconcile.LockVerdict][2]string{
	reconcile.LockStolen:   {"unique task lost its lock to another", "unique tasks lost their locks to others"},
	reconcile.LockMissing:  {"unique task has no lock any more: an equal one is accepted", "unique tasks have no locks any more: equal ones are accepted"},
	reconcile.LockOrphaned: {"lock blocks work though its task is gone", "locks block work though their tasks are gone"},
	reconcile.LockPhantom:  {"lock is owned by a task that is other work", "locks are owned by tasks that are other work"},
	reconcile.LockBlocks:   {"lock is held by an archived task", "locks are held by archived tasks"},
	reconcile.LockDrifted:  {"lock guards a payload that was changed since", "locks guard payloads that were changed since"},
	reconcile.LockEarly:    {"lock ends before its task must", "locks end before their tasks must"},
	reconcile.LockForeign:  {"lock is not asynq's", "locks are not asynq's"},
	reconcile.LockUnclear:  {"lock has an owner that cannot be read", "locks have owners that cannot be read"},
	reconcile.LockGuards:   {"lock is as it should be", "locks are as they should be"},
}

func (l *Locks) verdicts() []verdict {
	var lines []verdict
	for _, v := range reconcile.LockVerdicts() {
		if n := l.counts[string(v)]; n > 0 {
			words := lockSentences[v]
			severity := reconcile.SeverityNone
			if v.Code() != "" {
				severity = v.Code().Severity()
			}
			lines = append(lines, verdict{severity: severity, text: plural(n, words[0], words[1]) + "."})
		}
	}
	if len(lines) == 0 {
		lines = append(lines, verdict{text: "No uniqueness lock is held, and no live task should hold one."})
	}
	return lines
}

// commands are what to type next.
func (l *Locks) commands(p *page) {
	left := l.counts[string(reconcile.LockOrphaned)] + l.counts[string(reconcile.LockPhantom)]
	if left == 0 && l.counts[string(reconcile.LockBlocks)] == 0 {
		return
	}
	p.title("NEXT", p.sameFlags(""))
	if left > 0 {
		p.hang("  ", "  ", "release what was left behind (it is planned and confirmed first):", "")
		p.command("  ", "idemctl locks release --all")
	}
	if l.counts[string(reconcile.LockBlocks)] > 0 {
		p.hang("  ", "  ", "see all that archived tasks keep out, and what is safe:", "")
		p.command("  ", "idemctl locks why --all")
	}
}
