package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/reconcile"
)

type locksOptions struct {
	*program
	scope  scopeFlags
	output outputFlags
}

func newLocks(p *program) *cobra.Command {
	ls := newLocksList(p)
	cmd := &cobra.Command{
		Use:   "locks",
		Short: "List uniqueness locks; say why an enqueue is refused; release what was left behind",
		Long: `locks looks at asynq's uniqueness locks (asynq.Unique) from both sides: from the
locks, whose owners may be archived or gone, and from the tasks, whose locks may
have run out or belong to others. Without a subcommand it lists them.`,
		Example: ls.Example,
		Args:    noArgs,
		RunE:    ls.RunE,
	}
	cmd.Flags().AddFlagSet(ls.Flags())
	cmd.AddCommand(ls, newLocksWhy(p), newLocksRelease(p))
	return cmd
}

func newLocksList(p *program) *cobra.Command {
	o := &locksOptions{program: p}
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List uniqueness locks with owner, effect, time left and verdict",
		Long: `ls lists every uniqueness lock with the task that owns it, what the ledger says
of that task's effect, and the time the lock has left; and every live unique
task whose lock is gone or another's. What hurts most comes first:

  taken          another task holds the lock of a live one
  lost           the lock of a live task is gone: an equal one is accepted
  stuck          no list holds its owner, which will never run
  orphaned       its task is gone, and it still refuses work
  phantom        its owner is other work: a task ID conflict leaves such a lock
  blocks         its owner is archived: equal work is refused, and nothing runs
  drift          its owner's payload was changed since
  expires-early  its owner can live longer than it does
  guards         as it should be

Exit codes: 0 nothing at or above --fail-on, 1 findings, 3 a source cannot be
read, 4 incomplete.`,
		Example: `  idemctl locks
  idemctl locks ls -q payments --where 'lock.ttl_seconds > 3600' -o wide
  idemctl locks why -t payment:charge --payload '{"id":7}'`,
		Args: noArgs,
	}
	connectionFlags(cmd)
	loadFlags(cmd)
	o.scope.add(cmd)
	o.output.add(cmd, "50 locks on a terminal, else all")
	failOn := cmd.Flags().String("fail-on", "warning", "least `SEVERITY` that makes the exit code 1: info, warning, high, critical, none")
	cmd.RunE = func(c *cobra.Command, _ []string) error { return o.run(c.Context(), c, failOn) }
	return cmd
}

func (o *locksOptions) run(ctx context.Context, cmd *cobra.Command, failOn *string) error {
	s, err := o.openBare(ctx, cmd)
	if err != nil {
		return err
	}
	defer s.close()
	least, err := reconcile.ParseSeverity(*failOn)
	if err != nil {
		return usagef("--fail-on: %w", err)
	}
	page, err := o.output.options(o.program, s.settings)
	if err != nil {
		return err
	}
	switch {
	case page.Sort != "":
		return usagef("--sort: locks come with what hurts most first")
	case page.Format == render.FormatMarkdown:
		return usagef("--output %s: locks are printed as table, wide, json, ndjson, csv or name", page.Format)
	case page.TTY && page.Format == render.FormatTable && page.Limit == 0:
		page.Limit = 50
	}
	scope, where, err := o.scope.scope()
	if err != nil {
		return err
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	header, err := s.header(ctx, o.scope.where)
	if err != nil {
		return err
	}
	a, err := s.auditor(o.load(cmd, reconcile.Options{Scope: scope, Where: where}))
	if err != nil {
		return err
	}
	out := render.NewLocks(o.out, page)
	bar := o.newProgress()
	defer bar.done()
	worst := reconcile.SeverityNone
	report, err := a.Locks(ctx, progressOnly{bar}, func(h reconcile.HeldLock) {
		bar.clear()
		worst = max(worst, h.Severity)
		out.Lock(h)
	})
	bar.done()
	if err != nil {
		return errors.Join(err, out.Discard())
	}
	if err := out.Close(report, header); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	return o.filtered(a, lockOutcome(report, worst, least))
}

// lockOutcome is how a list of locks ends the command.
func lockOutcome(r reconcile.Report, worst, least reconcile.Severity) error {
	switch {
	case !r.Complete:
		return outcome(exitIncomplete)
	case least != reconcile.SeverityNone && worst >= least:
		return outcome(exitFindings)
	}
	return nil
}
