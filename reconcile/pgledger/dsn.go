package pgledger

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemctl/idemctl/reconcile"
)

// connectTimeout bounds making a connection where the DSN does not say so.
const connectTimeout = 10 * time.Second

// cancelDelay is how long the server may take to answer a cancelled statement
// before the connection is given up.
const cancelDelay = 2 * time.Second

const formsOfDSN = `write postgres://USER@HOST:PORT/DATABASE or "host=HOST dbname=DATABASE user=USER", percent-encode @ / : % in a URL's user and password, or leave the password to PGPASSWORD or PGPASSFILE`

// complaints are parts of the driver's messages that hold nothing of the DSN,
// and what they mean.
var complaints = []struct{ fragment, meaning string }{
	{"sslmode is invalid", "sslmode is not one of disable, allow, prefer, require, verify-ca and verify-full"},
	{"invalid port", "the port is not a number"},
	{"invalid connect_timeout", "connect_timeout is not a number of seconds"},
	{"unable to read CA file", "sslrootcert cannot be read"},
	{"unable to read cert", "sslcert or sslkey cannot be read"},
	{"unable to load cert", "sslcert or sslkey cannot be read"},
	{"service file", "the service file cannot be read"},
	{"target_session_attrs", "target_session_attrs has an unknown value"},
	{"missing \"=\"", "a keyword has no value"},
	{"invalid keyword/value", "it is neither a URL nor a keyword string"},
}

// parseDSN reads the DSN. Its errors never quote it: a DSN that cannot be parsed
// does not show where its password begins and ends.
func (l *Ledger) parseDSN(dsn string) (*pgxpool.Config, error) {
	if err := l.checkURL(dsn); err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		meaning := "the DSN cannot be parsed"
		for _, c := range complaints {
			if strings.Contains(err.Error(), c.fragment) {
				meaning += ": " + c.meaning
				break
			}
		}
		return nil, l.errorf(reconcile.LedgerBadDSN, "", formsOfDSN, "%s", meaning)
	}
	cc := config.ConnConfig
	if cc.ConnectTimeout <= 0 || cc.ConnectTimeout > connectTimeout && !strings.Contains(dsn, "connect_timeout") {
		cc.ConnectTimeout = connectTimeout
	}
	// A cancelled call ends its statement on the server too, not only here.
	cc.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: cancelDelay}
	}
	// Nothing is prepared by name: see the package comment.
	cc.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	cc.StatementCacheCapacity, cc.DescriptionCacheCapacity = 0, 0
	return config, nil
}

// checkURL refuses other databases' URLs, and those in which an unescaped @ or /
// of the password would be taken for the host: the host appears in messages.
func (l *Ledger) checkURL(dsn string) error {
	scheme, rest, isURL := strings.Cut(dsn, "://")
	if !isURL || strings.ContainsAny(scheme, "= '") {
		if !strings.Contains(dsn, "=") && strings.TrimSpace(dsn) != "" {
			return l.errorf(reconcile.LedgerBadDSN, "", formsOfDSN, "the DSN is neither a URL nor a keyword string")
		}
		return nil
	}
	if scheme != "postgres" && scheme != "postgresql" {
		return l.errorf(reconcile.LedgerBadDSN, "", formsOfDSN, "the DSN is not a URL of PostgreSQL")
	}
	at := strings.IndexByte(rest, '@')
	if strings.Count(rest, "@") > 1 || at >= 0 && strings.Contains(rest[:at], "/") {
		return l.errorf(reconcile.LedgerBadDSN, "", "write @ as %40 and / as %2F in a URL's user and password",
			"the DSN holds an @ or / that ends its user and password early")
	}
	return nil
}
