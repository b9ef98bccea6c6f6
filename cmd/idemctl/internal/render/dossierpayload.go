package render

import (
	"strings"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/payload"
	"github.com/idemctl/idemctl/reconcile"
)

// dossierPayload says of the task's payload whether equal work always takes its
// lock, and marks the bytes that keep it from that.
func (p *page) dossierPayload(d *reconcile.Dossier, columns int, hide redactor) {
	t := &d.Task
	if t.Defect != inspect.DefectNone {
		return
	}
	e, r := checkedPayload(t)
	p.title("PAYLOAD", "")
	p.hang("  ", "  ", sentence(canonicalWords(e, &r)), "")
	if notes := noteNames(&r); len(notes) > 0 {
		p.hang("  ", "  ", "notes: "+strings.Join(notes, ", "), sgrDim)
	}
	if form := e.canonicalLock(r.Bytes); !e.NoLock && form != nil && *form != *e.lock() {
		p.hang("  ", "  ", "canonical lock "+Visible(*form), sgrDim)
	}
	if words := formLockWords(d); words != "" {
		p.hang("  ", "  ", sentence(words), "")
	}
	pp := &pagePayloads{page: p, excerptWidth: columns, hide: hide, explained: map[payload.Rule]bool{}}
	hidden := hide.secretsIn(e.Bytes)
	for _, f := range pp.chosen(&r) {
		pp.finding(e, f, hidden)
	}
	pp.omissions(&r)
}

// checkedPayload is the payload of a task that could be read, as `payload check`
// judges it.
func checkedPayload(t *inspect.Task) (*Payload, payload.Report) {
	e := &Payload{ID: t.ID, Task: true, NoLock: t.UniqueKey == "", Queue: t.Queue, Type: t.Type, Raw: t.Payload, Bytes: t.Payload}
	return e, payload.Check(t.Payload)
}

// noteNames are the rules that fired and are no more than context.
func noteNames(r *payload.Report) []string {
	var names []string
	for _, rule := range r.Rules() {
		if rule.Severity() == payload.Info {
			names = append(names, rule.String())
		}
	}
	return names
}

// canonicalWords say what the spelling means for the lock.
func canonicalWords(e *Payload, r *payload.Report) string {
	if e.NoLock {
		switch {
		case r.Canonical:
			return "canonical; it was enqueued without Unique, so that no lock is made of it"
		default:
			return "not canonical; it was enqueued without Unique, so that no lock is made of it"
		}
	}
	switch {
	case r.Canonical:
		return "canonical: equal work that is written canonically takes the same lock"
	case r.Defined():
		return "not canonical: the same work, written canonically, takes another lock"
	default:
		return "without a canonical form: nobody can say which other bytes are the same work"
	}
}

// formLockWords say who holds the lock of the canonical form, which is all that was
// looked at of other tasks.
func formLockWords(d *reconcile.Dossier) string {
	l := d.FormLock
	if l == nil {
		return ""
	}
	switch l.State {
	case reconcile.LockTaken:
		holds := "task " + Visible(l.Owner)
		if l.OwnerState == inspect.StateUnknown {
			return holds + " holds the canonical lock for " + span(l.TTL) + ", and is other work or gone"
		}
		holds += " (" + l.OwnerState.String() + ") holds the canonical lock for " + span(l.TTL)
		if l.OwnerState.Live() && d.Task.State.Live() {
			return holds + ": the same work is enqueued twice"
		}
		return holds + ": it is the same work"
	case reconcile.LockHeld:
		return "it holds the canonical lock as well"
	default:
		return "nobody holds the canonical lock; locks of other spellings were not looked for"
	}
}
