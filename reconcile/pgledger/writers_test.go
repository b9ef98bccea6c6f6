package pgledger_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

func writers(t *testing.T, k reconcile.Lookup, before time.Time) reconcile.Writers {
	t.Helper()
	w, err := k.Writers(context.Background(), before)
	if err != nil {
		t.Fatal(err)
	}
	if (w.Count == 0) != w.Oldest.IsZero() {
		t.Errorf("writers: %+v", w)
	}
	return w
}

func clock(t *testing.T, l *pgledger.Ledger) time.Time {
	t.Helper()
	f, err := l.Facts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return f.Now
}

func TestWritersAreThoseThatHoldAWriteLock(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE marks (task_id text PRIMARY KEY, n int); CREATE TABLE other (task_id text PRIMARY KEY);
		INSERT INTO marks VALUES ('k', 0)`)
	l := open(t, pgledger.Options{DSN: db.DSN})
	k := prepare(t, l, marks)
	before := clock(t, l)
	s := db.Session()
	s.Exec("BEGIN")
	begun := clock(t, l)
	for _, c := range []struct {
		sql  string
		want int
	}{
		{"SELECT 1", 0},
		{"SELECT * FROM marks", 0},
		{"SELECT * FROM marks FOR UPDATE", 0},
		{"INSERT INTO other VALUES ('k')", 0},
		{"SAVEPOINT a", 0},
		{"INSERT INTO marks VALUES ('x')", 1},
		{"UPDATE marks SET n = 1", 1},
	} {
		s.Exec(c.sql)
		w := writers(t, k, begun)
		if !w.Visible || w.Count != c.want {
			t.Errorf("after %s: %+v, want %d", c.sql, w, c.want)
		}
		if c.want > 0 && (w.Oldest.Before(before) || w.Oldest.After(begun)) {
			t.Errorf("oldest writer began at %v, not between %v and %v", w.Oldest, before, begun)
		}
	}
	// One begun at or after the instant does not count.
	if w := writers(t, k, before); !w.Visible || w.Count != 0 {
		t.Errorf("writers before the transaction began: %+v", w)
	}
	second := db.Session()
	second.Exec("BEGIN; DELETE FROM marks WHERE task_id = 'none'")
	if w := writers(t, k, clock(t, l)); w.Count != 2 {
		t.Errorf("two writers: %+v", w)
	}
	s.Exec("COMMIT")
	second.Exec("ROLLBACK")
	if w := writers(t, k, clock(t, l)); !w.Visible || w.Count != 0 {
		t.Errorf("after the end of all: %+v", w)
	}
}

func TestPreparedTransactionsAreWriters(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE TABLE marks (task_id text PRIMARY KEY); CREATE TABLE other (task_id text PRIMARY KEY)")
	l := open(t, pgledger.Options{DSN: db.DSN})
	k := prepare(t, l, marks)
	early := clock(t, l)
	s := db.Session()
	s.Exec("BEGIN; INSERT INTO other VALUES ('k'); PREPARE TRANSACTION '" + db.Name + "_other'")
	if w := writers(t, k, clock(t, l)); !w.Visible || w.Count != 0 {
		t.Errorf("a prepared transaction on another table: %+v", w)
	}
	s.Exec("BEGIN; INSERT INTO marks VALUES ('k'); PREPARE TRANSACTION '" + db.Name + "_marks'")
	s.Close()
	// When it began is not known: it counts whatever the instant.
	for _, before := range []time.Time{early, clock(t, l)} {
		if w := writers(t, k, before); !w.Visible || w.Count != 1 {
			t.Errorf("a prepared transaction: %+v", w)
		}
	}
	db.Exec("ROLLBACK PREPARED '" + db.Name + "_marks'")
	db.Exec("COMMIT PREPARED '" + db.Name + "_other'")
	if w := writers(t, k, clock(t, l)); w.Count != 0 {
		t.Errorf("after its end: %+v", w)
	}
}

// TestWritersOfPartsAreWriters: of a partition, of an heir, of the table below a
// view.
func TestWritersOfPartsAreWriters(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE parted (task_id text PRIMARY KEY) PARTITION BY HASH (task_id);
		CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 1, REMAINDER 0);
		CREATE TABLE base (task_id text PRIMARY KEY); CREATE VIEW inner_view AS SELECT * FROM base;
		CREATE VIEW seen AS SELECT * FROM inner_view UNION ALL SELECT * FROM parted`)
	l := open(t, pgledger.Options{DSN: db.DSN})
	for table, statements := range map[string][]string{
		"parted": {"INSERT INTO parted VALUES ('k')", "INSERT INTO parted_0 VALUES ('k')"},
		"seen":   {"INSERT INTO base VALUES ('k')", "INSERT INTO parted VALUES ('k')", "INSERT INTO parted_0 VALUES ('k')"},
	} {
		k := prepare(t, l, reconcile.Source{Table: table})
		for _, sql := range statements {
			s := db.Session()
			s.Exec("BEGIN; " + sql)
			if w := writers(t, k, clock(t, l)); !w.Visible || w.Count != 1 {
				t.Errorf("%s after %s: %+v", table, sql, w)
			}
			s.Exec("ROLLBACK")
		}
	}
}

// TestHiddenWritersAreNotTakenForNone: without the right to see others'
// transactions, locks still show that there are some.
func TestHiddenWritersAreNotTakenForNone(t *testing.T) {
	db := reconciletest.Postgres(t)
	role := db.Role("reader", "")
	db.Exec("CREATE TABLE marks (task_id text PRIMARY KEY); GRANT SELECT ON marks TO " + role)
	l := open(t, pgledger.Options{DSN: db.As(role)})
	k := prepare(t, l, marks)
	if w := writers(t, k, clock(t, l)); !w.Visible || w.Count != 0 {
		t.Errorf("no writers: %+v", w)
	}
	s := db.Session()
	s.Exec("BEGIN; INSERT INTO marks VALUES ('k')")
	if w := writers(t, k, clock(t, l)); w.Visible {
		t.Errorf("a hidden writer: %+v", w)
	}
	db.Exec("GRANT pg_read_all_stats TO " + role)
	if w := writers(t, k, clock(t, l)); !w.Visible || w.Count != 1 {
		t.Errorf("a writer in sight: %+v", w)
	}
	s.Close()
}

func TestReadersOfManyKeysAreNoWriters(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE TABLE marks (task_id text PRIMARY KEY)")
	l := open(t, pgledger.Options{DSN: db.DSN})
	k := prepare(t, l, marks)
	done := make(chan error)
	go func() {
		for i := range 50 {
			if _, err := k.Read(context.Background(), []string{fmt.Sprint(i)}, false); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 20 {
		if w := writers(t, k, clock(t, l)); !w.Visible || w.Count != 0 {
			t.Errorf("writers: %+v", w)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
