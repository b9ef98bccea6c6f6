package tui

import (
	"context"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/reconcile"
)

// Backend is what the browser asks of Redis and the ledgers. It is called from
// several goroutines at once, and never while a key is being answered. What it
// returns is the caller's. Every method ends soon after ctx is done.
type Backend interface {
	// Place says what is looked at; it reads nothing.
	Place() Place
	// Counts reads what every queue holds, and who serves it.
	Counts(ctx context.Context) (Counts, error)
	// Ping asks every ledger whether it is there, by its name in Place; nil says that
	// it answered.
	Ping(ctx context.Context) map[string]error
	// List begins a listing; nothing is read before its first Next.
	List(q Query) Listing
	// Rows reads tasks as they are now: row i belongs to refs[i], and has
	// StateUnknown where there is no such task any more.
	Rows(ctx context.Context, refs []inspect.Ref) ([]Row, error)
	// Audit joins every task with the ledgers. It tells how far it is; what it tells
	// is not complete.
	Audit(ctx context.Context, tell func(reconcile.Progress)) (*Audit, error)
	// Explain says everything that is known of one task. Where a ledger cannot be
	// read that is what Redis says, and Unread why.
	Explain(ctx context.Context, ref inspect.Ref) (*Dossier, error)
	// ExplainText is what the command explain prints, at most so many columns wide.
	ExplainText(ctx context.Context, ref inspect.Ref, columns int) (string, error)
	// Locks reads every uniqueness lock. It tells how many it has met.
	Locks(ctx context.Context, tell func(int)) (*Locks, error)
	// Params are the retry parameters that are declared for a type in a queue, or
	// asynq's own; it reads nothing.
	Params(taskType, queue string) (p retry.Params, binds bool)
	// Use opens another context. The caller closes what it no longer uses.
	Use(ctx context.Context, name string) (Backend, error)
	// Changes is how changes are made; nil where nothing can be changed, and Place
	// says why.
	Changes() Changer
	// Close ends the connections.
	Close()
}

// Place is what is looked at, and what may be done there.
type Place struct {
	Context  string // of the configuration; "" for none
	Redis    string // address, without secrets
	Ledgers  []string
	Contexts []string // every context of the configuration
	// Protected asks for the context's name before any change, ReadOnly refuses
	// changes.
	Protected, ReadOnly bool
	// Writable says that changes are let through, and if not, Because why.
	Writable bool
	Because  string
	// Command begins the equivalent command lines, and Flags ends them.
	Command, Flags string
}

// Counts is what the queues hold at one moment.
type Counts struct {
	At      time.Time
	Queues  []inspect.Queue // sorted by name
	Servers []inspect.Server
	// Latency is how long one answer of Redis takes.
	Latency time.Duration
}

// Query says which tasks to list. The zero value is all of them.
type Query struct {
	Queues []string        // names; nil: all
	States []inspect.State // nil: all
	// Where says which tasks pass; nil: all of them, and the listing reads their
	// IDs alone unless Whole is set.
	Where func(*reconcile.Judged) bool
	// Failures counts the tasks that Where could not be evaluated for, which do not
	// pass; nil where Where is.
	Failures func() int
	Whole    bool
}

// Listing is a list of tasks that is read page by page. It is not safe for
// concurrent use, but for Close.
type Listing interface {
	// Next reads the next page, which may be empty before the last.
	Next(ctx context.Context) (Page, error)
	// Close ends the listing; it does not wait, and is safe to repeat.
	Close()
}

// Page is a part of a listing.
type Page struct {
	Refs []inspect.Ref
	Rows []Row // of the same order; nil where tasks were not read
	Read int   // how many were looked at
	Done bool  // there is no more
}

// Row is one task as a list shows it.
type Row struct {
	inspect.Ref
	Type, Group       string
	State             inspect.State // StateUnknown: it is gone
	Status            reconcile.Status
	Reason            reconcile.Reason
	Cause             reconcile.Cause
	Code              reconcile.Code // of its first verdict; "" for none
	Severity          reconcile.Severity
	Key               string
	Retried, MaxRetry int
	Next              time.Time // when it becomes pending; zero: it does not by itself
	Since             time.Time // when it came into its state, as far as that is known
	LastErr           string    // its beginning
	Unique            bool
	Lock              reconcile.LockState
	LockTTL           time.Duration
}

// Gone says that there is no such task any more.
func (r *Row) Gone() bool { return r.State == inspect.StateUnknown }

// Dossier is everything that is known of a task. What is to be redacted is
// redacted in it; its Task has no payload.
type Dossier struct {
	reconcile.Dossier
	// Unread is why no ledger is in it: it says what Redis does, and the effect is
	// unknown. nil: every ledger that has a say was read.
	Unread             error
	Payload, Canonical string // "" where there is none
	PayloadSize        int
	PayloadJSON        bool
	// Spelling says what the spelling of the payload means for its lock.
	Spelling string
	Headers  string
	Result   string
	// Attempts are the windows of all attempts of such a task, from its enqueue on.
	Attempts []retry.Attempt
}

// Locks is every uniqueness lock, and every live unique task without its own.
type Locks struct {
	At       time.Time
	Rows     []LockRow // what hurts most first
	Omitted  int       // were not kept
	Complete bool
	Problem  error
}

// LockRow is one lock with the task that owns it, or, of verdicts lost and taken,
// with the task that should.
type LockRow struct {
	// Finding carries the evidence; its code is "" where nothing is wrong, and its
	// task has no payload.
	Finding     reconcile.Finding
	Verdict     reconcile.LockVerdict
	Queue, Type string // the lock's own
}
