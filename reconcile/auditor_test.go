package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// world is one real Redis and one real PostgreSQL with an auditor between.
type world struct {
	t      *testing.T
	redis  *inspecttest.Server
	queue  *inspect.Client
	db     *reconciletest.Database
	ledger *pgledger.Ledger
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, redis: inspecttest.Start(t), db: reconciletest.Postgres(t)}
	queue, err := inspect.Open(t.Context(), w.redis.Options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { queue.Close() })
	w.queue = queue
	w.db.Exec(`CREATE TABLE processed_tasks (task_id text PRIMARY KEY, processed_at timestamptz NOT NULL DEFAULT now())`)
	// A row from long ago: the table remembers further back than any task here.
	w.db.Exec(`INSERT INTO processed_tasks VALUES ('long-ago', now() - interval '300 days')`)
	ledger, err := pgledger.Open(t.Context(), pgledger.Options{Name: "main", DSN: w.db.DSN})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ledger.Close() })
	w.ledger = ledger
	return w
}

func (w *world) apply(ids ...string) {
	for _, id := range ids {
		w.db.Exec(`INSERT INTO processed_tasks (task_id) VALUES ($1)`, id)
	}
}

func (w *world) auditor(o reconcile.Options) *reconcile.Auditor {
	w.t.Helper()
	o.Ledgers = map[string]reconcile.Ledger{"main": w.ledger}
	o.DefaultLedger = "main"
	if o.Settle == 0 {
		o.Settle = time.Millisecond
	}
	if o.ConfirmAfter == 0 {
		o.ConfirmAfter = 50 * time.Millisecond
	}
	a, err := reconcile.NewAuditor(w.queue, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// audit runs and gives the findings on tasks as "ID code" and those on types as
// "type code", sorted.
func (w *world) audit(o reconcile.Options) ([]string, reconcile.Report, []reconcile.Finding) {
	w.t.Helper()
	var sink collector
	report, err := w.auditor(o).Run(w.t.Context(), &sink)
	if err != nil {
		w.t.Fatal(err)
	}
	return sink.brief(), report, sink.findings
}

type collector struct {
	findings []reconcile.Finding
	progress int
}

func (c *collector) Finding(f reconcile.Finding)   { c.findings = append(c.findings, f) }
func (c *collector) Progress(_ reconcile.Progress) { c.progress++ }

// ambient are the findings that every laboratory of these tests has: its tasks
// bear IDs of their own, and no server runs beside the audit. They have tests of
// their own.
var ambient = []reconcile.Code{reconcile.CodeIDBlocked, reconcile.CodeGroupedTaskID, reconcile.CodeQueueUnserved}

func (c *collector) brief() []string {
	brief := []string{}
	for _, f := range c.findings {
		if slices.Contains(ambient, f.Code) {
			continue
		}
		name := f.Task.ID
		if name == "" {
			name = f.Task.Type
		}
		brief = append(brief, name+" "+string(f.Code))
	}
	slices.Sort(brief)
	return brief
}

// settleDown waits until whole seconds, as asynq stores them, lie behind.
func settleDown() { time.Sleep(2100 * time.Millisecond) }

func TestAuditOfPlainTasksWithoutConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "archived-applied"},
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "archived-lost"},
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: "retry-applied", Payload: []byte("5")},
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: "retry-ok", Payload: []byte("6")},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "completed-ok"},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "completed-unmarked"},
		inspecttest.Spec{Outcome: inspecttest.Active, ID: "active-applied", Payload: []byte("7")},
		inspecttest.Spec{Outcome: inspecttest.Active, ID: "active-ok", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "scheduled-applied", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "pending-ok", Payload: []byte("3")},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "aggregating-ok", Payload: []byte("4")},
	)
	w.apply("archived-applied", "retry-applied", "completed-ok", "active-applied", "scheduled-applied")
	settleDown()

	got, report, findings := w.audit(reconcile.Options{})
	want := []string{
		"active-applied effect/applied-active",
		"archived-applied effect/applied-archived",
		"archived-lost effect/lost",
		"completed-unmarked effect/unmarked",
		"retry-applied effect/applied-retry",
		"scheduled-applied effect/applied-waiting",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if !report.Complete || report.Totals.Tasks != 11 {
		t.Errorf("report: complete %t, %d tasks (%v), want a complete one of 11", report.Complete, report.Totals.Tasks, report.Problem)
	}
	if n := report.Totals.ByStatus[reconcile.StatusApplied]; n != 5 {
		t.Errorf("%d tasks are counted as applied, want 5", n)
	}
	if n := report.Totals.ByState[inspect.StateActive]; n != 2 {
		t.Errorf("%d tasks are counted as active, want 2", n)
	}
	for _, f := range findings {
		if f.ConfirmedAt.IsZero() {
			t.Errorf("%s on %s says no instant", f.Code, f.Task.ID)
		}
		if f.Code == reconcile.CodeAppliedArchived && f.AppliedAt.IsZero() {
			t.Errorf("%s does not say when it was applied", f.Task.ID)
		}
	}
}

func TestAuditCallsYoungAbsencesUnsettled(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "young"})
	got, _, findings := w.audit(reconcile.Options{Settle: time.Hour})
	if diff := cmp.Diff([]string{"young effect/unsettled"}, got); diff != "" {
		t.Fatal(diff)
	}
	if f := findings[0]; f.Reason != reconcile.ReasonSettling || f.SettlesAt.IsZero() {
		t.Errorf("reason %q, settles at %v; want settling with a time", f.Reason, f.SettlesAt)
	}
}

// A twin in retry, of the same payload key: the archived one is not lost while
// it may still do the work.
func TestAuditHoldsLostBackWhileATwinLives(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	payload := []byte(`{"event_id":"evt_1"}`)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "dead", Queue: "a", Payload: payload},
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: "alive", Queue: "b", Payload: payload},
	)
	settleDown()
	rules := []reconcile.Rule{{Key: "payload.event_id", Class: reconcile.ClassCreate, Sources: []reconcile.Source{
		{Role: reconcile.RoleMark, Table: "processed_tasks"},
	}}}
	for name, scope := range map[string]reconcile.Scope{
		"whole":    {},
		"narrowed": {Queues: []string{"a"}, States: []inspect.State{inspect.StateArchived}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, findings := w.audit(reconcile.Options{Rules: rules, Scope: scope})
			want := []string{"dead effect/unsettled", "alive identity/key-collision"}
			if !slices.Contains(got, want[0]) || slices.Contains(got, "dead effect/lost") {
				t.Errorf("findings %q, want %q and nothing lost", got, want)
			}
			for _, f := range findings {
				if f.Code == reconcile.CodeUnsettled && f.Reason != reconcile.ReasonTwin {
					t.Errorf("reason %q, want twin", f.Reason)
				}
				if f.Code == reconcile.CodeKeyCollision && (f.TaskCount != 2 || len(f.Tasks) != 2) {
					t.Errorf("collision names %d of %d tasks, want 2 of 2", len(f.Tasks), f.TaskCount)
				}
			}
		})
	}
}

func TestAuditFindsOneIDInTwoQueues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "same", Queue: "a"},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "same2", Queue: "a"},
	)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: "same", Queue: "b"},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "same2", Queue: "b"},
	)
	w.apply("same2")
	settleDown()
	got, _, _ := w.audit(reconcile.Options{})
	want := []string{"same effect/unsettled", "same identity/id-shared", "same2 identity/id-shared"}
	for _, f := range want {
		if !slices.Contains(got, f) {
			t.Errorf("findings %q lack %q", got, f)
		}
	}
	if slices.Contains(got, "same identity/key-collision") {
		t.Errorf("findings %q say key-collision beside id-shared", got)
	}
	t.Run("probed where only the archive is listed", func(t *testing.T) {
		got, _, _ := w.audit(reconcile.Options{Scope: reconcile.Scope{States: []inspect.State{inspect.StateArchived}}})
		if !slices.Contains(got, "same effect/unsettled") || slices.Contains(got, "same effect/lost") {
			t.Errorf("findings %q: the twin in retry was not seen", got)
		}
	})
	t.Run("probed from a narrowed audit", func(t *testing.T) {
		got, _, _ := w.audit(reconcile.Options{Scope: reconcile.Scope{Queues: []string{"a"}}})
		if !slices.Contains(got, "same effect/unsettled") || slices.Contains(got, "same effect/lost") {
			t.Errorf("findings %q: the twin in queue b was not seen", got)
		}
	})
}

func TestAuditJudgesExpiredLeases(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "orphan-applied", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Pending, ID: "orphan", Payload: []byte("2")},
	)
	for _, id := range []string{"orphan-applied", "orphan"} {
		w.redis.Orphan(inspect.Ref{Queue: "default", ID: id}, time.Now().Add(-10*time.Second))
	}
	w.apply("orphan-applied")
	got, _, _ := w.audit(reconcile.Options{})
	want := []string{"orphan effect/orphaned", "orphan-applied effect/applied-orphaned", "test:task coverage/x"}
	if diff := cmp.Diff(want[:2], withoutCoverage(got)); diff != "" {
		t.Error(diff)
	}
}

func withoutCoverage(brief []string) []string {
	return slices.DeleteFunc(slices.Clone(brief), func(s string) bool { return strings.Contains(s, "coverage/") })
}

func TestAuditNamesAnUnknownQueueAndWhatThereIs(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Pending, Queue: "payments"})
	a := w.auditor(reconcile.Options{Scope: reconcile.Scope{Queues: []string{"paymets"}}})
	_, err := a.Run(t.Context(), &collector{})
	var unknown *reconcile.QueueError
	if !errors.As(err, &unknown) || !slices.Equal(unknown.Known, []string{"payments"}) {
		t.Fatalf("error %v, want a QueueError that knows payments", err)
	}
}

// A ledger that goes away: what was judged stands, the rest is unknown.
func TestAuditThatLosesItsLedgerConcludesNoAbsence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var specs []inspecttest.Spec
	for i := range 40 {
		specs = append(specs, inspecttest.Spec{Outcome: inspecttest.Archived, ID: fmt.Sprintf("t%02d", i), Queue: fmt.Sprintf("q%d", i%4)})
	}
	w.redis.Make(specs...)
	settleDown()
	for reads := range 12 {
		failing := &failingLedger{Ledger: w.ledger, after: reads}
		a, err := reconcile.NewAuditor(w.queue, reconcile.Options{
			Ledgers: map[string]reconcile.Ledger{"main": failing}, DefaultLedger: "main",
			Settle: time.Millisecond, PageSize: 5, Concurrency: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		var sink collector
		report, err := a.Run(t.Context(), &sink)
		if failing.failed == 0 {
			continue
		}
		if err != nil {
			t.Fatalf("after %d reads: %v, want an incomplete report", reads, err)
		}
		if report.Complete || report.Problem == nil {
			t.Errorf("after %d reads the report calls itself complete", reads)
		}
		for _, f := range sink.findings {
			if f.Code == reconcile.CodeLost && failing.sawNothingOf(f.Key) {
				t.Errorf("after %d reads: %s is called lost, and the ledger was never asked for it", reads, f.Task.ID)
			}
		}
	}
}

// failingLedger stops answering after some reads.
type failingLedger struct {
	reconcile.Ledger
	after, reads, failed int
	asked                map[string]bool
}

func (l *failingLedger) Prepare(ctx context.Context, s []reconcile.Source) (reconcile.Lookup, error) {
	lookup, err := l.Ledger.Prepare(ctx, s)
	return &failingLookup{Lookup: lookup, ledger: l}, err
}

func (l *failingLedger) sawNothingOf(key string) bool { return !l.asked[key] }

type failingLookup struct {
	reconcile.Lookup
	ledger *failingLedger
}

func (l *failingLookup) Read(ctx context.Context, keys []string, fence bool) (reconcile.Rows, error) {
	l.ledger.reads++
	if l.ledger.reads > l.ledger.after {
		l.ledger.failed++
		return reconcile.Rows{}, &reconcile.LedgerError{Kind: reconcile.LedgerUnreachable, Ledger: "main", Err: errors.New("gone")}
	}
	if l.ledger.asked == nil {
		l.ledger.asked = map[string]bool{}
	}
	for _, k := range keys {
		l.ledger.asked[k] = true
	}
	return l.Lookup.Read(ctx, keys, fence)
}

func TestAuditThatIsInterruptedSaysSo(t *testing.T) {
	w := newWorld(t)
	var specs []inspecttest.Spec
	for i := range 60 {
		specs = append(specs, inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: fmt.Sprintf("t%02d", i)})
	}
	w.redis.Make(specs...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop := &stopper{cancel: cancel}
	a := w.auditor(reconcile.Options{PageSize: 10})
	report, err := a.Run(ctx, stop)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err == nil && report.Complete {
		t.Error("an interrupted audit calls itself complete")
	}
}

type stopper struct {
	collector
	cancel func()
}

func (s *stopper) Progress(reconcile.Progress) { s.cancel() }

func TestExplainGathersBothFactsAndWhatEachChoiceDoes(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(inspecttest.Spec{
		Outcome: inspecttest.Archived, ID: "done", Options: []asynq.Option{asynq.Unique(time.Hour), asynq.MaxRetry(3)},
		Payload: []byte(`{"a":1}`),
	})
	w.apply("done")
	d, err := w.auditor(reconcile.Options{}).Explain(t.Context(), inspect.Ref{Queue: "default", ID: "done"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Verdict.Status != reconcile.StatusApplied || len(d.Findings) == 0 || d.Findings[0].Code != reconcile.CodeAppliedArchived {
		t.Errorf("status %v, findings %v; want applied, applied-archived", d.Verdict.Status, d.Findings)
	}
	if d.Lock == nil || d.Lock.State != reconcile.LockHeld || d.Lock.TTL <= 0 {
		t.Errorf("lock %+v, want one that is held and has time left", d.Lock)
	}
	if len(d.Readings) != 1 || d.Readings[0].Row.Count != 1 {
		t.Errorf("readings %+v, want one row", d.Readings)
	}
	safe := map[string]bool{}
	for _, c := range d.Choices {
		safe[c.Verb] = c.Safe
	}
	if diff := cmp.Diff(map[string]bool{"leave": true, "run": false, "delete": true}, safe); diff != "" {
		t.Error(diff)
	}
	_, err = w.auditor(reconcile.Options{}).Explain(t.Context(), inspect.Ref{Queue: "default", ID: "none"})
	var missing *reconcile.TaskError
	if !errors.As(err, &missing) {
		t.Errorf("error %v, want a TaskError", err)
	}
}

// The row may be of a run before this one, as after a task that was done ran
// again under its ID: what resolve holds, nothing else may call safe.
func TestExplainCallsNoDeletionSafeThatResolveHolds(t *testing.T) {
	w := newWorld(t)
	w.db.Exec(`INSERT INTO processed_tasks VALUES ('again', now() - interval '2 hours')`)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "again", Options: []asynq.Option{asynq.Timeout(time.Minute)}})
	d, err := w.auditor(reconcile.Options{}).Explain(t.Context(), inspect.Ref{Queue: "default", ID: "again"})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(d.Choices, func(c reconcile.Choice) bool { return c.Verb == "delete" })
	if i < 0 {
		t.Fatalf("choices %+v, status %s", d.Choices, d.Verdict.Status)
	}
	if c := d.Choices[i]; c.Safe || strings.Contains(c.Outcome, "nothing is lost") || !strings.Contains(c.Outcome, "resolve holds it") {
		t.Errorf("safe %t: %s (status %s)", c.Safe, c.Outcome, d.Verdict.Status)
	}
}

// A mark that an earlier run left makes the handler skip the work: leaving the
// task alone loses it.
func TestExplainCallsNothingSafeWhereAnOldMarkHidesTheWork(t *testing.T) {
	w := newWorld(t)
	w.db.Exec(`INSERT INTO processed_tasks VALUES ('monthly', now() - interval '1 day')`)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Pending, ID: "monthly"})
	d, err := w.auditor(reconcile.Options{}).Explain(t.Context(), inspect.Ref{Queue: "default", ID: "monthly"})
	if err != nil {
		t.Fatal(err)
	}
	if !d.Verdict.Has(reconcile.CodeStaleMark) {
		t.Fatalf("codes %v, want identity/stale-mark", d.Verdict.Codes)
	}
	for _, c := range d.Choices {
		if c.Safe {
			t.Errorf("to %s is called safe: %s", c.Verb, c.Outcome)
		}
	}
}
