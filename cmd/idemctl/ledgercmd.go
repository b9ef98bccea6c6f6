package main

import (
	"github.com/spf13/cobra"
)

func newLedger(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Look at the tables that hold marks and effects",
		Long: `ledger looks at the database side alone: the tables in which handlers write what
they did. It only reads, but for init --create.`,
		Example: "  idemctl ledger retention --ledger postgres://app@127.0.0.1/app",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLedgerInit(p), newLedgerRetention(p))
	return cmd
}
