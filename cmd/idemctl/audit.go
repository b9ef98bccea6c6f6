package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

type auditOptions struct {
	*program
	scope  scopeFlags
	output outputFlags
	failOn string
	watch  time.Duration
}

func newAudit(p *program) *cobra.Command {
	o := &auditOptions{program: p}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Join queues with ledgers and report what does not fit",
		Long: `audit reads every task of the queues in scope, looks its key up in the ledger,
and reports what does not fit: work that is done and waits to be done again,
work that is lost, work nobody can know of. Whatever it reports was read twice.
It changes nothing.

Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 usage or
configuration, 3 a source cannot be read, 4 incomplete.`,
		Example: `  idemctl audit
  idemctl audit -q payments -s archived -o json
  idemctl audit --where 'cause == "timeout" && retried > 3'
  idemctl audit --watch=30s`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd) },
	}
	connectionFlags(cmd)
	loadFlags(cmd)
	o.scope.add(cmd)
	o.output.add(cmd, "20 findings on a terminal, else all")
	f := cmd.Flags()
	f.StringVar(&o.failOn, "fail-on", "warning", "least `SEVERITY` that makes the exit code 1: info, warning, high, critical, none")
	f.Duration("settle", 0, "time after which no attempt is taken to live (default: the larger of 2m and the task's timeout)")
	f.Duration("confirm-after", reconcile.DefaultConfirmAfter, "look again at active tasks that are applied after this time")
	f.DurationVarP(&o.watch, "watch", "w", 0, "repeat every `INTERVAL`")
	f.Lookup("watch").NoOptDefVal = "30s"
	return cmd
}

func (o *auditOptions) run(ctx context.Context, cmd *cobra.Command) error {
	s, err := o.open(ctx, cmd)
	if err != nil {
		return err
	}
	defer s.close()
	failOn, err := reconcile.ParseSeverity(o.failOn)
	if err != nil {
		return usagef("--fail-on: %w", err)
	}
	page, err := o.output.options(o.program, s.settings)
	if err != nil {
		return err
	}
	scope, where, err := o.scope.scope()
	if err != nil {
		return err
	}
	a, err := s.auditor(o.load(cmd, reconcile.Options{Scope: scope, Where: where}))
	if err != nil {
		return err
	}
	once := func(ctx context.Context, w io.Writer, seen *seenFindings) error {
		return o.once(ctx, s, a, page, failOn, w, seen)
	}
	if o.watch > 0 {
		return o.repeat(ctx, once)
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	return once(ctx, o.out, nil)
}

// bounded puts the shared time limit on a context.
func (p *program) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.shared.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, p.shared.timeout)
}

// load puts the bounds on what is asked of Redis and the ledgers.
func (p *program) load(cmd *cobra.Command, o reconcile.Options) reconcile.Options {
	o.PageSize, _ = cmd.Flags().GetInt("page-size")
	o.Concurrency, _ = cmd.Flags().GetInt("concurrency")
	return o
}

// once audits and prints. The error is the outcome.
func (o *auditOptions) once(ctx context.Context, s *session, a *reconcile.Auditor, page render.Options, failOn reconcile.Severity, w io.Writer, seen *seenFindings) error {
	header, err := s.header(ctx, o.scope.where)
	if err != nil {
		return err
	}
	if seen != nil {
		page.IsNew = seen.isNew
	}
	out := render.NewAudit(w, page)
	bar := o.newProgress()
	defer bar.done()
	report, err := a.Run(ctx, &auditSink{out: out, bar: bar, seen: seen})
	bar.done()
	if err != nil {
		return errors.Join(err, out.Discard())
	}
	// The header has what the audit itself resolved.
	if err := out.Close(report, header); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	o.nothingRead(report)
	o.cutShort(report, page.Format)
	return o.filtered(a, judgeReport(report, failOn))
}

// cutShort warns of an incomplete result in a format that cannot say so itself.
func (p *program) cutShort(r reconcile.Report, format render.Format) {
	if !r.Complete && format == render.FormatName {
		p.log.warnf("incomplete: %v", r.Problem)
	}
}

// nothingRead warns where a result is empty because nothing was looked at.
func (p *program) nothingRead(r reconcile.Report) {
	switch {
	case r.Totals.Tasks > 0:
	case len(r.Queues) == 0:
		p.log.warnf("Redis knows no queue: is this the right server and database (--uri, --db)?")
	case r.Scope.Narrowed():
		p.log.warnf("no task is in this selection: are -q, -s, -t and -i as they were meant?")
	}
}

// filtered warns of a filter that could not be evaluated everywhere, and keeps
// such an audit from ending as if nothing had been found.
func (p *program) filtered(a *reconcile.Auditor, end error) error {
	p.leftOut(a)
	return partly(a, end)
}

// leftOut warns of what the filter could not be evaluated for.
func (p *program) leftOut(a *reconcile.Auditor) {
	if n, err := a.Filter().Failures(); n > 0 {
		p.log.warnf("%v (for %d findings or tasks, which are left out)", err, n)
	}
}

// partly keeps what was done for a part, since the filter could not be evaluated
// everywhere, from ending as if that were all.
func partly(a *reconcile.Auditor, end error) error {
	if n, _ := a.Filter().Failures(); n > 0 && end == nil {
		return outcome(exitIncomplete)
	}
	return end
}

// judgeReport is how a report ends the command.
func judgeReport(r reconcile.Report, failOn reconcile.Severity) error {
	if !r.Complete {
		return outcome(exitIncomplete)
	}
	if failOn == reconcile.SeverityNone {
		return nil
	}
	for severity, n := range r.Totals.BySeverity {
		if severity >= failOn && n > 0 {
			return outcome(exitFindings)
		}
	}
	return nil
}

// auditSink hands findings on as they come.
type auditSink struct {
	out  *render.Audit
	bar  *progress
	seen *seenFindings // nil: not watching
}

func (s *auditSink) Finding(f reconcile.Finding) {
	if s.seen != nil {
		s.seen.note(&f)
	}
	s.bar.clear()
	s.out.Finding(f)
}

func (s *auditSink) Progress(p reconcile.Progress) { s.bar.show(p) }

// header reads what a report says of its sources.
func (s *session) header(ctx context.Context, where string) (render.Header, error) {
	facts, err := s.queue.Redis(ctx)
	if err != nil {
		return render.Header{}, err
	}
	if err := refuseReplica(facts); err != nil {
		return render.Header{}, err
	}
	h := render.Header{Redis: facts, Where: where}
	for _, l := range s.settings.Context.Ledgers {
		name := l.Name.Value
		facts, err := s.ledgers[name].Facts(ctx)
		if err != nil {
			return h, err
		}
		h.Ledgers = append(h.Ledgers, render.Ledger{Name: name, Facts: facts})
	}
	return h, nil
}

// refuseReplica keeps audits away from a Redis that may be behind: what it shows
// of a task need not be true any more.
func refuseReplica(f inspect.RedisFacts) error {
	if f.Role != "slave" && f.Role != "replica" {
		return nil
	}
	return &inspect.Error{
		Kind: inspect.KindReadOnlyReplica, Op: "audit", Addr: f.Addr,
		Err: errors.New("this Redis is a replica and may be behind: connect to its master"),
	}
}
