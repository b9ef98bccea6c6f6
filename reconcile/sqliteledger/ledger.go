// Package sqliteledger reads marks and effects from a SQLite file.
//
// The file is opened read-only and never made. SQLite compares a text key by its
// spelling: a UUID is found as it was written. A lookup is one statement, and
// with that one transaction.
package sqliteledger

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"

	"github.com/idemctl/idemctl/reconcile"
)

// Options say which database a ledger is and how it may be used.
type Options struct {
	Name string // the ledger's name, for messages
	// DSN is sqlite:FILE, or sqlite:///PATH with percent-encoding. What follows a
	// question mark is not used.
	DSN string
	// Timeout bounds each statement, and the wait for a writer's lock; 0 means
	// 30 s.
	Timeout time.Duration
	// MaxConns bounds the connections; 0 means 4.
	MaxConns int
	// AllowScan lets lookups read whole tables where no index serves the key.
	AllowScan bool
}

const (
	defaultTimeout  = 30 * time.Second
	defaultMaxConns = 4
)

// Ledger is one SQLite file. It is safe for concurrent use.
type Ledger struct {
	name      string
	path      string
	timeout   time.Duration
	allowScan bool
	db        *sql.DB
	file      os.FileInfo // of the file as it was opened
	closed    atomic.Bool
}

var _ reconcile.Ledger = (*Ledger)(nil)

// Open opens the file and reads its schema. It fails with LedgerBadDSN,
// LedgerMissing where the file does not exist, LedgerDenied, or
// LedgerUnreachable where it is not a database.
func Open(ctx context.Context, o Options) (*Ledger, error) {
	l := &Ledger{name: o.Name, timeout: o.Timeout, allowScan: o.AllowScan}
	if l.timeout <= 0 {
		l.timeout = defaultTimeout
	}
	var err error
	if l.path, err = l.parseDSN(o.DSN); err != nil {
		return nil, err
	}
	if l.file, err = os.Stat(l.path); err != nil {
		return nil, l.failFile(err)
	}
	if l.file.IsDir() {
		return nil, l.errorf(reconcile.LedgerUnreachable, l.path, "name a file", "it is a directory")
	}
	connector, err := sqlite.NewConnector(l.uri())
	if err != nil {
		return nil, l.errorf(reconcile.LedgerBadDSN, l.path, "", "it cannot be opened")
	}
	l.db = sql.OpenDB(connector)
	l.db.SetMaxOpenConns(defaultMaxConns)
	if o.MaxConns > 0 {
		l.db.SetMaxOpenConns(o.MaxConns)
	}
	if err := l.check(ctx); err != nil {
		_ = l.db.Close()
		return nil, err
	}
	return l, nil
}

// check reads the schema once, which is the first thing that fails where the
// file is no database, and insists that the connection cannot write.
func (l *Ledger) check(ctx context.Context) error {
	return l.query(ctx, "", func(ctx context.Context) error {
		var tables, readOnly int
		if err := l.db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return err
		}
		if err := l.db.QueryRowContext(ctx, "PRAGMA query_only").Scan(&readOnly); err != nil {
			return err
		}
		if readOnly != 1 {
			return errors.New("the connection is not read-only, and nothing was read")
		}
		return nil
	})
}

// Facts says what the ledger is, now. Its clock is this machine's.
func (l *Ledger) Facts(ctx context.Context) (reconcile.LedgerFacts, error) {
	f := reconcile.LedgerFacts{Kind: "sqlite", Server: l.path}
	err := l.query(ctx, "", func(ctx context.Context) error {
		return l.db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&f.Version)
	})
	if err != nil {
		return reconcile.LedgerFacts{}, err
	}
	f.Now = time.Now().UTC()
	return f, nil
}

// Close ends all connections. It is safe to repeat.
func (l *Ledger) Close() error {
	l.closed.Store(true)
	return l.db.Close()
}

// query runs f under the ledger's timeout. It fails where the file is not the
// one that was opened: the old one, still open, would go on to answer. Object is
// what the errors speak of, "" for the file.
func (l *Ledger) query(ctx context.Context, object string, f func(context.Context) error) error {
	if l.closed.Load() {
		return l.errorf(reconcile.LedgerFailed, "", "", "the ledger is closed")
	}
	now, err := os.Stat(l.path)
	if err != nil {
		return l.failFile(err)
	}
	if !os.SameFile(now, l.file) {
		return l.errorf(reconcile.LedgerUnreachable, l.path, "run the command again", "the file was replaced since it was opened")
	}
	bounded, cancel := context.WithTimeoutCause(ctx, l.timeout, errTooLong)
	defer cancel()
	return l.fail(bounded, f(bounded), object)
}
