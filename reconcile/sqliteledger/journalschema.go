package sqliteledger

import (
	"context"
	"database/sql"
	"strings"

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
		kind := "TEXT"
		if c == "seq" {
			kind = "INTEGER"
		}
		b.WriteString("    " + sqltext.Quote(c) + " " + kind)
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
	name := parts[len(parts)-1].Text
	return []string{
		b.String(),
		"CREATE INDEX IF NOT EXISTS main." + sqltext.Quote(name+"_task") + " ON " + sqltext.Quote(name) +
			" (task_id, queue) WHERE task_id IS NOT NULL",
	}, nil
}

// CreateJournal makes the table where it does not exist, and makes sure that it
// can be written. The file must exist.
func CreateJournal(ctx context.Context, o JournalOptions) error {
	statements, err := JournalSchema(o.Table)
	if err != nil {
		return err
	}
	t, err := connectJournal(o)
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }() // what was done is committed
	err = t.within(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, s := range statements {
			if _, err := tx.ExecContext(ctx, s); err != nil {
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
