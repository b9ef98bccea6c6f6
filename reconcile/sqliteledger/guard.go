package sqliteledger

import (
	"context"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
)

// bytecode compiles a statement without running it, and returns the collations
// it compares texts with.
func (l *Ledger) bytecode(ctx context.Context, sql string) (collations []string, err error) {
	rows, err := l.db.QueryContext(ctx, "EXPLAIN "+sql)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var op string
		var p4, ignored any
		if err := rows.Scan(&ignored, &op, &ignored, &ignored, &ignored, &p4, &ignored, &ignored); err != nil {
			return nil, err
		}
		if text, ok := p4.(string); ok && (op == "Eq" || op == "Ne") {
			collations = append(collations, text)
		}
	}
	return collations, rows.Err()
}

// checkCollation refuses a column that takes different texts for equal.
func (l *Ledger) checkCollation(ctx context.Context, s *source) error {
	// The unary plus keeps an index, whose collation may be another, out of it.
	used, err := l.bytecode(ctx, "SELECT 1 FROM "+s.relation.quoted()+" WHERE +"+sqltext.Quote(s.key.name)+" = 'key'")
	if err != nil {
		return err
	}
	for _, c := range used {
		if !strings.HasPrefix(c, "BINARY") {
			return l.errorf(reconcile.LedgerBadSource, s.relation.String(), "use a column whose collation is BINARY",
				"column %s: its collation takes different texts for equal", s.key.name)
		}
	}
	return nil
}

// index is an index as SQLite's pragmas describe it.
type index struct {
	name      string
	unique    bool
	origin    string // "pk" for that of a primary key
	partial   bool
	columns   []string // of the key; "" is an expression
	collation string   // of the first column
	predicate string   // of a partial index
}

func (l *Ledger) indexes(ctx context.Context, table string) ([]index, error) {
	rows, err := l.db.QueryContext(ctx, `
		SELECT i.name, i."unique", i.origin, i.partial, coalesce(c.name, ''), c.coll, coalesce(s.sql, '')
		FROM pragma_index_list(?1) AS i JOIN pragma_index_xinfo(i.name) AS c
		LEFT JOIN sqlite_schema AS s ON s.type = 'index' AND s.name = i.name
		WHERE c."key" = 1 ORDER BY i.name, c.seqno`, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []index
	for rows.Next() {
		var x index
		var column, definition string
		if err := rows.Scan(&x.name, &x.unique, &x.origin, &x.partial, &column, &x.collation, &definition); err != nil {
			return nil, err
		}
		if n := len(out); n > 0 && out[n-1].name == x.name {
			out[n-1].columns = append(out[n-1].columns, column)
			continue
		}
		x.columns = []string{column}
		if x.partial {
			x.predicate = sqltext.AfterWhere(definition)
		}
		out = append(out, x)
	}
	return out, rows.Err()
}

// inspect finds out what serves the source's lookups and what guards its rows.
func (l *Ledger) inspect(ctx context.Context, s *source) error {
	indexes, err := l.indexes(ctx, s.relation.name)
	if err != nil {
		return err
	}
	s.facts.Indexed = s.servedBy(indexes)
	if !s.facts.Indexed {
		if s.facts.Indexed, err = l.plannedByIndex(ctx, s); err != nil {
			return err
		}
	}
	if !s.facts.Indexed && !l.allowScan {
		column := sqltext.Display(s.key.name)
		hint := "CREATE INDEX " + sqltext.Display(s.relation.name+"_"+s.key.name) + " ON " + sqltext.Display(s.relation.name) + " (" + column + ")"
		if s.relation.view {
			hint = "create an index on the table the view takes " + column + " from"
		}
		return l.errorf(reconcile.LedgerNoIndex, s.relation.String(), hint+", or allow scans of this ledger",
			"no index serves a lookup by %s", column)
	}
	s.facts.Unique, s.facts.NotUnique = s.unique(indexes)
	return nil
}

// rowID says whether the key column is the table's row number, which is its own
// index (sqlite.org/lang_createtable.html#rowid).
func (s *source) rowID(indexes []index) bool {
	keys := 0
	for _, c := range s.relation.columns {
		if c.primary > 0 {
			keys++
		}
	}
	return keys == 1 && s.key.primary == 1 && strings.EqualFold(s.key.declared, "INTEGER") &&
		!slices.ContainsFunc(indexes, func(x index) bool { return x.origin == "pk" })
}

// servedBy says whether one of the table's whole indexes serves the lookup.
func (s *source) servedBy(indexes []index) bool {
	return s.rowID(indexes) || slices.ContainsFunc(indexes, func(x index) bool {
		return !x.partial && x.columns[0] == s.key.name && x.collation == "BINARY"
	})
}

// plannedByIndex asks the planner, for views and partial indexes.
func (l *Ledger) plannedByIndex(ctx context.Context, s *source) (bool, error) {
	rows, err := l.db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+s.statement(0), "[]", "[]")
	if err != nil {
		return false, err
	}
	defer rows.Close()
	scanned, searched := false, false
	for rows.Next() {
		var detail string
		var ignored any
		if err := rows.Scan(&ignored, &ignored, &ignored, &detail); err != nil {
			return false, err
		}
		switch {
		case strings.HasPrefix(detail, "SCAN json_each "):
		case strings.HasPrefix(detail, "SCAN "), strings.Contains(detail, " USING AUTOMATIC "), strings.Contains(detail, "(ANY("):
			scanned = true
		case strings.HasPrefix(detail, "SEARCH "):
			searched = true
		}
	}
	return searched && !scanned, rows.Err()
}

// unique says whether SQLite stops a second row of one key, and why not.
func (s *source) unique(indexes []index) (reconcile.Uniqueness, string) {
	if s.relation.view || s.relation.virtual {
		return reconcile.UniqueUnknown, ""
	}
	if s.rowID(indexes) {
		return reconcile.UniqueYes, ""
	}
	verdict, reason := reconcile.UniqueNo, ""
	for _, x := range indexes {
		u, why := s.judge(x)
		switch {
		case u == reconcile.UniqueYes:
			return u, ""
		case u == reconcile.UniquePrefix, reason == "":
			reason = why
		}
		if u == reconcile.UniquePrefix {
			verdict = u
		}
	}
	if reason == "" {
		reason = "no unique index begins with " + sqltext.Display(s.key.name)
	}
	return verdict, reason
}

// judge says what one index guards. A reason is "" where the index has nothing to
// do with the key.
func (s *source) judge(x index) (reconcile.Uniqueness, string) {
	name := "unique index " + sqltext.Display(x.name)
	switch {
	case !x.unique:
		return reconcile.UniqueNo, ""
	case x.columns[0] == "":
		return reconcile.UniqueNo, name + " is on an expression"
	case x.columns[0] != s.key.name:
		return reconcile.UniqueNo, ""
	case x.partial && !s.covers(x.predicate) && s.when == "":
		return reconcile.UniqueNo, name + " is partial: it covers only rows with " + x.predicate
	case x.partial && !s.covers(x.predicate):
		return reconcile.UniqueNo, name + " is partial and does not cover when: it covers only rows with " + x.predicate
	case len(x.columns) > 1:
		return reconcile.UniquePrefix, name + " is over more columns than the key"
	}
	return reconcile.UniqueYes, ""
}

// covers says whether each condition of a partial index is one of the
// predicate's, in the same words.
func (s *source) covers(predicate string) bool {
	given := []string{sqltext.Words(sqltext.Quote(s.key.name) + " IS NOT NULL")}
	for _, c := range sqltext.Conjuncts(s.when) {
		given = append(given, sqltext.Words(c))
	}
	for _, c := range sqltext.Conjuncts(predicate) {
		if !slices.Contains(given, sqltext.Words(c)) {
			return false
		}
	}
	return true
}
