package pgledger

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
)

// relation is a table or view of the catalog.
type relation struct {
	oid          uint32
	schema, name string
	kind         byte // pg_class.relkind: r, p, v, m or f
	usable       bool // the role may use the schema
	hidden       bool // row security applies to the role
	columns      []column
}

const (
	kindTable       = 'r'
	kindPartitioned = 'p'
	kindView        = 'v'
	kindMatview     = 'm'
	kindForeign     = 'f'
)

func (r *relation) String() string { return sqltext.Display(r.schema, r.name) }

// quoted is the relation's name for a statement.
func (r *relation) quoted() string { return sqltext.Quote(r.schema) + "." + sqltext.Quote(r.name) }

// guarded says whether an index of the relation itself can stop a second row.
func (r *relation) guarded() bool { return r.kind == kindTable || r.kind == kindPartitioned }

// resolveTable finds the relation an operator's name means.
func (l *Ledger) resolveTable(ctx context.Context, tx pgx.Tx, s reconcile.Source) (*relation, error) {
	parts, err := sqltext.ParseName(s.Table)
	if err != nil {
		return nil, l.errorf(reconcile.LedgerBadSource, s.Table, "", "%w", err)
	}
	if len(parts) > 2 {
		return nil, l.errorf(reconcile.LedgerBadSource, s.Table, "name the database in the DSN, or quote a name that holds a dot",
			"a table's name has a schema and a name at most")
	}
	names := parts[len(parts)-1].Spellings()
	var schemas []string
	if len(parts) == 2 {
		schemas = parts[0].Spellings()
	}
	r, err := findRelation(ctx, tx, schemas, names)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, l.missingTable(ctx, tx, s, names[len(names)-1])
	}
	if err := l.mayUse(ctx, tx, r); err != nil {
		return nil, err
	}
	r.columns, err = readColumns(ctx, tx, r.oid)
	return r, err
}

// findRelation looks for the names in the schemas, or along the search path when
// there are none: the first spelling everywhere, then the next one.
func findRelation(ctx context.Context, tx pgx.Tx, schemas, names []string) (*relation, error) {
	var r relation
	var kind string
	err := tx.QueryRow(ctx, `
		SELECT c.oid, n.nspname::text, c.relname::text, c.relkind::text,
		       has_schema_privilege(n.oid, 'USAGE'), row_security_active(c.oid)
		FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace,
		LATERAL (SELECT coalesce($1::text[], current_schemas(false)::text[]) AS schemas) p
		WHERE c.relname = ANY($2::text[]) AND n.nspname = ANY(p.schemas) AND c.relkind IN ('r','p','v','m','f')
		ORDER BY array_position($2::text[], c.relname::text), array_position(p.schemas, n.nspname::text)
		LIMIT 1`, schemas, names).
		Scan(&r.oid, &r.schema, &r.name, &kind, &r.usable, &r.hidden)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.kind = kind[0]
	return &r, nil
}

// mayUse refuses relations whose rows the role cannot see, or not all of them.
func (l *Ledger) mayUse(ctx context.Context, tx pgx.Tx, r *relation) error {
	if r.usable && !r.hidden {
		return nil
	}
	role, err := currentRole(ctx, tx)
	if err != nil {
		return err
	}
	if !r.usable {
		return l.errorf(reconcile.LedgerDenied, r.String(),
			fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s; GRANT SELECT ON %s TO %s",
				sqltext.Display(r.schema), role, r, role),
			"role %s may not use schema %s", role, sqltext.Display(r.schema))
	}
	return l.errorf(reconcile.LedgerDenied, r.String(),
		"use a role that sees every row: ALTER ROLE "+role+" BYPASSRLS",
		"row security hides rows from role %s, and a hidden row would look as if it were not there", role)
}

func currentRole(ctx context.Context, tx pgx.Tx) (string, error) {
	var role string
	err := tx.QueryRow(ctx, "SELECT current_user::text").Scan(&role)
	return sqltext.Display(role), err
}

// missingTable says which tables may have been meant, or how to make one.
func (l *Ledger) missingTable(ctx context.Context, tx pgx.Tx, s reconcile.Source, name string) error {
	var path string
	var tables []string
	rows, err := tx.Query(ctx, `
		SELECT current_setting('search_path'), n.nspname::text, c.relname::text
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r','p','v','m','f') AND NOT c.relispartition
		  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_toast%'
		ORDER BY 2, 3 LIMIT 10000`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var schema, table string
		if err := rows.Scan(&path, &schema, &table); err != nil {
			return err
		}
		tables = append(tables, sqltext.Display(schema, table))
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
	where := ""
	if path != "" && !strings.Contains(s.Table, ".") {
		where = " on the search path (" + path + ")"
	}
	return l.errorf(reconcile.LedgerMissing, s.Table, hint, "the table does not exist%s", where)
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
	return fmt.Sprintf("CREATE TABLE %s (%s text PRIMARY KEY, %s timestamptz NOT NULL DEFAULT now())", s.Table, column, at)
}
