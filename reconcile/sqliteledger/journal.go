package sqliteledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// JournalOptions say which table takes the copy of a journal.
type JournalOptions struct {
	Name  string // the ledger's name, for messages
	DSN   string // that of the ledger, see Options
	Table string
	// Timeout bounds each statement, and the wait for another writer's lock; 0
	// means 10 s: changes wait for it.
	Timeout time.Duration
	// ReadOnly opens the table for Has, Runs and Records alone.
	ReadOnly bool
}

const defaultJournalTimeout = 10 * time.Second

// JournalTable is the one thing of a ledger that is written to: a table that takes
// the copies of journals. It has one connection of its own, apart from the
// read-only ones. It is safe for concurrent use.
type JournalTable struct {
	l     *Ledger // for its path, its file and its words; its connection is ours
	table string  // quoted
	shown string
}

var _ journal.Copy = (*JournalTable)(nil)

// OpenJournal opens the file, which must exist, and makes sure that the table can
// be written. It fails as Open does, and with LedgerMissing where there is no such
// table. The caller closes the table.
func OpenJournal(ctx context.Context, o JournalOptions) (*JournalTable, error) {
	t, err := connectJournal(o)
	if err != nil {
		return nil, err
	}
	if o.ReadOnly {
		_, err = t.Has(ctx, "", 0)
	} else {
		err = t.Write(ctx, nil)
	}
	if err != nil {
		_ = t.Close() // nothing was written
		return nil, err
	}
	return t, nil
}

func connectJournal(o JournalOptions) (*JournalTable, error) {
	l := &Ledger{name: o.Name, timeout: o.Timeout}
	if l.timeout <= 0 {
		l.timeout = defaultJournalTimeout
	}
	var err error
	if l.path, err = l.parseDSN(o.DSN); err != nil {
		return nil, err
	}
	t := &JournalTable{l: l, shown: o.Table}
	if t.table, err = tableName(o.Table); err != nil {
		return nil, l.errorf(reconcile.LedgerBadSource, o.Table, "", "%w", err)
	}
	if l.file, err = os.Stat(l.path); err != nil {
		return nil, l.failFile(err)
	}
	connector, err := sqlite.NewConnector(l.journalURI(o.ReadOnly))
	if err != nil {
		return nil, l.errorf(reconcile.LedgerBadDSN, l.path, "", "it cannot be opened")
	}
	l.db = sql.OpenDB(connector)
	l.db.SetMaxOpenConns(1)
	return t, nil
}

// journalURI makes no file, and takes the lock of a writer when a transaction
// begins: one that were taken later could not be waited for.
func (l *Ledger) journalURI(readOnly bool) string {
	if readOnly {
		return l.uri()
	}
	path := filepath.ToSlash(l.path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	q := url.Values{
		"mode":          {"rw"},
		"_txlock":       {"immediate"},
		"_defensive":    {"1"},
		"_dqs":          {"0"},
		"_error_rc":     {"1"},
		"_busy_timeout": {strconv.FormatInt(max(1, l.timeout.Milliseconds()), 10)},
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// tableName quotes a name.
func tableName(name string) (string, error) {
	parts, err := sqltext.ParseName(name)
	if err != nil {
		return "", err
	}
	if len(parts) > 2 || len(parts) == 2 && !strings.EqualFold(parts[0].Text, "main") {
		return "", errors.New("a file has one schema, main: quote a name that holds a dot")
	}
	return "main." + sqltext.Quote(parts[len(parts)-1].Text), nil
}

// String names the table for messages.
func (t *JournalTable) String() string {
	return fmt.Sprintf("table %s of ledger %s", t.shown, t.l.name)
}

// Close ends the connection.
func (t *JournalTable) Close() error { return t.l.Close() }

// within runs f in one transaction, which it commits.
func (t *JournalTable) within(ctx context.Context, f func(context.Context, *sql.Tx) error) error {
	return t.query(ctx, func(ctx context.Context) error {
		tx, err := t.l.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // after a commit it does nothing
		if err := f(ctx, tx); err != nil {
			return err
		}
		return tx.Commit()
	})
}

func (t *JournalTable) query(ctx context.Context, f func(context.Context) error) error {
	return t.l.query(ctx, t.shown, func(ctx context.Context) error { return t.explained(f(ctx)) })
}

// explained says what to do about errors that mean something else to a writer.
func (t *JournalTable) explained(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch text := e.Error(); {
	case e.Code()&0xff == sqlite3.SQLITE_READONLY:
		return t.l.errorf(reconcile.LedgerDenied, t.l.path, "give the user write access to the file and its directory", "%w", err)
	case e.Code()&0xff == sqlite3.SQLITE_FULL:
		return t.l.errorf(reconcile.LedgerUnreachable, t.l.path, "make room on the disk", "%w", err)
	case strings.Contains(text, "no such table"), strings.Contains(text, "no column named"), strings.Contains(text, "no such column"):
		return t.l.errorf(reconcile.LedgerMissing, t.shown, "idemctl ledger init --journal prints what makes it", "%w", err)
	case strings.Contains(text, "ON CONFLICT clause does not match"):
		return t.l.errorf(reconcile.LedgerBadSource, t.shown, "make run and seq its primary key: idemctl ledger init --journal prints a whole table", "%w", err)
	}
	return err
}
