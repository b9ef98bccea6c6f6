package render

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// The samples stand for one bad night: a payment service whose provider timed
// out after it had booked, with some of everything that an audit can find.

var sampleNow = time.Date(2026, 7, 1, 3, 12, 9, 0, time.UTC)

func before(d time.Duration) time.Time { return sampleNow.Add(-d) }

func sampleOptions(f Format, width int, tty bool) Options {
	return Options{
		Format: f, Width: width, TTY: tty,
		Now: func() time.Time { return sampleNow }, Loc: time.UTC,
	}
}

func bind(t testing.TB, number int, r reconcile.Rule) *reconcile.Bound {
	t.Helper()
	b, err := reconcile.Bind(number, r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sampleMark() reconcile.SourceFacts {
	return reconcile.SourceFacts{
		Source: reconcile.Source{Role: reconcile.RoleMark, Ledger: "main", Table: "processed_tasks"},
		Table:  "public.processed_tasks", Column: "task_id", At: "processed_at", ColumnType: "text",
		Indexed: true, Unique: reconcile.UniqueYes,
	}
}

func sampleEffect() reconcile.SourceFacts {
	return reconcile.SourceFacts{
		Source: reconcile.Source{Role: reconcile.RoleEffect, Ledger: "main", Table: "payments"},
		Table:  "public.payments", Column: "event_id", At: "created_at", ColumnType: "text",
		Indexed: true, Unique: reconcile.UniqueNo, NotUnique: "the index payments_event_id_idx is not unique",
	}
}

// row is a source with one finished row.
func row(s reconcile.SourceFacts, at time.Time) reconcile.Reading {
	return reconcile.Reading{Source: s, Row: reconcile.Row{Count: 1, Passing: 1, FirstAt: at, LastAt: at}}
}

// none is a source without a row.
func none(s reconcile.SourceFacts) reconcile.Reading { return reconcile.Reading{Source: s} }

func archived(queue, id, taskType, lastErr string, failed time.Duration) inspect.Task {
	return inspect.Task{
		Ref: inspect.Ref{Queue: queue, ID: id}, Type: taskType, State: inspect.StateArchived,
		Payload: []byte(`{"event_id":"evt_42","amount":1999,"card":{"number":"4111111111111111","exp":"12/29"}}`),
		Retried: 25, MaxRetry: 25, LastErr: lastErr,
		LastFailedAt: before(failed), ArchivedAt: before(failed), Timeout: 30 * time.Second,
	}
}

const (
	idCharge1 = "0b0f9e0c-5a6e-4b53-9a39-0b2d6b1a7c11"
	idCharge2 = "3f1b8a52-77f4-4a0e-8a57-6b1f5a8c9d20"
	idCharge3 = "c0ffee00-1234-4f6e-9b1a-2d3c4b5a6978"
	idRefund  = "8d7e6f50-4132-4a5b-8c6d-7e8f90a1b2c3"
)

const timeoutText = "context deadline exceeded"

// sampleFindings is out of order, as findings are discovered.
func sampleFindings() []reconcile.Finding {
	applied := func(id string, failed, at time.Duration) reconcile.Finding {
		return reconcile.Finding{
			Code: reconcile.CodeAppliedArchived, Severity: reconcile.SeverityHigh,
			Task: archived("default", id, "payment:charge", timeoutText, failed),
			Key:  "evt_" + id[:4], Status: reconcile.StatusApplied, Cause: reconcile.CauseTimeout,
			Attribution: reconcile.AttributionLast, AppliedAt: before(at), Settle: 2 * time.Minute,
			Readings:    []reconcile.Reading{row(sampleMark(), before(at)), row(sampleEffect(), before(at))},
			ConfirmedAt: before(2 * time.Second),
		}
	}
	lost := func(queue, id, text string, cause reconcile.Cause, failed time.Duration) reconcile.Finding {
		return reconcile.Finding{
			Code: reconcile.CodeLost, Severity: reconcile.SeverityHigh,
			Task: archived(queue, id, "invoice:send", text, failed),
			Key:  id, Status: reconcile.StatusNotApplied, Cause: cause, Settle: 2 * time.Minute,
			Readings: []reconcile.Reading{none(sampleMark())}, ConfirmedAt: before(2 * time.Second),
		}
	}
	held := applied(idCharge1, 12*time.Minute, 12*time.Minute+2*time.Second)
	held.Lock = &reconcile.Lock{
		Key:   "asynq:{default}:unique:payment:charge:9e107d9d372bb6826bd81d3542a419d6",
		Owner: idCharge1, TTL: 29*time.Minute + 59*time.Second, State: reconcile.LockHeld,
	}
	retry := inspect.Task{
		Ref: inspect.Ref{Queue: "critical", ID: idRefund}, Type: "payment:refund", State: inspect.StateRetry,
		Retried: 3, MaxRetry: 10, LastErr: `pq: duplicate key value violates unique constraint "refunds_pkey" (SQLSTATE 23505)`,
		LastFailedAt: before(40 * time.Second), NextProcessAt: sampleNow.Add(4*time.Minute + 20*time.Second),
	}
	return []reconcile.Finding{
		lost("default", "inv-2026-06-30-0007", "smtp: 451 mailbox busy", reconcile.CauseHandler, 3*time.Hour),
		held,
		{
			Code: reconcile.CodeAppliedRetry, Severity: reconcile.SeverityWarning, Task: retry, Key: "rf_881",
			Status: reconcile.StatusApplied, Cause: reconcile.CauseDuplicate, Attribution: reconcile.AttributionEarlier,
			AppliedAt: before(9 * time.Minute), Readings: []reconcile.Reading{row(sampleMark(), before(9*time.Minute))},
			ConfirmedAt: before(time.Second),
		},
		applied(idCharge2, 14*time.Minute, 14*time.Minute+time.Second),
		{
			Code: reconcile.CodePartial, Severity: reconcile.SeverityCritical,
			Task: archived("default", idCharge3, "payment:charge", "asynq: task lease expired", 31*time.Minute),
			Key:  "evt_c0ff", Status: reconcile.StatusPartial, Cause: reconcile.CauseLease,
			Readings:    []reconcile.Reading{none(sampleMark()), row(sampleEffect(), before(33*time.Minute))},
			ConfirmedAt: before(2 * time.Second),
		},
		lost("default", "inv-2026-06-30-0011", "smtp: 451 mailbox busy", reconcile.CauseHandler, 2*time.Hour),
		{
			Code: reconcile.CodeUnknown, Severity: reconcile.SeverityWarning,
			Task: archived("low", "report-weekly", "report:build", "panic error cause by: panic [/app/report.go:88]: runtime error: index out of range [3] with length 3", 26*time.Hour),
			Key:  "report-weekly", Status: reconcile.StatusUnknown, Reason: reconcile.ReasonRetention, Cause: reconcile.CausePanic,
			ConfirmedAt: before(time.Second),
		},
		{
			Code: reconcile.CodeUnsettled, Severity: reconcile.SeverityInfo,
			Task: archived("default", "inv-2026-07-01-0001", "invoice:send", "smtp: 451 mailbox busy", 50*time.Second),
			Key:  "inv-2026-07-01-0001", Status: reconcile.StatusNotApplied, Reason: reconcile.ReasonSettling,
			Cause: reconcile.CauseHandler, SettlesAt: sampleNow.Add(71 * time.Second), Settle: 2 * time.Minute,
			ConfirmedAt: before(time.Second),
		},
		{
			Code: reconcile.CodeNoUniqueIndex, Severity: reconcile.SeverityCritical,
			Task: inspect.Task{Type: "payment:charge"}, Queues: []string{"critical", "default"}, TaskCount: 1180,
			Detail: "public.payments.event_id: the index payments_event_id_idx is not unique", ConfirmedAt: before(time.Second),
		},
		{
			Code: reconcile.CodeKeyCollision, Severity: reconcile.SeverityHigh,
			Task: inspect.Task{
				Ref: inspect.Ref{Queue: "default", ID: "sub-1"}, Type: "subscription:renew",
				State: inspect.StatePending, MaxRetry: 25,
			},
			Tasks:     []inspect.Ref{{Queue: "default", ID: "sub-1"}, {Queue: "default", ID: "sub-2"}, {Queue: "low", ID: "sub-9"}},
			TaskCount: 3, Key: "customer-77", Status: reconcile.StatusNotApplied, Cause: reconcile.CauseNone,
			ConfirmedAt: before(time.Second),
		},
	}
}

func sampleReport(t testing.TB) reconcile.Report {
	t.Helper()
	findings := sampleFindings()
	r := reconcile.Report{
		Complete: true, StartedAt: before(5200 * time.Millisecond), FinishedAt: before(time.Second),
		Queues: []string{"critical", "default", "low"}, States: inspect.States(),
		Totals: reconcile.Totals{
			Tasks:      1234,
			ByState:    map[inspect.State]int{inspect.StateArchived: 12, inspect.StateRetry: 31, inspect.StatePending: 1180, inspect.StateActive: 11},
			ByStatus:   map[reconcile.Status]int{reconcile.StatusApplied: 8, reconcile.StatusNotApplied: 1220, reconcile.StatusPartial: 1, reconcile.StatusUnknown: 5},
			ByCode:     map[reconcile.Code]int{},
			BySeverity: map[reconcile.Severity]int{},
		},
		Signatures: []reconcile.Signature{
			{
				Type: "invoice:send", Cause: reconcile.CauseHandler, Text: "smtp: # mailbox busy", Severity: reconcile.SeverityHigh,
				Codes: map[reconcile.Code]int{reconcile.CodeLost: 2, reconcile.CodeUnsettled: 1}, Count: 3,
				FirstAt: before(3 * time.Hour), LastAt: before(50 * time.Second), Example: inspect.Ref{Queue: "default", ID: "inv-2026-06-30-0007"},
			},
			{
				Type: "payment:charge", Cause: reconcile.CauseTimeout, Text: timeoutText, Severity: reconcile.SeverityHigh,
				Codes: map[reconcile.Code]int{reconcile.CodeAppliedArchived: 2}, Count: 2,
				FirstAt: before(14 * time.Minute), LastAt: before(12 * time.Minute), Example: inspect.Ref{Queue: "default", ID: idCharge1},
			},
			{
				Type: "payment:refund", Cause: reconcile.CauseDuplicate, Text: `pq: duplicate key value violates unique constraint "…" (SQLSTATE #)`,
				Severity: reconcile.SeverityWarning, Codes: map[reconcile.Code]int{reconcile.CodeAppliedRetry: 1}, Count: 1,
				FirstAt: before(40 * time.Second), LastAt: before(40 * time.Second), Example: inspect.Ref{Queue: "critical", ID: idRefund},
			},
		},
		Unruled: 5,
		Rules: []reconcile.RuleUse{
			{
				Rule: bind(t, 1, reconcile.Rule{
					Type: "payment:*", Class: reconcile.ClassCreate, Key: "payload.event_id",
					Sources: []reconcile.Source{sampleMark().Source, sampleEffect().Source},
				}),
				Tasks: 1180, Sources: []reconcile.SourceFacts{sampleMark(), sampleEffect()},
			},
			{
				Rule:  bind(t, 2, reconcile.Rule{Type: "*", Sources: []reconcile.Source{sampleMark().Source}}),
				Tasks: 49, Sources: []reconcile.SourceFacts{sampleMark()},
			},
		},
		Skew: 40 * time.Millisecond,
	}
	for _, f := range findings {
		r.Totals.ByCode[f.Code]++
		r.Totals.BySeverity[f.Severity]++
	}
	return r
}

func sampleHeader() Header {
	return Header{
		Redis: inspect.RedisFacts{Mode: "standalone", Addr: "127.0.0.1:6379", Version: "7.0.15"},
		Ledgers: []Ledger{{Name: "main", Facts: reconcile.LedgerFacts{
			Kind: "postgres", Version: "15.18", Server: "db1.internal:5432/payments", User: "idemro",
		}}},
	}
}

func interrupted(t testing.TB) reconcile.Report {
	r := sampleReport(t)
	r.Complete, r.Problem = false, context.Canceled
	return r
}

// emptyReport found nothing, since there was nothing.
func emptyReport() reconcile.Report {
	return reconcile.Report{
		Complete: true, StartedAt: before(time.Second), FinishedAt: before(900 * time.Millisecond),
		Queues: []string{"default"}, States: inspect.States(),
	}
}

// audited is what an audit of these findings writes.
func audited(t testing.TB, o Options, r reconcile.Report, findings ...reconcile.Finding) string {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	a := NewAudit(&b, o)
	for _, f := range findings {
		a.Finding(f)
	}
	if err := a.Close(r, sampleHeader()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sampleTasks are as a listing yields them.
func sampleTasks(t testing.TB) []reconcile.Judged {
	t.Helper()
	rule := bind(t, 1, reconcile.Rule{Type: "payment:*", Key: "payload.event_id", Sources: []reconcile.Source{sampleMark().Source}})
	var listed []reconcile.Judged
	for _, f := range sampleFindings() {
		if f.Task.ID == "" {
			continue
		}
		listed = append(listed, reconcile.Judged{
			Task: f.Task, Rule: rule, Key: f.Key, Readings: f.Readings,
			Verdict: reconcile.Verdict{
				Status: f.Status, Reason: f.Reason, Cause: f.Cause, Attribution: f.Attribution,
				AppliedAt: f.AppliedAt, Codes: []reconcile.Code{f.Code},
			},
		})
	}
	return append(listed,
		reconcile.Judged{
			Task: inspect.Task{
				Ref: inspect.Ref{Queue: "default", ID: "nightly"}, Type: "report:build", State: inspect.StateScheduled,
				MaxRetry: 25, NextProcessAt: sampleNow.Add(5*time.Hour + 10*time.Minute),
			},
			Verdict: reconcile.Verdict{Status: reconcile.StatusUnknown, Reason: reconcile.ReasonNoRule, Cause: reconcile.CauseNone},
		},
		reconcile.Judged{
			Task: inspect.Task{
				Ref: inspect.Ref{Queue: "low", ID: "broken"}, State: inspect.StatePending, Defect: inspect.DefectUndecodable,
			},
			Verdict: reconcile.Verdict{Status: reconcile.StatusUnknown, Reason: reconcile.ReasonUndecodable, Cause: reconcile.CauseNone},
		},
	)
}

// taskReport counts the sample tasks.
func taskReport(t testing.TB) reconcile.Report {
	r := sampleReport(t)
	r.Totals.ByState, r.Totals.ByStatus = map[inspect.State]int{}, map[reconcile.Status]int{}
	tasks := sampleTasks(t)
	for _, j := range tasks {
		r.Totals.ByState[j.Task.State]++
		r.Totals.ByStatus[j.Verdict.Status]++
	}
	r.Totals.Tasks = len(tasks)
	return r
}

// listed is what a list of these tasks writes.
func listed(t testing.TB, o Options, r reconcile.Report, tasks ...reconcile.Judged) string {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	l := NewTasks(&b, o)
	for _, j := range tasks {
		l.Judged(j)
	}
	if err := l.Close(r, sampleHeader()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sampleDossier is the story of the first charge.
func sampleDossier(t testing.TB) *reconcile.Dossier {
	t.Helper()
	f := sampleFindings()[1]
	f.Task.Headers = map[string]string{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "authorization": "Bearer secret"}
	return &reconcile.Dossier{
		HeldIn: []string{"archived"},
		Task:   f.Task, Findings: []reconcile.Finding{f},
		Rule: bind(t, 1, reconcile.Rule{
			Type: "payment:*", Class: reconcile.ClassCreate, Key: "payload.event_id",
			Sources: []reconcile.Source{sampleMark().Source, sampleEffect().Source},
		}),
		Key: f.Key, Lock: f.Lock, Readings: f.Readings,
		Verdict: reconcile.Verdict{
			Status: f.Status, Cause: f.Cause, Attribution: f.Attribution, AppliedAt: f.AppliedAt,
			Settle: f.Settle, Codes: []reconcile.Code{f.Code},
		},
		Queue: inspect.Queue{Name: "default"}, Served: true, ConfirmedAt: before(time.Second),
		Next: "nothing runs it until someone does",
		Choices: []reconcile.Choice{
			{Verb: "leave", Outcome: "nothing runs it until someone does", Safe: true},
			{Verb: "run", Outcome: "it gets 1 attempt; its effect is repeated unless the handler finds its mark"},
			{Verb: "delete", Outcome: "frees its ID and its lock; its effect is applied, so that nothing is lost", Safe: true},
		},
	}
}

func explained(t testing.TB, o Options, d *reconcile.Dossier) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteDossier(&b, o, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hostileTasks are listed tasks with a trick in every field.
func hostileTasks(t testing.TB) []reconcile.Judged {
	t.Helper()
	var listed []reconcile.Judged
	for _, f := range hostileFindings() {
		j := sampleTasks(t)[1]
		j.Task, j.Key, j.Readings = f.Task, f.Key, f.Readings
		listed = append(listed, j)
	}
	return listed
}
