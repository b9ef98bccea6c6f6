package tui

import (
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// maxErr is how many bytes of an error a row keeps.
const maxErr = 300

// RowOf is a judged task as a list shows it. It keeps nothing of the payload.
func RowOf(j *reconcile.Judged) Row {
	t := &j.Task
	r := Row{
		Ref: t.Ref, Type: t.Type, Group: t.Group, State: t.State,
		Status: j.Verdict.Status, Reason: j.Verdict.Reason, Cause: j.Verdict.Cause,
		Key: j.ShownKey(), Retried: t.Retried, MaxRetry: t.MaxRetry,
		Next: t.NextProcessAt, Since: since(t), LastErr: t.LastErr, Unique: t.UniqueKey != "",
	}
	if len(r.LastErr) > maxErr {
		r.LastErr = string(append([]byte(nil), r.LastErr[:maxErr]...)) // and not the whole behind it
	}
	if len(j.Verdict.Codes) > 0 {
		r.Code = j.Verdict.Codes[0]
		for _, c := range j.Verdict.Codes {
			if s := j.Verdict.Severity(c, t.State); s > r.Severity {
				r.Code, r.Severity = c, s
			}
		}
	}
	if j.Lock != nil {
		r.Lock, r.LockTTL = j.Lock.State, j.Lock.TTL
	}
	return r
}

// since is when a task came into its state, as far as Redis says.
func since(t *inspect.Task) time.Time {
	switch t.State {
	case inspect.StateArchived:
		return t.ArchivedAt
	case inspect.StateCompleted:
		return t.CompletedAt
	case inspect.StateRetry:
		return t.LastFailedAt
	case inspect.StatePending:
		return t.PendingSince
	case inspect.StateAggregating:
		return t.GroupedAt
	}
	return time.Time{}
}
