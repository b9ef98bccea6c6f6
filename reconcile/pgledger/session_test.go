package pgledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

func TestSessionsAreLimitedWhateverTheDSNSays(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE TABLE marks (task_id text PRIMARY KEY)")
	db.Exec("ALTER DATABASE " + db.Name + " SET default_transaction_isolation = 'serializable'")
	l := open(t, pgledger.Options{
		DSN:     db.DSN + "&default_transaction_read_only=off&statement_timeout=0&application_name=other&options=-c%20row_security%3Don",
		Timeout: 61234 * time.Millisecond, MaxConns: 1,
	})
	k := prepare(t, l, marks)
	// The answer of a session's view is that of its settings.
	db.Exec(`CREATE VIEW settings AS SELECT 'k'::text AS task_id, name || '=' || setting AS line FROM pg_settings`)
	for setting, want := range map[string]string{
		"transaction_read_only": "on", "statement_timeout": "61234", "transaction_isolation": "read committed",
		"row_security": "off", "application_name": "idemctl", "jit": "off",
	} {
		l := open(t, pgledger.Options{DSN: db.DSN + "&default_transaction_read_only=off&statement_timeout=0", AllowScan: true, Timeout: 61234 * time.Millisecond})
		s := reconcile.Source{Table: "settings", When: "line = '" + setting + "=" + want + "'"}
		if row := read(t, prepare(t, l, s), false, "k").Keys[0][0]; row.Passing != 1 {
			t.Errorf("a lookup does not run with %s = %s", setting, want)
		}
	}
	read(t, k, false, "k")
	if n := db.Value("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'idemctl' AND datname = current_database()"); n == "0" {
		t.Error("no session calls itself idemctl")
	}
	if n := db.Value("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'idemctl' AND state LIKE 'idle in%'"); n != "0" {
		t.Errorf("%s sessions are left in a transaction", n)
	}
}

func TestSessionsCannotWriteEvenOutsideOfTransactions(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE TABLE marks (task_id text PRIMARY KEY)")
	l := open(t, pgledger.Options{DSN: db.DSN})
	for name, err := range map[string]error{
		"transaction": l.Write(context.Background(), "INSERT INTO marks VALUES ('k')"),
		"session":     l.Outside(context.Background(), "INSERT INTO marks VALUES ('k')"),
	} {
		if err == nil || !strings.Contains(err.Error(), "25006") {
			t.Errorf("writing in a %s: %v", name, err)
		}
	}
	db.Exec(`CREATE FUNCTION meddle(k text) RETURNS boolean LANGUAGE plpgsql AS
		$$ BEGIN INSERT INTO marks VALUES ('x' || k); RETURN true; END $$`)
	db.Exec("INSERT INTO marks VALUES ('k')")
	k := prepare(t, l, reconcile.Source{Table: "marks", When: "meddle(task_id)"})
	_, err := k.Read(context.Background(), []string{"k"}, false)
	failsAs(t, err, reconcile.LedgerBadSource, "writes")
	if n := db.Value("SELECT count(*) FROM marks"); n != "1" {
		t.Errorf("%s rows after a lookup", n)
	}
}

func TestReadEndsAtTheStatementTimeout(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE TABLE marks (task_id text PRIMARY KEY)")
	l := open(t, pgledger.Options{DSN: db.DSN, Timeout: 200 * time.Millisecond})
	var k reconcile.Lookup
	reconciletest.Eventually(t, "preparing", func() (err error) {
		k, err = l.Prepare(context.Background(), []reconcile.Source{marks})
		return err
	})
	migration := db.Session()
	migration.Exec("BEGIN; LOCK TABLE marks IN ACCESS EXCLUSIVE MODE")
	_, err := k.Read(context.Background(), []string{"k"}, false)
	failsAs(t, err, reconcile.LedgerTimeout, "marks", "timeout")
	_, err = l.Prepare(context.Background(), []reconcile.Source{marks})
	failsAs(t, err, reconcile.LedgerTimeout, "marks")
	migration.Exec("ROLLBACK")
	reconciletest.Eventually(t, "reading once the table is free", func() error {
		_, err := k.Read(context.Background(), []string{"k"}, false)
		return err
	})
}

// TestCancelEndsTheStatementOnTheServer: Ctrl-C leaves no query behind.
func TestCancelEndsTheStatementOnTheServer(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE TABLE marks (task_id text PRIMARY KEY); INSERT INTO marks VALUES ('k')")
	l := open(t, pgledger.Options{DSN: db.DSN})
	k := prepare(t, l, reconcile.Source{Table: "marks", When: "pg_sleep(600) IS NOT NULL"})
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error)
	go func() {
		_, err := k.Read(ctx, []string{"k"}, false)
		failed <- err
	}()
	const running = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'idemctl' AND wait_event = 'PgSleep'"
	for db.Value(running) == "0" {
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("error after cancel: %v", err)
	}
	for db.Value(running) != "0" {
		time.Sleep(5 * time.Millisecond)
	}
}

// TestReadSurvivesALostConnection: the call that loses its connection fails, the
// next one gets another.
func TestReadSurvivesALostConnection(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE TABLE marks (task_id text PRIMARY KEY); INSERT INTO marks VALUES ('k')")
	l := open(t, pgledger.Options{DSN: db.DSN, MaxConns: 1})
	slow := prepare(t, l, reconcile.Source{Table: "marks", When: "pg_sleep(600) IS NOT NULL"})
	quick := prepare(t, l, marks)
	failed := make(chan error)
	go func() {
		_, err := slow.Read(context.Background(), []string{"k"}, false)
		failed <- err
	}()
	for db.Value("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'idemctl' AND wait_event = 'PgSleep'") == "0" {
		time.Sleep(5 * time.Millisecond)
	}
	failsAs(t, <-failed, reconcile.LedgerUnreachable)
	if row := read(t, quick, false, "k").Keys[0][0]; row.Count != 1 {
		t.Errorf("after a lost connection: %+v", row)
	}
	// A connection that dies while nobody uses it.
	db.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'idemctl'")
	if _, err := quick.Read(context.Background(), []string{"k"}, false); err != nil {
		failsAs(t, err, reconcile.LedgerUnreachable)
	}
	if row := read(t, quick, false, "k").Keys[0][0]; row.Count != 1 {
		t.Errorf("after an idle connection was lost: %+v", row)
	}
}

func TestPoolerInTransactionModeServes(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE TABLE marks (task_id text PRIMARY KEY); INSERT INTO marks VALUES ('k')")
	for _, settings := range [][]string{nil, {"ignore_startup_parameters = default_transaction_read_only, statement_timeout, idle_in_transaction_session_timeout"}} {
		dsn, err := db.Pooler(settings...)
		if errors.Is(err, reconciletest.ErrNoPooler) {
			t.Skip(err) //nolint:forbidigo // PgBouncer is a program of its own, which a server does not bring along
		}
		if err != nil {
			t.Fatal(err)
		}
		l := open(t, pgledger.Options{DSN: dsn, MaxConns: 3})
		k := prepare(t, l, marks)
		for range 20 {
			if row := read(t, k, false, "k", "absent"); row.Keys[0][0].Count != 1 || row.Keys[1][0].Count != 0 {
				t.Errorf("through a pooler: %+v", row)
			}
		}
		if err := l.Write(context.Background(), "INSERT INTO marks VALUES ('x')"); err == nil {
			t.Error("a transaction through a pooler can write")
		}
		// The session belongs to everyone: nothing of ours may stay in it.
		worker := open(t, pgledger.Options{DSN: dsn})
		if err := worker.Outside(context.Background(), "INSERT INTO marks VALUES ('w') ON CONFLICT DO NOTHING"); err != nil {
			t.Errorf("another client of the pooler cannot write: %v", err)
		}
	}
}
