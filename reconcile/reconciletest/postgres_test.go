package reconciletest_test

import (
	"testing"

	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

func TestMain(m *testing.M) { reconciletest.Main(m) }

func TestPostgresGivesEveryTestADatabaseOfItsOwn(t *testing.T) {
	a, b := reconciletest.Postgres(t), reconciletest.Postgres(t)
	a.Exec("CREATE TABLE t (id int)")
	if n := b.Value("SELECT count(*) FROM pg_class WHERE relname = 't'"); n != "0" {
		t.Errorf("another test's database holds %s tables", n)
	}
}

func TestReplicaSeesWhatThePrimaryCommitted(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE TABLE t (id int)")
	r := db.Replica()
	db.Exec("INSERT INTO t VALUES (1)")
	r.CatchUp()
	if n := r.Value("SELECT count(*) FROM t"); n != "1" {
		t.Errorf("replica has %s rows, want 1", n)
	}
	r.Pause()
	db.Exec("INSERT INTO t VALUES (2)")
	if n := r.Value("SELECT count(*) FROM t"); n != "1" {
		t.Errorf("paused replica has %s rows, want 1", n)
	}
}
