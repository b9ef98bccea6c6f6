package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// A section holds the findings of one code. Each says what is wrong, with its
// evidence, and the command that helps; what they have in common is said once.

// section writes findings of one code and severity; all is how many there are.
func (t *tableAudit) section(p *page, findings []reconcile.Finding, all int) {
	first := &findings[0]
	p.blank()
	size := plural(max(all, len(findings)), "finding", "findings")
	if all > len(findings) {
		size = count(len(findings)) + " of " + size
	}
	head := shape(first.Severity) + " " + first.Severity.String()
	if width(head)+len(first.Code)+width(size)+4 <= p.width {
		p.raw(p.severity(first.Severity, head) + "  " + p.bold(string(first.Code)) + "  " + p.dim(size))
	} else {
		p.raw(p.severity(first.Severity, head) + "  " + p.dim(size))
		p.hang("  ", "  ", string(first.Code), sgrBold)
	}
	shared := common(findings, (*reconcile.Finding).Consequence)
	if shared != "" {
		p.hang("  ", "  ", sentence(Visible(p.humanize(first, shared))), sgrDim)
	}
	for i := range findings {
		p.blank()
		t.entry(p, &findings[i], shared == "")
	}
}

// entry writes one finding, and what comes of it where its section has not said.
func (t *tableAudit) entry(p *page, f *reconcile.Finding, alone bool) {
	p.subject(f, t.opt.IsNew != nil && t.opt.IsNew(f))
	p.hang("    ", "    ", Visible(p.humanize(f, f.Message())), "")
	p.pieces("    ", p.evidence(f), sgrDim)
	if c := f.Consequence(); c != "" && alone {
		p.hang("    ", "    ", sentence(Visible(p.humanize(f, c))), sgrDim)
	}
	if t.opt.ShowPayload && ofTask(f) {
		shown := t.redact.show(f.Task.Payload)
		p.hang("    ", "    ", "payload "+fit(Visible(shown.text), maxPayload), sgrDim)
	}
	if t.opt.ShowPayload {
		t.marked(p, f)
	}
	if action := f.Action(); action != "" {
		p.command("    ", action)
	}
}

// marked shows the bytes that a finding on payloads speaks of.
func (t *tableAudit) marked(p *page, f *reconcile.Finding) {
	for _, m := range f.Marked {
		p.hang("    ", "    ", Visible(m.ID), sgrDim)
		if m.Start < 0 {
			p.hang("      ", "      ", "(not there)", "")
			continue
		}
		cut := excerptOf(m.Payload, extent{m.Start, m.End}, t.redact.secretsIn(m.Payload), p.width-6)
		p.excerpt("      ", cut, sgrYellow)
	}
}

// sentence makes one of a clause.
func sentence(clause string) string {
	if clause == "" {
		return ""
	}
	if c := clause[0]; c >= 'a' && c <= 'z' {
		clause = string(c-'a'+'A') + clause[1:]
	}
	return clause + "."
}

// maxPayload is how many cells of a payload a report shows.
const maxPayload = 400

// common is what all findings say alike; "" when they differ.
func common(findings []reconcile.Finding, say func(*reconcile.Finding) string) string {
	said := say(&findings[0])
	for i := range findings {
		if say(&findings[i]) != said {
			return ""
		}
	}
	return said
}

// subject names what a finding speaks of.
func (p *page) subject(f *reconcile.Finding, fresh bool) {
	tag := ""
	if fresh {
		tag = "NEW"
	}
	if !ofTask(f) {
		where := ""
		switch {
		case len(f.Queues) > 0:
			where = "in " + named(f.Queues)
		case f.Task.Queue != "":
			where = "queue " + Visible(f.Task.Queue)
		}
		p.pieces("  ", []string{tag, Visible(f.Task.Type), where}, sgrBold)
		return
	}
	p.pieces("  ", []string{tag, refWords(f.Task.Ref), Visible(f.Task.Type)}, sgrBold)
}

// evidence are the facts of a finding that its message does not hold.
func (p *page) evidence(f *reconcile.Finding) []string {
	var facts []string
	add := func(format string, args ...any) { facts = append(facts, fmt.Sprintf(format, args...)) }
	if f.Key != "" && f.Key != f.Task.ID && f.Code != reconcile.CodeKeyCollision {
		add("key %s", Visible(f.ShownKey()))
	}
	if !ofTask(f) {
		if names := examplesOf(f); names != "" {
			add("also %s", names)
		}
		return facts
	}
	if len(f.Tasks) > 1 {
		add("with %s", p.others(f))
	}
	t := &f.Task
	if t.Retried > 0 || t.LastErr != "" {
		add("retried %d of %d", t.Retried, t.MaxRetry)
	}
	if !t.LastFailedAt.IsZero() {
		add("failed %s", p.since(t.LastFailedAt))
	}
	if !t.NextProcessAt.IsZero() && f.Code != reconcile.CodeAppliedRetry {
		add("runs %s", p.since(t.NextProcessAt))
	}
	if f.Code == reconcile.CodeUnsettled && !f.SettlesAt.IsZero() && f.Consequence() == "" {
		add("settled %s", p.since(f.SettlesAt))
	}
	if f.Code.Family() != "lock" {
		facts = append(facts, p.lockWords(f.Lock)) // a finding on a lock has said it
	}
	if t.LastErr != "" {
		// At most two lines: an error can be a page long.
		add("error: %s", fit(Visible(t.LastErr), 2*p.width-20))
	}
	return facts
}

// mostNamed is how many tasks of a finding are named.
const mostNamed = 3

// examplesOf names tasks of a finding that speaks of a type, but for those that its
// message has named.
func examplesOf(f *reconcile.Finding) string {
	var names []string
	for _, ref := range f.Tasks[:min(len(f.Tasks), mostNamed)] {
		if !strings.Contains(f.Detail, fmt.Sprintf("%q", ref.ID)) {
			names = append(names, refWords(ref))
		}
	}
	return strings.Join(names, ", ")
}

// others names the other tasks of a finding, the first few of them.
func (p *page) others(f *reconcile.Finding) string {
	var names []string
	n := 0
	for _, ref := range f.Tasks {
		if ref == f.Task.Ref {
			continue
		}
		if n++; n <= mostNamed {
			names = append(names, refWords(ref))
		}
	}
	line := strings.Join(names, ", ")
	if more := max(f.TaskCount, len(f.Tasks)) - 1 - len(names); more > 0 {
		line += " and " + count(more) + " more"
	}
	return line
}

func (p *page) lockWords(l *reconcile.Lock) string {
	if l == nil {
		return ""
	}
	switch l.State {
	case reconcile.LockHeld:
		if l.Needed > 0 {
			return "holds its lock for " + span(l.TTL) + ", and can live for " + span(l.Needed)
		}
		return "holds its lock for " + span(l.TTL)
	case reconcile.LockTaken:
		return "its lock is held by " + Visible(l.Owner) + " for " + span(l.TTL)
	case reconcile.LockFree:
		return "its lock is gone"
	default:
		return ""
	}
}

// humanize writes a finding's own times as a reader at a terminal counts them.
func (p *page) humanize(f *reconcile.Finding, words string) string {
	times := append(taskTimes(&f.Task), f.AppliedAt, f.SettlesAt, f.ConfirmedAt, f.Task.Deadline)
	if f.Lock != nil {
		times = append(times, f.ConfirmedAt.Add(f.Lock.TTL))
	}
	return p.relative(words, append(times, readingTimes(f.Readings)...))
}

func taskTimes(t *inspect.Task) []time.Time {
	return []time.Time{t.LeaseExpiresAt, t.NextProcessAt, t.CompletedAt, t.ArchivedAt, t.LastFailedAt, t.ExpiresAt}
}

func readingTimes(readings []reconcile.Reading) []time.Time {
	var times []time.Time
	for _, r := range readings {
		times = append(times, r.Row.ClaimedAt, r.Row.FirstAt, r.Row.LastAt)
	}
	return times
}

// relative replaces known times, which our words give to the second in UTC, by
// their distance from now: "3m ago", "in 2h". Other times in the words, which
// may be part of a key or an ID, stay.
func (p *page) relative(words string, times []time.Time) string {
	for _, t := range times {
		if t.IsZero() || p.absolute {
			continue
		}
		stamp := t.UTC().Format(time.RFC3339)
		if t.After(p.now) {
			words = strings.ReplaceAll(words, "until "+stamp, "for "+span(t.Sub(p.now)))
		}
		for _, preposition := range [...]string{"at ", "after ", ""} {
			words = strings.ReplaceAll(words, preposition+stamp, p.since(t))
		}
	}
	return words
}
