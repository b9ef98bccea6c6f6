package pgledger_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// journalStore is a PostgreSQL database for the suite of journals.
type journalStore struct{ *reconciletest.Database }

func journalOptions(dsn, table string) pgledger.JournalOptions {
	return pgledger.JournalOptions{Name: "main", DSN: dsn, Table: table}
}

func (s journalStore) Create(table string) error {
	return pgledger.CreateJournal(context.Background(), journalOptions(s.DSN, table))
}

func (s journalStore) Open(table string) (reconciletest.JournalTable, error) {
	return pgledger.OpenJournal(context.Background(), journalOptions(s.DSN, table))
}

func TestJournalConforms(t *testing.T) {
	reconciletest.ConformJournal(t, func(t testing.TB) reconciletest.JournalStore { return journalStore{reconciletest.Postgres(t)} })
}

// journalStage is a database with a table of journals.
func journalStage(t *testing.T) *reconciletest.Database {
	t.Helper()
	db := reconciletest.Postgres(t)
	if err := pgledger.CreateJournal(t.Context(), journalOptions(db.DSN, "public.j")); err != nil {
		t.Fatal(err)
	}
	return db
}

func openJournal(t *testing.T, o pgledger.JournalOptions) *pgledger.JournalTable {
	t.Helper()
	table, err := pgledger.OpenJournal(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = table.Close() })
	return table
}

// The permissions page promises that these are enough.
func TestJournalNeedsNoMoreThanSelectAndInsert(t *testing.T) {
	db := journalStage(t)
	role := db.Role("writer", "")
	_, err := pgledger.OpenJournal(t.Context(), journalOptions(db.As(role), "j"))
	failsAs(t, err, reconcile.LedgerDenied, "GRANT SELECT, INSERT ON j")
	db.Exec("GRANT SELECT ON j TO " + role)
	_, err = pgledger.OpenJournal(t.Context(), journalOptions(db.As(role), "j"))
	failsAs(t, err, reconcile.LedgerDenied, "GRANT SELECT, INSERT ON j")
	o := journalOptions(db.As(role), "j")
	o.ReadOnly = true
	if _, err := openJournal(t, o).Runs(t.Context()); err != nil {
		t.Errorf("SELECT alone is not enough to read: %v", err)
	}
	db.Exec("GRANT INSERT ON j TO " + role)
	table := openJournal(t, journalOptions(db.As(role), "j"))
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "j"), journal.Options{Copy: table})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Begin(journal.Run{}); err != nil {
		t.Error(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if n := db.Value("SELECT count(*) FROM j"); n != "1" {
		t.Errorf("%s rows, want 1", n)
	}
}

// Sessions that were ended between two writes are not the end of a run, and the
// write that met it is not made twice.
func TestJournalOutlivesItsSession(t *testing.T) {
	db := journalStage(t)
	table := openJournal(t, journalOptions(db.DSN, "j"))
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "j"), journal.Options{Copy: table})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Begin(journal.Run{}); err != nil {
		t.Fatal(err)
	}
	const sessions = ` FROM pg_stat_activity WHERE application_name = 'idemctl' AND datname = current_database()`
	for range 3 {
		db.Exec(`SELECT pg_terminate_backend(pid)` + sessions)
		for db.Value(`SELECT count(*)`+sessions) != "0" { // they are told, and end a little later
			time.Sleep(5 * time.Millisecond)
		}
		if err := j.Intend(journal.Record{Item: journal.NewRunID(time.Now()), Change: journal.ChangeRequeue, Queue: "q", TaskID: "t"}); err != nil {
			t.Errorf("after the session was ended: %v", err)
		}
	}
	if err := errors.Join(j.Close(), j.Behind()); err != nil {
		t.Error(err)
	}
	if n := db.Value("SELECT count(*) FROM j"); n != "4" {
		t.Errorf("%s rows, want 4", n)
	}
}

// A trigger stands for whatever ends a session after the rows are written and
// before that is said: the answer is lost, and the next write finds out.
func TestJournalWhoseAnswerIsLostIsNotWrittenTwice(t *testing.T) {
	db := journalStage(t)
	table := openJournal(t, journalOptions(db.DSN, "j"))
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "j"), journal.Options{Copy: table})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Begin(journal.Run{}); err != nil {
		t.Fatal(err)
	}
	db.Exec(`CREATE FUNCTION hang_up() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); RETURN NULL; END $$`)
	db.Exec(`CREATE CONSTRAINT TRIGGER hang_up AFTER INSERT ON j DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hang_up()`)
	intent := journal.Record{Item: "1", Change: journal.ChangeRequeue, Queue: "q", TaskID: "t"}
	err = j.Intend(intent)
	failsAs(t, err, reconcile.LedgerUnreachable)
	var copying *journal.CopyError
	if !errors.As(err, &copying) {
		t.Errorf("error %v, want a CopyError", err)
	}
	db.Exec("DROP TRIGGER hang_up ON j")
	intent.Item = "2"
	if err := j.Intend(intent); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Close(), j.Behind()); err != nil {
		t.Error(err)
	}
	if got := db.Value("SELECT string_agg(kind || coalesce(' ' || item, ''), ', ' ORDER BY seq) FROM j"); got != "run, intent 1, result 1, intent 2" {
		t.Errorf("rows: %s", got)
	}
}

func TestJournalInAReplicaIsRefused(t *testing.T) {
	db := reconciletest.Cluster(t)
	if err := pgledger.CreateJournal(t.Context(), journalOptions(db.DSN, "j")); err != nil {
		t.Fatal(err)
	}
	replica := db.Replica()
	replica.CatchUp()
	_, err := pgledger.OpenJournal(t.Context(), journalOptions(replica.DSN, "j"))
	failsAs(t, err, reconcile.LedgerDenied, "replica")
	o := journalOptions(replica.DSN, "j")
	o.ReadOnly = true
	if _, err := openJournal(t, o).Runs(t.Context()); err != nil {
		t.Errorf("a replica can be read: %v", err)
	}
}

// A role whose sessions are read-only by default may still keep a journal, and a
// locked table is not waited for longer than the time limit.
func TestJournalHasLimitsOfItsOwn(t *testing.T) {
	db := journalStage(t)
	db.Exec("ALTER DATABASE " + db.Name + " SET default_transaction_read_only = on")
	o := journalOptions(db.DSN, "j")
	o.Timeout = 200 * time.Millisecond
	var table *pgledger.JournalTable
	reconciletest.Eventually(t, "opening", func() (err error) {
		table, err = pgledger.OpenJournal(t.Context(), o)
		return err
	})
	t.Cleanup(func() { _ = table.Close() })
	locker := db.Session()
	locker.Exec("BEGIN READ WRITE; LOCK TABLE j IN ACCESS EXCLUSIVE MODE")
	shortest := time.Hour
	for range 5 { // a machine that stands still does not do so each time
		start := time.Now()
		_, err := table.Has(t.Context(), "r", 1)
		failsAs(t, err, reconcile.LedgerTimeout, "j")
		if shortest = min(shortest, time.Since(start)); shortest < 5*time.Second {
			return
		}
	}
	t.Errorf("waited %s each time", shortest)
}

func TestJournalBehindAPoolerOfTransactions(t *testing.T) {
	db := journalStage(t)
	dsn, err := db.Pooler()
	if errors.Is(err, reconciletest.ErrNoPooler) {
		t.Skip(err) //nolint:forbidigo // PgBouncer is a program of its own, which a server does not bring along
	}
	if err != nil {
		t.Fatal(err)
	}
	table := openJournal(t, journalOptions(dsn, "j"))
	if err := table.Write(t.Context(), []journal.Entry{{
		Record: journal.Record{Run: "r", Seq: 1, Kind: journal.KindRun, At: time.Now()}, Line: []byte(`{}`),
	}}); err != nil {
		t.Error(err)
	}
	if has, err := table.Has(t.Context(), "r", 1); !has || err != nil {
		t.Errorf("has %v, %v", has, err)
	}
}

func TestJournalErrorsHoldNoSecrets(t *testing.T) {
	_, err := pgledger.OpenJournal(t.Context(), journalOptions("postgres://u:hunter2@127.0.0.1:1/x?connect_timeout=1", "j"))
	failsAs(t, err, reconcile.LedgerUnreachable)
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the password is shown: %v", err)
	}
}

// BenchmarkJournalWrite is what a group of 100 intents costs in the table.
func BenchmarkJournalWrite(b *testing.B) {
	db := reconciletest.Postgres(b)
	if err := pgledger.CreateJournal(b.Context(), journalOptions(db.DSN, "j")); err != nil {
		b.Fatal(err)
	}
	table, err := pgledger.OpenJournal(b.Context(), journalOptions(db.DSN, "j"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = table.Close() }()
	entries := make([]journal.Entry, 100)
	seq := uint64(0)
	for b.Loop() {
		for i := range entries {
			seq++
			entries[i] = journal.Entry{
				Record: journal.Record{Run: "r", Seq: seq, Kind: journal.KindIntent, Item: "1", At: time.Now(), Queue: "default", TaskID: "t"},
				Line:   []byte(`{"payload":"` + strings.Repeat("x", 1000) + `"}`),
			}
		}
		if err := table.Write(b.Context(), entries); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(100*b.N)/b.Elapsed().Seconds(), "records/s")
}
