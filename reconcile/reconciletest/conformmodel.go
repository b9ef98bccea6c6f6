package reconciletest

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/reconcile"
)

// modelRow is a row of the model's table.
type modelRow struct {
	key, status string
	null        bool // the status is NULL
	at          time.Time
}

// testModel compares answers with a table held in memory, over random tables and
// batches in which present, absent, repeated and impossible keys are mixed.
func testModel(t *testing.T, b *bench) {
	b.exec("CREATE TABLE pay (n {int} PRIMARY KEY, task_id {text}, status {text}, at {time})")
	b.exec("CREATE INDEX pay_task ON pay (task_id)")
	k := b.prepare(
		reconcile.Source{Table: "pay", Column: "task_id", At: "at", When: "status = 'done'"},
		reconcile.Source{Table: "pay", Column: "task_id"},
	)
	pool := append([]string{"a", "A", "b", "c", "ä", "a ", "1", "01"}, hostileKeys[:12]...)
	rapid.Check(t, func(r *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) modelRow {
			return modelRow{
				key:    rapid.SampledFrom(pool).Draw(r, "key"),
				status: rapid.SampledFrom([]string{"done", "new"}).Draw(r, "status"),
				null:   rapid.IntRange(0, 4).Draw(r, "null") == 0,
				at:     monday.Add(time.Duration(rapid.IntRange(0, 1000).Draw(r, "at")) * time.Minute),
			}
		}), 0, 12).Draw(r, "rows")
		keys := rapid.SliceOfN(rapid.SampledFrom(append(pool, impossibleKeys[:4]...)), 0, 20).Draw(r, "keys")
		b.fill(rows)
		for i, got := range b.read(k, keys...) {
			for s, when := range []bool{true, false} {
				if want := model(rows, keys[i], when); !sameRow(got[s], want) {
					r.Fatalf("key %q, source %d: %+v, want %+v", keys[i], s, got[s], want)
				}
			}
		}
	})
}

func (b *bench) fill(rows []modelRow) {
	b.exec("DELETE FROM pay")
	for i, row := range rows {
		var status any = row.status
		if row.null {
			status = nil
		}
		b.exec("INSERT INTO pay VALUES ({1}, {2}, {3}, {4})", i, row.key, status, stamp(row.at))
	}
}

// model is what the rows say of a key: with when and times as the first source
// has them, or neither as the second.
func model(rows []modelRow, key string, first bool) (out reconcile.Row) {
	for _, row := range rows {
		if row.key != key {
			continue
		}
		out.Count++
		switch {
		case !first:
			out.Passing++
		case row.null || row.status != "done":
			if row.at.After(out.ClaimedAt) {
				out.ClaimedAt = row.at
			}
		default:
			out.Passing++
			if out.FirstAt.IsZero() || row.at.Before(out.FirstAt) {
				out.FirstAt = row.at
			}
			if row.at.After(out.LastAt) {
				out.LastAt = row.at
			}
		}
	}
	return out
}

func sameRow(a, b reconcile.Row) bool {
	return fmt.Sprint(a.Count, a.Passing, a.Fingerprint) == fmt.Sprint(b.Count, b.Passing, b.Fingerprint) &&
		a.FirstAt.Equal(b.FirstAt) && a.LastAt.Equal(b.LastAt) && a.ClaimedAt.Equal(b.ClaimedAt)
}
