package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/reconcile/journal"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/sqliteledger"
)

// journalTable is the table in a ledger that takes the copies of journals.
type journalTable interface {
	journal.Copy
	// Runs are the IDs of all runs in it, the latest first; Records those of one.
	Runs(ctx context.Context) ([]string, error)
	Records(ctx context.Context, run string) iter.Seq2[journal.Record, error]
	Close() error
}

// journalAccess is what a table is opened for.
type journalAccess uint8

const (
	journalReader journalAccess = iota
	journalWriter
)

// defaultJournalTable is the name where none is configured.
const defaultJournalTable = "idemctl_journal"

// journalPlace is the ledger and table that the settings name for copies: those of
// journal:, or the only ledger and the usual name.
func journalPlace(set *config.Settings) (config.Ledger, string, error) {
	c := set.Context
	if c.Journal.Ledger.IsSet() {
		i := slices.IndexFunc(c.Ledgers, func(l config.Ledger) bool { return l.Name.Value == c.Journal.Ledger.Value })
		if i >= 0 {
			return c.Ledgers[i], c.Journal.Table.Value, nil
		}
		return config.Ledger{}, "", &usageError{
			err:  fmt.Errorf("no ledger is named %s (%s)", c.Journal.Ledger.Value, c.Journal.Ledger.Source),
			hint: "--ledger " + c.Journal.Ledger.Value + "=DSN",
		}
	}
	if len(c.Ledgers) == 1 {
		return c.Ledgers[0], defaultJournalTable, nil
	}
	return config.Ledger{}, "", &usageError{
		err:  fmt.Errorf("no ledger is named for the journal, and %d are configured", len(c.Ledgers)),
		hint: "write journal: {ledger: NAME, table: " + defaultJournalTable + "} into the configuration, or give one --ledger DSN",
	}
}

// openJournalTable opens the table that the settings name. The caller closes it.
func openJournalTable(ctx context.Context, set *config.Settings, access journalAccess) (journalTable, error) {
	ledger, table, err := journalPlace(set)
	if err != nil {
		return nil, err
	}
	name, dsn := ledger.Name.Value, ledger.DSN.Value.Reveal()
	kind, err := journalKind(ledger)
	if err != nil {
		return nil, err
	}
	if kind == kindSQLite {
		t, err := sqliteledger.OpenJournal(ctx, sqliteledger.JournalOptions{Name: name, DSN: dsn, Table: table, ReadOnly: access == journalReader})
		if err != nil {
			return nil, err
		}
		return t, nil
	}
	t, err := pgledger.OpenJournal(ctx, pgledger.JournalOptions{Name: name, DSN: dsn, Table: table, ReadOnly: access == journalReader})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// The kinds of ledgers, as their facts name them.
const (
	kindPostgres = "postgres"
	kindSQLite   = "sqlite"
)

func journalKind(l config.Ledger) (string, error) {
	switch scheme, _, _ := strings.Cut(l.DSN.Value.Reveal(), ":"); scheme {
	case "sqlite", "sqlite3":
		return kindSQLite, nil
	case "mysql", "mariadb":
		return "", &usageError{
			err:  fmt.Errorf("ledger %s (%s): MySQL cannot take a journal yet", l.Name.Value, l.DSN.Source),
			hint: "PostgreSQL (postgres://…) and SQLite (sqlite:FILE) can",
		}
	}
	return kindPostgres, nil
}
