package pgledger_test

import (
	"context"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

func TestHappy(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE processed_tasks (task_id text PRIMARY KEY, processed_at timestamptz NOT NULL DEFAULT now())`)
	db.Exec(`INSERT INTO processed_tasks VALUES ('a'), ('b')`)
	db.Exec(`CREATE TABLE payments (id serial, task_id uuid, status text, created_at timestamp default now(), fp bytea)`)
	db.Exec(`CREATE INDEX ON payments (task_id)`)
	ctx := context.Background()
	l, err := pgledger.Open(ctx, pgledger.Options{Name: "main", DSN: db.DSN})
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
	db.Exec(`INSERT INTO payments (task_id, status, fp) VALUES ('1de3c710-7a1a-4000-8000-6b6579000001', 'x', '\xAB'), ('1de3c710-7a1a-4000-8000-6b6579000001', 'y', '\xAB')`)
	rows, err := k.Read(ctx, []string{"a", "1DE3c710-7a1a-4000-8000-6b6579000001"}, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", rows)
}
