package pgledger_test

import (
	"strings"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

func TestUniqueIndexesOfThisServer(t *testing.T) {
	db := reconciletest.Postgres(t)
	l := open(t, pgledger.Options{DSN: db.DSN, AllowScan: true})
	for _, c := range []struct {
		name, ddl, when string
		want            reconcile.Uniqueness
		reason          string
	}{
		{"primary key", "ALTER TABLE pay ADD PRIMARY KEY (task_id)", "", reconcile.UniqueYes, ""},
		{"constraint", "ALTER TABLE pay ADD UNIQUE (task_id)", "", reconcile.UniqueYes, ""},
		{"deferred constraint", "ALTER TABLE pay ADD UNIQUE (task_id) DEFERRABLE INITIALLY DEFERRED", "", reconcile.UniqueYes, ""},
		{"included columns", "CREATE UNIQUE INDEX ON pay (task_id) INCLUDE (n)", "", reconcile.UniqueYes, ""},
		{"pattern operators", "CREATE UNIQUE INDEX ON pay (task_id text_pattern_ops)", "", reconcile.UniqueYes, ""},
		{"spelled otherwise", "CREATE UNIQUE INDEX ON pay (task_id) WHERE status IN ('a', 'b') AND NOT gone", "gone = false and (status = ANY (ARRAY['a','b']))", reconcile.UniqueYes, ""},
		{"prefix and partial", "CREATE UNIQUE INDEX ON pay (task_id, n) WHERE status = 'a'", "status = 'b'", reconcile.UniqueNo, "does not cover when"},
		{"either or", "CREATE UNIQUE INDEX ON pay (task_id) WHERE status = 'a'", "status = 'a' OR status = 'b'", reconcile.UniqueNo, "does not cover when"},
		{"soft delete", "CREATE UNIQUE INDEX ON pay (task_id) WHERE deleted IS NULL", "deleted IS NULL", reconcile.UniqueYes, ""},
		{"soft delete uncovered", "CREATE UNIQUE INDEX ON pay (task_id) WHERE deleted IS NULL", "", reconcile.UniqueNo, "(deleted IS NULL)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db.Exec("DROP TABLE IF EXISTS pay; CREATE TABLE pay (task_id text, n int, status text, gone boolean, deleted timestamptz)")
			db.Exec(c.ddl)
			f := prepare(t, l, reconcile.Source{Table: "pay", When: c.when}).Sources()[0]
			if f.Unique != c.want || !strings.Contains(f.NotUnique, c.reason) {
				t.Errorf("uniqueness %d (%s), want %d (%s)", f.Unique, f.NotUnique, c.want, c.reason)
			}
		})
	}
}

// TestInvalidIndexGuardsNothing: a concurrent build that met duplicates leaves
// one behind.
func TestInvalidIndexGuardsNothing(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE TABLE pay (task_id text); CREATE INDEX ON pay (task_id); INSERT INTO pay VALUES ('k'), ('k')")
	db.ExecFails("CREATE UNIQUE INDEX CONCURRENTLY half ON pay (task_id)")
	f := prepare(t, open(t, pgledger.Options{DSN: db.DSN}), reconcile.Source{Table: "pay"}).Sources()[0]
	if f.Unique != reconcile.UniqueNo || !strings.Contains(f.NotUnique, "half is not valid") {
		t.Errorf("facts: %+v", f)
	}
}
