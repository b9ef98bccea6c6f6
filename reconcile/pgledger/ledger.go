// Package pgledger reads marks and effects from PostgreSQL.
//
// Every statement runs in a READ ONLY, READ COMMITTED transaction of its own
// that sets its limits with SET LOCAL, so that a pooler which hands each
// transaction to another server session (PgBouncer in transaction mode) changes
// nothing. Statements are never prepared by name: plans are made for the keys at
// hand and no session keeps state.
package pgledger

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemctl/idemctl/reconcile"
)

// Options say which database a ledger is and how it may be used.
type Options struct {
	Name string // the ledger's name, for messages
	// DSN is a postgres:// or postgresql:// URL or a keyword string
	// ("host=… dbname=…"). What it leaves open comes from the PG* environment
	// and from PGPASSFILE. It is a secret.
	DSN string
	// Timeout bounds each statement on the server; 0 means 30 s.
	Timeout time.Duration
	// MaxConns bounds the sessions; 0 means 4.
	MaxConns int
	// AllowScan lets lookups read whole tables where no index serves the key.
	AllowScan bool
	// PrimaryDSN is the primary of the replica that DSN names; "" means unknown.
	// It is a secret.
	PrimaryDSN string
}

const (
	defaultTimeout  = 30 * time.Second
	defaultMaxConns = 4
	// oldestVersion is the first server whose catalog has all that is asked of
	// it: nondeterministic collations came with 12.
	oldestVersion = 120000
)

// Ledger is one PostgreSQL database. It is safe for concurrent use.
type Ledger struct {
	name      string
	timeout   time.Duration
	allowScan bool
	pool      *pgxpool.Pool
	server    string   // host:port/database
	setup     string   // the statement that limits a transaction
	known     []string // the settings that the server knows
	asciiOnly bool     // the database's encoding holds less than Unicode
	primary   primary
	secrets   []string
	closed    atomic.Bool
}

// primary is what a replica knows of its primary.
type primary struct {
	dsn string // "" when it is not known
	sync.Mutex
	ledger *Ledger // nil until it is needed
}

var _ reconcile.Ledger = (*Ledger)(nil)

// Open connects and checks that the server can serve as a ledger. It fails with
// LedgerBadDSN, LedgerUnreachable, LedgerDenied, or LedgerMissing where the
// database does not exist. Where the server is a replica and a PrimaryDSN is
// given, the primary is connected to as well.
func Open(ctx context.Context, o Options) (*Ledger, error) {
	l, err := open(ctx, o)
	if err != nil || o.PrimaryDSN == "" {
		return l, err
	}
	l.primary.dsn = o.PrimaryDSN
	facts, err := l.Facts(ctx)
	if err == nil && facts.Replica {
		err = l.checkPrimary(ctx)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

func open(ctx context.Context, o Options) (*Ledger, error) {
	l := &Ledger{name: o.Name, timeout: o.Timeout, allowScan: o.AllowScan, secrets: []string{o.DSN}}
	if l.timeout <= 0 {
		l.timeout = defaultTimeout
	}
	config, err := l.parseDSN(o.DSN)
	if err != nil {
		return nil, err
	}
	config.MaxConns = defaultMaxConns
	if o.MaxConns > 0 {
		config.MaxConns = int32(min(o.MaxConns, 1000))
	}
	cc := config.ConnConfig
	l.secrets = append(l.secrets, cc.Password)
	l.server = net.JoinHostPort(cc.Host, strconv.Itoa(int(cc.Port))) + "/" + cc.Database
	if strings.HasPrefix(cc.Host, "/") {
		l.server = cc.Host + ":" + strconv.Itoa(int(cc.Port)) + "/" + cc.Database
	}
	l.addSessionLimits(config)
	err = l.connect(ctx, config)
	if refusedStartup(err) {
		dropSessionLimits(config)
		err = l.connect(ctx, config)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// connect makes the pool and checks the server through it.
func (l *Ledger) connect(ctx context.Context, config *pgxpool.Config) error {
	pool, err := pgxpool.NewWithConfig(ctx, config.Copy())
	if err != nil {
		return l.fail(ctx, err, l.server)
	}
	l.pool = pool
	if err := l.check(ctx); err != nil {
		pool.Close()
		return err
	}
	return nil
}

// check asks the server what it is, and composes the statement that limits every
// transaction from those settings that it knows.
func (l *Ledger) check(ctx context.Context) error {
	l.setup = bareSetup
	return l.view(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var number int
		var version, encoding string
		err := tx.QueryRow(ctx, `
			SELECT current_setting('server_version_num')::int, current_setting('server_version'),
			       current_setting('server_encoding'),
			       ARRAY(SELECT name::text FROM pg_catalog.pg_settings WHERE name = ANY($1::text[]))`,
			append(l.settingNames(), "enable_seqscan")).Scan(&number, &version, &encoding, &l.known)
		if err != nil {
			return err
		}
		if number < oldestVersion {
			return l.errorf(reconcile.LedgerFailed, l.server, "point the ledger at a server of version 12 or newer",
				"the server says version %s: PostgreSQL 12 is the oldest that can serve as a ledger", version)
		}
		l.asciiOnly = encoding != "UTF8" && encoding != "SQL_ASCII"
		l.setup = l.setupStatement()
		return nil
	})
}

// Facts says what the ledger is, now.
func (l *Ledger) Facts(ctx context.Context) (reconcile.LedgerFacts, error) {
	f := reconcile.LedgerFacts{Kind: "postgres", Server: l.server}
	err := l.view(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return tx.QueryRow(ctx, `
			SELECT current_setting('server_version'), current_user::text, pg_is_in_recovery(), clock_timestamp()`).
			Scan(&f.Version, &f.User, &f.Replica, &f.Now)
	})
	if err != nil {
		return reconcile.LedgerFacts{}, err
	}
	// "15.18 (Debian 15.18-0+deb12u1)" names the package too.
	f.Version, _, _ = strings.Cut(f.Version, " ")
	f.Now = f.Now.UTC()
	return f, nil
}

// Close ends all sessions, after the calls in flight. It is safe to repeat.
func (l *Ledger) Close() error {
	l.closed.Store(true)
	l.pool.Close()
	l.primary.Lock()
	defer l.primary.Unlock()
	if l.primary.ledger != nil {
		return l.primary.ledger.Close()
	}
	return nil
}

var errClosed = errors.New("the ledger is closed")
