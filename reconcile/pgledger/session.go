package pgledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemctl/idemctl/reconcile"
)

// grace is what a call may take beyond the server's own statement timeout, for
// the network and for making a connection.
const grace = 10 * time.Second

// idleLimit is when the server ends a transaction of ours that asks nothing.
const idleLimit = 60 * time.Second

const beginReadOnly = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"

// A setup statement answers with one row: whether the transaction is read-only
// ("on"), and whether the server is in recovery.
const setupColumns = "current_setting('transaction_read_only') = 'on', pg_is_in_recovery()"

const bareSetup = "SELECT " + setupColumns

var errWritable = errors.New("the session is not read-only, and nothing was read")

// setting is one configuration parameter and the value every transaction has.
type setting struct{ name, value string }

// settings limits what a transaction costs, and closes two ways to a wrong
// answer: with row_security off, rows that a policy hides raise an error and do
// not look absent; with standard_conforming_strings a predicate is read by the
// server as it was checked here.
func (l *Ledger) settings() []setting {
	return []setting{
		{"statement_timeout", milliseconds(l.timeout)},
		{"idle_in_transaction_session_timeout", milliseconds(idleLimit)},
		{"row_security", "off"},
		{"standard_conforming_strings", "on"},
		// Compiling a plan costs more than any lookup.
		{"jit", "off"},
	}
}

func (l *Ledger) settingNames() []string {
	var names []string
	for _, s := range l.settings() {
		names = append(names, s.name)
	}
	return names
}

func (l *Ledger) knows(setting string) bool { return slices.Contains(l.known, setting) }

func (l *Ledger) setupStatement() string {
	var b strings.Builder
	b.WriteString(bareSetup)
	for _, s := range l.settings() {
		if l.knows(s.name) {
			fmt.Fprintf(&b, ", set_config('%s', '%s', true)", s.name, s.value)
		}
	}
	return b.String()
}

func milliseconds(d time.Duration) string {
	return strconv.FormatInt(max(1, d.Milliseconds()), 10)
}

// sessionLimits are sent when a session starts, where the server takes them.
func (l *Ledger) sessionLimits() map[string]string {
	return map[string]string{
		"default_transaction_read_only":       "on",
		"statement_timeout":                   milliseconds(l.timeout),
		"idle_in_transaction_session_timeout": milliseconds(idleLimit),
	}
}

func (l *Ledger) addSessionLimits(config *pgxpool.Config) {
	params := config.ConnConfig.RuntimeParams
	params["application_name"] = "idemctl"
	params["client_encoding"] = "UTF8"
	for name, value := range l.sessionLimits() {
		params[name] = value
	}
}

// dropSessionLimits leaves the limits to each transaction: a pooler that knows
// only a few startup parameters refuses the connection for the others, and would
// share them with other clients of its sessions if it did not.
func dropSessionLimits(config *pgxpool.Config) {
	for name := range (&Ledger{}).sessionLimits() {
		delete(config.ConnConfig.RuntimeParams, name)
	}
}

// refusedStartup says whether the server may have refused a startup parameter, as
// poolers do: PgBouncer with protocol_violation, others with
// feature_not_supported.
func refusedStartup(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && (pgErr.Code == "08P01" || pgErr.Code == "0A000")
}

// bounded gives a call an end even where the network swallows the server's
// answers.
func (l *Ledger) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, l.timeout+grace, errNoAnswer)
}

var errNoAnswer = errors.New("no answer")

// view runs f in a read-only transaction. Every error it returns is a
// *reconcile.LedgerError.
func (l *Ledger) view(ctx context.Context, f func(context.Context, pgx.Tx) error) error {
	if l.closed.Load() {
		return l.errorf(reconcile.LedgerFailed, "", "", "%w", errClosed)
	}
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	conn, err := l.pool.Acquire(ctx)
	if err != nil {
		return l.fail(ctx, err, l.server)
	}
	defer conn.Release()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: beginReadOnly})
	if err != nil {
		return l.fail(ctx, err, l.server)
	}
	// There is nothing to keep: a rollback ends the transaction either way.
	defer func() { _ = tx.Rollback(ctx) }()
	if err := l.setUp(ctx, tx); err != nil {
		return l.fail(ctx, err, l.server)
	}
	if err := f(ctx, tx); err != nil {
		return l.fail(ctx, err, "")
	}
	return nil
}

// setUp applies the settings to a transaction and insists that it cannot write.
func (l *Ledger) setUp(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, l.setup)
	if err != nil {
		return err
	}
	defer rows.Close()
	readOnly := false
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return err
		}
		readOnly, _ = values[0].(bool)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if !readOnly {
		return errWritable
	}
	return nil
}
