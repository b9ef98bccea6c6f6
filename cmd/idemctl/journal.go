package main

import (
	"github.com/spf13/cobra"
)

func newJournal(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "Read back what was changed, when, by whom and why",
		Long: `journal reads the file in which every change is recorded: before it is made,
and what came of it. See docs/journal.md.`,
		Example: `  idemctl journal list
  idemctl journal show last`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newJournalList(p), newJournalShow(p))
	return cmd
}
