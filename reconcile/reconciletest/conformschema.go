package reconciletest

import (
	"testing"

	"github.com/idemctl/idemctl/reconcile"
)

func testDefaults(t *testing.T, b *bench) {
	for _, c := range []struct{ table, columns, column, at string }{
		{"d1", "created_at {time}, processed_at {time}, key {text}, task_id {text} PRIMARY KEY", "task_id", "processed_at"},
		{"d2", "created_at {time}, idempotency_key {text}, key {text} PRIMARY KEY", "key", "created_at"},
		{"d3", "idempotency_key {text} PRIMARY KEY", "idempotency_key", ""},
	} {
		b.exec("CREATE TABLE " + c.table + " (" + c.columns + ")")
		f := b.prepare(reconcile.Source{Table: c.table}).Sources()[0]
		if f.Column != c.column || f.At != c.at || f.Table != b.Schema+"."+c.table {
			t.Errorf("table %s: %s.%s at %q, want column %q at %q", c.table, f.Table, f.Column, f.At, c.column, c.at)
		}
	}
	// A named key column has no time column by default.
	if f := b.prepare(reconcile.Source{Table: "d1", Column: "task_id"}).Sources()[0]; f.At != "" {
		t.Errorf("time column %q beside a named key column", f.At)
	}
}

func testNames(t *testing.T, b *bench) {
	b.exec(`CREATE TABLE plain ("Key" {text} PRIMARY KEY)`)
	b.exec(`CREATE TABLE "Or""der" ("task.id" {text} PRIMARY KEY, "order" {text})`)
	b.exec(`INSERT INTO plain VALUES ('k')`)
	b.exec(`INSERT INTO "Or""der" VALUES ('k', 'x')`)
	for _, s := range []reconcile.Source{
		{Table: "plain", Column: "Key"},
		{Table: "PLAIN", Column: `"Key"`},
		{Table: b.Schema + ".plain", Column: "Key"},
		{Table: `"` + b.Schema + `"."plain"`, Column: "Key"},
		{Table: `"Or""der"`, Column: `"task.id"`},
		{Table: b.Schema + `."Or""der"`, Column: `"task.id"`, When: `"order" = 'x'`},
	} {
		if got := b.read(b.prepare(s), "k")[0][0]; got.Passing != 1 {
			t.Errorf("table %s, column %s: %+v", s.Table, s.Column, got)
		}
	}
	l := b.open(Opening{})
	for _, s := range []reconcile.Source{
		{Table: ""}, {Table: "a.b.c"}, {Table: `"plain`}, {Table: "plain", Column: "a.b"}, {Table: "plain", Column: `x"`},
	} {
		b.refused(l, s, reconcile.LedgerBadSource)
	}
	for _, s := range []reconcile.Source{
		{Table: b.Schema + `.plain; DROP TABLE plain`, Column: "Key"}, {Table: "plain", Column: `Key" = "Key" OR "Key`},
	} {
		if _, err := l.Prepare(t.Context(), []reconcile.Source{s}); err == nil {
			t.Errorf("source %+v is taken", s)
		}
	}
	b.exec(`INSERT INTO plain VALUES ('still there')`)
}

func testMissingTable(_ *testing.T, b *bench) {
	l := b.open(Opening{})
	e := b.refused(l, reconcile.Source{Role: reconcile.RoleMark, Table: "processed_tasks"}, reconcile.LedgerMissing)
	b.mentions("error", e.text, "processed_tasks")
	b.mentions("hint", e.hint, "CREATE TABLE processed_tasks", "task_id")
	b.exec(e.hint)
	b.prepareOn(l, reconcile.Source{Role: reconcile.RoleMark, Table: "processed_tasks"})
	e = b.refused(l, reconcile.Source{Role: reconcile.RoleMark, Table: "proccessed_task"}, reconcile.LedgerMissing)
	b.mentions("hint", e.hint, "did you mean", "processed_tasks")
}

func testMissingColumn(_ *testing.T, b *bench) {
	b.exec("CREATE TABLE pay (event_id {text} PRIMARY KEY, status {text}, captured {time})")
	l := b.open(Opening{})
	for _, s := range []reconcile.Source{
		{Table: "pay"},
		{Table: "pay", Column: "evnt_id"},
		{Table: "pay", Column: "event_id", At: "captured_at"},
		{Table: "pay", Column: "event_id", ClaimedAt: "claimed_at"},
		{Table: "pay", Column: "event_id", Fingerprint: "md5"},
	} {
		e := b.refused(l, s, reconcile.LedgerMissing)
		b.mentions("error", e.text, "pay")
		b.mentions("hint", e.hint, "event_id", "status", "captured")
	}
	e := b.refused(l, reconcile.Source{Table: "pay", Column: "evnt_id"}, reconcile.LedgerMissing)
	b.mentions("hint", e.hint, "did you mean event_id")
}

func testNoIndex(t *testing.T, b *bench) {
	b.exec("CREATE TABLE pay (task_id {text}, n {int} PRIMARY KEY, status {text})")
	b.exec("CREATE INDEX pay_status ON pay (status, task_id)")
	b.exec("CREATE INDEX pay_lower ON pay (lower(task_id))")
	b.exec("CREATE INDEX pay_partial ON pay (task_id) WHERE status = 'done'")
	b.exec("INSERT INTO pay VALUES ('k', 1, 'done')")
	source := reconcile.Source{Table: "pay", Column: "task_id", When: "status = 'done'"}
	e := b.refused(b.open(Opening{}), source, reconcile.LedgerNoIndex)
	b.mentions("error", e.text, "pay", "task_id")
	b.mentions("hint", e.hint, "CREATE INDEX", "ON", "(task_id)")

	k := b.prepareOn(b.open(Opening{AllowScan: true}), source)
	if k.Sources()[0].Indexed {
		t.Error("a lookup without an index counts as indexed")
	}
	if got := b.read(k, "k")[0][0]; got.Passing != 1 {
		t.Errorf("by a scan: %+v", got)
	}

	b.exec("CREATE INDEX pay_task ON pay (task_id, n)")
	if !b.prepare(source).Sources()[0].Indexed {
		t.Error("an index that begins with the key does not serve")
	}
}

func testUnique(t *testing.T, b *bench) {
	const done = "status = 'done'"
	for _, c := range []struct {
		name, index, when string
		want              reconcile.Uniqueness
		reason            string
	}{
		{"alone", "UNIQUE INDEX {i} ON {t} (task_id)", done, reconcile.UniqueYes, ""},
		{"none", "INDEX {i} ON {t} (task_id)", "", reconcile.UniqueNo, "no unique index"},
		{"second", "UNIQUE INDEX {i} ON {t} (status, task_id)", "", reconcile.UniqueNo, "no unique index"},
		{"prefix", "UNIQUE INDEX {i} ON {t} (task_id, n)", "", reconcile.UniquePrefix, "more columns"},
		{"expression", "UNIQUE INDEX {i} ON {t} (lower(task_id))", "", reconcile.UniqueNo, "expression"},
		{"partial", "UNIQUE INDEX {i} ON {t} (task_id) WHERE status = 'done'", done, reconcile.UniqueYes, ""},
		{"more than partial", "UNIQUE INDEX {i} ON {t} (task_id) WHERE status = 'done'", "n > 1 AND status = 'done'", reconcile.UniqueYes, ""},
		{"other partial", "UNIQUE INDEX {i} ON {t} (task_id) WHERE status = 'new'", done, reconcile.UniqueNo, "does not cover when"},
		{"narrower partial", "UNIQUE INDEX {i} ON {t} (task_id) WHERE status = 'done' AND n > 1", done, reconcile.UniqueNo, "does not cover when"},
		{"partial without when", "UNIQUE INDEX {i} ON {t} (task_id) WHERE status = 'done'", "", reconcile.UniqueNo, "partial"},
		{"partial over every key", "UNIQUE INDEX {i} ON {t} (task_id) WHERE task_id IS NOT NULL", "", reconcile.UniqueYes, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &bench{Backend: b.Backend, T: t, store: b.store}
			b.exec("DROP TABLE IF EXISTS pay")
			b.exec("CREATE TABLE pay (task_id {text}, n {int} PRIMARY KEY, status {text})")
			b.exec("CREATE INDEX pay_lookup ON pay (task_id)")
			b.exec("CREATE " + replaceNames(c.index, "pay_index", "pay"))
			f := b.prepare(reconcile.Source{Table: "pay", When: c.when}).Sources()[0]
			if f.Unique != c.want {
				t.Errorf("uniqueness %d, want %d (%s)", f.Unique, c.want, f.NotUnique)
			}
			b.mentions("reason", f.NotUnique, c.reason)
			if (f.NotUnique == "") != (c.want == reconcile.UniqueYes) {
				t.Errorf("uniqueness %d with the reason %q", f.Unique, f.NotUnique)
			}
		})
	}
	b.exec("CREATE VIEW pays AS SELECT task_id, status FROM pay WHERE n > 0")
	f := b.prepareOn(b.open(Opening{}), reconcile.Source{Table: "pays"}).Sources()[0]
	if !f.View || !f.Indexed || f.Unique != reconcile.UniqueUnknown || f.NotUnique != "" {
		t.Errorf("view: %+v", f)
	}
}

func testPredicates(t *testing.T, b *bench) {
	b.exec("CREATE TABLE pay (task_id {text} PRIMARY KEY, status {text}, n {int})")
	b.exec("INSERT INTO pay VALUES ('k', 'done', 1)")
	l := b.open(Opening{})
	for _, when := range []string{
		"status = 'done') OR (1 = 1", "status = 'done'; DROP TABLE pay", "status = 'done' -- x", "status = 'done' /* x */",
		"statsu = 'done'", "status = \"done\"", "status = 'done", "count(*) > 0", "status =", "nothing(n)",
		"status = 'done' UNION SELECT 1", "(status = 'done'", "DELETE FROM pay",
	} {
		e := b.refused(l, reconcile.Source{Table: "pay", When: when}, reconcile.LedgerBadSource)
		b.mentions("error", e.text, "pay", "when")
	}
	for _, when := range []string{
		"status = 'done'", "pay.status = 'done'", "status IN ('done', 'x') AND n > 0", "(status) = ('done')",
		"EXISTS (SELECT 1 FROM pay AS other WHERE other.n = pay.n)", " status='done' ", "status = 'done' OR status = 'x)'",
	} {
		k := b.prepareOn(l, reconcile.Source{Table: "pay", When: when})
		if got := b.read(k, "k")[0][0]; got.Passing != 1 {
			t.Errorf("when %s: %+v", when, got)
		}
	}
}

// testPredicateScope: a predicate's names are the table's, whatever the
// statement around it calls its own.
func testPredicateScope(t *testing.T, b *bench) {
	b.exec("CREATE TABLE pay (task_id {text} PRIMARY KEY, source {int}, key {text}, value {text}, type {text}, k {text}, p {int}, t {int}, c {int}, f {int}, r {int})")
	b.exec("INSERT INTO pay VALUES ('id', 3, 'a', 'b', 'c', 'd', 1, 2, 3, 4, 5)")
	k := b.prepare(reconcile.Source{
		Table: "pay", Column: "task_id",
		When: "source = 3 AND key = 'a' AND value = 'b' AND type = 'c' AND k = 'd' AND p = 1 AND t = 2 AND c = 3 AND f = 4 AND r = 5",
	})
	if got := b.read(k, "id")[0][0]; got.Passing != 1 {
		t.Errorf("row: %+v", got)
	}
}
