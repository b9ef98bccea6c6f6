package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/observed"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/tui"
)

// Audit runs the audit that the command runs, and keeps of it what a screen shows.
func (b *browser) Audit(ctx context.Context, tell func(reconcile.Progress)) (*tui.Audit, error) {
	begun := time.Now()
	now, err := b.s.queue.Now(ctx)
	if err != nil {
		return nil, err
	}
	kinds := observed.NewCollector(func(k observed.Kind) retry.Params {
		p, _ := b.Params(k.Type, k.Queue)
		return p
	})
	if err := b.surround(ctx, kinds, now); err != nil {
		return nil, err
	}
	book := tui.NewBook(now, kinds)
	a, err := b.s.auditor(reconcile.Options{OnJudged: func(j reconcile.Judged) { book.Judged(&j) }})
	if err != nil {
		return nil, err
	}
	report, err := a.Run(ctx, &bookkeeper{book, tell})
	if err != nil {
		return nil, err
	}
	return book.Close(&report, time.Since(begun)), nil
}

// surround tells the collector what holds for queues as a whole.
func (b *browser) surround(ctx context.Context, kinds *observed.Collector, now time.Time) error {
	c, ok := b.recent()
	if !ok {
		var err error
		if c, err = b.Counts(ctx); err != nil {
			return err
		}
	}
	all := func(observed.Kind) bool { return true }
	for _, q := range c.Queues {
		kinds.Queue(q)
	}
	kinds.Servers(c.Servers, now, all)
	schedules, err := b.s.queue.Schedules(ctx)
	if err != nil {
		return err
	}
	kinds.Schedules(schedules, all)
	return nil
}

// bookkeeper writes an audit into a book.
type bookkeeper struct {
	book *tui.Book
	tell func(reconcile.Progress)
}

func (k *bookkeeper) Finding(f reconcile.Finding)   { k.book.Finding(f) }
func (k *bookkeeper) Progress(p reconcile.Progress) { k.tell(p) }

// mostLocks is how many locks are kept for the screen.
const mostLocks = 5000

func (b *browser) Locks(ctx context.Context, tell func(int)) (*tui.Locks, error) {
	a, err := b.s.auditor(reconcile.Options{})
	if err != nil {
		return nil, err
	}
	out := &tui.Locks{}
	order := func(x, y tui.LockRow) int {
		return cmp.Or(cmp.Compare(x.Verdict.Rank(), y.Verdict.Rank()), cmp.Compare(x.Finding.Lock.TTL, y.Finding.Lock.TTL), cmp.Compare(x.Finding.Lock.Key, y.Finding.Lock.Key))
	}
	met := 0
	report, err := a.Locks(ctx, noObserver{}, func(h reconcile.HeldLock) {
		met++
		tell(met)
		h.Finding.Task.Payload, h.Finding.Task.Headers, h.Finding.Marked, h.Finding.Readings = nil, nil, nil, nil
		out.Rows = append(out.Rows, tui.LockRow{Finding: h.Finding, Verdict: h.Verdict, Queue: h.Queue, Type: h.Type})
		if len(out.Rows) >= 2*mostLocks { // those that hurt least go
			slices.SortFunc(out.Rows, order)
			clear(out.Rows[mostLocks:])
			out.Rows = out.Rows[:mostLocks]
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out.Rows, order)
	out.Rows = out.Rows[:min(len(out.Rows), mostLocks)]
	out.Omitted = met - len(out.Rows)
	out.At, out.Complete, out.Problem = report.FinishedAt, report.Complete, report.Problem
	return out, nil
}

// dossier explains a task, as the command does.
func (b *browser) dossier(ctx context.Context, ref inspect.Ref) (*reconcile.Dossier, error) {
	a, err := b.s.auditor(reconcile.Options{})
	if err != nil {
		return nil, err
	}
	d, err := a.Explain(ctx, ref)
	if err != nil {
		return nil, b.s.whereElse(ctx, ref, err)
	}
	return &d, nil
}

// ofRedis is what a task's dossier says where its ledger cannot be read. The
// command then says nothing: who reads its output might take the half for all.
func (b *browser) ofRedis(ctx context.Context, ref inspect.Ref) (*reconcile.Dossier, error) {
	c := b.s.settings.Context
	none := []reconcile.Rule{} // nil would be the implicit one
	a, err := reconcile.NewAuditor(b.s.queue, reconcile.Options{Rules: none, Settle: c.Settle.Value, ConfirmAfter: c.ConfirmAfter.Value})
	if err != nil {
		return nil, err
	}
	d, err := a.Explain(ctx, ref)
	if err != nil {
		return nil, err
	}
	d.Findings = slices.DeleteFunc(d.Findings, func(f reconcile.Finding) bool { return f.Code == reconcile.CodeUnknown })
	d.Verdict = reconcile.Verdict{Status: reconcile.StatusUnknown, Reason: reconcile.ReasonLedger, Cause: d.Verdict.Cause}
	for i := range d.Choices { // it is not for want of a rule that nobody can say
		c := &d.Choices[i]
		c.Outcome = strings.ReplaceAll(c.Outcome, reconcile.ReasonNoRule.Words(), reconcile.ReasonLedger.Words())
	}
	return &d, nil
}

// patience is how long a ledger that was lost a moment ago is waited for where what
// Redis says can be shown meanwhile.
const patience = 2 * time.Second

// soundly explains a task, and without its ledger where that cannot be read: unread
// says why then.
func (b *browser) soundly(ctx context.Context, ref inspect.Ref) (d *reconcile.Dossier, unread, err error) {
	whole, lost := ctx, b.unanswered()
	if lost != nil {
		var cancel context.CancelFunc
		whole, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	d, err = b.dossier(whole, ref)
	var ledger *reconcile.LedgerError
	switch {
	case err == nil:
		return d, nil, nil
	case errors.As(err, &ledger):
		unread = err
	case lost != nil && whole.Err() != nil && ctx.Err() == nil:
		unread = lost
	default:
		return nil, nil, err
	}
	if d, err = b.ofRedis(ctx, ref); err != nil {
		return nil, nil, err
	}
	return d, unread, nil
}

func (b *browser) Explain(ctx context.Context, ref inspect.Ref) (*tui.Dossier, error) {
	d, unread, err := b.soundly(ctx, ref)
	if err != nil {
		return nil, err
	}
	t := &d.Task
	shown := render.ShownPayload(b.page, t)
	out := &tui.Dossier{
		Unread: unread, Payload: shown.Text, PayloadJSON: shown.JSON, PayloadSize: len(t.Payload),
		Canonical: shown.Canonical, Spelling: shown.Spelling, Headers: render.ShownHeaders(b.page, t.Headers),
	}
	if t.ResultSize > 0 {
		raws, err := b.s.queue.Raw(ctx, []inspect.Ref{ref})
		if err != nil {
			return nil, err
		}
		out.Result = render.ShownBytes(b.page, raws[0].Fields["result"])
	}
	p, _ := b.Params(t.Type, t.Queue)
	p.MaxRetry = t.MaxRetry
	if t.Timeout > 0 {
		timeout := retry.SecondsOf(t.Timeout)
		p.Timeout = &timeout
	}
	if p.MaxRetry <= mostAttempts {
		out.Attempts, _ = p.Attempts() // a life that cannot be computed is not drawn
	}
	out.Dossier = *d
	out.Task.Payload, out.Task.Headers = nil, nil
	for i := range out.Findings {
		f := &out.Findings[i]
		f.Task.Payload, f.Task.Headers, f.Marked = nil, nil, nil
	}
	return out, nil
}

// mostAttempts bounds whose attempts are computed for a drawing.
const mostAttempts = 1000

func (b *browser) ExplainText(ctx context.Context, ref inspect.Ref, columns int) (string, error) {
	d, err := b.dossier(ctx, ref)
	if err != nil {
		return "", err
	}
	page := b.page
	page.Width, page.TTY = columns, true
	page.Color = page.Color && len(b.pager()) > 0
	var text bytes.Buffer
	if err := render.WriteDossier(&text, page, d); err != nil {
		return "", err
	}
	return text.String(), nil
}
