package render

import (
	"cmp"
	"encoding/hex"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// Header is what a report says of its sources beside what an audit concluded.
type Header struct {
	Redis   inspect.RedisFacts
	Ledgers []Ledger
	// Where is the filter that tasks had to pass; "" is every task.
	Where string
}

// Ledger is one ledger by its configured name. Facts are zero when it could not
// be asked.
type Ledger struct {
	Name  string
	Facts reconcile.LedgerFacts
}

// text is a fact in words, null when there is none.
func text[S ~string](s S) *string {
	if s == "" {
		return nil
	}
	t := string(s)
	return &t
}

func instant(t time.Time) *string { return text(stampOf(t, time.UTC)) }

func hexOf(id string) *string {
	if utf8.ValidString(id) {
		return nil
	}
	return text(hex.EncodeToString([]byte(id)))
}

func refOf(r inspect.Ref) refJSON {
	return refJSON{Queue: r.Queue, TaskID: r.ID, TaskIDHex: hexOf(r.ID)}
}

// shapeFinding is the contract's form of a finding.
func shapeFinding(f *reconcile.Finding, payload payloadText) findingJSON {
	s := findingJSON{
		Code:        string(f.Code),
		Severity:    f.Severity.String(),
		Key:         text(f.ShownKey()),
		Type:        text(f.Task.Type),
		Reason:      text(f.Reason),
		Cause:       text(f.Cause),
		Attribution: text(f.Attribution),
		AppliedAt:   instant(f.AppliedAt),
		SettlesAt:   instant(f.SettlesAt),
		ConfirmedAt: instant(f.ConfirmedAt),
		Lock:        shapeLock(f.Lock, f.ConfirmedAt),
		Sources:     shapeReadings(f.Readings),
		Queues:      queuesOf(f),
		TaskIDs:     []string{},
		Tasks:       []refJSON{},
		TaskCount:   f.TaskCount,
		Detail:      text(f.Detail),
		Message:     f.Message(),
		Consequence: text(f.Consequence()),
		Action:      text(f.Action()),
	}
	s.SettleSeconds = secondsOf(f.Settle)
	s.Queue = text(f.Task.Queue)
	refs := tasksOf(f)
	for _, ref := range refs {
		s.Tasks = append(s.Tasks, refOf(ref))
		s.TaskIDs = append(s.TaskIDs, ref.ID)
	}
	s.TaskCount = max(s.TaskCount, len(refs))
	if !ofTask(f) {
		return s
	}
	t := &f.Task
	s.Queue, s.TaskID, s.TaskIDHex = &t.Queue, &t.ID, hexOf(t.ID)
	if f.OfEffect() {
		s.Status = text(f.Status.String())
	}
	if t.State != inspect.StateUnknown {
		s.State = text(t.State.String())
	}
	s.Retried, s.MaxRetry, s.LastError = shapeAttempts(t)
	s.LastFailedAt = instant(t.LastFailedAt)
	s.NextProcessAt = instant(t.NextProcessAt)
	s.ArchivedAt = instant(t.ArchivedAt)
	s.CompletedAt = instant(t.CompletedAt)
	s.LeaseExpires = instant(t.LeaseExpiresAt)
	s.Payload, s.PayloadEncoding = payload.json()
	return s
}

// ofTask says whether the finding speaks of a task, not of a task type.
func ofTask(f *reconcile.Finding) bool { return f.Task.ID != "" }

// tasksOf names every task concerned.
func tasksOf(f *reconcile.Finding) []inspect.Ref {
	if len(f.Tasks) == 0 && ofTask(f) {
		return []inspect.Ref{f.Task.Ref}
	}
	return f.Tasks
}

// queuesOf names every queue concerned, once.
func queuesOf(f *reconcile.Finding) []string {
	queues := slices.Clone(f.Queues)
	for _, ref := range tasksOf(f) {
		if !slices.Contains(queues, ref.Queue) {
			queues = append(queues, ref.Queue)
		}
	}
	return list(queues)
}

// list is never null.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// shapeAttempts says nothing of a task whose message could not be read.
func shapeAttempts(t *inspect.Task) (retried, most *int, lastError *string) {
	if t.Defect != inspect.DefectNone {
		return nil, nil, nil
	}
	if t.LastErr != "" || !t.LastFailedAt.IsZero() {
		lastError = &t.LastErr
	}
	return &t.Retried, &t.MaxRetry, lastError
}

// shapeLock is a lock as it was read at the given time.
func shapeLock(l *reconcile.Lock, at time.Time) *lockJSON {
	if l == nil {
		return nil
	}
	s := &lockJSON{
		Key: l.Key, Owner: text(l.Owner), TTLSeconds: secondsOf(l.TTL), State: text(l.State), NeededSeconds: secondsOf(l.Needed),
	}
	if l.OwnerState != inspect.StateUnknown {
		s.OwnerState = text(l.OwnerState.String())
	}
	if l.TTL > 0 && !at.IsZero() {
		s.EndsAt = instant(at.Add(l.TTL))
	}
	return s
}

func shapeReadings(readings []reconcile.Reading) []findingSourceJSON {
	shaped := make([]findingSourceJSON, 0, len(readings))
	for _, r := range readings {
		shaped = append(shaped, findingSourceJSON{
			sourceRefJSON: sourceRef(r.Source),
			Rows:          r.Row.Count,
			Passing:       r.Row.Passing,
			FirstAt:       instant(r.Row.FirstAt),
			LastAt:        instant(r.Row.LastAt),
			ClaimedAt:     instant(r.Row.ClaimedAt),
		})
	}
	return shaped
}

// sourceRef names a source as it was resolved, or else as it was asked for.
func sourceRef(f reconcile.SourceFacts) sourceRefJSON {
	return sourceRefJSON{
		Role:   f.Role.String(),
		Ledger: f.Ledger,
		Table:  cmp.Or(f.Table, f.Source.Table),
		Column: text(cmp.Or(f.Column, f.Source.Column)),
	}
}
