package pgledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemctl/idemctl/reconcile"
)

// failure is the cause of a LedgerError: a text without secrets, and the error
// behind it where that is safe to unwrap. Errors of the driver that carry its
// configuration are not, since that holds the password.
type failure struct {
	text  string
	cause error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.cause }

func (l *Ledger) errorf(kind reconcile.LedgerErrorKind, object, hint, format string, args ...any) *reconcile.LedgerError {
	return &reconcile.LedgerError{Kind: kind, Ledger: l.name, Object: object, Hint: hint, Err: fmt.Errorf(format, args...)}
}

// fail turns an error of the driver or the server into ours. Object is what was
// asked; the server's own answer may name something nearer.
func (l *Ledger) fail(ctx context.Context, err error, object string) error {
	var own *reconcile.LedgerError
	if err == nil || errors.As(err, &own) {
		return err
	}
	e := &reconcile.LedgerError{Ledger: l.name, Object: object}
	var pgErr *pgconn.PgError
	switch {
	case errors.As(err, &pgErr):
		l.explainServer(ctx, e, pgErr)
	case errors.Is(context.Cause(ctx), errNoAnswer):
		e.Kind, e.Hint = reconcile.LedgerTimeout, "raise the timeout, or look at the network and the server"
		e.Err = &failure{fmt.Sprintf("no answer within %s", l.timeout+grace), context.DeadlineExceeded}
	case ctx.Err() != nil:
		e.Err = &failure{"reading was ended: " + ctx.Err().Error(), ctx.Err()}
	case l.closed.Load():
		e.Err = errClosed
	case lostConnection(err):
		e.Kind, e.Hint = reconcile.LedgerUnreachable, "check the host, the port and that the server runs"
		e.Object = l.server
		e.Err = &failure{l.scrub(connectionText(err)), nil}
	default:
		e.Err = &failure{l.scrub(err.Error()), nil}
	}
	return e
}

// explainServer sorts the server's answers by SQLSTATE (PostgreSQL
// documentation, appendix A).
func (l *Ledger) explainServer(ctx context.Context, e *reconcile.LedgerError, p *pgconn.PgError) {
	text := p.Message
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	e.Err = &failure{l.scrub(fmt.Sprintf("%s (SQLSTATE %s)", text, p.Code)), p}
	e.Hint = p.Hint
	switch code := p.Code; {
	case code == "57014": // query_canceled
		e.Kind, e.Hint = reconcile.LedgerTimeout, "raise the timeout, or look for locks on the table and a missing index"
		if err := ctx.Err(); err != nil {
			e.Err = &failure{"reading was ended: " + err.Error(), err}
			if !errors.Is(context.Cause(ctx), errNoAnswer) {
				e.Kind, e.Hint = reconcile.LedgerFailed, ""
			}
		}
	case code == "28P01", strings.HasPrefix(code, "28"): // invalid_authorization_specification
		e.Kind, e.Object = reconcile.LedgerDenied, l.server
		e.Hint = "check the user, and the password in the DSN, PGPASSWORD or PGPASSFILE"
	case code == "42501": // insufficient_privilege
		e.Kind = reconcile.LedgerDenied
	case code == "3D000": // invalid_catalog_name
		e.Kind, e.Object = reconcile.LedgerMissing, l.server
		e.Hint = "check the database's name in the DSN"
	case code == "42P01", code == "42703", code == "3F000": // undefined_table, undefined_column, invalid_schema_name
		e.Kind = reconcile.LedgerMissing
	case code == "53300": // too_many_connections
		e.Kind, e.Object = reconcile.LedgerUnreachable, l.server
		e.Hint = "lower the concurrency, or raise the server's or the role's connection limit"
	case strings.HasPrefix(code, "08"), strings.HasPrefix(code, "57P"), code == "25P03": // connection_exception, operator_intervention, idle_in_transaction_session_timeout
		e.Kind, e.Object = reconcile.LedgerUnreachable, l.server
	case code == "42704" && e.Object == l.server: // undefined_object: a startup parameter
		e.Kind, e.Hint = reconcile.LedgerBadDSN, "remove the parameter from the DSN; a schema is chosen with search_path"
	case code == "40001": // serialization_failure: here a conflict with recovery
		e.Hint = "a replica cancelled the statement to go on with its replay: try again, or set hot_standby_feedback"
	case code == "25006": // read_only_sql_transaction
		e.Kind, e.Hint = reconcile.LedgerBadSource, "a view or predicate calls a function that writes"
	}
}

// lostConnection says whether there is no connection, or not any more.
func lostConnection(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// connectionText is the reason on one line: the driver writes a line for each
// address it tried.
func connectionText(err error) string {
	text := err.Error()
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		text = "cannot connect: " + connect.Unwrap().Error()
	} else {
		text = "connection lost: " + text
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "; ")
}

// scrub removes the secrets from a text of the driver or the server. Neither is
// known to repeat one: this is the second lock on the door.
func (l *Ledger) scrub(text string) string {
	for _, s := range l.secrets {
		if len(s) > 3 {
			text = strings.ReplaceAll(text, s, "xxxxx")
		}
	}
	return text
}
