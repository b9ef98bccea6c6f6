package pgledger

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// columnType is the SQL type of a journal's column. The record is of type json,
// which keeps the text as it is; jsonb would not, and takes no NUL, which messages
// of tasks are full of. Runs sort by their bytes, so that they sort by time.
func columnType(column string) string {
	switch column {
	case "seq":
		return "bigint"
	case "at":
		return "timestamptz"
	case "record":
		return "json"
	}
	return "text"
}

// insertStatement takes one array a column.
func insertStatement(table string) string {
	var columns, arrays, casts []string
	for i, c := range journal.RowColumns() {
		columns = append(columns, sqltext.Quote(c))
		kind := columnType(c)
		casts = append(casts, "r."+sqltext.Quote(c)+"::"+kind)
		if kind == "json" {
			kind = "text"
		}
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", i+1, kind))
	}
	names := strings.Join(columns, ", ")
	return "INSERT INTO " + table + " (" + names + ") SELECT " + strings.Join(casts, ", ") +
		" FROM unnest(" + strings.Join(arrays, ", ") + ") AS r (" + names + ") ON CONFLICT (run, seq) DO NOTHING"
}

// journalArrays are the rows, column by column.
func journalArrays(entries []journal.Entry) (runs []string, seqs []int64, records []string, all []any) {
	var items, operators, hosts, contexts, changes, queues, ids, outcomes []*string
	var kinds []string
	var times []time.Time
	for i := range entries {
		r := entries[i].Row()
		runs, seqs, records = append(runs, r.Run), append(seqs, r.Seq), append(records, r.Record)
		items, kinds, times = append(items, r.Item), append(kinds, r.Kind), append(times, r.At)
		operators, hosts, contexts = append(operators, r.Operator), append(hosts, r.Host), append(contexts, r.Context)
		changes, queues, ids = append(changes, r.Change), append(queues, r.Queue), append(ids, r.TaskID)
		outcomes = append(outcomes, r.Outcome)
	}
	return runs, seqs, records, []any{
		runs, seqs, items, kinds, times, operators, hosts, contexts, changes, queues, ids, outcomes, records,
	}
}

// Write adds the entries in one transaction.
func (t *JournalTable) Write(ctx context.Context, entries []journal.Entry) error {
	runs, seqs, records, all := journalArrays(entries)
	return t.run(ctx, beginWriting, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, t.insert, all...)
		if err != nil || done.RowsAffected() == int64(len(entries)) {
			return err
		}
		// Some were there: from a transaction whose answer was lost, or of another
		// journal.
		var same int
		err = tx.QueryRow(ctx, `
			SELECT count(*) FROM unnest($1::text[], $2::bigint[], $3::text[]) AS r (run, seq, record)
			JOIN `+t.table+` AS t ON t.run = r.run AND t.seq = r.seq AND t.record::text = r.record`,
			runs, seqs, records).Scan(&same)
		if err == nil && same != len(entries) {
			err = t.l.errorf(reconcile.LedgerFailed, t.shown, "", "%w", journal.ErrCopyDiffers)
		}
		return err
	})
}

// Has says whether the table holds a record.
func (t *JournalTable) Has(ctx context.Context, run string, seq uint64) (has bool, err error) {
	err = t.run(ctx, beginReading, func(ctx context.Context, tx pgx.Tx) error {
		return tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+t.table+" WHERE run = $1 AND seq = $2)",
			journal.SQLText(run), int64(seq)).Scan(&has)
	})
	return has, err
}

// Runs are the IDs of the runs in the table, of all journals, the latest first.
func (t *JournalTable) Runs(ctx context.Context) (ids []string, err error) {
	err = t.run(ctx, beginReading, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT DISTINCT run FROM `+t.table+` ORDER BY run DESC`)
		if err != nil {
			return err
		}
		ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return ids, err
}

// Records yields the records of one run in their order. A row that is not as it
// was written comes as an error in its place; any other error is the last.
func (t *JournalTable) Records(ctx context.Context, run string) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		stopped := false
		err := t.runOnce(ctx, beginReading, func(ctx context.Context, tx pgx.Tx) error {
			rows, err := tx.Query(ctx, "SELECT seq, record::text FROM "+t.table+" WHERE run = $1 ORDER BY seq", run)
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
