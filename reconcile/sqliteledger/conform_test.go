package sqliteledger_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
	"github.com/idemctl/idemctl/reconcile/sqliteledger"
)

// store is a SQLite file for the suite.
type store struct {
	path string
	db   *sql.DB
	t    testing.TB
}

func newStore(t testing.TB) *store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	// WAL, as services use it: readers and the writer do not wait for each other.
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_journal_mode=WAL&_busy_timeout=30000&_synchronous=OFF")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	s := &store{path, db, t}
	s.Exec("PRAGMA user_version = 1")
	return s
}

func (s *store) Exec(statement string, args ...any) {
	s.t.Helper()
	if _, err := s.db.Exec(statement, args...); err != nil {
		s.t.Fatalf("%s: %v", statement, err)
	}
}

func (s *store) Open(o reconciletest.Opening) (reconcile.Ledger, error) {
	l, err := sqliteledger.Open(context.Background(), sqliteledger.Options{
		Name: "main", DSN: "sqlite:" + s.path, Timeout: o.Timeout, MaxConns: o.MaxConns, AllowScan: o.AllowScan,
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (s *store) Write(l reconcile.Ledger, statement string) error {
	return l.(*sqliteledger.Ledger).Write(context.Background(), statement)
}

func TestConform(t *testing.T) {
	asBytes := func(key string) any { return []byte(key) }
	reconciletest.Conform(t, reconciletest.Backend{
		New:    func(t testing.TB) reconciletest.Store { return newStore(t) },
		Schema: "main", Placeholder: "?",
		Text: "TEXT", Integer: "INTEGER", Bytes: "BLOB", Time: "DATETIME",
		Keys: []reconciletest.KeyColumn{
			{Type: "TEXT", Holds: []string{"a", "b", "A", "42", "042", "1e3", "é"}, Unfit: []string{"", "a\x00", "\xff"}},
			// A handler that passes a []byte stores a BLOB, whatever the column says.
			{Type: "VARCHAR(3)", Holds: []string{"a", "b", "42"}, Stored: asBytes},
			{Type: "BLOB", Holds: []string{"a", "b", "42"}, Stored: asBytes},
			{Type: "", Holds: []string{"a", "b", "42", "042", "1e3"}},
			{
				Type: "INTEGER", Holds: []string{"1", "-9223372036854775808", "9223372036854775807", "9007199254740993"},
				Same:  [][2]string{{"1", "+1"}, {"1", "01"}},
				Unfit: []string{"", "x", "1.0", "1e3", "0x1", " 1", "9223372036854775808", "\x00", "\xff"},
			},
			{Type: "BIGINT", Holds: []string{"1", "2", "3"}},
			// SQLite takes this for a number.
			{
				Type: "UUID", Holds: []string{"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "x", "42"},
				Unfit: []string{"042", "1e3", "4.0", "12345678901234567890123456789012", " 7"},
			},
		},
		Refused: []string{"REAL", "DOUBLE", "FLOAT", "TEXT COLLATE NOCASE"},
	})
}
