package bench

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// incident says which tasks the ledger holds.
type incident string

const (
	// quiet is a night as it is: what completed is applied, 3 of 10 archived
	// tasks are, 1 of 100 that wait for a retry are, and nothing else.
	quiet incident = "quiet"
	// half is the worst case: every second task of every state is applied, so
	// that more than half of all tasks are suspects which are read twice.
	half incident = "half"
)

// applied says whether the ledger holds the task.
func (m incident) applied(t *task) bool {
	if m == half {
		return t.luck%2 == 0
	}
	switch t.state {
	case inspect.StateCompleted:
		return true
	case inspect.StateArchived:
		return t.luck%10 < 3
	case inspect.StateRetry:
		return t.luck%100 == 0
	default:
		return false
	}
}

// truth is what an audit of the dataset must come to.
type truth struct {
	Tasks, Applied int
	ByCode         map[reconcile.Code]int
}

func (d dataset) truth(m incident) truth {
	want := truth{Tasks: d.size, ByCode: map[reconcile.Code]int{}}
	for i := range d.size {
		t := d.task(i)
		applied := m.applied(&t)
		if applied {
			want.Applied++
		}
		if code := codeOf(t.state, applied); code != "" {
			want.ByCode[code]++
		}
		if t.state == inspect.StateArchived && t.uniqueKey != "" {
			want.ByCode[reconcile.CodeLockBlocks]++ // its lock is held for a day
		}
	}
	// No server runs beside the benchmark, and the archive is as full as it gets.
	want.ByCode[reconcile.CodeQueueUnserved] = 1
	want.ByCode[reconcile.CodeArchiveFull] = 1
	return want
}

// codeOf is the finding on a task of the dataset; "" when nothing is wrong.
func codeOf(s inspect.State, applied bool) reconcile.Code {
	switch s {
	case inspect.StateRetry:
		if applied {
			return reconcile.CodeAppliedRetry
		}
	case inspect.StatePending, inspect.StateScheduled:
		if applied {
			return reconcile.CodeAppliedWaiting
		}
	case inspect.StateArchived:
		if applied {
			return reconcile.CodeAppliedArchived
		}
		return reconcile.CodeLost
	case inspect.StateCompleted:
		if !applied {
			return reconcile.CodeUnmarked
		}
	}
	return ""
}

// fillLedger gives the benchmark a database whose processed_tasks has rows rows:
// those of the applied tasks, evenly among others.
func (d dataset) fillLedger(b *testing.B, m incident, applied, rows int) *reconciletest.Database {
	b.Helper()
	db := reconciletest.Postgres(b)
	db.Exec("CREATE TABLE processed_tasks (task_id text, processed_at timestamptz NOT NULL)")
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, db.DSN)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(ctx)
	source := &ledgerRows{dataset: d, incident: m, applied: applied, rows: rows}
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"processed_tasks"}, []string{"task_id", "processed_at"}, source)
	if err != nil {
		b.Fatal(err)
	}
	if source.told != applied {
		b.Fatalf("the ledger was filled with %d applied tasks, not %d", source.told, applied)
	}
	db.Exec("ALTER TABLE processed_tasks ADD PRIMARY KEY (task_id)")
	db.Exec("VACUUM (ANALYZE) processed_tasks")
	return db
}

// ledgerRows makes the rows for COPY.
type ledgerRows struct {
	dataset
	incident
	applied, rows int

	row, told int // rows and applied tasks handed out
	next      int // the next task to look at
	id        string
	at        time.Time
}

func (l *ledgerRows) Next() bool {
	if l.row == l.rows {
		return false
	}
	l.row++
	if l.told*l.rows >= l.row*l.applied {
		l.id = idOf(l.row | 1<<40)
		l.at = l.began.Add(-time.Duration(mix(uint64(l.row))%(300*86400)) * time.Second)
		return true
	}
	for {
		t := l.task(l.next)
		l.next++
		if l.incident.applied(&t) {
			l.told++
			l.id, l.at = t.id, t.effectAt(l.began)
			return true
		}
	}
}

func (l *ledgerRows) Values() ([]any, error) { return []any{l.id, l.at}, nil }
func (l *ledgerRows) Err() error             { return nil }

// effectAt is when the task's effect was written, if it was.
func (t *task) effectAt(began time.Time) time.Time {
	switch t.state {
	case inspect.StateCompleted:
		return t.completed
	case inspect.StatePending:
		return t.score.Add(30 * time.Second)
	case inspect.StateScheduled:
		return began.Add(-time.Hour)
	default:
		return t.failed.Add(-2 * time.Second)
	}
}
