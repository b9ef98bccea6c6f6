package reconcile

import (
	"context"
	"fmt"
	"time"
)

// Ledger is one database that holds marks and effects. Implementations are safe
// for concurrent use, read only, and return *LedgerError for every failure.
type Ledger interface {
	// Prepare resolves the sources (table, columns, types, index) and returns
	// the lookup that reads all of them in one statement. It fails with
	// LedgerMissing where a table or column is not there, LedgerNoIndex where no
	// index serves the lookup and the ledger was not told to scan, and
	// LedgerBadSource where a column's type cannot hold keys or a predicate is
	// not valid.
	Prepare(ctx context.Context, sources []Source) (Lookup, error)
	// Facts says what this ledger is, now.
	Facts(ctx context.Context) (LedgerFacts, error)
	// Close ends all connections. It is safe to repeat.
	Close() error
}

// Lookup reads a fixed set of sources of one ledger. It is safe for concurrent
// use.
type Lookup interface {
	// Sources says what was resolved, one for each source given to Prepare, in
	// the same order.
	Sources() []SourceFacts
	// Fit says whether every source's column can hold the key, and if not, why.
	// When it fits, canonical is the one spelling that all keys of the same row
	// share: a UUID in lower case with hyphens, an integer's plain digits, else
	// the key itself. It is pure: it asks no database.
	Fit(key string) (canonical, problem string)
	// Read reads every source for every key in one statement, in its own READ
	// COMMITTED transaction. Keys that do not Fit have no rows. With fence, and
	// where the ledger is a replica that knows its primary, the primary's WAL
	// position of now is awaited first.
	Read(ctx context.Context, keys []string, fence bool) (Rows, error)
	// Oldest is, for each source with a time column, the time of its oldest row,
	// and for each source, whether it has any row at all.
	Oldest(ctx context.Context) ([]SourceAge, error)
	// Writers says which transactions of others, begun before the given instant
	// (ledger clock), may still write to the sources: open ones that hold a write
	// lock on a source, and prepared ones.
	Writers(ctx context.Context, before time.Time) (Writers, error)
}

// LedgerFacts is what a ledger is.
type LedgerFacts struct {
	Kind    string // "postgres" or "sqlite"
	Version string // as the server says it, e.g. "15.18"
	Server  string // host and database, without secrets
	User    string // the session's role; "" where there is none
	Replica bool
	Now     time.Time // the ledger's clock
}

// SourceFacts is what a source turned out to be.
type SourceFacts struct {
	Source
	Table       string // resolved, with schema: public.processed_tasks
	Column      string // resolved
	At          string // resolved; "" when there is none
	ColumnType  string // as the database names it, e.g. "uuid"
	View        bool
	Partitioned bool
	Indexed     bool // an index serves equality on the column
	Unique      Uniqueness
	// NotUnique says why Unique is UniqueNo or UniquePrefix, in words.
	NotUnique string
}

// Uniqueness says whether the database itself stops a second row of one key.
type Uniqueness uint8

const (
	UniqueUnknown Uniqueness = iota // a view: nobody can say
	UniqueYes                       // a valid unique index on the key column alone that covers the rows of When
	UniquePrefix                    // a unique index over more columns that starts with the key
	UniqueNo
)

// Rows is what one Read found.
type Rows struct {
	// Keys[i][s] is what source s says of keys[i].
	Keys [][]Row
	// At is the ledger's clock at the statement.
	At time.Time
	// Lagging says that the rows came from a replica, or from a copy (a
	// materialized view, a foreign table, a table that logical replication fills),
	// that need not have seen everything: an absence proves nothing.
	Lagging bool
}

// Row is what one source says of one key. The zero value says: no row.
type Row struct {
	Count   int64 // rows with this key
	Passing int64 // of these, rows that pass the source's when
	// FirstAt and LastAt are the At times of the passing rows; zero when the
	// source has no time column or the rows have none.
	FirstAt, LastAt time.Time
	// ClaimedAt is the newest claim time among the rows that do not pass.
	ClaimedAt time.Time
	// Fingerprint is the stored payload hash of a row, lower-case hex; "" when
	// there is none.
	Fingerprint string
}

// SourceAge says how far back a source remembers.
type SourceAge struct {
	Empty  bool
	Oldest time.Time // zero when there is no time column or no row has a time
}

// Writers is what Lookup.Writers could see.
type Writers struct {
	Visible bool // whether other sessions' transactions can be seen at all
	Count   int
	// Oldest is the start of the oldest one; zero when Count is 0. A prepared one
	// does not say when it began: it counts as begun at the Unix epoch.
	Oldest time.Time
}

// LedgerErrorKind says what went wrong with a ledger. The zero value is
// LedgerFailed.
type LedgerErrorKind uint8

const (
	LedgerFailed      LedgerErrorKind = iota // anything else
	LedgerBadDSN                             // the DSN cannot be parsed: a usage error
	LedgerUnreachable                        // no connection, or lost
	LedgerDenied                             // wrong password, no privilege
	LedgerMissing                            // database, table or column does not exist
	LedgerNoIndex                            // no index serves the lookup
	LedgerBadSource                          // type, predicate or identifier that cannot serve
	LedgerTimeout                            // statement timeout
)

// LedgerError is how every ledger reports failure. Its text never holds a
// secret.
type LedgerError struct {
	Kind   LedgerErrorKind
	Ledger string // the ledger's name
	Object string // table, column or server the error speaks of; may be ""
	Hint   string // what to type next; may be ""
	Err    error
}

func (e *LedgerError) Error() string {
	if e.Object == "" {
		return fmt.Sprintf("ledger %s: %v", e.Ledger, e.Err)
	}
	return fmt.Sprintf("ledger %s: %s: %v", e.Ledger, e.Object, e.Err)
}

func (e *LedgerError) Unwrap() error { return e.Err }
