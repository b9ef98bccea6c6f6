package main

import (
	"github.com/spf13/cobra"
)

func newJournal(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "Read back what was changed, verify it, undo it, finish it",
		Long: `journal reads the file in which every change is recorded: before it is made,
and what came of it. See docs/journal.md.

verify says what became of a run since; restore puts back what it deleted;
resume settles and finishes what a killed run left open. The latter two change
things.`,
		Example: `  idemctl journal list
  idemctl journal show last`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newJournalList(p), newJournalShow(p), newJournalVerify(p), newJournalRestore(p), newJournalResume(p))
	return cmd
}
