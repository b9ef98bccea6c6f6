package pgledger

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
)

// keyColumns and timeColumns are looked for, in this order, where a source names
// no column.
var (
	keyColumns  = []string{"task_id", "key", "idempotency_key"}
	timeColumns = []string{"processed_at", "created_at"}
)

// column is a column of a relation. Domains are read as what they are over.
type column struct {
	name          string
	number        int16
	typeOID       uint32
	modifier      int32  // the length limit of text types plus 4, else -1
	typeName      string // as the server writes it
	readable      bool
	deterministic bool // equality is equality of bytes
}

// Object identifiers of types (PostgreSQL src/include/catalog/pg_type.dat).
const (
	oidBytea       = 17
	oidInt8        = 20
	oidInt2        = 21
	oidInt4        = 23
	oidText        = 25
	oidBpchar      = 1042
	oidVarchar     = 1043
	oidDate        = 1082
	oidTimestamp   = 1114
	oidTimestamptz = 1184
	oidNumeric     = 1700
	oidUUID        = 2950
)

func readColumns(ctx context.Context, tx pgx.Tx, table uint32) ([]column, error) {
	rows, err := tx.Query(ctx, `
		WITH RECURSIVE base AS (
			SELECT a.attnum AS number, a.atttypid AS type, a.atttypmod AS modifier
			FROM pg_catalog.pg_attribute a WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped
			UNION ALL
			SELECT b.number, t.typbasetype, CASE WHEN b.modifier < 0 THEN t.typtypmod ELSE b.modifier END
			FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.type WHERE t.typtype = 'd'
		)
		SELECT a.attname::text, a.attnum, b.type, b.modifier,
		       pg_catalog.format_type(a.atttypid, a.atttypmod),
		       has_column_privilege($1, a.attnum, 'SELECT'), coalesce(c.collisdeterministic, true)
		FROM base b
		JOIN pg_catalog.pg_type t ON t.oid = b.type AND t.typtype <> 'd'
		JOIN pg_catalog.pg_attribute a ON a.attrelid = $1 AND a.attnum = b.number
		LEFT JOIN pg_catalog.pg_collation c ON c.oid = a.attcollation
		ORDER BY a.attnum`, table)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (column, error) {
		var c column
		err := row.Scan(&c.name, &c.number, &c.typeOID, &c.modifier, &c.typeName, &c.readable, &c.deterministic)
		return c, err
	})
}

// find looks a column up by a name as an operator writes it.
func (r *relation) find(name string) (*column, error) {
	parts, err := sqltext.ParseName(name)
	if err != nil {
		return nil, err
	}
	if len(parts) != 1 {
		return nil, fmt.Errorf("a column's name has one part: quote a name that holds a dot")
	}
	for _, spelling := range parts[0].Spellings() {
		if c := r.exactly(spelling); c != nil {
			return c, nil
		}
	}
	return nil, nil
}

func (r *relation) exactly(name string) *column {
	for i := range r.columns {
		if r.columns[i].name == name {
			return &r.columns[i]
		}
	}
	return nil
}

// columnNamed finds the column a source names and the role may read.
func (l *Ledger) columnNamed(r *relation, name string) (*column, error) {
	c, err := r.find(name)
	switch {
	case err != nil:
		return nil, l.errorf(reconcile.LedgerBadSource, r.String(), "", "%w", err)
	case c == nil:
		return nil, l.missingColumn(r, name)
	}
	return c, nil
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

// keyColumn is the column that holds the key: the one named, else the first of
// keyColumns the table has.
func (l *Ledger) keyColumn(r *relation, name string) (*column, error) {
	if name != "" {
		return l.columnNamed(r, name)
	}
	for _, candidate := range keyColumns {
		if c := r.exactly(candidate); c != nil {
			return c, nil
		}
	}
	return nil, l.missingColumn(r, strings.Join(keyColumns, ", "))
}

// timeColumn is the column with the rows' time: the one named, else, where the
// key column was not named either, the first of timeColumns that the table has
// and that holds an instant.
func (l *Ledger) timeColumn(r *relation, name string, byDefault bool) (*column, error) {
	if name != "" {
		c, err := l.columnNamed(r, name)
		if err != nil {
			return nil, err
		}
		if reason := notATime(c); reason != "" {
			return nil, l.errorf(reconcile.LedgerBadSource, r.String(),
				"leave the time out, or read it through a view that makes a timestamptz of it", "column %s: %s", c.name, reason)
		}
		return c, nil
	}
	if !byDefault {
		return nil, nil
	}
	for _, candidate := range timeColumns {
		if c := r.exactly(candidate); c != nil && notATime(c) == "" {
			return c, nil
		}
	}
	return nil, nil
}

// notATime says why a column cannot say when its row was written; "" when it can.
//
// A timestamp without time zone is read in the session's time zone, as the
// server itself does in a comparison with now(): the database's or role's
// default, or the one the DSN sets (timezone=UTC).
func notATime(c *column) string {
	switch c.typeOID {
	case oidTimestamptz, oidTimestamp:
		return ""
	case oidDate:
		return "a date has no time of day, and every row would look hours older than it is"
	case oidInt2, oidInt4, oidInt8, oidNumeric:
		return "a number does not say whether it counts seconds or milliseconds"
	}
	return fmt.Sprintf("type %s is not a point in time", c.typeName)
}

// fingerprintColumn is the column with the payload's hash, nil when the source
// names none.
func (l *Ledger) fingerprintColumn(r *relation, name string) (*column, error) {
	if name == "" {
		return nil, nil
	}
	c, err := l.columnNamed(r, name)
	if err != nil {
		return nil, err
	}
	switch c.typeOID {
	case oidText, oidVarchar, oidBpchar, oidBytea, oidUUID:
		return c, nil
	}
	return nil, l.errorf(reconcile.LedgerBadSource, r.String(), "a fingerprint is text in hexadecimal digits, bytea or, for md5, uuid",
		"column %s: type %s cannot hold a fingerprint", c.name, c.typeName)
}
