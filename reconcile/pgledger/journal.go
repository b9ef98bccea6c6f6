package pgledger

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// JournalOptions say which table takes the copy of a journal.
type JournalOptions struct {
	Name string // the ledger's name, for messages
	// DSN is that of the ledger, see Options. Its role needs SELECT and INSERT on
	// the table, to read it SELECT.
	DSN string
	// Table is its name, perhaps with a schema.
	Table string
	// Timeout bounds each statement on the server; 0 means 10 s: changes wait for
	// it.
	Timeout time.Duration
	// ReadOnly opens the table for Has, Runs and Records alone.
	ReadOnly bool
}

const defaultJournalTimeout = 10 * time.Second

// JournalTable is the one thing of a ledger that is written to: a table that takes
// the copies of journals. It has one session of its own, apart from the read-only
// ones. It is safe for concurrent use.
type JournalTable struct {
	l      *Ledger // for its DSN, its limits and its words; it has no session but ours
	table  string  // quoted
	shown  string
	setup  string
	insert string
}

var _ journal.Copy = (*JournalTable)(nil)

// OpenJournal connects, and makes sure that the table can be written: what is
// missing is said before anything is changed on the strength of it. It fails as
// Open does, and with LedgerMissing where there is no such table. The caller
// closes the table.
func OpenJournal(ctx context.Context, o JournalOptions) (*JournalTable, error) {
	t, err := connectJournal(ctx, o)
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

// connectJournal makes the session. Nothing is sent yet.
func connectJournal(ctx context.Context, o JournalOptions) (*JournalTable, error) {
	l := &Ledger{name: o.Name, timeout: o.Timeout, secrets: []string{o.DSN}}
	if l.timeout <= 0 {
		l.timeout = defaultJournalTimeout
	}
	config, err := l.parseDSN(o.DSN)
	if err != nil {
		return nil, err
	}
	config.MaxConns = 1
	cc := config.ConnConfig
	l.secrets = append(l.secrets, cc.Password)
	l.server = net.JoinHostPort(cc.Host, strconv.Itoa(int(cc.Port))) + "/" + cc.Database
	cc.RuntimeParams["application_name"] = "idemctl"
	cc.RuntimeParams["client_encoding"] = "UTF8"
	t := &JournalTable{l: l, setup: journalSetup(l)}
	if t.table, err = tableName(o.Table); err != nil {
		return nil, l.errorf(reconcile.LedgerBadSource, o.Table, "name it as table, or as schema.table", "%w", err)
	}
	t.shown, t.insert = o.Table, insertStatement(t.table)
	if l.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, l.fail(ctx, err, l.server)
	}
	return t, nil
}

// journalSetup limits a transaction. With row_security off, rows that a policy
// hides raise an error and do not look absent.
func journalSetup(l *Ledger) string {
	return "SELECT set_config('statement_timeout', '" + milliseconds(l.timeout) + "', true), " +
		"set_config('idle_in_transaction_session_timeout', '" + milliseconds(idleLimit) + "', true), " +
		"set_config('row_security', 'off', true)"
}

// tableName quotes a name as the server would read it.
func tableName(name string) (string, error) {
	parts, err := sqltext.ParseName(name)
	if err != nil {
		return "", err
	}
	if len(parts) > 2 {
		return "", errors.New("a table's name has a schema and a name at most")
	}
	quoted := make([]string, len(parts))
	for i, p := range parts {
		spellings := p.Spellings()
		quoted[i] = sqltext.Quote(spellings[len(spellings)-1])
	}
	return strings.Join(quoted, "."), nil
}

// String names the table for messages.
func (t *JournalTable) String() string {
	return fmt.Sprintf("table %s of ledger %s", t.shown, t.l.name)
}

// Close ends the session.
func (t *JournalTable) Close() error {
	t.l.closed.Store(true)
	t.l.pool.Close()
	return nil
}

// Transactions of a journal's table.
const (
	beginWriting = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
	beginReading = beginReadOnly
)

// run runs f in one transaction, which it commits. A transaction whose connection
// was lost is run once more, on a new one: what f does must be safe to repeat.
func (t *JournalTable) run(ctx context.Context, begin string, f func(context.Context, pgx.Tx) error) error {
	err := t.runOnce(ctx, begin, f)
	var e *reconcile.LedgerError
	if errors.As(err, &e) && e.Kind == reconcile.LedgerUnreachable && ctx.Err() == nil {
		return t.runOnce(ctx, begin, f)
	}
	return err
}

func (t *JournalTable) runOnce(ctx context.Context, begin string, f func(context.Context, pgx.Tx) error) error {
	ctx, cancel := t.l.bounded(ctx)
	defer cancel()
	conn, err := t.l.pool.Acquire(ctx)
	if err != nil {
		return t.l.fail(ctx, err, t.l.server)
	}
	defer conn.Release()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin})
	if err != nil {
		return t.fail(ctx, err)
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	if _, err := tx.Exec(ctx, t.setup); err != nil {
		return t.fail(ctx, err)
	}
	if err := f(ctx, tx); err != nil {
		return t.fail(ctx, err)
	}
	return t.fail(ctx, tx.Commit(ctx))
}

// fail explains what the server said of the table.
func (t *JournalTable) fail(ctx context.Context, err error) error {
	var p *pgconn.PgError
	if !errors.As(err, &p) || errors.As(err, new(*reconcile.LedgerError)) {
		return t.l.fail(ctx, err, t.shown)
	}
	cause := &failure{t.l.scrub(fmt.Sprintf("%s (SQLSTATE %s)", p.Message, p.Code)), p}
	// What BEGIN READ WRITE says on a replica is but feature_not_supported.
	if p.Code == "25006" || p.Code == "0A000" && strings.Contains(p.Message, "recovery") { // read_only_sql_transaction
		return t.l.errorf(reconcile.LedgerDenied, t.shown, "name a ledger that is a primary: a replica takes no records", "%w", cause)
	}
	switch p.Code {
	case "42P01", "3F000", "42703": // undefined_table, invalid_schema_name, undefined_column
		return t.l.errorf(reconcile.LedgerMissing, t.shown, "idemctl ledger init --journal prints what makes it", "%w", cause)
	case "42P10": // invalid_column_reference: no constraint that ON CONFLICT could mean
		return t.l.errorf(reconcile.LedgerBadSource, t.shown, "make run and seq its primary key: idemctl ledger init --journal prints a whole table", "%w", cause)
	case "42804": // datatype_mismatch
		return t.l.errorf(reconcile.LedgerBadSource, t.shown, "idemctl ledger init --journal prints the columns it must have", "%w", cause)
	case "42501": // insufficient_privilege
		return t.l.errorf(reconcile.LedgerDenied, t.shown, "GRANT SELECT, INSERT ON "+t.shown+" to the role", "%w", cause)
	}
	return t.l.fail(ctx, err, t.shown)
}
