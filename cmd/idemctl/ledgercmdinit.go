package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/sqliteledger"
)

type ledgerInitOptions struct {
	*program
	journal, create bool
	change          changeFlags
}

func newLedgerInit(p *program) *cobra.Command {
	o := &ledgerInitOptions{program: p}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Print, or make, the tables that idemctl itself needs",
		Long: `init prints the SQL that makes a table; it connects to nothing. With --create it
asks, and runs it. A table that exists is left as it is.

--journal is the table that takes a copy of the journal: the one that journal:
in the configuration names, or ` + defaultJournalTable + ` in the only ledger.

Exit codes: 0 done, 2 usage, 3 the ledger cannot be reached or refuses.`,
		Example: `  idemctl ledger init --journal | psql "$DATABASE_URL"
  idemctl ledger init --journal --create --ledger sqlite:app.db`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd) },
	}
	f := cmd.Flags()
	ledgerFlag(cmd)
	f.BoolVar(&o.journal, "journal", false, "the table that takes a copy of the journal")
	f.BoolVar(&o.create, "create", false, "make the table instead of printing what makes it")
	f.BoolVarP(&o.change.yes, "yes", "y", false, "do not ask; without it and without a terminal nothing is made")
	return cmd
}

// ledgerFlag is for commands that ask ledgers and no Redis.
func ledgerFlag(cmd *cobra.Command) {
	cmd.Flags().StringArray("ledger", nil, "ledger `DSN` or NAME=DSN: postgres://…, sqlite:FILE; repeatable")
}

func (o *ledgerInitOptions) run(ctx context.Context, cmd *cobra.Command) error {
	set, err := o.settings(cmd)
	if err != nil {
		return err
	}
	if !o.journal {
		return &usageError{err: errors.New("nothing says which table"), hint: "idemctl ledger init --journal"}
	}
	ledger, table, err := journalPlace(set)
	if err != nil {
		return err
	}
	kind, err := journalKind(ledger)
	if err != nil {
		return err
	}
	if !o.create {
		return printJournalSchema(o.out, kind, table)
	}
	return o.make(ctx, set, ledger, kind, table)
}

// printJournalSchema writes statements for the database's own client.
func printJournalSchema(w io.Writer, kind, table string) error {
	schema := pgledger.JournalSchema
	if kind == kindSQLite {
		schema = sqliteledger.JournalSchema
	}
	statements, err := schema(table)
	if err != nil {
		return usagef("journal.table: %w", err)
	}
	var b strings.Builder
	for _, s := range statements {
		b.WriteString(s + ";\n")
	}
	if kind == kindPostgres {
		b.WriteString("-- who makes changes needs: GRANT SELECT, INSERT ON " + table + " TO …; who reads them: SELECT\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return &writeError{err}
	}
	return nil
}

func (o *ledgerInitOptions) make(ctx context.Context, set *config.Settings, ledger config.Ledger, kind, table string) error {
	if readOnly := set.Context.ReadOnly; readOnly.Value {
		return &usageError{
			err:  fmt.Errorf("context %q is read-only (%s)", set.Context.Name.Value, readOnly.Source),
			hint: "without --create it prints what makes the table; another --context may allow it",
		}
	}
	name, dsn := ledger.Name.Value, ledger.DSN.Value.Reveal()
	agreed, err := o.change.agree(ctx, o.program, &session{settings: set}, fmt.Sprintf("make table %s in ledger %s?", table, name))
	if err != nil || !agreed {
		return err
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	if kind == kindSQLite {
		err = sqliteledger.CreateJournal(ctx, sqliteledger.JournalOptions{Name: name, DSN: dsn, Table: table})
	} else {
		err = pgledger.CreateJournal(ctx, pgledger.JournalOptions{Name: name, DSN: dsn, Table: table})
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(o.out, "table %s of ledger %s is there and can be written\n", table, name); err != nil {
		return &writeError{err}
	}
	return nil
}
