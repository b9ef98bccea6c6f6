package sqliteledger_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
	"github.com/idemctl/idemctl/reconcile/sqliteledger"
)

// failsAs insists on a LedgerError of the kind that mentions the words.
func failsAs(t *testing.T, err error, kind reconcile.LedgerErrorKind, words ...string) {
	t.Helper()
	var e *reconcile.LedgerError
	if !errors.As(err, &e) {
		t.Fatalf("error %v is no LedgerError", err)
	}
	if e.Kind != kind {
		t.Errorf("error kind %d, want %d: %v", e.Kind, kind, err)
	}
	for _, w := range words {
		if text := e.Error() + "\n" + e.Hint; !strings.Contains(text, w) {
			t.Errorf("error does not mention %q: %s", w, text)
		}
	}
}

func open(dsn string) (*sqliteledger.Ledger, error) {
	return sqliteledger.Open(context.Background(), sqliteledger.Options{Name: "main", DSN: dsn})
}

func TestOpenMakesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.db")
	_, err := open("sqlite:" + path)
	failsAs(t, err, reconcile.LedgerMissing, path, "does not exist")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file was made: %v", err)
	}
}

func TestOpenRefusesWhatIsNoDatabase(t *testing.T) {
	dir := t.TempDir()
	_, err := open("sqlite:" + dir)
	failsAs(t, err, reconcile.LedgerUnreachable, "directory")
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = open("sqlite:" + text)
	failsAs(t, err, reconcile.LedgerUnreachable, "not a SQLite database")
}

func TestOpenRefusesOtherDSNs(t *testing.T) {
	for _, dsn := range []string{
		"", "sqlite:", "sqlite::memory:", "sqlite:file::memory:", "sqlite:x.db?mode=memory", "sqlite://host/x.db",
		"sqlite://u:hunter@host/x.db", "sqlite:///a%zz", "postgres://u:hunter@h/db", "x.db", "sqlite:a\x00b",
	} {
		_, err := open(dsn)
		failsAs(t, err, reconcile.LedgerBadDSN, "sqlite:FILE")
		if strings.Contains(err.Error(), "hunter") {
			t.Errorf("the error betrays a password: %v", err)
		}
	}
}

// TestOpenTakesOddFileNames: what a URL or SQLite would read as something else is
// part of the name.
func TestOpenTakesOddFileNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"plain.db", "a b#c%d&e=f.db", "ä'\";.db"} {
		if runtime.GOOS == "windows" && strings.Contains(name, `"`) {
			continue
		}
		path := filepath.Join(dir, name)
		makeDatabase(t, path, "CREATE TABLE marks (task_id TEXT PRIMARY KEY)")
		slashed := filepath.ToSlash(path)
		if !strings.HasPrefix(slashed, "/") {
			slashed = "/" + slashed
		}
		for _, dsn := range []string{
			"sqlite:" + path, "sqlite:" + path + "?_pragma=query_only(0)&mode=rwc",
			"sqlite://" + (&url.URL{Path: slashed}).EscapedPath() + "?cache=shared",
		} {
			l, err := open(dsn)
			if err != nil {
				t.Errorf("%s: %v", dsn, err)
				continue
			}
			if err := l.Write(context.Background(), "INSERT INTO marks VALUES ('k')"); err == nil {
				t.Errorf("%s can write", dsn)
			}
			f, err := l.Facts(context.Background())
			if err != nil || f.Server != path {
				t.Errorf("%s: %+v, %v", dsn, f, err)
			}
			_ = l.Close()
		}
	}
}

// makeDatabase makes a file as a program would that is not there any more.
func makeDatabase(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestReadFailsOnceTheFileIsReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger.db")
	const table = "CREATE TABLE marks (task_id TEXT PRIMARY KEY)"
	makeDatabase(t, path, table)
	l, err := open("sqlite:" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	k, err := l.Prepare(context.Background(), []reconcile.Source{{Table: "marks"}})
	if err != nil {
		t.Fatal(err)
	}
	restored := filepath.Join(dir, "backup.db")
	makeDatabase(t, restored, table, "INSERT INTO marks VALUES ('k')")
	if err := os.Rename(restored, path); err != nil {
		t.Fatal(err)
	}
	_, err = k.Read(context.Background(), []string{"k"}, false)
	failsAs(t, err, reconcile.LedgerUnreachable, "replaced")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err = k.Read(context.Background(), []string{"k"}, false)
	failsAs(t, err, reconcile.LedgerMissing)
}

// TestReadWaitsForAWriter, and gives up at its timeout, where the file is in
// rollback mode and the writer locks everyone out.
func TestReadWaitsForAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	makeDatabase(t, path, "CREATE TABLE marks (task_id TEXT PRIMARY KEY)")
	writer, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	writer.SetMaxOpenConns(1)
	var l *sqliteledger.Ledger
	reconciletest.Eventually(t, "opening", func() (err error) {
		l, err = sqliteledger.Open(context.Background(), sqliteledger.Options{Name: "main", DSN: "sqlite:" + path, Timeout: 200 * time.Millisecond})
		return err
	})
	defer l.Close()
	var k reconcile.Lookup
	reconciletest.Eventually(t, "preparing", func() (err error) {
		k, err = l.Prepare(context.Background(), []reconcile.Source{{Table: "marks"}})
		return err
	})
	run := func(statement string) {
		t.Helper()
		if _, err := writer.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	run("BEGIN EXCLUSIVE")
	run("INSERT INTO marks VALUES ('k')")
	_, err = k.Read(context.Background(), []string{"k"}, false)
	failsAs(t, err, reconcile.LedgerTimeout)
	run("COMMIT")
	var rows reconcile.Rows
	reconciletest.Eventually(t, "reading after the commit", func() (err error) {
		rows, err = k.Read(context.Background(), []string{"k"}, false)
		return err
	})
	if rows.Keys[0][0].Count != 1 {
		t.Errorf("after the commit: %+v", rows)
	}
}

// TestOpenReadsAFileLeftInWALMode by a program that is not there any more.
func TestOpenReadsAFileLeftInWALMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	makeDatabase(t, path, "PRAGMA journal_mode = WAL", "CREATE TABLE marks (task_id TEXT PRIMARY KEY)", "INSERT INTO marks VALUES ('k')")
	l, err := open("sqlite:" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	k, err := l.Prepare(context.Background(), []reconcile.Source{{Table: "marks"}})
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := k.Read(context.Background(), []string{"k"}, false); err != nil || rows.Keys[0][0].Count != 1 {
		t.Errorf("rows: %+v, %v", rows, err)
	}
}
