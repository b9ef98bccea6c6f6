package render

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// headers is JSON of a task's headers with hidden fields as in payloads; a path
// may begin with headers or with a header's name.
func (r redactor) headers(h map[string]string) json.RawMessage {
	all := make(map[string]string, len(h))
	for _, name := range slices.Sorted(maps.Keys(h)) {
		all[name] = h[name]
		if r.broken || r.wholeHeaders {
			all[name] = redacted
		}
	}
	plain, err := marshal(all)
	if err != nil {
		return nil
	}
	if r.wholeHeaders {
		return plain
	}
	inside, err := r.apply(plain)
	if err != nil {
		return nil
	}
	const open, end = `{"headers":`, `}`
	outside, err := r.apply([]byte(open + string(inside) + end))
	if err != nil {
		return nil
	}
	return outside[len(open) : len(outside)-len(end)]
}

func (b *base) shapeDossier(d *reconcile.Dossier) dossierJSON {
	j := reconcile.Judged{Task: d.Task, Rule: d.Rule, Key: d.Key, Verdict: d.Verdict, Readings: d.Readings, Lock: d.Lock, At: d.ConfirmedAt}
	t := &d.Task
	s := dossierJSON{
		Schema:       SchemaExplain,
		ConfirmedAt:  instant(d.ConfirmedAt),
		taskJSON:     b.shapeTask(&j),
		KeyProblem:   text(d.KeyProblem),
		Deadline:     instant(t.Deadline),
		PendingSince: instant(t.PendingSince),
		ExpiresAt:    instant(t.ExpiresAt),
		SettlesAt:    instant(d.Verdict.SettlesAt),
		Headers:      b.redact.headers(t.Headers),
		LifeSeconds:  secondsOf(d.Life),
		Endless:      text(d.Endless),
		HeldIn:       list(d.HeldIn),
		ExplicitID:   reconcile.ExplicitID(t.ID),
		QueuePaused:  d.Queue.Paused,
		QueueServed:  d.Served,
		Findings:     []findingJSON{},
		Next:         d.Next,
		Choices:      []choiceJSON{},
	}
	s.TimeoutSeconds = secondsOf(t.Timeout)
	s.Retention = secondsOf(t.Retention)
	s.SettleSeconds = secondsOf(d.Verdict.Settle)
	if e := d.Periodic; e != nil {
		s.Periodic = shapePeriodic(e)
	}
	if d.Worker != nil {
		s.Worker = &workerJSON{d.Worker.Server, instant(d.Worker.StartedAt), instant(d.Worker.Deadline)}
	}
	if t.Defect == inspect.DefectNone {
		e, r := checkedPayload(t)
		checked := shapePayload(e, &r, b.redact.active())
		s.PayloadCheck = &checked
	}
	s.CanonicalLock = shapeLock(d.FormLock, d.ConfirmedAt)
	for i := range d.Findings {
		s.Findings = append(s.Findings, b.shape(&d.Findings[i]))
	}
	for _, c := range d.Choices {
		s.Choices = append(s.Choices, choiceJSON(c))
	}
	return s
}

func shapePeriodic(e *reconcile.Periodic) *periodicJSON {
	return &periodicJSON{
		Spec: e.Spec, Type: e.Type, Queue: e.Queue, TaskID: text(e.TaskID), Scheduler: e.Scheduler,
		NextAt: instant(e.Next), PrevAt: instant(e.Prev),
	}
}
