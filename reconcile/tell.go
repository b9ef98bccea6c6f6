package reconcile

import (
	"context"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// tell reports every code of a judged suspect.
func (r *run) tell(b *Bound, s suspect, now time.Time) {
	v := s.verdict
	for _, code := range v.Codes {
		r.publish(b, Finding{
			Code: code, Severity: v.Severity(code, s.task.State), Task: s.task,
			Key: s.key, Status: v.Status, Reason: v.Reason, Cause: v.Cause,
			Attribution: v.Attribution, AppliedAt: v.AppliedAt,
			SettlesAt: v.SettlesAt, Settle: v.Settle,
			Lock: s.lock, Readings: readings(b, s.rows), Detail: s.detail(b, code),
			ConfirmedAt: now,
		})
	}
}

// detail is the fact that no field of a finding carries.
func (s *suspect) detail(b *Bound, code Code) string {
	switch code {
	case CodeKeyMissing:
		return s.keyProblem
	case CodeUnknown:
		if s.unread != "" {
			return s.unread
		}
		return s.keyProblem
	case CodeMismatch:
		for i, row := range s.rows {
			src := b.Sources[i]
			if src.Fingerprint != "" && row.Fingerprint != "" {
				return "stored " + src.FingerprintHash + " " + row.Fingerprint + ", the payload's is " +
					fingerprint(src.FingerprintHash, s.task.Payload)
			}
		}
	}
	return ""
}

// publish counts a finding and hands it on, unless the operator silenced its
// code for the rule or filtered it away.
func (r *run) publish(b *Bound, f Finding) {
	if b != nil && b.Ignores(f.Code) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.opt.Where.Passes(Subject{Finding: &f}) {
		return
	}
	r.findings++
	r.totals.ByCode[f.Code]++
	r.totals.BySeverity[f.Severity]++
	r.signatures.add(f)
	r.out.Finding(f)
}

// locks reads the uniqueness locks of the suspects' tasks: one entry for each,
// nil where the task has none or it could not be read.
func (r *run) locks(ctx context.Context, suspects []suspect) []*Lock {
	out := make([]*Lock, len(suspects))
	var keys []string
	var at []int
	for i, s := range suspects {
		if s.task.UniqueKey != "" && len(s.verdict.Codes) > 0 {
			keys = append(keys, s.task.UniqueKey)
			at = append(at, i)
		}
	}
	if len(keys) == 0 {
		return out
	}
	locks, err := r.queue.Locks(ctx, keys)
	if err != nil {
		return out
	}
	for k, l := range locks {
		out[at[k]] = lockOf(suspects[at[k]].task, l)
	}
	return out
}

func lockOf(t inspect.Task, l inspect.Lock) *Lock {
	lock := Lock{Key: t.UniqueKey, Owner: l.Owner, TTL: l.TTL, State: LockFree}
	switch {
	case !l.Held:
	case l.Owner == t.ID:
		lock.State = LockHeld
	default:
		lock.State = LockTaken
	}
	return &lock
}
