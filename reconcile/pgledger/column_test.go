package pgledger_test

import (
	"context"
	"testing"
	"time"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

func TestDomainsAreReadAsWhatTheyAreOver(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE DOMAIN short AS varchar(3); CREATE DOMAIN shorter AS short CHECK (VALUE <> 'no'); CREATE DOMAIN ref AS uuid; CREATE DOMAIN "Small int" AS int2;
		CREATE TABLE a (task_id shorter PRIMARY KEY); CREATE TABLE b (task_id ref PRIMARY KEY); CREATE TABLE c (task_id "Small int" PRIMARY KEY);
		INSERT INTO a VALUES ('abc'); INSERT INTO b VALUES ('` + someUUID + `'); INSERT INTO c VALUES (7)`)
	l := open(t, pgledger.Options{DSN: db.DSN})
	for table, c := range map[string]struct{ holds, unfit string }{"a": {"abc", "abcd"}, "b": {someUUID, "abc"}, "c": {"7", "40000"}} {
		k := prepare(t, l, reconcile.Source{Table: table})
		if f := k.Sources()[0]; !f.Indexed || f.Unique != reconcile.UniqueYes {
			t.Errorf("table %s: %+v", table, f)
		}
		rows := read(t, k, false, c.holds, c.unfit)
		if rows.Keys[0][0].Count != 1 || rows.Keys[1][0].Count != 0 {
			t.Errorf("table %s: %+v", table, rows)
		}
		if _, problem := k.Fit(c.unfit); problem == "" {
			t.Errorf("table %s holds %s", table, c.unfit)
		}
	}
}

func TestColumnsThatBlurKeysAreRefused(t *testing.T) {
	db := reconciletest.Postgres(t)
	l := open(t, pgledger.Options{DSN: db.DSN})
	if db.Value("SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'") == "1" {
		db.Exec("CREATE EXTENSION citext; CREATE TABLE a (task_id citext PRIMARY KEY)")
		_, err := l.Prepare(context.Background(), []reconcile.Source{{Table: "a"}})
		failsAs(t, err, reconcile.LedgerBadSource, "citext", "different texts for equal", "uuid")
	}
	if db.Value("SELECT count(*) FROM pg_collation WHERE collname = 'und-x-icu'") == "1" {
		db.Exec(`CREATE COLLATION blurry (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
			CREATE TABLE b (task_id text COLLATE blurry PRIMARY KEY)`)
		_, err := l.Prepare(context.Background(), []reconcile.Source{{Table: "b"}})
		failsAs(t, err, reconcile.LedgerBadSource, "public.b", "task_id", "collation")
	}
	db.Exec("CREATE TABLE c (task_id numeric PRIMARY KEY)")
	_, err := l.Prepare(context.Background(), []reconcile.Source{{Table: "c"}})
	failsAs(t, err, reconcile.LedgerBadSource, "numeric", "1.00")
}

// TestOnlySomeIndexesServe: one that is on the column need not.
func TestOnlySomeIndexesServe(t *testing.T) {
	db := reconciletest.Postgres(t)
	l := open(t, pgledger.Options{DSN: db.DSN})
	for _, c := range []struct {
		indexes string
		serves  bool
	}{
		{"CREATE INDEX ON pay USING hash (task_id)", true},
		{"CREATE INDEX ON pay (task_id DESC) WHERE task_id IS NOT NULL", true},
		{"CREATE INDEX ON pay (task_id text_pattern_ops, n)", true},
		{"CREATE INDEX ON pay USING brin (task_id)", false},
		{"CREATE INDEX ON pay (task_id) WHERE n > 0", false},
		{`CREATE INDEX ON pay (task_id COLLATE "POSIX")`, false},
		// The planner reads the second from end to end where the first cannot serve.
		{`CREATE INDEX ON pay (task_id COLLATE "POSIX"); CREATE INDEX ON pay (n, task_id)`, false},
		{"CREATE INDEX ON pay ((task_id || '')); CREATE INDEX ON pay (n, task_id)", false},
	} {
		db.Exec(`DROP TABLE IF EXISTS pay; CREATE TABLE pay (task_id text COLLATE "C", n int)`)
		db.Exec(c.indexes)
		_, err := l.Prepare(context.Background(), []reconcile.Source{{Table: "pay"}})
		switch {
		case c.serves && err != nil:
			t.Errorf("%s does not serve: %v", c.indexes, err)
		case !c.serves && err == nil:
			t.Errorf("%s serves", c.indexes)
		case !c.serves:
			failsAs(t, err, reconcile.LedgerNoIndex)
		}
	}
}

func TestTimesNeedADayAndAnHour(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE a (task_id text PRIMARY KEY, day date, epoch bigint, note text, at timestamptz, local timestamp);
		CREATE TABLE b (task_id text PRIMARY KEY, created_at bigint)`)
	l := open(t, pgledger.Options{DSN: db.DSN})
	for column, word := range map[string]string{"day": "time of day", "epoch": "seconds or milliseconds", "note": "text"} {
		_, err := l.Prepare(context.Background(), []reconcile.Source{{Table: "a", Column: "task_id", At: column}})
		failsAs(t, err, reconcile.LedgerBadSource, column, word)
	}
	// What was not asked for is not an error.
	if f := prepare(t, l, reconcile.Source{Table: "b"}).Sources()[0]; f.At != "" {
		t.Errorf("time column %q", f.At)
	}
}

// TestLocalTimesFollowTheSession: a timestamp without time zone means what it
// means to the server.
func TestLocalTimesFollowTheSession(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE a (task_id text PRIMARY KEY, at timestamp);
		INSERT INTO a VALUES ('k', '2026-07-01 12:00:00'), ('end', 'infinity'), ('start', '-infinity')`)
	s := reconcile.Source{Table: "a", Column: "task_id", At: "at"}
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for zone, want := range map[string]time.Time{"UTC": noon, "America/New_York": noon.Add(4 * time.Hour)} {
		k := prepare(t, open(t, pgledger.Options{DSN: db.DSN + "&timezone=" + zone}), s)
		rows := read(t, k, false, "k", "end", "start")
		if got := rows.Keys[0][0].FirstAt; !got.Equal(want) {
			t.Errorf("%s: %v, want %v", zone, got, want)
		}
		for i := 1; i < 3; i++ {
			if r := rows.Keys[i][0]; r.Passing != 1 || !r.FirstAt.IsZero() || !r.LastAt.IsZero() {
				t.Errorf("an infinite time: %+v", r)
			}
		}
	}
	db.Exec("ALTER DATABASE " + db.Name + " SET timezone = 'America/New_York'")
	k := prepare(t, open(t, pgledger.Options{DSN: db.DSN}), s)
	if got := read(t, k, false, "k").Keys[0][0].FirstAt; !got.Equal(noon.Add(4 * time.Hour)) {
		t.Errorf("by the database's zone: %v", got)
	}
	ages, err := k.Oldest(context.Background())
	if err != nil || !ages[0].Oldest.IsZero() {
		t.Errorf("an infinitely old row: %+v, %v", ages, err)
	}
}

// TestOtherEncodingsHoldOnlyASCII: one key that the encoding lacks would fail its
// batch.
func TestOtherEncodingsHoldOnlyASCII(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE DATABASE " + db.Name + "_latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
	t.Cleanup(func() { db.Exec("DROP DATABASE " + db.Name + "_latin WITH (FORCE)") })
	dsn := db.Sibling(db.Name + "_latin")
	dsn.Exec("CREATE TABLE marks (task_id text PRIMARY KEY); INSERT INTO marks VALUES ('k')")
	k := prepare(t, open(t, pgledger.Options{DSN: dsn.DSN}), marks)
	rows := read(t, k, false, "k", "ключ", "é", "x")
	for i, want := range []int64{1, 0, 0, 0} {
		if rows.Keys[i][0].Count != want {
			t.Errorf("key %d: %+v", i, rows.Keys[i][0])
		}
	}
	if _, problem := k.Fit("ключ"); problem == "" {
		t.Error("a Latin database holds a Cyrillic key")
	}
}
