package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/reconcile"
)

type tasksOptions struct {
	*program
	scope  scopeFlags
	output outputFlags
}

func newTasks(p *program) *cobra.Command {
	o := &tasksOptions{program: p}
	cmd := &cobra.Command{
		Use:     "tasks",
		Aliases: []string{"task", "ls"},
		Short:   "List tasks in any state with key, effect status and cause",
		Long: `tasks lists tasks with what the ledger says of them now. Each was read once: on
a queue that moves, a line is true for the moment it was read. Use audit for
what is wrong, and explain for one task.`,
		Example: `  idemctl tasks -s archived
  idemctl tasks -q payments --where 'status == "not-applied"' -o name`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd) },
	}
	connectionFlags(cmd)
	loadFlags(cmd)
	o.scope.add(cmd)
	o.output.add(cmd, "all")
	return cmd
}

func (o *tasksOptions) run(ctx context.Context, cmd *cobra.Command) error {
	s, err := o.openBare(ctx, cmd)
	if err != nil {
		return err
	}
	defer s.close()
	page, err := o.output.options(o.program, s.settings)
	if err != nil {
		return err
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
	out := render.NewTasks(o.out, page)
	bar := o.newProgress()
	defer bar.done()
	a, err := s.auditor(o.load(cmd, reconcile.Options{
		Scope: scope, Where: where,
		OnJudged: func(j reconcile.Judged) {
			bar.clear()
			out.Judged(j)
		},
	}))
	if err != nil {
		return err
	}
	report, err := a.List(ctx, progressOnly{bar})
	bar.done()
	if err != nil {
		return errors.Join(err, out.Discard())
	}
	if err := out.Close(report, header); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	if !report.Complete {
		return outcome(exitIncomplete)
	}
	o.nothingRead(report)
	return o.filtered(a, nil)
}

// progressOnly minds no findings.
type progressOnly struct{ bar *progress }

func (progressOnly) Finding(reconcile.Finding)       {}
func (o progressOnly) Progress(p reconcile.Progress) { o.bar.show(p) }
