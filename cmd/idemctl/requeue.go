package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/reconcile"
)

type moveOptions struct {
	*program
	moveFlags
	verb string // what is done to the tasks, for the question
	plan func(a *reconcile.Auditor, ctx context.Context, o reconcile.Observer, m reconcile.Moves) (reconcile.Plan, reconcile.Report, error)
}

func newRequeue(p *program) *cobra.Command {
	o := &moveOptions{program: p, verb: "run", plan: (*reconcile.Auditor).PlanRequeue}
	cmd := &cobra.Command{
		Use:   "requeue",
		Short: "Run lost work again: plan, confirm, journal",
		Long: `requeue runs archived tasks again whose work was not done. It judges each as
audit does, and holds whatever nobody can vouch for, with the reason: work
that is done or half done, attempts that may still be writing, twins, types
that nothing protects from a second effect, deadlines that have passed.

It shows the plan, asks, and moves what is to run, one atomic step a task.
Each is judged once more right before it is moved, and written to the journal
before it is touched. A task keeps its ID, payload, headers and options.

What is held is let through one task at a time: --queue Q --id ID
--force-reason WHY. Between the last look and the worker's start a producer
can still enqueue the same work: only the handler's own unique index stops
that, which is why types without one are held (--accept-unprotected TYPE).

Exit codes: 0 done, or nothing to do, or a plan alone; 1 some were held,
refused or failed, or a canary failed; 2 usage; 3 a source cannot be read; 4
incomplete.`,
		Example: `  idemctl requeue -q payments --dry-run
  idemctl requeue --code effect/lost -t 'payment:*' --canary 5 --rate 50/s
  idemctl requeue -q payments --plan-out lost.json && idemctl apply lost.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd) },
	}
	o.add(cmd)
	o.addRunning(cmd)
	o.pace.add(cmd)
	return cmd
}

func (o *moveOptions) run(ctx context.Context, cmd *cobra.Command) error {
	o.expirySet = cmd.Flags().Changed("plan-expiry")
	var moves reconcile.Moves
	var how reconcile.Application
	ctx, l, err := o.join(ctx, cmd, &o.output, func() (options reconcile.Options, err error) {
		if f := cmd.Flags().Lookup("attempts"); f != nil { // resolve gives none
			o.attemptsSet = wasSet(f)
		}
		if options, moves, err = o.moves(); err == nil {
			how, err = o.pace.application()
		}
		return options, err
	})
	if err != nil {
		return err
	}
	defer l.end()
	if o.planOut == "" {
		if err := o.change.allowed(l.session); err != nil {
			return err
		}
	}
	bar := o.newProgress()
	plan, report, err := o.plan(l.auditor, ctx, progressOnly{bar}, moves)
	bar.done()
	if err != nil {
		return err
	}
	if !report.Complete {
		return &brokenOff{fmt.Errorf("nothing was planned: not all could be read (%w)", report.Problem)}
	}
	o.missing(o.program, &plan)
	o.change.reason = o.force
	m := &moving{
		program: o.program, look: l, change: &o.change, plan: &plan, how: how, verb: o.verb,
		command: commandWords(cmd), counted: o.change.all, count: o.count,
	}
	if o.planOut != "" {
		err = m.writePlan(ctx, o.planOut, o.planExpiry)
	} else {
		err = m.carryOut(ctx)
	}
	return partly(l.auditor, err)
}
