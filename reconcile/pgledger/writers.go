package pgledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemctl/idemctl/reconcile"
)

// Every statement that inserts, updates or deletes takes a ROW EXCLUSIVE lock on
// the table, and its transaction keeps it to the end. pg_locks shows locks to
// everyone; the start of another role's transaction is shown only to members of
// pg_read_all_stats and to superusers.

// writersQuery counts, of the transactions with a write lock on the relations $1
// or on what is below them, those begun before $2, and those whose beginning is
// hidden. A prepared transaction tells when it was prepared, not when it began:
// every one counts.
const writersQuery = below + `,
locks AS (
	SELECT DISTINCT l.pid, l.virtualtransaction
	FROM pg_catalog.pg_locks l
	WHERE l.locktype = 'relation' AND l.relation IN (SELECT oid FROM below)
	  AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
	  AND l.mode IN ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
	  AND l.pid IS DISTINCT FROM pg_backend_pid()
),
open AS (
	SELECT a.xact_start AS start, false AS prepared,
	       a.xact_start IS NULL AND (a.state IS NULL OR a.state = 'disabled') AS hidden
	FROM locks JOIN pg_catalog.pg_stat_activity a ON a.pid = locks.pid
	UNION ALL
	SELECT to_timestamp(0), true, false
	FROM locks
	JOIN pg_catalog.pg_locks x ON x.virtualtransaction = locks.virtualtransaction AND x.pid IS NULL AND x.locktype = 'transactionid'
	JOIN pg_catalog.pg_prepared_xacts p ON p.transaction = x.transactionid
	WHERE locks.pid IS NULL
)
SELECT count(*) FILTER (WHERE start < $2 OR prepared), min(start) FILTER (WHERE start < $2 OR prepared),
       count(*) FILTER (WHERE hidden)
FROM open`

// Writers says which transactions of others may still write to the sources. A
// replica does not know them: its primary is asked, where it is known. A source
// on another server, or a transaction whose beginning the role may not see,
// leaves Visible false.
func (k *lookup) Writers(ctx context.Context, before time.Time) (reconcile.Writers, error) {
	var oids []uint32
	for i := range k.sources {
		oids = append(oids, k.sources[i].relation.oid)
	}
	w, recovering, err := k.ledger.writers(ctx, oids, before)
	if err != nil || !recovering || k.ledger.primary.dsn == "" {
		return w, err
	}
	primary, err := k.ledger.primaryLedger(ctx)
	if err != nil {
		return reconcile.Writers{}, err
	}
	w, _, err = primary.writers(ctx, oids, before)
	return w, err
}

func (l *Ledger) writers(ctx context.Context, oids []uint32, before time.Time) (w reconcile.Writers, recovering bool, err error) {
	err = l.view(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var foreign bool
		err := tx.QueryRow(ctx, below+`
			SELECT pg_is_in_recovery(), EXISTS (SELECT FROM below JOIN pg_catalog.pg_class c ON c.oid = below.oid WHERE c.relkind = 'f')`,
			oids).Scan(&recovering, &foreign)
		if err != nil || recovering || foreign {
			return err
		}
		var oldest *time.Time
		var hidden int
		if err := tx.QueryRow(ctx, writersQuery, oids, before).Scan(&w.Count, &oldest, &hidden); err != nil {
			return err
		}
		w.Visible = hidden == 0
		if oldest != nil {
			w.Oldest = oldest.UTC()
		}
		return nil
	})
	if err != nil {
		return reconcile.Writers{}, false, err
	}
	return w, recovering, nil
}
