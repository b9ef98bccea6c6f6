package pgledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
)

// uniqueIndex is a unique index as pg_index has it.
type uniqueIndex struct {
	name      string
	valid     bool
	keys      []int16 // attribute numbers of the key columns; 0 is an expression
	predicate string  // of a partial index, else ""
	def       string
}

// unique says whether the database stops a second row of one key, and why not.
func (l *Ledger) unique(ctx context.Context, tx pgx.Tx, s *source) (reconcile.Uniqueness, string, error) {
	if !s.relation.guarded() {
		return reconcile.UniqueUnknown, "", nil
	}
	var heirs bool
	err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhparent = $1)", s.relation.oid).Scan(&heirs)
	if err != nil {
		return reconcile.UniqueUnknown, "", err
	}
	if heirs && s.relation.kind == kindTable {
		return reconcile.UniqueNo, "other tables inherit from it, and a unique index does not reach them", nil
	}
	indexes, err := uniqueIndexes(ctx, tx, s.relation.oid)
	if err != nil {
		return reconcile.UniqueUnknown, "", err
	}
	verdict, reason := reconcile.UniqueNo, ""
	for _, x := range indexes {
		u, why, err := l.judgeIndex(ctx, tx, s, x)
		if err != nil {
			return reconcile.UniqueUnknown, "", err
		}
		if u == reconcile.UniqueYes {
			return u, "", nil
		}
		if u == reconcile.UniquePrefix || reason == "" {
			reason = why
		}
		if u == reconcile.UniquePrefix {
			verdict = u
		}
	}
	by, err := partitionedBy(ctx, tx, s)
	if err != nil {
		return reconcile.UniqueUnknown, "", err
	}
	switch {
	case by != "":
		return reconcile.UniqueNo, fmt.Sprintf("the table is partitioned by %s, and a unique index must hold what it is partitioned by", by), nil
	case reason == "":
		reason = "no unique index begins with " + sqltext.Display(s.key.name)
	}
	return verdict, reason, nil
}

func uniqueIndexes(ctx context.Context, tx pgx.Tx, table uint32) ([]uniqueIndex, error) {
	rows, err := tx.Query(ctx, `
		SELECT c.relname::text, i.indisvalid AND i.indisready AND i.indislive,
		       (string_to_array(i.indkey::text, ' ')::int2[])[1:i.indnkeyatts],
		       coalesce(pg_catalog.pg_get_expr(i.indpred, i.indrelid), ''), pg_catalog.pg_get_indexdef(i.indexrelid)
		FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
		WHERE i.indrelid = $1 AND i.indisunique
		ORDER BY i.indnkeyatts, c.relname`, table)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (uniqueIndex, error) {
		var x uniqueIndex
		err := row.Scan(&x.name, &x.valid, &x.keys, &x.predicate, &x.def)
		return x, err
	})
}

// judgeIndex says what one unique index guards. A reason is "" where the index
// has nothing to do with the key.
func (l *Ledger) judgeIndex(ctx context.Context, tx pgx.Tx, s *source, x uniqueIndex) (reconcile.Uniqueness, string, error) {
	name := "unique index " + sqltext.Display(x.name)
	switch {
	case x.keys[0] == 0 && strings.Contains(x.def, s.key.name):
		return reconcile.UniqueNo, name + " is on an expression", nil
	case x.keys[0] != s.key.number:
		return reconcile.UniqueNo, "", nil
	case !x.valid:
		return reconcile.UniqueNo, name + " is not valid: REINDEX INDEX CONCURRENTLY builds it again", nil
	}
	if x.predicate != "" {
		covered, err := l.covers(ctx, tx, s, x.predicate)
		if err != nil {
			return reconcile.UniqueUnknown, "", err
		}
		if !covered && s.when == "" {
			return reconcile.UniqueNo, name + " is partial: it covers only rows with " + x.predicate, nil
		}
		if !covered {
			return reconcile.UniqueNo, name + " is partial and does not cover when: it covers only rows with " + x.predicate, nil
		}
	}
	if len(x.keys) > 1 {
		return reconcile.UniquePrefix, name + " is over more columns than the key", nil
	}
	return reconcile.UniqueYes, "", nil
}

// covers says whether every row that passes the source's when is in a partial
// index: whether each of the index's conditions is one of the predicate's. Both
// are compared as the planner writes them, so that spelling does not matter.
func (l *Ledger) covers(ctx context.Context, tx pgx.Tx, s *source, predicate string) (bool, error) {
	index, err := conditions(ctx, tx, s, predicate)
	if err != nil {
		return false, err
	}
	given, err := conditions(ctx, tx, s, sqltext.Quote(s.key.name)+" IS NOT NULL")
	if err != nil {
		return false, err
	}
	if s.when != "" {
		passing, err := conditions(ctx, tx, s, s.when)
		if err != nil {
			return false, err
		}
		given = append(given, passing...)
	}
	for _, c := range index {
		if !slices.Contains(given, c) {
			return false, nil
		}
	}
	return true, nil
}

// conditions are the conditions of a predicate over the source's rows as the
// planner writes them in the filter of a sequential scan.
func conditions(ctx context.Context, tx pgx.Tx, s *source, predicate string) ([]string, error) {
	if err := steerPlanner(ctx, tx, sequential); err != nil {
		return nil, err
	}
	p, err := explain(ctx, tx, fmt.Sprintf("SELECT 1 FROM %s WHERE (%s)", s.relation.quoted(), predicate))
	if err != nil {
		return nil, err
	}
	var scan plan
	p.walk(func(node plan) {
		if scan == nil && node.text("Relation Name") != "" {
			scan = node
		}
	})
	if scan == nil {
		// The planner knows that no row passes, or there is no partition yet.
		return []string{predicate}, nil
	}
	return sqltext.Conjuncts(scan.text("Filter")), nil
}

// partitionedBy names the columns by which the table is partitioned, where they
// are not the key column alone, and "" otherwise.
func partitionedBy(ctx context.Context, tx pgx.Tx, s *source) (string, error) {
	if s.relation.kind != kindPartitioned {
		return "", nil
	}
	var def string
	var keyAlone bool
	err := tx.QueryRow(ctx, `
		SELECT pg_catalog.pg_get_partkeydef(partrelid), partnatts = 1 AND partattrs::text = $2::int2::text
		FROM pg_catalog.pg_partitioned_table WHERE partrelid = $1`, s.relation.oid, s.key.number).Scan(&def, &keyAlone)
	if err != nil || keyAlone {
		return "", err
	}
	return def, nil
}
