package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
)

func newJournalList(p *program) *cobra.Command {
	o := &journalReading{program: p}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the runs: when, who, what, why, and what came of them",
		Long: `list shows one run a command that changed something, the latest first: when,
by whom, with which command and reason, and how many items were done, refused
or failed, are unknown, or pending (there is no result), and, where the run was
cut short, how many of those planned it never began, and why. A run is complete
when it came to its end with every planned item, and all outcomes are known.

Exit codes: 0 done, 2 usage, 3 the journal cannot be read, 4 some of it is
damaged or missing: the warnings say what.`,
		Example: `  idemctl journal list
  idemctl journal list --from-ledger --limit 100 -o ndjson`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listRuns(cmd.Context(), o, cmd) },
	}
	o.add(cmd, "20 runs on a terminal, else all")
	return cmd
}

func listRuns(ctx context.Context, o *journalReading, cmd *cobra.Command) error {
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	if err := o.open(ctx, cmd); err != nil {
		return err
	}
	defer o.close()
	most := render.JournalLimit(o.page)
	runs, all, err := o.runs(ctx, most)
	if err != nil {
		return err
	}
	if err := render.WriteJournalRuns(o.out, o.page, o.source, runs, all); err != nil {
		return &writeError{err}
	}
	return o.ended()
}
