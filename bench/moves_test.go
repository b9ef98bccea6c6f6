package bench

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
	"github.com/idemctl/idemctl/reconcile/pgledger"
)

// BenchmarkMoves measures what it costs to run the lost tasks of a full archive
// again: the plan, beside an audit of the same tasks in the same round, and the
// application without a limit, with a journal that is synced to this disk.
func BenchmarkMoves(b *testing.B) {
	d := dataset{size: archivedTasks, began: time.Now().Truncate(time.Second)}
	want := d.truth(quiet)
	db := d.fillLedger(b, quiet, want.Applied, ledgerSize)
	var audits, plans, applies []time.Duration
	var ratios, rates []float64
	for round := range chosen.rounds {
		m := newMoving(b, d, db.DSN)
		var audited time.Duration
		if round%2 == 0 { // nobody is always the first
			audited = m.audit(b)
		}
		plan, planned := m.plan(b)
		if round%2 == 1 {
			audited = m.audit(b)
		}
		if lost := want.ByCode[reconcile.CodeLost]; plan.Runnable() != lost || len(plan.Steps) != d.size {
			b.Fatalf("%d of %d tasks are to run, want %d of %d", plan.Runnable(), len(plan.Steps), lost, d.size)
		}
		applied := m.apply(b, plan)
		plans, audits, applies = append(plans, planned), append(audits, audited), append(applies, applied)
		ratios = append(ratios, planned.Seconds()/audited.Seconds())
		rates = append(rates, float64(plan.Runnable())/applied.Seconds())
	}
	b.Run("audit", func(b *testing.B) { perTask(b, median(audits), d.size) })
	b.Run("plan", func(b *testing.B) {
		perTask(b, median(plans), d.size)
		b.ReportMetric(median(ratios), "times-audit")
	})
	b.Run("apply", func(b *testing.B) {
		b.ReportMetric(float64(median(applies).Nanoseconds()), "ns/op")
		b.ReportMetric(median(rates), "tasks/s")
	})
}

func perTask(b *testing.B, took time.Duration, tasks int) {
	b.ReportMetric(float64(took.Nanoseconds()), "ns/op")
	b.ReportMetric(float64(tasks)/took.Seconds(), "tasks/s")
}

// moving is a full archive of a Redis of its own.
type moving struct {
	client  *inspect.Client
	auditor *reconcile.Auditor
}

func newMoving(b *testing.B, d dataset, dsn string) moving {
	b.Helper()
	ctx := context.Background()
	client, err := inspect.Open(ctx, d.fillRedis(b).Options())
	must(b, err)
	b.Cleanup(func() { client.Close() })
	ledger, err := pgledger.Open(ctx, pgledger.Options{Name: "main", DSN: dsn})
	must(b, err)
	b.Cleanup(func() { ledger.Close() })
	a, err := reconcile.NewAuditor(client, reconcile.Options{
		Ledgers: map[string]reconcile.Ledger{"main": ledger}, DefaultLedger: "main",
	})
	must(b, err)
	return moving{client, a}
}

func (m moving) plan(b *testing.B) (reconcile.Plan, time.Duration) {
	b.Helper()
	began := time.Now()
	plan, report, err := m.auditor.PlanRequeue(context.Background(), nobody{}, reconcile.Moves{Idle: []string{queue}})
	must(b, err)
	if !report.Complete {
		b.Fatal(report.Problem)
	}
	return plan, time.Since(began)
}

func (m moving) audit(b *testing.B) time.Duration {
	b.Helper()
	began := time.Now()
	report, err := m.auditor.Run(context.Background(), nobody{})
	must(b, err)
	if !report.Complete {
		b.Fatal(report.Problem)
	}
	return time.Since(began)
}

// apply makes the plan, and checks that all of it was made.
func (m moving) apply(b *testing.B, plan reconcile.Plan) time.Duration {
	b.Helper()
	ctx, done := context.Background(), 0
	began := time.Now()
	j, err := journal.Open(ctx, filepath.Join(b.TempDir(), "journal.jsonl"), journal.Options{Operator: "bench"})
	must(b, err)
	must(b, m.auditor.Apply(ctx, m.client, j, journal.Run{}, plan, reconcile.Application{Tell: func(a reconcile.Applied) {
		if a.Outcome == journal.OutcomeDone {
			done++
		}
	}}))
	must(b, j.Close())
	took := time.Since(began)
	q, err := m.client.Queue(ctx, queue)
	must(b, err)
	if want := plan.Runnable(); done != want || q.Pending != want {
		b.Fatalf("%d were moved and %d are pending, want %d", done, q.Pending, want)
	}
	return took
}

// nobody hears of findings and progress.
type nobody struct{}

func (nobody) Finding(reconcile.Finding)   {}
func (nobody) Progress(reconcile.Progress) {}
