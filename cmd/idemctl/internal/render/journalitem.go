package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/idemctl/idemctl/reconcile/journal"
)

// JournalWhole is one item with every record of it.
type JournalWhole struct {
	Run string
	JournalItem
	Results []journal.Record
	// Task is as it stood before the change; nil where the intent holds none.
	Task *journal.TaskImage
}

// WriteJournalItem writes one item with all that the journal has on it, in one of
// JournalFormats. The payload is shown, but for what Options.Redact names.
func WriteJournalItem(w io.Writer, o Options, source JournalSource, item *JournalWhole) error {
	o = o.filled()
	if err := checkJournalFormat(o.Format); err != nil {
		return err
	}
	hide, err := newRedactor(o.Redact)
	hide.broken = err != nil
	switch o.Format {
	case FormatJSON, FormatNDJSON:
		line, err := marshal(shapeWhole(source, item, hide))
		if err != nil {
			return err
		}
		if o.TTY && o.Format == FormatJSON {
			line = indent(line, "")
		}
		_, err = w.Write(append(line, '\n'))
		return err
	}
	return itemPage(w, o, &source, item, hide)
}

func shapeWhole(source JournalSource, item *JournalWhole, hide redactor) journalWholeItemJSON {
	j := journalWholeItemJSON{
		journalHeadJSON: source.head(SchemaJournalItem), Run: item.Run, journalItemJSON: shapeItem(&item.JournalItem),
		Results: []journalResultJSON{}, Task: shapeImage(item.Task, hide),
	}
	for i := range item.Results {
		r := &item.Results[i]
		j.Results = append(j.Results, journalResultJSON{
			At: instant(r.At), Outcome: r.Outcome.String(), Found: text(r.Found), Error: text(r.Error),
			Operator: text(r.Operator), Host: text(r.Host),
		})
	}
	return j
}

// itemPage is for reading from the top: the change, what came of it, the task.
func itemPage(w io.Writer, o Options, source *JournalSource, item *JournalWhole, hide redactor) error {
	p := newPage(w, o)
	p.title("ITEM", "")
	p.fact("run", Visible(item.Run))
	p.fact("item", Visible(item.Item))
	p.fact("change", Visible(item.Change))
	p.fact("queue", Visible(item.Queue))
	p.fact("id", Visible(item.TaskID))
	p.fact("target", Visible(item.Target))
	p.fact("reason", Visible(item.Reason))
	p.intentEvidence(item.Evidence)
	p.fact("intended", p.moment(item.Intended))
	p.title("RESULTS", "")
	for i := range item.Results {
		r := &item.Results[i]
		p.fact(r.Outcome.String(), joined(p.moment(r.At), Visible(settledBy(r)), Visible(r.Found), Visible(r.Error)))
	}
	if len(item.Results) == 0 {
		p.fact(outcomePending, "nobody wrote what came of it")
	}
	p.image(item.Task, hide)
	for _, line := range notes(source, 0, "", "") {
		p.text(Visible(line), sgrBold)
	}
	return p.flush()
}

// intentEvidence has each of its facts on a line, in the order in which they were written.
func (p *page) intentEvidence(text json.RawMessage) {
	name := "evidence"
	for _, fact := range membersOf(text) {
		p.fact(name, fact)
		name = ""
	}
}

// membersOf are the members of a JSON object, as "name value"; of what is none, the
// text itself.
func membersOf(text json.RawMessage) []string {
	whole := []string{Visible(string(text))}
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return whole
	}
	var members []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return whole
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return whole
		}
		shown := string(value)
		if text := ""; json.Unmarshal(value, &text) == nil && shown != "null" {
			shown = text
		}
		members = append(members, Visible(fmt.Sprint(name))+" "+Visible(shown))
	}
	if _, err := d.Token(); err != nil {
		return whole
	}
	return members
}

// image is the task as the journal holds it.
func (p *page) image(t *journal.TaskImage, hide redactor) {
	if t == nil {
		return
	}
	j := shapeImage(t, hide)
	remark := "as it stood before the change"
	if t.Redacted {
		remark = "parts were hidden when it was written, so that it cannot be restored"
	}
	p.title("TASK", remark)
	p.fact("key", Visible(j.Key))
	p.fact("type", Visible(word(j.Type)))
	p.fact("state", Visible(word(j.State)))
	if j.Retried != nil {
		p.fact("tries", fmt.Sprintf("%d of %d retries used", *j.Retried, *j.MaxRetry))
	}
	p.fact("error", Visible(word(j.LastError)))
	p.fact("failed", word(j.LastFailedAt))
	p.fact("deadline", word(j.Deadline))
	p.fact("group", Visible(word(j.Group)))
	if h := string(j.Headers); h != "{}" {
		p.fact("headers", Visible(h))
	}
	for _, place := range j.Places {
		p.fact("place", joined(Visible(place.Key), scoreWords(place.Score)))
	}
	if l := j.Lock; l != nil {
		p.fact("lock", joined(Visible(l.Key), "held by "+Visible(l.Owner), word(l.ExpiresAt)))
	}
	p.fact("fields", Visible(strings.Join(j.Fields, " ")))
	for _, f := range t.Fields {
		if f.Name == "result" {
			p.fact("result", payloadWords(hide.show([]byte(f.Value)), len(f.Value)))
		}
	}
	if j.PayloadEncoding != nil {
		p.payload(payloadText{*j.PayloadEncoding, payloadCell(j.Payload, j.PayloadEncoding)}, j.payloadSize)
	}
}
