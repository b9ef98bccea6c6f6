package sqliteledger

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
)

// relation is a table or view of the file.
type relation struct {
	name    string
	view    bool
	virtual bool
	columns []column
}

func (r *relation) quoted() string { return `main.` + sqltext.Quote(r.name) }

func (r *relation) String() string { return sqltext.Display("main", r.name) }

// column is a column of a relation.
type column struct {
	name     string
	declared string // its type as declared; "" when there is none
	primary  int    // its place in the primary key, from 1; 0 outside
}

// affinity is what SQLite makes of values stored in a column (sqlite.org/datatype3.html, 3.1).
type affinity uint8

const (
	affinityBlob affinity = iota // no conversion
	affinityText
	affinityInteger
	affinityNumeric
	affinityReal
)

func (c *column) affinity() affinity {
	t := strings.ToUpper(c.declared)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(t, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("INT"):
		return affinityInteger
	case has("CHAR", "CLOB", "TEXT"):
		return affinityText
	case t == "" || has("BLOB") || t == "ANY":
		return affinityBlob
	case has("REAL", "FLOA", "DOUB"):
		return affinityReal
	}
	return affinityNumeric
}

// resolveTable finds the table or view a name means. SQLite's names do not heed
// case, quoted or not.
func (l *Ledger) resolveTable(ctx context.Context, s reconcile.Source) (*relation, error) {
	parts, err := sqltext.ParseName(s.Table)
	if err != nil {
		return nil, l.errorf(reconcile.LedgerBadSource, s.Table, "", "%w", err)
	}
	if len(parts) > 2 || len(parts) == 2 && !strings.EqualFold(parts[0].Text, "main") {
		return nil, l.errorf(reconcile.LedgerBadSource, s.Table, "quote a name that holds a dot", "a file has one schema, main")
	}
	name := parts[len(parts)-1].Text
	r := &relation{}
	var kind string
	var text sql.NullString
	err = l.db.QueryRowContext(ctx, `SELECT name, type, sql FROM sqlite_schema
		WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE`, name).Scan(&r.name, &kind, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, l.missingTable(ctx, s, name)
	}
	if err != nil {
		return nil, err
	}
	r.view = kind == "view"
	r.virtual = strings.HasPrefix(strings.ToUpper(text.String), "CREATE VIRTUAL")
	r.columns, err = l.readColumns(ctx, r.name)
	return r, err
}

func (l *Ledger) readColumns(ctx context.Context, table string) ([]column, error) {
	rows, err := l.db.QueryContext(ctx, `SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1`, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []column
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.name, &c.declared, &c.primary); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

func (l *Ledger) missingTable(ctx context.Context, s reconcile.Source, name string) error {
	rows, err := l.db.QueryContext(ctx, `SELECT name FROM sqlite_schema
		WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name LIMIT 10000`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var t string
		if err := rows.Scan(&t); err != nil {
			return err
		}
		tables = append(tables, t)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	hint := ""
	if near := sqltext.Near(name, tables); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	} else if s.Role == reconcile.RoleMark {
		hint = createMark(s)
	}
	return l.errorf(reconcile.LedgerMissing, s.Table, hint, "the table does not exist")
}

// createMark is the statement that makes the table of a mark.
func createMark(s reconcile.Source) string {
	column, at := s.Column, s.At
	if column == "" {
		column = keyColumns[0]
	}
	if at == "" {
		at = timeColumns[0]
	}
	return "CREATE TABLE " + s.Table + " (" + column + " TEXT NOT NULL PRIMARY KEY, " + at + " TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)"
}

// keyColumns and timeColumns are looked for, in this order, where a source names
// no column.
var (
	keyColumns  = []string{"task_id", "key", "idempotency_key"}
	timeColumns = []string{"processed_at", "created_at"}
)

func (r *relation) find(name string) *column {
	for i := range r.columns {
		if strings.EqualFold(r.columns[i].name, name) {
			return &r.columns[i]
		}
	}
	return nil
}

// columnNamed finds the column an operator names; with no name, the first of the
// defaults, or nil.
func (l *Ledger) columnNamed(r *relation, name string, defaults []string) (*column, error) {
	if name == "" {
		for _, d := range defaults {
			if c := r.find(d); c != nil {
				return c, nil
			}
		}
		return nil, nil
	}
	parts, err := sqltext.ParseName(name)
	if err != nil {
		return nil, l.errorf(reconcile.LedgerBadSource, r.String(), "", "%w", err)
	}
	if len(parts) != 1 {
		return nil, l.errorf(reconcile.LedgerBadSource, r.String(), "quote a name that holds a dot", "column %q: a column's name has one part", name)
	}
	if c := r.find(parts[0].Text); c != nil {
		return c, nil
	}
	return nil, l.missingColumn(r, name)
}

func (l *Ledger) missingColumn(r *relation, name string) error {
	var names []string
	for _, c := range r.columns {
		names = append(names, c.name)
	}
	hint := "its columns are " + strings.Join(names, ", ")
	if near := sqltext.Near(name, names); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
	}
	return l.errorf(reconcile.LedgerMissing, r.String(), hint, "column %q does not exist", name)
}
