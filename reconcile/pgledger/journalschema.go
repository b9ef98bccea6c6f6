package pgledger

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// JournalSchema is the statements that make a table for the copies of journals.
// They change nothing where it exists.
func JournalSchema(table string) ([]string, error) {
	quoted, err := tableName(table)
	if err != nil {
		return nil, err
	}
	required := map[string]bool{"run": true, "seq": true, "kind": true, "at": true, "record": true}
	var b strings.Builder
	b.WriteString("CREATE TABLE IF NOT EXISTS " + quoted + " (\n")
	for _, c := range journal.RowColumns() {
		b.WriteString("    " + sqltext.Quote(c) + " " + columnType(c))
		if c == "run" {
			b.WriteString(` COLLATE "C"`)
		}
		if required[c] {
			b.WriteString(" NOT NULL")
		}
		b.WriteString(",\n")
	}
	b.WriteString("    PRIMARY KEY (run, seq)\n)")
	parts, err := sqltext.ParseName(table)
	if err != nil {
		return nil, err
	}
	spellings := parts[len(parts)-1].Spellings()
	index := sqltext.Quote(spellings[len(spellings)-1] + "_task")
	return []string{
		b.String(),
		"CREATE INDEX IF NOT EXISTS " + index + " ON " + quoted + " (task_id, queue) WHERE task_id IS NOT NULL",
	}, nil
}

// CreateJournal makes the table where it does not exist, and makes sure that it
// can be written.
func CreateJournal(ctx context.Context, o JournalOptions) error {
	statements, err := JournalSchema(o.Table)
	if err != nil {
		return err
	}
	t, err := connectJournal(ctx, o)
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }() // what was done is committed
	err = t.run(ctx, beginWriting, func(ctx context.Context, tx pgx.Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.Write(ctx, nil)
}
