package render

import (
	"errors"
	"io"

	"github.com/idemctl/idemctl/reconcile"
)

// Audit writes what an audit finds. It is not safe for concurrent use: an
// auditor calls its observer from one goroutine at a time.
type Audit struct {
	sink sink
	err  error
}

// sink is one format of an audit.
type sink interface {
	finding(f *reconcile.Finding) error
	close(r *reconcile.Report, h *Header) error
	// discard drops what was kept. It is safe to repeat, and after close.
	discard() error
}

// NewAudit prepares an audit's output. Nothing is written before the first
// finding, and in most formats nothing before Close. Options that Validate
// refuses are read on the safe side: the usual order, and no payload at all.
func NewAudit(w io.Writer, o Options) *Audit {
	o = o.filled()
	return &Audit{sink: newSink(w, o)}
}

func newSink(w io.Writer, o Options) sink {
	b := newBase(w, o)
	switch {
	case o.Format == FormatJSON:
		return &jsonAudit{base: b}
	case o.Format == FormatNDJSON:
		return &ndjsonAudit{base: b}
	case o.Format == FormatCSV:
		return &csvAudit{base: b}
	case o.Format == FormatMarkdown:
		return &markdownAudit{base: b}
	case o.Format == FormatName:
		return &nameAudit{base: b}
	case !o.TTY:
		return &plainAudit{base: b}
	case o.Format == FormatWide:
		return &wideAudit{base: b}
	default:
		return newTableAudit(b)
	}
}

// Finding takes one confirmed finding. FormatNDJSON writes it at once, the
// others when the audit is closed. An error is kept for Err and Close.
func (a *Audit) Finding(f reconcile.Finding) {
	if a.err == nil {
		a.err = a.sink.finding(&f)
	}
}

// Err is the first error of Finding: once it is there, nothing more is written.
func (a *Audit) Err() error { return a.err }

// Close writes all that is not written yet. It is called once, with what the
// audit concluded, also when that is not complete; where nothing was concluded,
// Discard takes its place and nothing is written.
func (a *Audit) Close(r reconcile.Report, h Header) error {
	if a.err == nil {
		a.err = a.sink.close(&r, &h)
	}
	return errors.Join(a.err, a.sink.discard())
}

// Discard drops everything without a word. It is safe to repeat, and after
// Close.
func (a *Audit) Discard() error { return a.sink.discard() }

// base is what all formats share.
type base struct {
	w      io.Writer
	opt    Options
	order  order
	redact redactor
	spool  spool
	n      int // findings or tasks taken
}

// newBase reads options that were validated before; see NewAudit for those that
// were not.
func newBase(w io.Writer, o Options) base {
	by, err := parseOrder(o.Sort)
	if err != nil {
		by = order{}
	}
	hide, err := newRedactor(o.Redact)
	hide.broken = err != nil
	return base{w: w, opt: o, order: by, redact: hide}
}

func (b *base) discard() error { return b.spool.close() }

// shape is the contract's form of a finding, with as much payload as may be
// shown.
func (b *base) shape(f *reconcile.Finding) findingJSON {
	var shown payloadText
	if b.opt.ShowPayload && ofTask(f) {
		shown = b.redact.show(f.Task.Payload)
	}
	return shapeFinding(f, shown)
}

// keep takes a rendered finding to its place in the order.
func (b *base) keep(f *reconcile.Finding, blob []byte) error {
	b.n++
	return b.spool.add(b.order.key(factsOf(f)), blob)
}

// limit is how many of those taken are printed, when all is the default.
func (b *base) limit() int {
	most := b.opt.limited(-1)
	if most < 0 || most > b.n {
		return b.n
	}
	return most
}

// errEnough ends a walk through the spool.
var errEnough = errors.New("enough")

// each calls f with what was kept, in order, up to the limit.
func (b *base) each(f func(blob []byte)) error {
	i, most := 0, b.limit()
	err := b.spool.each(func(blob []byte) error {
		if i == most {
			return errEnough
		}
		i++
		f(blob)
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
