package sqliteledger

import (
	"context"
	"database/sql"
	"iter"
	"strings"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// sortedTime is RFC 3339 in UTC with all its digits: as text, it sorts by time.
const sortedTime = "2006-01-02T15:04:05.000000000Z"

func (t *JournalTable) insert() string {
	var columns []string
	for _, c := range journal.RowColumns() {
		columns = append(columns, sqltext.Quote(c))
	}
	return "INSERT INTO " + t.table + " (" + strings.Join(columns, ", ") + ") VALUES (?" +
		strings.Repeat(", ?", len(columns)-1) + ") ON CONFLICT (run, seq) DO NOTHING"
}

// Write adds the entries in one transaction.
func (t *JournalTable) Write(ctx context.Context, entries []journal.Entry) error {
	return t.within(ctx, func(ctx context.Context, tx *sql.Tx) error {
		statement, err := tx.PrepareContext(ctx, t.insert())
		if err != nil {
			return err
		}
		defer statement.Close()
		for i := range entries {
			r := entries[i].Row()
			done, err := statement.ExecContext(ctx, r.Run, r.Seq, r.Item, r.Kind, r.At.Format(sortedTime),
				r.Operator, r.Host, r.Context, r.Change, r.Queue, r.TaskID, r.Outcome, r.Record)
			if err != nil {
				return err
			}
			if n, err := done.RowsAffected(); err != nil || n == 1 {
				if err != nil {
					return err
				}
				continue
			}
			if err := t.same(ctx, tx, &r); err != nil {
				return err
			}
		}
		return nil
	})
}

// same insists that a row that was there is the one to be written.
func (t *JournalTable) same(ctx context.Context, tx *sql.Tx, r *journal.Row) error {
	var record string
	err := tx.QueryRowContext(ctx, "SELECT record FROM "+t.table+" WHERE run = ? AND seq = ?", r.Run, r.Seq).Scan(&record)
	if err == nil && record != r.Record {
		err = t.l.errorf(reconcile.LedgerFailed, t.shown, "", "%w", journal.ErrCopyDiffers)
	}
	return err
}

// Has says whether the table holds a record.
func (t *JournalTable) Has(ctx context.Context, run string, seq uint64) (has bool, err error) {
	err = t.query(ctx, func(ctx context.Context) error {
		return t.l.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+t.table+" WHERE run = ? AND seq = ?)",
			journal.SQLText(run), int64(seq)).Scan(&has)
	})
	return has, err
}

// Runs are the IDs of the runs in the table, of all journals, the latest first.
func (t *JournalTable) Runs(ctx context.Context) (ids []string, err error) {
	err = t.query(ctx, func(ctx context.Context) error {
		rows, err := t.l.db.QueryContext(ctx, "SELECT DISTINCT run FROM "+t.table+" ORDER BY run DESC")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return rows.Err()
	})
	return ids, err
}

// Records yields the records of one run in their order. A row that is not as it
// was written comes as an error in its place; any other error is the last.
func (t *JournalTable) Records(ctx context.Context, run string) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		stopped := false
		err := t.query(ctx, func(ctx context.Context) error {
			rows, err := t.l.db.QueryContext(ctx, "SELECT seq, record FROM "+t.table+" WHERE run = ? ORDER BY seq", run)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() && !stopped {
				var seq int64
				var line string
				if err := rows.Scan(&seq, &line); err != nil {
					return err
				}
				rec, err := journal.ParseLine([]byte(line))
				if err != nil {
					err = &journal.DamagedRowError{Copy: t.String(), Run: run, Seq: seq, Err: err}
				}
				stopped = !yield(rec, err)
			}
			return rows.Err()
		})
		if err != nil && !stopped {
			yield(journal.Record{}, err)
		}
	}
}
