package pgledger

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// inspect finds out what serves the source's lookups, what guards its rows, and
// whether they can be out of date.
func (l *Ledger) inspect(ctx context.Context, tx pgx.Tx, k *lookup, s *source) error {
	var err error
	if s.facts.Indexed, err = l.indexed(ctx, tx, s); err != nil {
		return err
	}
	if !s.facts.Indexed {
		if !l.allowScan {
			return l.noIndex(s)
		}
		k.scans = true
	}
	if s.facts.Unique, s.facts.NotUnique, err = l.unique(ctx, tx, s); err != nil {
		return err
	}
	stale, err := outOfDate(ctx, tx, s.relation.oid)
	k.stale = k.stale || stale
	return err
}

// below is a common table expression of the relations that rows of the relations
// $1 come from: themselves, their partitions and heirs, and what views select
// from.
const below = `WITH RECURSIVE below(oid) AS (
	SELECT unnest($1::oid[])
	UNION
	SELECT part.oid FROM below, LATERAL (
		SELECT inhrelid AS oid FROM pg_catalog.pg_inherits WHERE inhparent = below.oid
		UNION ALL
		SELECT d.refobjid FROM pg_catalog.pg_rewrite w
		JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
		     AND d.refclassid = 'pg_catalog.pg_class'::regclass
		WHERE w.ev_class = below.oid
	) AS part
)
`

// outOfDate says whether rows of the relation come from a place that need not
// have seen every commit: a materialized view, a foreign table (whose server may
// be a replica), or a table that logical replication fills.
func outOfDate(ctx context.Context, tx pgx.Tx, relation uint32) (bool, error) {
	var stale bool
	err := tx.QueryRow(ctx, below+`
		SELECT EXISTS (SELECT FROM below JOIN pg_catalog.pg_class c ON c.oid = below.oid WHERE c.relkind IN ('m', 'f'))
		    OR EXISTS (SELECT FROM below JOIN pg_catalog.pg_subscription_rel r ON r.srrelid = below.oid)`,
		[]uint32{relation}).Scan(&stale)
	return stale, err
}
