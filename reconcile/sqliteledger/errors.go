package sqliteledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/idemctl/idemctl/reconcile"
)

// errTooLong is the cause of a context that the ledger's own timeout ended.
var errTooLong = errors.New("statement timeout")

func (l *Ledger) errorf(kind reconcile.LedgerErrorKind, object, hint, format string, args ...any) *reconcile.LedgerError {
	return &reconcile.LedgerError{Kind: kind, Ledger: l.name, Object: object, Hint: hint, Err: fmt.Errorf(format, args...)}
}

// failFile explains why the file cannot be looked at.
func (l *Ledger) failFile(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l.errorf(reconcile.LedgerMissing, l.path, "check the path: the file is never made here", "the file does not exist")
	case errors.Is(err, fs.ErrPermission):
		return l.errorf(reconcile.LedgerDenied, l.path, "give the user read access to the file and its directory", "the file may not be read")
	}
	return l.errorf(reconcile.LedgerUnreachable, l.path, "", "%w", err)
}

// fail turns an error of the driver into ours.
func (l *Ledger) fail(ctx context.Context, err error, object string) error {
	var own *reconcile.LedgerError
	if err == nil || errors.As(err, &own) {
		return err
	}
	if object == "" {
		object = l.path
	}
	switch {
	case errors.Is(context.Cause(ctx), errTooLong):
		return l.errorf(reconcile.LedgerTimeout, object, "raise the timeout, or look for a missing index", "no answer within %s", l.timeout)
	case ctx.Err() != nil:
		return l.errorf(reconcile.LedgerFailed, object, "", "reading was ended: %w", ctx.Err())
	case l.closed.Load():
		return l.errorf(reconcile.LedgerFailed, "", "", "the ledger is closed")
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return l.errorf(reconcile.LedgerFailed, object, "", "%w", err)
	}
	kind, hint := explain(e.Code())
	return l.errorf(kind, object, hint, "%w", err)
}

// explain sorts SQLite's result codes (sqlite.org/rescode.html); the low byte is
// the primary one.
func explain(code int) (kind reconcile.LedgerErrorKind, hint string) {
	switch code & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return reconcile.LedgerTimeout, "another process holds the file's lock: try again, or raise the timeout"
	case sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return reconcile.LedgerDenied, "give the user read access to the file and its directory"
	case sqlite3.SQLITE_READONLY:
		return reconcile.LedgerUnreachable, "a crashed writer left a journal: let the application open the file once"
	case sqlite3.SQLITE_CANTOPEN:
		return reconcile.LedgerUnreachable, "a file in WAL mode needs a writable directory, or a process that has it open"
	case sqlite3.SQLITE_NOTADB:
		return reconcile.LedgerUnreachable, "the file is not a SQLite database, or it is encrypted"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR:
		return reconcile.LedgerUnreachable, "the file is damaged or its disk fails: nothing read from it proves anything"
	}
	return reconcile.LedgerFailed, ""
}
