package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

type journalVerifyOptions struct {
	journalReading
}

func newJournalVerify(p *program) *cobra.Command {
	o := &journalVerifyOptions{journalReading{program: p}}
	cmd := &cobra.Command{
		Use:   "verify RUN",
		Short: "Say what became of each item of a run: queues first, then the ledger",
		Long: `verify takes each item of a run from the journal, reads its task, and then
looks its key up in the ledger. RUN is an ID, the beginning of one, or last.

  of tasks that ran again   applied-once, ended, waiting, failed-again,
                            applied-twice, unproven, not-moved
  of deleted tasks          deleted, effect-gone, back
  of tasks put back         restored, or as of tasks that ran again
  of all                    unknown, open (no known outcome), not-changed,
                            not-judged (no effect hangs on the change)

The key is the one that the task had when it was changed; where the rule gives
another one by now, that is said. Planned items that the run never began are
counted, with why: they are as they were, and decide no exit code.

Exit codes: 0 every item came to what it was for; 1 some failed again, took
effect twice, have no effect, or were not moved; 2 usage or no such run; 3 a
source cannot be read; 4 some still wait, or nobody can say, or the journal is
damaged.`,
		Example: `  idemctl journal verify last
  idemctl journal verify 20261130T15 -o ndjson`,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), cmd, args[0]) },
	}
	connectionFlags(cmd)
	loadFlags(cmd)
	journalFlag(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.fromLedger, "from-ledger", false, "read the journal's copy in the ledger")
	f.StringVarP(&o.output.format, "output", "o", "table", "`FORMAT`: table, json or ndjson")
	f.IntVar(&o.output.limit, "limit", 0, "most items to name (0: 20 exceptions in a table, else all; -1: all)")
	return cmd
}

func (o *journalVerifyOptions) run(ctx context.Context, cmd *cobra.Command, name string) error {
	ctx, l, err := o.join(ctx, cmd, &o.output, everything)
	if err != nil {
		return err
	}
	defer l.end()
	out, err := render.NewVerification(o.out, l.page)
	if err != nil {
		return usagef("--output: %w", err)
	}
	if err := o.readBy(ctx, l); err != nil {
		return err
	}
	defer o.close()
	run, err := o.find(ctx, name)
	if err != nil {
		return err
	}
	if err := samePlace(ctx, l, run); err != nil {
		return err
	}
	server, err := l.server(ctx)
	if err != nil {
		return err
	}
	if words := restartedWords(server, []string{run.Server}); words != "" {
		o.log.warnf("%s; that a task is gone is no proof there", words)
	}
	bar := o.newProgress()
	expected, seen := run.Intents, 0
	sum, err := l.auditor.Verify(ctx, o.records(ctx, run.ID), run.ID, func(v reconcile.Verified) {
		if seen++; seen%100 == 0 {
			bar.show(reconcile.Progress{Phase: "verifying", Tasks: seen, Expected: max(expected, seen)})
		}
		bar.clear()
		out.Item(v)
	}, func(error) {}) // damage was reported when the run was looked for
	bar.done()
	if err != nil && sum.Items == 0 {
		return errors.Join(err, out.Discard())
	}
	if err := out.Close(o.source, run, sum, err); err != nil {
		return &writeError{err}
	}
	return verified(&sum, err, len(o.source.Problems) > 0)
}

// readBy settles where the journal is read, by a session that is open already.
func (r *journalReading) readBy(ctx context.Context, l *look) (err error) {
	r.set, r.page = l.settings, l.page
	if !r.fromLedger {
		r.path, err = journalPath(r.set)
		r.source.Path = r.path
		return err
	}
	if r.table, err = openJournalTable(ctx, r.set, journalReader); err == nil {
		r.source.Table = r.table.String()
	}
	return err
}

// samePlace refuses to hold the run of one context, or Redis, against the servers
// of another.
func samePlace(ctx context.Context, l *look, run *journal.Summary) error {
	server, err := l.server(ctx)
	if err != nil {
		return err
	}
	here := l.settings.Context.Name.Value
	switch {
	case run.Began.IsZero():
		return nil
	case run.Context == here && server.Same(run.Server):
		return nil
	case run.Context == here:
		return &usageError{
			err:  fmt.Errorf("run %s was made on the Redis %s, and this is %s", run.ID, run.Server, server),
			hint: "connect to that one (--uri, --db)",
		}
	}
	hint := "--context " + reconcile.ShellQuote(run.Context)
	if run.Context == "" {
		hint = "the run had no context: leave --context out, and say where to connect"
	}
	return &usageError{err: fmt.Errorf("run %s was made in context %q, and this is %q", run.ID, run.Context, here), hint: hint}
}

// verified is the exit code; the sign that heads the page says the same.
func verified(sum *reconcile.Verification, problem error, damaged bool) error {
	switch {
	case problem != nil:
		return outcome(exitIncomplete) // what was concluded was printed
	case sum.Bad() > 0:
		return outcome(exitFindings)
	case sum.Open() > 0, damaged:
		return outcome(exitIncomplete)
	}
	return nil
}
