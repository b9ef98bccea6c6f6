package sqliteledger_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
	"github.com/idemctl/idemctl/reconcile/sqliteledger"
)

// journalStore is a SQLite file for the suite of journals.
type journalStore struct{ *store }

func (s journalStore) options(table string) sqliteledger.JournalOptions {
	return sqliteledger.JournalOptions{Name: "main", DSN: "sqlite:" + s.path, Table: table}
}

func (s journalStore) Create(table string) error {
	return sqliteledger.CreateJournal(context.Background(), s.options(table))
}

func (s journalStore) Open(table string) (reconciletest.JournalTable, error) {
	return sqliteledger.OpenJournal(context.Background(), s.options(table))
}

func (s journalStore) Value(sql string, args ...any) string {
	s.t.Helper()
	var v any
	if err := s.db.QueryRow(sql, args...).Scan(&v); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return fmt.Sprint(v)
}

func TestJournalConforms(t *testing.T) {
	reconciletest.ConformJournal(t, func(t testing.TB) reconciletest.JournalStore { return journalStore{newStore(t)} })
}

func TestJournalMakesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.db")
	o := sqliteledger.JournalOptions{Name: "main", DSN: "sqlite:" + path, Table: "j"}
	_, err := sqliteledger.OpenJournal(t.Context(), o)
	failsAs(t, err, reconcile.LedgerMissing, path)
	failsAs(t, sqliteledger.CreateJournal(t.Context(), o), reconcile.LedgerMissing, path)
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file was made: %v", err)
	}
}

func TestJournalThatMayNotBeWrittenIsSaid(t *testing.T) {
	s := journalStore{newStore(t)}
	if err := s.Create("j"); err != nil {
		t.Fatal(err)
	}
	o := s.options("j")
	o.ReadOnly = true
	table, err := sqliteledger.OpenJournal(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = table.Close() }()
	failsAs(t, table.Write(t.Context(), []journal.Entry{{Record: journal.Record{Run: "r", Seq: 1, Kind: journal.KindRun}}}), reconcile.LedgerDenied, "write access")
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		return // permissions say nothing to this user
	}
	if err := os.Chmod(s.path, 0o400); err != nil {
		t.Fatal(err)
	}
	_, err = s.Open("j")
	failsAs(t, err, reconcile.LedgerDenied, "write access")
}

// The application may write for a moment; the journal waits for it, and not for
// ever.
func TestJournalWaitsForAnotherWriter(t *testing.T) {
	s := journalStore{newStore(t)}
	if err := s.Create("j"); err != nil {
		t.Fatal(err)
	}
	o := s.options("j")
	o.Timeout = 300 * time.Millisecond
	var table *sqliteledger.JournalTable
	reconciletest.Eventually(t, "opening", func() (err error) {
		table, err = sqliteledger.OpenJournal(t.Context(), o)
		return err
	})
	defer func() { _ = table.Close() }()
	s.Exec("BEGIN IMMEDIATE")
	entry := []journal.Entry{{Record: journal.Record{Run: "r", Seq: 1, Kind: journal.KindRun}, Line: []byte("{}")}}
	failsAs(t, table.Write(t.Context(), entry), reconcile.LedgerTimeout, "timeout")
	s.Exec("COMMIT")
	reconciletest.Eventually(t, "writing after the other writer", func() error { return table.Write(t.Context(), entry) })
}
