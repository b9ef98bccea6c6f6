package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/internal/visible"
	"github.com/idemctl/idemctl/reconcile"
)

// write lays the dossier out: what is wrong, when things happened, what the queue
// and the ledger say, what comes next, what each choice would do, and the payload.
func (s *detail) write(w *writer) {
	d := s.dossier
	if s.err != nil {
		w.hang(s.theme.warn.Render("! "), 2, s.unreadable("not read again"), s.theme.warnText)
		w.blank()
	}
	s.verdict(w, d)
	s.times(w, d)
	s.task(w, d)
	s.ledger(w, d)
	s.lock(w, d)
	s.choices(w, d)
	s.payload(w, d)
	if d.Headers != "" {
		w.title("HEADERS", "")
		w.hang("  ", 2, safe(d.Headers), nil)
	}
	if d.Result != "" {
		w.title("RESULT", "")
		w.hang("  ", 2, safe(d.Result), nil)
	}
}

func (s *detail) verdict(w *writer, d *Dossier) {
	switch {
	case d.Unread != nil:
		w.hang(s.theme.warn.Render("? "), 2, s.unreadWords(d)+"; "+s.triedAgain(), s.theme.warnText)
	case len(d.Findings) > 0:
	case d.Verdict.Status == reconcile.StatusUnknown:
		w.hang(s.theme.warn.Render("? "), 2, "nothing can be said of its effect: "+safe(d.Verdict.Reason.Words()), nil)
	default:
		w.hang(s.theme.good.Render("✓ "), 2, "no finding: task and ledger do not contradict each other", nil)
	}
	for i := range d.Findings {
		f := &d.Findings[i]
		message, consequence := findingWords(f, s.redisNow())
		w.hang(s.theme.severity(f.Severity, shape(f.Severity))+" ", 2, message, s.theme.boldText)
		w.hang("  ", 2, consequence, nil)
		w.hang("  ", 2, string(f.Code), s.theme.dimText)
	}
}

// unreadWords say why nothing is known of the effect.
func (s *detail) unreadWords(d *Dossier) string {
	words := "its effect is unknown: "
	if source := sourceOf(d.Unread); source != "" {
		words += source + " "
		if silent(d.Unread) {
			words += "did not answer: "
		} else {
			words += "could not be read: "
		}
	}
	return safe(words + briefly(d.Unread))
}

// ownWords are our words on the task, with times as people count them.
func (s *detail) ownWords(words string) string {
	return sentence(safe(humane(words, s.redisNow(), append(timesOf(&s.dossier.Task), s.dossier.ConfirmedAt, s.dossier.Verdict.AppliedAt, s.dossier.Verdict.SettlesAt)...)))
}

// moment is a time both ways.
func (s *detail) moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ago(t, s.redisNow()) + " (" + stamp(t, s.opt.UTC) + ")"
}

func (s *detail) task(w *writer, d *Dossier) {
	t := &d.Task
	w.title("TASK", "")
	var queue []string
	if d.Queue.Paused {
		queue = append(queue, "‖ paused")
	}
	if !d.Served {
		queue = append(queue, "! no live server")
	}
	w.fact("queue", joined(safe(t.Queue), strings.Join(queue, " · ")))
	w.fact("id", safe(t.ID))
	w.fact("type", safe(t.Type))
	w.fact("state", joined(t.State.String(), heldWords(d)))
	if t.Defect == inspect.DefectNone {
		w.fact("tries", fmt.Sprintf("%d of %d retries used", t.Retried, t.MaxRetry))
	}
	w.painted("error", safe(t.LastErr), s.theme.warnText)
	if d.Verdict.Cause != reconcile.CauseNone && t.LastErr != "" {
		w.fact("cause", string(d.Verdict.Cause))
	}
	w.fact("kept until", s.moment(t.ExpiresAt))
	w.fact("deadline", s.moment(t.Deadline))
	if t.Timeout > 0 {
		w.fact("timeout", retry.SecondsOf(t.Timeout).String())
	}
	w.fact("can live", lifeWords(d))
	w.fact("group", safe(t.Group))
	if d.Worker != nil {
		w.fact("worker", "server "+safe(d.Worker.Server)+", began "+s.moment(d.Worker.StartedAt))
	}
	if p := d.Periodic; p != nil {
		w.fact("periodic", "the entry "+safe(p.Spec)+" enqueues under its ID")
	}
	w.title("NEXT", "")
	w.hang("  ", 2, s.ownWords(d.Next), nil)
}

// heldWords say where a task is, if that is not what its state says.
func heldWords(d *Dossier) string {
	var held []string
	for _, name := range d.HeldIn {
		if name != "lease" {
			held = append(held, name)
		}
	}
	switch {
	case len(held) == 0:
		return "held by no list or set"
	case len(held) == 1 && held[0] == d.Task.State.String():
		return ""
	}
	return "held by " + strings.Join(held, " and ")
}

func lifeWords(d *Dossier) string {
	switch {
	case d.Life > 0:
		return "at most " + reconcile.Span(d.Life) + ", if every attempt fails"
	case d.Endless != "":
		return "without a bound: " + d.Endless
	}
	return ""
}

func (s *detail) ledger(w *writer, d *Dossier) {
	w.title("LEDGER", "")
	if d.Unread != nil {
		w.hang("  ? ", 4, sentence(s.unreadWords(d)), s.theme.warnText)
		return
	}
	if d.Rule == nil {
		w.hang("  ", 2, "No rule matches: nothing is known of its effect.", nil)
		return
	}
	w.fact("key", safe(d.ShownKey()))
	w.painted("no key", safe(d.KeyProblem), s.theme.warnText)
	words := d.Verdict.Status.String()
	if reason := d.Verdict.Reason.Words(); reason != "" {
		words += ": " + safe(reason)
	}
	w.painted("effect", statusShape(d.Verdict.Status)+" "+words, func(l string) string { return s.theme.status(d.Verdict.Status, l) })
	w.fact("applied", s.moment(d.Verdict.AppliedAt))
	w.fact("settled", s.moment(d.Verdict.SettlesAt))
	if len(d.Readings) == 0 {
		return
	}
	t := table{columns: []column{
		{title: "SOURCE", least: 12},
		{title: "ROWS", right: true},
		{title: "FINISHED", right: true},
		{title: "LAST", spare: 2},
		{title: "CLAIMED", spare: 3},
		{title: "WHEN", least: 8, spare: 1},
	}}
	var rows [][]string
	for _, r := range d.Readings {
		rows = append(rows, []string{
			safe(r.Source.Role.String() + " " + r.Source.Ledger + "/" + r.Source.Table + "." + r.Source.Column),
			count(int(r.Row.Count)), count(int(r.Row.Passing)),
			ago(r.Row.LastAt, s.redisNow()), ago(r.Row.ClaimedAt, s.redisNow()), safe(r.Source.When),
		})
	}
	shown, widths := t.fit(rows, w.width-2, true)
	w.raw("  " + s.theme.dim.Render(t.line(t.titles(-1, false), shown, widths, nil)))
	for i, row := range rows {
		status := reconcile.StatusNotApplied
		if d.Readings[i].Row.Passing > 0 {
			status = reconcile.StatusApplied
		}
		w.raw("  " + t.line(row, shown, widths, func(c int, text string) string {
			if c == 2 {
				return s.theme.status(status, text)
			}
			return text
		}))
	}
}

func (s *detail) lock(w *writer, d *Dossier) {
	l := d.Lock
	if l == nil {
		return
	}
	w.title("LOCK", "")
	words := ""
	switch l.State {
	case reconcile.LockHeld:
		words = "held by this task, for another " + span(l.TTL)
		if l.Needed > l.TTL {
			words += "; the task can live " + reconcile.Span(l.Needed)
		}
	case reconcile.LockTaken:
		words = "held by task " + safe(l.Owner) + " for another " + span(l.TTL)
		if l.OwnerState != inspect.StateUnknown {
			words += " (" + l.OwnerState.String() + ")"
		}
	case reconcile.LockFree:
		words = "held by nobody: equal work would be accepted"
	default:
		words = "not read"
	}
	w.hang("  "+lockShape(l.State)+" ", 4, sentence(words), nil)
	w.hang("    ", 4, safe(l.Key), s.theme.dimText)
	if f := d.FormLock; f != nil && f.State == reconcile.LockTaken {
		w.hang("  ✗ ", 4, sentence("its canonical form has another lock, which task "+safe(f.Owner)+" holds"), nil)
	}
}

func (s *detail) choices(w *writer, d *Dossier) {
	if len(d.Choices) == 0 {
		return
	}
	w.title("IF YOU", "✓ safe   ✗ not safe")
	for _, c := range d.Choices {
		mark := s.theme.good.Render("✓")
		if !c.Safe {
			mark = s.theme.bad.Render("✗")
		}
		w.hang("  "+mark+" "+s.theme.bold.Render(visible.Pad(safe(c.Verb), 8)), 12, s.ownWords(c.Outcome), nil)
	}
}
