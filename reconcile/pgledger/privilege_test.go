package pgledger_test

import (
	"context"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// TestPrepareNamesTheMissingGrant: what the hint says is what helps.
func TestPrepareNamesTheMissingGrant(t *testing.T) {
	db := reconciletest.Postgres(t)
	role := db.Role("reader", "")
	db.Exec(`CREATE SCHEMA app; CREATE TABLE app.marks (task_id text PRIMARY KEY, status text);
		CREATE VIEW app.done AS SELECT task_id FROM app.marks`)
	l := open(t, pgledger.Options{DSN: db.As(role)})
	source := reconcile.Source{Table: "app.marks", When: "status = 'x'"}
	refused := func(s reconcile.Source, words ...string) string {
		t.Helper()
		_, err := l.Prepare(context.Background(), []reconcile.Source{s})
		return failsAs(t, err, reconcile.LedgerDenied, words...)
	}
	refused(source, "app.marks", role, "GRANT USAGE ON SCHEMA app TO "+role)
	db.Exec("GRANT USAGE ON SCHEMA app TO " + role)
	hint := refused(source, "app.marks", "task_id", "GRANT SELECT ON app.marks TO "+role)
	// A grant on one column lets the key be read, not the predicate's.
	db.Exec("GRANT SELECT (task_id) ON app.marks TO " + role)
	refused(source, "app.marks")
	prepare(t, l, reconcile.Source{Table: "app.marks"})
	db.Exec(hint)
	read(t, prepare(t, l, source), false, "k")

	refused(reconcile.Source{Table: "app.done"}, "app.done", "GRANT SELECT ON app.done TO "+role)
	db.Exec("GRANT SELECT ON app.done TO " + role)
	k := prepare(t, l, reconcile.Source{Table: "app.done"})
	db.Exec("REVOKE ALL ON app.done FROM " + role)
	_, err := k.Read(context.Background(), []string{"k"}, false)
	failsAs(t, err, reconcile.LedgerDenied, "app.done")
}

// TestHiddenRowsAreRefused: a row that a policy hides must not look absent.
func TestHiddenRowsAreRefused(t *testing.T) {
	db := reconciletest.Postgres(t)
	role := db.Role("tenant", "")
	db.Exec("CREATE TABLE marks (task_id text PRIMARY KEY, tenant text); INSERT INTO marks VALUES ('k', 'other'); GRANT SELECT ON marks TO " + role)
	l := open(t, pgledger.Options{DSN: db.As(role)})
	k := prepare(t, l, marks)
	db.Exec(`ALTER TABLE marks ENABLE ROW LEVEL SECURITY;
		CREATE POLICY own ON marks USING (tenant = current_user)`)
	_, err := k.Read(context.Background(), []string{"k"}, false)
	failsAs(t, err, reconcile.LedgerDenied, "marks")
	_, err = l.Prepare(context.Background(), []reconcile.Source{marks})
	hint := failsAs(t, err, reconcile.LedgerDenied, "marks", role, "row security")
	// A view with the rights of its caller hides the same rows.
	db.Exec("CREATE VIEW all_marks AS SELECT * FROM marks; GRANT SELECT ON all_marks TO " + role)
	if db.Value("SELECT current_setting('server_version_num')::int >= 150000") == "true" {
		db.Exec("ALTER VIEW all_marks SET (security_invoker = true)")
		_, err = l.Prepare(context.Background(), []reconcile.Source{{Table: "all_marks"}})
		failsAs(t, err, reconcile.LedgerDenied)
	}
	db.Exec(hint[len("use a role that sees every row: "):])
	if row := read(t, prepare(t, l, marks), false, "k").Keys[0][0]; row.Count != 1 {
		t.Errorf("with every row in sight: %+v", row)
	}
}
