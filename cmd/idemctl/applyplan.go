package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/planfile"
)

type applyOptions struct {
	*program
	output outputFlags
	change changeFlags
	pace   paceFlags
}

func newApply(p *program) *cobra.Command {
	o := &applyOptions{program: p}
	cmd := &cobra.Command{
		Use:   "apply PLAN",
		Short: "Apply a reviewed plan file of requeue or resolve",
		Long: `apply carries out a plan that requeue or resolve wrote with --plan-out,
perhaps for another person. A plan that has expired, was altered, or was made
on another Redis or with other ledgers is refused. Every item is judged again
right before it is moved, and left alone if its evidence has changed.

Exit codes: 0 done; 1 some were held, refused or failed, or a canary failed; 2
a plan that is refused, or usage; 3 a source cannot be read; 4 incomplete.`,
		Example: `  idemctl requeue -q payments --plan-out lost.json
  idemctl apply lost.json --canary 5`,
		Args: exactArgs("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), cmd, args[0]) },
	}
	connectionFlags(cmd)
	pageFlags(cmd)
	changeOutput(cmd, &o.output)
	o.change.addApply(cmd)
	o.pace.add(cmd)
	return cmd
}

func (o *applyOptions) run(ctx context.Context, cmd *cobra.Command, path string) error {
	if strings.Contains(path, "://") {
		return usagef("expected a plan file, not an address") // which may hold a password
	}
	file, err := planfile.Read(path)
	if err != nil {
		return err
	}
	plan, err := file.Plan()
	if err != nil {
		return &planfile.Error{Path: path, Err: err, Hint: "make a new plan"}
	}
	var how reconcile.Application
	ctx, l, err := o.join(ctx, cmd, &o.output, func() (options reconcile.Options, err error) {
		if file.Action == "resolve" {
			err = o.pace.deletes(cmd)
		}
		if err == nil {
			how, err = o.pace.application()
		}
		return options, err
	})
	if err != nil {
		return err
	}
	defer l.end()
	if err := o.change.allowed(l.session); err != nil {
		return err
	}
	identity, err := l.server(ctx)
	if err != nil {
		return err
	}
	now, err := l.queue.Now(ctx)
	if err != nil {
		return err
	}
	if err := file.Fits(path, now, identity, plannedLedgers(l)); err != nil {
		return err
	}
	// What the file says was true when it was made.
	if plan, err = l.auditor.Review(ctx, plan); err != nil {
		return err
	}
	o.change.reason = file.Options.ForceReason
	verb := map[string]string{"requeue": "run", "resolve": "delete"}[file.Action]
	m := &moving{
		program: o.program, look: l, change: &o.change, plan: &plan, how: how, verb: verb,
		command: commandWords(cmd, path), digest: file.Digest,
	}
	return m.carryOut(ctx)
}

// plannedLedgers are the configured ledgers as a plan names them.
func plannedLedgers(l *look) []planfile.Ledger {
	var out []planfile.Ledger
	for _, ledger := range l.header.Ledgers {
		out = append(out, planfile.Ledger{Name: ledger.Name, Kind: ledger.Facts.Kind, Server: ledger.Facts.Server})
	}
	return out
}
