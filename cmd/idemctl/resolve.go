package main

import (
	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/reconcile"
)

func newResolve(p *program) *cobra.Command {
	o := &moveOptions{program: p, verb: "delete", plan: (*reconcile.Auditor).PlanResolve}
	cmd := &cobra.Command{
		Use:   "resolve",
		Short: "Remove archived tasks whose work is done: plan, confirm, journal",
		Long: `resolve deletes archived tasks whose effect is applied, which frees their IDs
and their locks. A lock is only released if it is the task's own; that of a
grouped task, which asynq leaves behind, goes as well.

It shows the plan, asks, and deletes, one atomic step a task; the whole task
is in the journal first, and idemctl journal restore puts it back, byte for
byte.

A task whose key can be used again is held if the row may be an earlier run's:
deleting it would lose work. What is held is let through one task at a time:
--queue Q --id ID --force-reason WHY.

Exit codes: 0 done, or nothing to do, or a plan alone; 1 some were held,
refused or failed; 2 usage; 3 a source cannot be read; 4 incomplete.`,
		Example: `  idemctl resolve -q payments --dry-run
  idemctl resolve --code effect/applied-archived -t 'payment:*'
  idemctl resolve --all --yes --count 120`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd) },
	}
	o.add(cmd)
	o.pace.addRate(cmd)
	return cmd
}
