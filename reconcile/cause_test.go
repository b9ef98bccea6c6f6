package reconcile_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// exhausted is an archived task without attempts left and with that last error.
func exhausted(text string) inspect.Task {
	return inspect.Task{
		State: inspect.StateArchived, Retried: 2, MaxRetry: 2,
		LastErr: text, LastFailedAt: time.Unix(1_700_000_000, 0),
	}
}

func TestCauseReadsWhatAsynqAndTheStandardLibraryWrite(t *testing.T) {
	expired, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
	defer cancel()
	cancelled, cancelNow := context.WithCancel(context.Background())
	cancelNow()
	task := asynq.NewTask("payment:\"charge\"\n", nil)
	unhandled := asynq.NewServeMux().ProcessTask(context.Background(), task)
	tests := []struct {
		name string
		err  error
		want reconcile.Cause
	}{
		{"lease", asynq.ErrLeaseExpired, reconcile.CauseLease},
		{"deadline", expired.Err(), reconcile.CauseTimeout},
		{"cancellation", cancelled.Err(), reconcile.CauseCancelled},
		{"skip retry", asynq.SkipRetry, reconcile.CauseSkipRetry},
		{"skip retry, wrapped", fmt.Errorf("bad payload: %w", asynq.SkipRetry), reconcile.CauseSkipRetry},
		{"skip retry, in the middle", fmt.Errorf("%w: bad payload", asynq.SkipRetry), reconcile.CauseSkipRetry},
		{"no handler in the mux", unhandled, reconcile.CauseNoHandler},
		{"no handler", asynq.NotFound(context.Background(), task), reconcile.CauseNoHandler},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Fatalf("%s: no error to read", tt.name)
		}
		if got := reconcile.CauseOf(exhausted(tt.err.Error())); got != tt.want {
			t.Errorf("%s: cause of %q = %q, want %q", tt.name, tt.err, got, tt.want)
		}
	}
}

// The order of the readings is a part of the contract: a text can say two
// things, and the counters a third.
func TestCauseKeepsItsOrder(t *testing.T) {
	const duplicate = `ERROR: duplicate key value violates unique constraint "payments_pkey" (SQLSTATE 23505)`
	const skip = ": skip retry for the task"
	failed := time.Unix(1_700_000_000, 0)
	retry := func(retried int, text string) inspect.Task {
		return inspect.Task{State: inspect.StateRetry, Retried: retried, MaxRetry: 3, LastErr: text, LastFailedAt: failed}
	}
	archived := func(retried int, text string) inspect.Task {
		return inspect.Task{State: inspect.StateArchived, Retried: retried, MaxRetry: 3, LastErr: text, LastFailedAt: failed}
	}
	pending := func(text string) inspect.Task {
		return inspect.Task{State: inspect.StatePending, Retried: 0, MaxRetry: 3, LastErr: text, LastFailedAt: failed}
	}
	tests := []struct {
		name string
		task inspect.Task
		want reconcile.Cause
	}{
		{"duplicate before uncounted", retry(0, duplicate), reconcile.CauseDuplicate},
		{"duplicate before skip-retry", archived(0, duplicate+skip), reconcile.CauseDuplicate},
		{"duplicate before the operator", archived(0, duplicate), reconcile.CauseDuplicate},
		{"duplicate before panic", archived(3, "panic error cause by: panic [a.go:1]: "+duplicate), reconcile.CauseDuplicate},
		{"uncounted before skip-retry", retry(0, "x"+skip), reconcile.CauseUncounted},
		{"uncounted before lease", retry(0, "asynq: task lease expired"), reconcile.CauseUncounted},
		{"uncounted without a text", retry(0, ""), reconcile.CauseUncounted},
		{"counted is not uncounted", retry(1, "boom"), reconcile.CauseHandler},
		{"only retry is uncounted", pending("boom"), reconcile.CauseHandler},
		{"skip-retry before the operator", archived(1, "x"+skip), reconcile.CauseSkipRetry},
		{"skip-retry with no attempts left", archived(3, "x"+skip), reconcile.CauseSkipRetry},
		{"skip-retry before panic", archived(3, "panic error cause by: panic: x"+skip), reconcile.CauseSkipRetry},
		{"the operator before lease", archived(2, "asynq: task lease expired"), reconcile.CauseByOperator},
		{"the operator before timeout", archived(2, "context deadline exceeded"), reconcile.CauseByOperator},
		{"the operator before any text", archived(0, "boom"), reconcile.CauseByOperator},
		{"the operator without a text", inspect.Task{State: inspect.StateArchived, MaxRetry: 3}, reconcile.CauseByOperator},
		{"no attempts left is no operator", archived(3, "boom"), reconcile.CauseHandler},
		{"attempts left elsewhere", retry(1, "context deadline exceeded"), reconcile.CauseTimeout},
		{"lease, whole text", archived(3, "asynq: task lease expired"), reconcile.CauseLease},
		{"lease, a part of it", archived(3, "upstream said: asynq: task lease expired"), reconcile.CauseHandler},
		{"timeout, whole text", archived(3, "context deadline exceeded"), reconcile.CauseTimeout},
		{"the bank's timeout", archived(3, "bank: context deadline exceeded"), reconcile.CauseHandler},
		{"timeout, more text", archived(3, "context deadline exceeded (Client.Timeout)"), reconcile.CauseHandler},
		{"cancelled, whole text", archived(3, "context canceled"), reconcile.CauseCancelled},
		{"cancelled, a part of it", archived(3, "bank: context canceled"), reconcile.CauseHandler},
		{"panic, from the start", archived(3, "panic error cause by: panic [a.go:1]: x"), reconcile.CausePanic},
		{"panic, later", archived(3, "worker: panic error cause by: panic"), reconcile.CauseHandler},
		{"no handler, from the start", archived(3, `handler not found for task "a"`), reconcile.CauseNoHandler},
		{"no handler, later", archived(3, `mux: handler not found for task "a"`), reconcile.CauseHandler},
		{"no text and no time", inspect.Task{State: inspect.StateArchived}, reconcile.CauseNone},
		{"an error without a text", archived(3, ""), reconcile.CauseHandler},
		{"never run", inspect.Task{State: inspect.StatePending, MaxRetry: 3}, reconcile.CauseNone},
		{"completed", inspect.Task{State: inspect.StateCompleted, MaxRetry: 3}, reconcile.CauseNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := reconcile.CauseOf(tt.task); got != tt.want {
				t.Errorf("cause = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCauseKnowsUniqueViolationsOfOtherDriversByTheirText(t *testing.T) {
	duplicate := []string{
		`pq: duplicate key value violates unique constraint "payments_event_id_key"`,                         // lib/pq
		`ERROR #23505 duplicate key value violates unique constraint "payments_event_id_key"`,                // go-pg
		`FEHLER: doppelter Schlüsselwert verletzt Unique-Constraint »p_key« (SQLSTATE 23505)`,                // pgx with a German server
		`Error 1062 (23000): Duplicate entry 'evt_1' for key 'payments.event_id'`,                            // go-sql-driver/mysql
		`Error 1062: Duplicate entry 'evt_1' for key 'event_id'`,                                             // the same before 1.7
		`UNIQUE constraint failed: payments.event_id`,                                                        // mattn/go-sqlite3
		`charge: insert payment: ERROR: duplicate key value violates unique constraint "p" (SQLSTATE 23505)`, // wrapped
	}
	for _, text := range duplicate {
		if got := reconcile.CauseOf(exhausted(text)); got != reconcile.CauseDuplicate {
			t.Errorf("cause of %q = %q, want duplicate-effect", text, got)
		}
	}
	other := []string{
		`ERROR: insert or update on table "p" violates foreign key constraint "fk" (SQLSTATE 23503)`,
		`ERROR: null value in column "a" violates not-null constraint (SQLSTATE 23502)`,
		`ERROR: new row for relation "p" violates check constraint "c" (SQLSTATE 23514)`,
		`ERROR: could not serialize access due to concurrent update (SQLSTATE 40001)`,
		`Error 1213 (40001): Deadlock found when trying to get lock; try restarting transaction`,
		`Error 10625 (HY000): something else`,
		`constraint failed: NOT NULL constraint failed: payments.amount (1299)`,
		`FOREIGN KEY constraint failed`,
		`order 23505 is not payable`,
		`duplicate order`,
		`row 1062 is malformed`,
	}
	for _, text := range other {
		if got := reconcile.CauseOf(exhausted(text)); got != reconcile.CauseHandler {
			t.Errorf("cause of %q = %q, want handler-error", text, got)
		}
	}
}

// postgresErrors are what a real PostgreSQL says, by pgx.
func postgresErrors(t *testing.T) (unique, foreign error) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, reconciletest.Postgres(t).DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, `CREATE TABLE payments (event_id text PRIMARY KEY, of text REFERENCES payments)`); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, `INSERT INTO payments VALUES ('evt_1')`); err != nil {
		t.Fatal(err)
	}
	_, unique = conn.Exec(ctx, `INSERT INTO payments VALUES ('evt_1')`)
	_, foreign = conn.Exec(ctx, `INSERT INTO payments VALUES ('evt_2', 'none')`)
	return unique, foreign
}

// sqliteErrors are what a real SQLite says, by modernc's driver: a second row of
// a primary key, of a unique index, of a unique expression, and a missing value.
func sqliteErrors(t *testing.T) (primary, index, expression, null error) {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	for _, stmt := range []string{
		`CREATE TABLE payments (id TEXT PRIMARY KEY, event_id TEXT NOT NULL UNIQUE)`,
		`CREATE UNIQUE INDEX folded ON payments (lower(event_id))`,
		`INSERT INTO payments VALUES ('p1', 'evt_1')`,
	} {
		if _, err := db.Exec(stmt); err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
	}
	_, primary = db.Exec(`INSERT INTO payments VALUES ('p1', 'evt_2')`)
	_, index = db.Exec(`INSERT INTO payments VALUES ('p2', 'evt_1')`)
	_, expression = db.Exec(`INSERT INTO payments VALUES ('p3', 'EVT_1')`)
	_, null = db.Exec(`INSERT INTO payments VALUES ('p4', NULL)`)
	return primary, index, expression, null
}

func TestCauseReadsUniqueViolationsOfRealDatabases(t *testing.T) {
	unique, foreign := postgresErrors(t)
	primary, index, expression, null := sqliteErrors(t)
	tests := []struct {
		name string
		err  error
		want reconcile.Cause
	}{
		{"PostgreSQL, unique", unique, reconcile.CauseDuplicate},
		{"PostgreSQL, foreign key", foreign, reconcile.CauseHandler},
		{"SQLite, primary key", primary, reconcile.CauseDuplicate},
		{"SQLite, unique column", index, reconcile.CauseDuplicate},
		{"SQLite, unique expression", expression, reconcile.CauseDuplicate},
		{"SQLite, not null", null, reconcile.CauseHandler},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Fatalf("%s: the statement did not fail", tt.name)
		}
		if got := reconcile.CauseOf(exhausted(tt.err.Error())); got != tt.want {
			t.Errorf("%s: cause of %q = %q, want %q", tt.name, tt.err, got, tt.want)
		}
	}
}

// causeWorker handles each type as its name says. It tells when a task that is
// to be cancelled has begun.
func causeWorker(duplicate error, begun chan<- struct{}) *asynq.ServeMux {
	mux := asynq.NewServeMux()
	handle := func(pattern string, h func(ctx context.Context) error) {
		mux.HandleFunc(pattern, func(ctx context.Context, _ *asynq.Task) error { return h(ctx) })
	}
	handle("panic", func(context.Context) error { panic("no such account") })
	handle("runtime panic", func(context.Context) error { return fmt.Errorf("index %d", nobody[0]) })
	handle("timeout", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	handle("cancelled", func(ctx context.Context) error { close(begun); <-ctx.Done(); return ctx.Err() })
	handle("bank timeout", func(context.Context) error { return fmt.Errorf("bank: %w", context.DeadlineExceeded) })
	handle("skip", func(context.Context) error { return fmt.Errorf("bad payload: %w", asynq.SkipRetry) })
	handle("duplicate", func(context.Context) error { return fmt.Errorf("insert: %w", duplicate) })
	handle("error", func(context.Context) error { return errors.New("boom") })
	handle("uncounted", func(context.Context) error { return errUncounted })
	return mux
}

var errUncounted = errors.New("not now")

func TestCauseReadsWhatARealWorkerLeaves(t *testing.T) {
	t.Parallel()
	duplicate, _, _, _ := sqliteErrors(t)
	s := inspecttest.Start(t)
	client := asynq.NewClient(s.AsynqOpt())
	defer client.Close()
	want := map[string]reconcile.Cause{}
	var refs []inspect.Ref
	enqueue := func(kind string, cause reconcile.Cause, opts ...asynq.Option) inspect.Ref {
		ref := inspect.Ref{Queue: "default", ID: kind}
		opts = append([]asynq.Option{asynq.TaskID(kind), asynq.MaxRetry(0), asynq.Timeout(time.Hour)}, opts...)
		if _, err := client.Enqueue(asynq.NewTask(kind, nil), opts...); err != nil {
			t.Fatal(err)
		}
		want[kind] = cause
		refs = append(refs, ref)
		return ref
	}
	s.Orphan(enqueue("lease", reconcile.CauseLease), time.Now().Add(-time.Minute))
	enqueue("panic", reconcile.CausePanic)
	enqueue("runtime panic", reconcile.CausePanic)
	enqueue("timeout", reconcile.CauseTimeout, asynq.Timeout(time.Second))
	enqueue("past deadline", reconcile.CauseTimeout, asynq.Timeout(0), asynq.Deadline(time.Now().Add(-time.Minute)))
	enqueue("cancelled", reconcile.CauseCancelled)
	enqueue("bank timeout", reconcile.CauseHandler)
	enqueue("skip", reconcile.CauseSkipRetry, asynq.MaxRetry(3))
	enqueue("duplicate", reconcile.CauseDuplicate)
	enqueue("error", reconcile.CauseHandler)
	enqueue("uncounted", reconcile.CauseUncounted, asynq.MaxRetry(3))
	enqueue("nobody's", reconcile.CauseNoHandler)

	begun := make(chan struct{})
	s.ServeConfig(asynq.Config{
		Queues: map[string]int{"default": 1}, Concurrency: len(refs),
		RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return time.Hour },
		IsFailure:      func(err error) bool { return !errors.Is(err, errUncounted) },
	}, causeWorker(duplicate, begun).ProcessTask)
	<-begun
	// Who has not subscribed yet does not hear of it.
	inspector := s.Inspector()
	for cancelled := refs[slices.IndexFunc(refs, func(r inspect.Ref) bool { return r.ID == "cancelled" })]; ; time.Sleep(20 * time.Millisecond) {
		if err := inspector.CancelProcessing(cancelled.ID); err != nil {
			t.Fatal(err)
		}
		if info, err := inspector.GetTaskInfo(cancelled.Queue, cancelled.ID); err != nil || info.State != asynq.TaskStateActive {
			break
		}
	}

	for _, task := range finished(t, s, refs) {
		if got := reconcile.CauseOf(task); got != want[task.ID] {
			t.Errorf("%s (%s, %q): cause = %q, want %q", task.ID, task.State, task.LastErr, got, want[task.ID])
		}
	}
}

func TestCauseKnowsTheOperatorsHand(t *testing.T) {
	s := inspecttest.Start(t)
	refs := s.Make(
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: "failed once"},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "succeeded"},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "never ran"},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "no attempts", Options: []asynq.Option{asynq.MaxRetry(0)}},
	)
	for _, ref := range refs {
		if err := s.Inspector().ArchiveTask(ref.Queue, ref.ID); err != nil {
			t.Fatal(err)
		}
	}
	for _, task := range finished(t, s, refs) {
		want := reconcile.CauseByOperator
		if task.ID == "no attempts" {
			want = reconcile.CauseNone // with nothing left to take away, nobody can tell
		}
		if got := reconcile.CauseOf(task); got != want {
			t.Errorf("%s: cause = %q, want %q", task.ID, got, want)
		}
	}
}

// finished waits until a worker has let go of every task, and reads them.
func finished(t *testing.T, s *inspecttest.Server, refs []inspect.Ref) []inspect.Task {
	t.Helper()
	ctx := context.Background()
	c, err := inspect.Open(ctx, s.Options())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for {
		tasks, err := c.Read(ctx, refs)
		if err != nil {
			t.Fatal(err)
		}
		waiting := 0
		for _, task := range tasks {
			if task.State != inspect.StateArchived && task.State != inspect.StateRetry {
				waiting++
			}
		}
		if waiting == 0 {
			return tasks
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// nobody is empty: to index it is a mistake that only the runtime sees.
var nobody []int
