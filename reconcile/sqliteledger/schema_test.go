package sqliteledger_test

import (
	"context"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

func prepared(t *testing.T, s *store, source reconcile.Source) (reconcile.Lookup, error) {
	t.Helper()
	l, err := s.Open(reconciletest.Opening{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Prepare(context.Background(), []reconcile.Source{source})
}

func TestKindsOfTables(t *testing.T) {
	s := newStore(t)
	s.Exec(`CREATE TABLE bare (task_id TEXT PRIMARY KEY) WITHOUT ROWID;
		CREATE TABLE strict (task_id TEXT UNIQUE) STRICT;
		CREATE TABLE computed (payload TEXT, task_id TEXT AS (json_extract(payload, '$.id')) STORED UNIQUE);
		CREATE TABLE numbered (task_id INTEGER PRIMARY KEY);
		CREATE TABLE compound (task_id TEXT, n INT, PRIMARY KEY (task_id, n));
		CREATE TABLE "odd name" (task_id TEXT PRIMARY KEY);
		CREATE VIEW seen AS SELECT task_id FROM bare UNION ALL SELECT task_id FROM strict;
		INSERT INTO bare VALUES ('7'); INSERT INTO strict VALUES ('7'); INSERT INTO computed VALUES ('{"id":"7"}');
		INSERT INTO numbered VALUES (7); INSERT INTO compound VALUES ('7', 1); INSERT INTO "odd name" VALUES ('7')`)
	for table, want := range map[string]struct {
		unique reconcile.Uniqueness
		rows   int64
	}{
		"bare": {reconcile.UniqueYes, 1}, "strict": {reconcile.UniqueYes, 1}, "computed": {reconcile.UniqueYes, 1},
		"numbered": {reconcile.UniqueYes, 1}, "compound": {reconcile.UniquePrefix, 1}, `"odd name"`: {reconcile.UniqueYes, 1},
		"seen": {reconcile.UniqueUnknown, 2},
	} {
		k, err := prepared(t, s, reconcile.Source{Table: table})
		if err != nil {
			t.Errorf("%s: %v", table, err)
			continue
		}
		if f := k.Sources()[0]; f.Unique != want.unique || !f.Indexed {
			t.Errorf("%s: %+v", table, f)
		}
		rows, err := k.Read(context.Background(), []string{"7", "8"}, true)
		if err != nil || rows.Keys[0][0].Count != want.rows || rows.Keys[1][0].Count != 0 {
			t.Errorf("%s: %+v, %v", table, rows, err)
		}
	}
}

func TestViewsThatHideTheKeyAreRefused(t *testing.T) {
	s := newStore(t)
	s.Exec(`CREATE TABLE a (task_id TEXT PRIMARY KEY); CREATE TABLE b (task_id TEXT);
		CREATE VIEW upper_case AS SELECT upper(task_id) AS task_id FROM a;
		CREATE VIEW half AS SELECT task_id FROM a UNION ALL SELECT task_id FROM b`)
	for _, view := range []string{"upper_case", "half", "b"} {
		_, err := prepared(t, s, reconcile.Source{Table: view})
		failsAs(t, err, reconcile.LedgerNoIndex, view, "index")
	}
}

// TestEveryStoredFormOfAKeyIsFound: SQLite takes a text, its bytes and its number
// for three values, and a handler may have bound any.
func TestEveryStoredFormOfAKeyIsFound(t *testing.T) {
	s := newStore(t)
	s.Exec(`CREATE TABLE texts (n INTEGER PRIMARY KEY, task_id TEXT); CREATE INDEX t1 ON texts (task_id);
		CREATE TABLE anything (n INTEGER PRIMARY KEY, task_id); CREATE INDEX t2 ON anything (task_id);
		INSERT INTO texts (task_id) VALUES ('42'), (x'3432'), (42);
		INSERT INTO anything (task_id) VALUES ('42'), (x'3432'), (42), (42.0), ('042')`)
	for table, want := range map[string]int64{"texts": 3, "anything": 4} {
		k, err := prepared(t, s, reconcile.Source{Table: table})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := k.Read(context.Background(), []string{"42"}, false)
		if err != nil || rows.Keys[0][0].Count != want {
			t.Errorf("%s: %+v, %v, want %d rows", table, rows, err, want)
		}
	}
}
