package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
)

// audit is `idemctl audit -o ndjson` without its command line.
func (j job) audit(ctx context.Context) (work, error) {
	client, err := inspect.Open(ctx, inspect.Options{URI: j.Redis})
	if err != nil {
		return work{}, err
	}
	defer client.Close()
	ledger, err := pgledger.Open(ctx, pgledger.Options{Name: "main", DSN: j.Postgres})
	if err != nil {
		return work{}, err
	}
	defer ledger.Close()
	a, err := reconcile.NewAuditor(client, reconcile.Options{
		Ledgers: map[string]reconcile.Ledger{"main": ledger}, DefaultLedger: "main",
	})
	if err != nil {
		return work{}, err
	}
	out, err := openNull()
	if err != nil {
		return work{}, err
	}
	defer out.Close()
	report, err := a.Run(ctx, &sink{w: bufio.NewWriter(out)})
	if err != nil {
		return work{}, err
	}
	if !report.Complete {
		return work{}, fmt.Errorf("the audit is incomplete: %w", report.Problem)
	}
	t := report.Totals
	return work{Tasks: t.Tasks, Applied: t.ByStatus[reconcile.StatusApplied], ByCode: t.ByCode}, nil
}

// sink writes each finding as a line of JSON.
type sink struct{ w *bufio.Writer }

// line has what a finding's line has in the command's own output.
type line struct {
	Code, Severity, Queue, TaskID, Type, State, Key, Status, Reason, Cause, Attribution string

	Retried, MaxRetry                     int
	LastError                             string
	LastFailedAt, ArchivedAt, CompletedAt time.Time
	AppliedAt, ConfirmedAt                time.Time
	Lock                                  *reconcile.Lock
	Sources                               []reading
}

type reading struct {
	Role, Table                string
	Rows, Passing              int64
	FirstAt, LastAt, ClaimedAt time.Time
}

func (s *sink) Finding(f reconcile.Finding) {
	l := line{
		Code: string(f.Code), Severity: f.Severity.String(), Queue: f.Task.Queue, TaskID: f.Task.ID,
		Type: f.Task.Type, State: f.Task.State.String(), Key: f.Key, Status: f.Status.String(),
		Reason: string(f.Reason), Cause: string(f.Cause), Attribution: string(f.Attribution),
		Retried: f.Task.Retried, MaxRetry: f.Task.MaxRetry, LastError: f.Task.LastErr,
		LastFailedAt: f.Task.LastFailedAt, ArchivedAt: f.Task.ArchivedAt, CompletedAt: f.Task.CompletedAt,
		AppliedAt: f.AppliedAt, ConfirmedAt: f.ConfirmedAt, Lock: f.Lock,
	}
	for _, r := range f.Readings {
		l.Sources = append(l.Sources, reading{
			Role: string(r.Source.Role), Table: r.Source.Table, Rows: r.Row.Count, Passing: r.Row.Passing,
			FirstAt: r.Row.FirstAt, LastAt: r.Row.LastAt, ClaimedAt: r.Row.ClaimedAt,
		})
	}
	text, err := json.Marshal(l)
	if err != nil {
		panic(err) // the line is made of plain values
	}
	_, _ = s.w.Write(append(text, '\n')) // the flush tells of errors
	if err := s.w.Flush(); err != nil {  // a reader of the stream sees findings as they come
		panic(err) // nothing can fail that goes to the null device
	}
}

func (s *sink) Progress(reconcile.Progress) {}
