package reconcile

import (
	"fmt"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// tell reports every code of a judged suspect.
func (r *run) tell(b *Bound, s suspect, now time.Time) {
	v := s.verdict
	stays := len(v.Codes) > 0 && s.task.State == inspect.StateArchived && stays(s.archived(b, now))
	for _, code := range v.Codes {
		r.publish(b, Finding{
			Code: code, Severity: v.Severity(code, s.task.State), Task: s.task,
			Key: s.key, Status: v.Status, Reason: v.Reason, Cause: v.Cause,
			Attribution: v.Attribution, AppliedAt: v.AppliedAt,
			SettlesAt: v.SettlesAt, Settle: v.Settle,
			Lock: s.lock, Readings: readings(b, s.rows), Detail: r.detail(b, &s, code),
			ConfirmedAt: now, longest: oldestRow(s.task, b, now), held: s.held,
			stays: stays,
		})
	}
}

// detail is the fact that no field of a finding carries.
func (r *run) detail(b *Bound, s *suspect, code Code) string {
	switch code {
	case CodeIDBlocked:
		if p, ok := r.silenced(s.task.Ref); ok {
			return fmt.Sprintf("the periodic entry %q of type %s enqueues under it", p.Spec, p.Type)
		}
	case CodeNoLease:
		if s.held {
			return "a worker still runs it, and cannot end it cleanly"
		}
		return "no worker names it"
	case CodeRetryPolicyDrift:
		return policyWords(b, s.task.Retried)
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

// policyWords says what the rule's policy allows after that many failures.
func policyWords(b *Bound, retried int) string {
	low, high := b.policy().Bounds(max(0, retried-1))
	next, most := b.policy().Bounds(retried)
	low, high = min(low, next), max(high, most)
	if low == high {
		return fmt.Sprintf("%s (%s)", Span(low), b.Policy.Retry)
	}
	return fmt.Sprintf("%s to %s (%s)", Span(low), Span(high), b.Policy.Retry)
}

// publish counts a finding and hands it on, unless the operator silenced its
// code for the rule or filtered it away.
func (r *run) publish(b *Bound, f Finding) {
	if !r.aim.tells(f.Code) || b != nil && b.Ignores(f.Code) {
		return
	}
	f.KeyHidden = b.HidesKey() && f.Task.ID != "" // else the key is no rule's
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
