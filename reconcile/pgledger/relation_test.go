package pgledger_test

import (
	"context"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

func TestTablesAreFoundAlongTheSearchPath(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE SCHEMA "App"; CREATE SCHEMA app;
		CREATE TABLE "App".marks (task_id text PRIMARY KEY); CREATE TABLE app.marks (task_id text PRIMARY KEY);
		CREATE TABLE app."Marks" (task_id text PRIMARY KEY); CREATE TABLE public.only_here (task_id text PRIMARY KEY)`)
	l := open(t, pgledger.Options{DSN: db.DSN + "&search_path=app,public"})
	for name, want := range map[string]string{
		"marks": "app.marks", "MARKS": "app.marks", "Marks": `app."Marks"`, `"Marks"`: `app."Marks"`,
		"App.marks": `"App".marks`, "APP.marks": "app.marks", "App.MARKS": `"App".marks`, "only_here": "public.only_here",
	} {
		if got := prepare(t, l, reconcile.Source{Table: name}).Sources()[0].Table; got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	_, err := l.Prepare(context.Background(), []reconcile.Source{{Table: `"MARKS"`}})
	failsAs(t, err, reconcile.LedgerMissing, "search path", "app,public", `app."Marks"`)
}

func TestPartitionedTables(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`
		CREATE TABLE by_time (task_id text, created_at timestamptz, PRIMARY KEY (task_id, created_at)) PARTITION BY RANGE (created_at);
		CREATE TABLE by_time_1 PARTITION OF by_time FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
		CREATE TABLE by_time_2 PARTITION OF by_time FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
		INSERT INTO by_time VALUES ('k', '2026-01-05'), ('k', '2026-02-05'), ('m', '2026-02-06');
		CREATE TABLE by_key (task_id uuid PRIMARY KEY) PARTITION BY HASH (task_id);
		CREATE TABLE by_key_0 PARTITION OF by_key FOR VALUES WITH (MODULUS 3, REMAINDER 0);
		CREATE TABLE by_key_1 PARTITION OF by_key FOR VALUES WITH (MODULUS 3, REMAINDER 1);
		CREATE TABLE by_key_2 PARTITION OF by_key FOR VALUES WITH (MODULUS 3, REMAINDER 2);
		CREATE TABLE patchy (task_id text, n int) PARTITION BY LIST (n);
		CREATE TABLE patchy_1 PARTITION OF patchy FOR VALUES IN (1); CREATE INDEX ON patchy_1 (task_id);
		CREATE TABLE patchy_2 PARTITION OF patchy FOR VALUES IN (2)`)
	l := open(t, pgledger.Options{DSN: db.DSN})
	k := prepare(t, l, reconcile.Source{Table: "by_time"})
	f := k.Sources()[0]
	if !f.Partitioned || !f.Indexed || f.View || f.Unique != reconcile.UniqueNo || !strings.Contains(f.NotUnique, "RANGE (created_at)") {
		t.Errorf("by time: %+v", f)
	}
	rows := read(t, k, false, "k", "m", "x")
	for i, want := range []int64{2, 1, 0} {
		if rows.Keys[i][0].Count != want {
			t.Errorf("by time, key %d: %+v", i, rows.Keys[i][0])
		}
	}
	ages, err := k.Oldest(context.Background())
	if err != nil || ages[0].Oldest.UTC().Format("2006-01-02") != "2026-01-05" {
		t.Errorf("oldest row: %+v, %v", ages, err)
	}
	f = prepare(t, l, reconcile.Source{Table: "by_key"}).Sources()[0]
	if !f.Partitioned || !f.Indexed || f.Unique != reconcile.UniqueYes {
		t.Errorf("by key: %+v", f)
	}
	_, err = l.Prepare(context.Background(), []reconcile.Source{{Table: "patchy"}})
	failsAs(t, err, reconcile.LedgerNoIndex, "public.patchy", "every partition", "CREATE INDEX ON public.patchy (task_id)")
	db.Exec("CREATE INDEX ON patchy_2 (task_id)")
	if f := prepare(t, l, reconcile.Source{Table: "patchy"}).Sources()[0]; !f.Indexed {
		t.Errorf("an index in every partition does not serve: %+v", f)
	}
}

func TestInheritedTablesCountAsOne(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE parent (task_id text PRIMARY KEY); CREATE TABLE child () INHERITS (parent);
		INSERT INTO parent VALUES ('k'); INSERT INTO child VALUES ('k'), ('c')`)
	l := open(t, pgledger.Options{DSN: db.DSN})
	_, err := l.Prepare(context.Background(), []reconcile.Source{{Table: "parent"}})
	failsAs(t, err, reconcile.LedgerNoIndex)
	db.Exec("CREATE UNIQUE INDEX ON child (task_id)")
	k := prepare(t, l, reconcile.Source{Table: "parent"})
	if f := k.Sources()[0]; f.Unique != reconcile.UniqueNo || !strings.Contains(f.NotUnique, "inherit") {
		t.Errorf("facts: %+v", f)
	}
	if rows := read(t, k, false, "k", "c"); rows.Keys[0][0].Count != 2 || rows.Keys[1][0].Count != 1 {
		t.Errorf("rows: %+v", rows)
	}
}

func TestViewsAreServedByTheirTables(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE old (task_id text PRIMARY KEY, n int); CREATE TABLE new (task_id text PRIMARY KEY, n int);
		CREATE TABLE small (n int);
		INSERT INTO old VALUES ('o', 1), ('b', 1); INSERT INTO new VALUES ('n', 1), ('b', 1); INSERT INTO small VALUES (1);
		CREATE VIEW one AS SELECT task_id FROM old WHERE n > 0;
		CREATE VIEW pair AS SELECT task_id FROM old UNION ALL SELECT task_id FROM new;
		CREATE VIEW nested AS SELECT * FROM pair;
		CREATE VIEW joined AS SELECT task_id FROM old JOIN small USING (n);
		CREATE VIEW distinct_ones AS SELECT DISTINCT ON (n) task_id FROM old ORDER BY n;
		CREATE VIEW casted AS SELECT task_id::varchar(40)::text || '' AS task_id FROM old`)
	l := open(t, pgledger.Options{DSN: db.DSN})
	for view, want := range map[string][3]int64{"one": {1, 0, 1}, "pair": {1, 1, 2}, "nested": {1, 1, 2}, "joined": {1, 0, 1}} {
		k := prepare(t, l, reconcile.Source{Table: view})
		if f := k.Sources()[0]; !f.View || !f.Indexed || f.Unique != reconcile.UniqueUnknown || f.NotUnique != "" {
			t.Errorf("view %s: %+v", view, f)
		}
		rows := read(t, k, false, "o", "n", "b")
		for i, n := range want {
			if rows.Keys[i][0].Count != n {
				t.Errorf("view %s, key %d: %+v, want %d", view, i, rows.Keys[i][0], n)
			}
		}
		if rows.Lagging {
			t.Errorf("view %s lags", view)
		}
	}
	for _, view := range []string{"distinct_ones", "casted"} {
		_, err := l.Prepare(context.Background(), []reconcile.Source{{Table: view}})
		failsAs(t, err, reconcile.LedgerNoIndex, "public."+view, "view")
	}
}

// TestCopiesProveNoAbsence: a row that was committed need not be in them yet.
func TestCopiesProveNoAbsence(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE marks (task_id text PRIMARY KEY);
		CREATE MATERIALIZED VIEW copy AS SELECT * FROM marks; CREATE UNIQUE INDEX ON copy (task_id);
		CREATE VIEW seen AS SELECT * FROM copy`)
	l := open(t, pgledger.Options{DSN: db.DSN})
	for _, table := range []string{"copy", "seen"} {
		k := prepare(t, l, reconcile.Source{Table: table})
		if f := k.Sources()[0]; !f.View || f.Unique != reconcile.UniqueUnknown {
			t.Errorf("%s: %+v", table, f)
		}
		if rows := read(t, k, false, "k"); !rows.Lagging {
			t.Errorf("an absence in %s counts", table)
		}
	}
	// One such source spoils the statement for all.
	if rows := read(t, prepare(t, l, marks, reconcile.Source{Table: "copy"}), false, "k"); !rows.Lagging {
		t.Error("an absence beside a copy counts")
	}
	if rows := read(t, prepare(t, l, marks), false, "k"); rows.Lagging {
		t.Error("an absence in the table itself does not count")
	}
}

func TestForeignTablesProveNothing(t *testing.T) {
	db := reconciletest.Postgres(t)
	if db.Value("SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") == "0" {
		t.Skip("the server has no postgres_fdw: install the package postgresql-contrib") //nolint:forbidigo // an extension that some servers lack
	}
	db.Exec(`CREATE TABLE marks (task_id text PRIMARY KEY); INSERT INTO marks VALUES ('k');
		CREATE EXTENSION postgres_fdw;
		CREATE SERVER self FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '` + db.Value("SELECT current_setting('port')") + `', dbname '` + db.Name + `');
		CREATE USER MAPPING FOR postgres SERVER self OPTIONS (user 'postgres', password_required 'false');
		CREATE FOREIGN TABLE far (task_id text) SERVER self OPTIONS (table_name 'marks')`)
	_, err := open(t, pgledger.Options{DSN: db.DSN}).Prepare(context.Background(), []reconcile.Source{{Table: "far"}})
	failsAs(t, err, reconcile.LedgerNoIndex, "public.far", "foreign")
	k := prepare(t, open(t, pgledger.Options{DSN: db.DSN, AllowScan: true}), reconcile.Source{Table: "far"})
	if f := k.Sources()[0]; f.Indexed || f.Unique != reconcile.UniqueUnknown {
		t.Errorf("facts: %+v", f)
	}
	rows := read(t, k, false, "k", "x")
	if rows.Keys[0][0].Count != 1 || rows.Keys[1][0].Count != 0 || !rows.Lagging {
		t.Errorf("rows: %+v", rows)
	}
	w, err := k.Writers(context.Background(), rows.At)
	if err != nil || w.Visible {
		t.Errorf("writers of another server are visible: %+v, %v", w, err)
	}
}

// TestSubscribersProveNoAbsence: what logical replication fills lags behind its
// publisher, and the server is no replica.
func TestSubscribersProveNoAbsence(t *testing.T) {
	publisher, subscriber := reconciletest.Postgres(t), reconciletest.Postgres(t)
	const table = "CREATE TABLE marks (task_id text PRIMARY KEY)"
	publisher.Exec(table)
	publisher.Exec("CREATE PUBLICATION p FOR TABLE marks")
	publisher.Exec("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", publisher.Name)
	subscriber.Exec(table)
	subscriber.Exec("CREATE TABLE own (task_id text PRIMARY KEY)")
	subscriber.Exec("CREATE SUBSCRIPTION s CONNECTION '" + publisher.DSN + "' PUBLICATION p WITH (create_slot = false, slot_name = '" + publisher.Name + "')")
	t.Cleanup(func() {
		subscriber.Exec("ALTER SUBSCRIPTION s DISABLE")
		subscriber.Exec("ALTER SUBSCRIPTION s SET (slot_name = NONE)")
		subscriber.Exec("DROP SUBSCRIPTION s")
		publisher.Exec("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = $1 AND active", publisher.Name)
		publisher.Exec("DO $$ BEGIN FOR i IN 1..1000 LOOP EXIT WHEN NOT (SELECT active FROM pg_replication_slots WHERE slot_name = current_database()); PERFORM pg_sleep(0.01); END LOOP; END $$")
		publisher.Exec("SELECT pg_drop_replication_slot($1)", publisher.Name)
	})
	l := open(t, pgledger.Options{DSN: subscriber.DSN})
	if rows := read(t, prepare(t, l, marks), false, "k"); !rows.Lagging {
		t.Error("an absence on a subscriber counts")
	}
	if rows := read(t, prepare(t, l, reconcile.Source{Table: "own"}), false, "k"); rows.Lagging {
		t.Error("an absence in the subscriber's own table does not count")
	}
}
