package sqliteledger_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/sqliteledger"
)

func TestHappy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?%#.db")
	db, err := sql.Open("sqlite", "file:"+filepath.Dir(path)+"/a%20b%3F%25%23.db")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		`CREATE TABLE processed_tasks (task_id text PRIMARY KEY, processed_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP)`,
		`INSERT INTO processed_tasks (task_id) VALUES ('a'), ('b'), (x'63')`,
		`CREATE TABLE payments (id integer primary key, task_id, status text, created_at int default (unixepoch()), fp blob)`,
		`CREATE INDEX p ON payments (task_id)`,
		`INSERT INTO payments (task_id, status, fp) VALUES (42, 'x', x'AB'), ('a', 'y', x'AB'), ('a','x',x'CD')`,
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
	}
	ctx := context.Background()
	l, err := sqliteledger.Open(ctx, sqliteledger.Options{Name: "main", DSN: "sqlite://" + filepath.Dir(path) + "/a%20b%3F%25%23.db"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := l.Facts(ctx)
	t.Log(f, err)
	k, err := l.Prepare(ctx, []reconcile.Source{{Role: reconcile.RoleMark, Table: "processed_tasks"},
		{Table: "payments", When: "status = 'x'", Fingerprint: "fp"}})
	if err != nil {
		t.Fatal(err, err.(*reconcile.LedgerError).Hint)
	}
	t.Logf("%+v", k.Sources())
	rows, err := k.Read(ctx, []string{"a", "42", "c"}, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", rows)
}
