package pgledger_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

func TestReplicaProvesAbsenceOnlyBehindAFence(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE TABLE marks (task_id text PRIMARY KEY)")
	replica := db.Replica()
	replica.CatchUp()

	alone := open(t, pgledger.Options{DSN: replica.DSN})
	l := open(t, pgledger.Options{DSN: replica.DSN, PrimaryDSN: db.DSN, Timeout: 6 * time.Second}) // also of statements
	for _, l := range []*pgledger.Ledger{alone, l} {
		f, err := l.Facts(context.Background())
		if err != nil || !f.Replica {
			t.Fatalf("facts of a replica: %+v, %v", f, err)
		}
	}
	k, unfenced := prepare(t, l, marks), prepare(t, alone, marks)

	replica.Pause()
	db.Exec("INSERT INTO marks VALUES ('k')")
	for name, rows := range map[string]reconcile.Rows{
		"without a fence":   read(t, k, false, "k"),
		"without a primary": read(t, unfenced, true, "k"),
		// The wait for a replica that does not move ends.
		"behind a fence never reached": read(t, k, true, "k"),
	} {
		if rows.Keys[0][0].Count != 0 || !rows.Lagging {
			t.Errorf("%s: %+v", name, rows)
		}
	}
	resumed := make(chan struct{})
	go func() {
		defer close(resumed)
		const waiting = `SELECT count(*) FROM pg_stat_activity
			WHERE application_name = 'idemctl' AND state <> 'idle' AND query LIKE '%pg_last_wal_replay_lsn%'`
		for end := time.Now().Add(time.Minute); replica.Value(waiting) == "0" && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
		replica.Resume()
	}()
	patient := open(t, pgledger.Options{DSN: replica.DSN, PrimaryDSN: db.DSN})
	rows := read(t, prepare(t, patient, marks), true, "k", "absent")
	<-resumed
	if rows.Keys[0][0].Count != 1 || rows.Keys[1][0].Count != 0 || rows.Lagging {
		t.Errorf("behind a fence: %+v", rows)
	}
}

// TestFenceSeesEveryCommitBeforeIt, also those whose WAL is not flushed yet: the
// shared server runs with synchronous_commit off.
func TestFenceSeesEveryCommitBeforeIt(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE TABLE marks (task_id serial PRIMARY KEY, n int)")
	replica := db.Replica()
	replica.CatchUp()
	k := prepare(t, open(t, pgledger.Options{DSN: replica.DSN, PrimaryDSN: db.DSN}), marks)
	fenced := 0
	for range 60 {
		id := db.Value("SELECT nextval('marks_task_id_seq')")
		db.Exec("INSERT INTO marks VALUES (" + id + ")")
		rows := read(t, k, true, id)
		if rows.Lagging {
			continue
		}
		fenced++
		if rows.Keys[0][0].Count != 1 {
			t.Fatalf("row %s, committed before the fence, is not seen", id)
		}
	}
	if fenced == 0 {
		t.Error("no fence was ever reached")
	}
}

func TestWrongPrimaryIsRefused(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE TABLE marks (task_id text PRIMARY KEY)")
	replica := db.Replica()
	replica.CatchUp()
	_, err := pgledger.Open(context.Background(), pgledger.Options{Name: "main", DSN: replica.DSN, PrimaryDSN: replica.DSN})
	failsAs(t, err, reconcile.LedgerBadDSN, "primary", "replica itself")
	_, err = pgledger.Open(context.Background(), pgledger.Options{Name: "main", DSN: replica.DSN, PrimaryDSN: "postgres://u:hunter@127.0.0.1:1/db"})
	failsAs(t, err, reconcile.LedgerUnreachable, "primary")
	hides(t, "primary DSN", err)

	stranger := reconciletest.Cluster(t)
	_, err = pgledger.Open(context.Background(), pgledger.Options{Name: "main", DSN: replica.DSN, PrimaryDSN: stranger.DSN})
	failsAs(t, err, reconcile.LedgerBadDSN, "another cluster")
}

// TestWritersOfAReplicaAreItsPrimarys: a replica does not know who writes.
func TestWritersOfAReplicaAreItsPrimarys(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE TABLE marks (task_id text PRIMARY KEY)")
	replica := db.Replica()
	replica.CatchUp()
	s := db.Session()
	s.Exec("BEGIN; INSERT INTO marks VALUES ('k')")
	alone := open(t, pgledger.Options{DSN: replica.DSN})
	if w := writers(t, prepare(t, alone, marks), clock(t, alone)); w.Visible || w.Count != 0 {
		t.Errorf("a replica alone: %+v", w)
	}
	l := open(t, pgledger.Options{DSN: replica.DSN, PrimaryDSN: db.DSN})
	if w := writers(t, prepare(t, l, marks), clock(t, l)); !w.Visible || w.Count != 1 {
		t.Errorf("with its primary: %+v", w)
	}
	s.Close()
}

func TestPromotedReplicaCountsAgain(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec("CREATE TABLE marks (task_id text PRIMARY KEY)")
	replica := db.Replica()
	replica.CatchUp()
	l := open(t, pgledger.Options{DSN: replica.DSN, PrimaryDSN: db.DSN})
	k := prepare(t, l, marks)
	replica.Exec("SELECT pg_promote()")
	replica.Exec("INSERT INTO marks VALUES ('k')")
	for _, fence := range []bool{false, true} {
		if rows := read(t, k, fence, "k", "x"); rows.Lagging || rows.Keys[0][0].Count != 1 {
			t.Errorf("fence %v: %+v", fence, rows)
		}
	}
	f, err := l.Facts(context.Background())
	if err != nil || f.Replica || !strings.Contains(f.Server, replica.Name) {
		t.Errorf("facts: %+v, %v", f, err)
	}
}
