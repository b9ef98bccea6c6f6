package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// WriteDossier writes all that is known of one task: as text for FormatTable and
// FormatWide, as JSON for FormatJSON and FormatNDJSON. The payload is always
// shown, but for what is redacted. Other formats are an error.
func WriteDossier(w io.Writer, o Options, d *reconcile.Dossier) error {
	o.ShowPayload = true
	b := newBase(w, o.filled())
	switch b.opt.Format {
	case FormatTable, FormatWide:
		return b.dossierText(d)
	case FormatJSON:
		line, err := marshal(b.shapeDossier(d))
		if err != nil {
			return err
		}
		if b.opt.TTY {
			line = indent(line, "")
		}
		_, err = w.Write(append(line, '\n'))
		return err
	case FormatNDJSON:
		return writeLine(w, b.shapeDossier(d))
	default:
		return fmt.Errorf("one task cannot be written as %s (use table or json)", b.opt.Format)
	}
}

// dossierText is made for reading from the top: what is wrong, what the queue
// says, what the ledger says, what comes next, and what each choice would do.
func (b *base) dossierText(d *reconcile.Dossier) error {
	p := newPage(b.w, b.opt)
	columns := b.opt.Width
	if !b.opt.TTY {
		columns = pipeExcerpt
	}
	p.dossierVerdict(d)
	p.dossierTask(d, b.redact)
	p.dossierLedger(d)
	p.dossierLock(d)
	p.title("NEXT", "")
	p.hang("  ", "  ", p.dossierWords(d, d.Next), "")
	p.dossierChoices(d)
	p.dossierPayload(d, columns, b.redact)
	return p.flush()
}

func (p *page) dossierVerdict(d *reconcile.Dossier) {
	switch {
	case len(d.Findings) > 0:
	case d.Verdict.Status == reconcile.StatusUnknown:
		p.verdict([]verdict{{
			severity: reconcile.SeverityWarning,
			text:     "Nothing can be said of its effect: " + Visible(d.Verdict.Reason.Words()) + ".",
		}})
	default:
		p.verdict([]verdict{{text: "No finding: task and ledger do not contradict each other."}})
	}
	for i := range d.Findings {
		f := &d.Findings[i]
		mark := p.severity(f.Severity, shape(f.Severity))
		p.hang(mark+" ", "  ", Visible(p.humanize(f, f.Message())), sgrBold)
		p.hang("  ", "  ", sentence(Visible(p.humanize(f, f.Consequence()))), "")
		p.hang("  ", "  ", string(f.Code), sgrDim)
	}
}

// dossierWords are our words about the task, with times as a reader counts them.
func (p *page) dossierWords(d *reconcile.Dossier, words string) string {
	return sentence(Visible(p.relative(words, append(taskTimes(&d.Task), d.ConfirmedAt, d.Task.Deadline))))
}

// fact writes one named fact, or nothing where there is none.
func (p *page) fact(name, value string) {
	if value == "" {
		return
	}
	p.hang("  "+p.dim(pad(name, factMargin-2)), pad("", factMargin), value, "")
}

// moment is a time both ways: "12m ago (2026-07-01T03:00:09Z)".
func (p *page) moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	if p.absolute {
		return stampOf(t, p.loc)
	}
	return ago(t, p.now) + " (" + stampOf(t, p.loc) + ")"
}

func (p *page) dossierTask(d *reconcile.Dossier, hide redactor) {
	t := &d.Task
	p.title("TASK", "")
	p.fact("queue", joined(Visible(t.Queue), queueWords(d)))
	p.fact("id", Visible(t.ID))
	p.fact("", idWords(d))
	p.fact("type", Visible(t.Type))
	p.fact("state", joined(t.State.String(), placeWords(d)))
	if t.Defect == inspect.DefectNone {
		p.fact("tries", fmt.Sprintf("%d of %d retries used", t.Retried, t.MaxRetry))
	}
	p.fact("failed", p.moment(t.LastFailedAt))
	if t.LastErr != "" {
		p.fact("error", joined(Visible(t.LastErr), causeWords(d.Verdict.Cause)))
	}
	p.fact("next run", p.moment(t.NextProcessAt))
	p.fact("archived", p.moment(t.ArchivedAt))
	p.fact("completed", p.moment(t.CompletedAt))
	p.fact("kept until", p.moment(t.ExpiresAt))
	p.fact("pending", p.moment(t.PendingSince))
	p.fact("lease ends", p.moment(t.LeaseExpiresAt))
	if t.Timeout > 0 {
		p.fact("timeout", t.Timeout.String())
	}
	p.fact("deadline", p.moment(t.Deadline))
	p.fact("can live", p.lifeWords(d))
	p.fact("group", Visible(t.Group))
	if d.Worker != nil {
		p.fact("worker", joined("server "+Visible(d.Worker.Server), "began "+p.since(d.Worker.StartedAt)))
	}
	if len(t.Headers) > 0 {
		p.fact("headers", Visible(string(hide.headers(t.Headers))))
	}
	if t.Defect == inspect.DefectNone {
		p.payload(hide.show(t.Payload), len(t.Payload))
	}
}

const (
	// factMargin is where the values of named facts begin.
	factMargin = 14
	// maxDossierPayload is how many cells of a payload are shown, and
	// maxPayloadLines how many lines of one that is spread over lines.
	maxDossierPayload = 2000
	maxPayloadLines   = 40
)

// payload writes a payload on one line where it fits, and a longer one that is
// JSON spread over lines.
func (p *page) payload(shown payloadText, size int) {
	if shown.encoding != payloadJSON || width(shown.text) <= p.width-factMargin {
		p.fact("payload", payloadWords(shown, size))
		return
	}
	name, lines := "payload", strings.Split(string(indent([]byte(shown.text), "")), "\n")
	for i, line := range lines {
		if i == maxPayloadLines {
			line = fmt.Sprintf("… %d more lines; -o json has all", len(lines)-i)
		}
		room := p.width - factMargin
		p.raw("  " + p.dim(pad(name, factMargin-2)) + fit(Visible(line), room))
		if name = ""; i == maxPayloadLines {
			return
		}
	}
}

func payloadWords(shown payloadText, size int) string {
	switch {
	case size == 0:
		return "empty"
	case shown.encoding == payloadBase64:
		return fmt.Sprintf("%s (base64, %d bytes)", fit(shown.text, maxDossierPayload), size)
	default:
		return fit(Visible(shown.text), maxDossierPayload)
	}
}

// lifeWords says how long the task can still live, and whether its lock does.
func (p *page) lifeWords(d *reconcile.Dossier) string {
	if d.Life == 0 {
		if d.Endless != "" {
			return "without a bound: " + d.Endless
		}
		return ""
	}
	words := "at most " + reconcile.Span(d.Life) + ", if every attempt fails"
	if l := d.Lock; l != nil && l.State == reconcile.LockHeld && l.TTL > 0 {
		words += "; its lock ends in " + reconcile.Span(l.TTL)
	}
	return words
}

// idWords says what hangs on a task ID that its producer chose.
func idWords(d *reconcile.Dossier) string {
	if !reconcile.ExplicitID(d.Task.ID) {
		return ""
	}
	words := "chosen by its producer: another enqueue of it is refused while the task is there"
	if e := d.Periodic; e != nil {
		words += "; the periodic entry " + Visible(e.Spec) + " enqueues under it"
	}
	return words
}

// placeWords says where a task is, if that is not what its state says.
func placeWords(d *reconcile.Dossier) string {
	held := slices.DeleteFunc(slices.Clone(d.HeldIn), func(name string) bool { return name == "lease" })
	switch {
	case len(held) == 0:
		return "held by no list or set"
	case len(held) == 1 && held[0] == d.Task.State.String():
		return ""
	}
	return "held by " + strings.Join(held, " and ")
}

func queueWords(d *reconcile.Dossier) string {
	var words []string
	if d.Queue.Paused {
		words = append(words, "paused")
	}
	if !d.Served {
		words = append(words, "no live server")
	}
	return strings.Join(words, ", ")
}

func (p *page) dossierLedger(d *reconcile.Dossier) {
	p.title("LEDGER", "")
	if d.Rule == nil {
		p.fact("rule", "none matches: nothing is known of its effect")
		return
	}
	row := ruleRows(reconcile.RuleUse{Rule: d.Rule})[0]
	p.fact("rule", joined(row[0], "type "+row[1], "queue "+row[2], "key "+row[3]))
	p.fact("key", Visible(d.ShownKey()))
	p.fact("no key", Visible(d.KeyProblem))
	status := d.Verdict.Status.String()
	if reason := d.Verdict.Reason.Words(); reason != "" {
		status += ": " + reason
	}
	p.fact("effect", p.effect(status))
	p.fact("applied", joined(p.moment(d.Verdict.AppliedAt), d.AttributedTo()))
	p.fact("settled", p.moment(d.Verdict.SettlesAt))
	if len(d.Readings) == 0 {
		return
	}
	columns := []column{{title: "", least: 24}, {title: "ROWS", right: true}, {title: "FINISHED", right: true}, {title: "LAST"}, {title: "CLAIMED"}}
	var rows [][]string
	for _, r := range d.Readings {
		ref := sourceRef(r.Source)
		rows = append(rows, []string{
			ref.Role + " " + Visible(ref.Ledger) + "/" + Visible(ref.Table) + "." + Visible(word(ref.Column)),
			count(int(r.Row.Count)), count(int(r.Row.Passing)), p.since(r.Row.LastAt), p.since(r.Row.ClaimedAt),
		})
	}
	p.grid("  ", columns, rows)
}

func (p *page) dossierLock(d *reconcile.Dossier) {
	if d.Lock == nil {
		return
	}
	p.title("LOCK", "")
	p.hang("  ", "  ", sentence(p.lockWords(d.Lock)), "")
	p.hang("  ", "  ", Visible(d.Lock.Key), sgrDim)
}

func (p *page) dossierChoices(d *reconcile.Dossier) {
	if len(d.Choices) == 0 {
		return
	}
	p.title("IF YOU", "✓ safe   ✗ not safe")
	const margin = 8
	for _, c := range d.Choices {
		mark := p.with(sgrGreen, "✓")
		if !c.Safe {
			mark = p.with(sgrRed, "✗")
		}
		p.hang("  "+mark+" "+p.bold(pad(Visible(c.Verb), margin)), pad("", margin+4), p.dossierWords(d, c.Outcome), "")
	}
}
