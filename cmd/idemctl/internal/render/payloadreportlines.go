package render

import (
	"io"
	"strconv"

	"github.com/idemctl/idemctl/inspect/payload"
)

// payloadRow is one finding of one payload, as the formats of lines write it.
type payloadRow struct {
	payload *checkedJSON
	finding *payloadFindingJSON
}

// payloadFields are the columns of findings, in an order that only grows at its end.
var payloadFields = []field[payloadRow]{
	{name: "id", cell: func(r *payloadRow) string { return r.payload.ID }},
	{name: "queue", cell: func(r *payloadRow) string { return r.payload.Queue }},
	{name: "type", cell: func(r *payloadRow) string { return word(r.payload.Type) }},
	{name: "severity", ours: true, cell: func(r *payloadRow) string { return r.finding.Severity }},
	{name: "rule", ours: true, cell: func(r *payloadRow) string { return r.finding.Rule }},
	{name: "path", cell: func(r *payloadRow) string { return r.finding.Path }},
	{name: "start", ours: true, cell: func(r *payloadRow) string { return strconv.Itoa(r.finding.Start) }},
	{name: "end", ours: true, cell: func(r *payloadRow) string { return strconv.Itoa(r.finding.End) }},
	{name: "message", cell: func(r *payloadRow) string { return r.finding.Message }},
	{name: "fix", ours: true, cell: func(r *payloadRow) string { return r.finding.Fix }},
	{name: "unique_key", cell: func(r *payloadRow) string { return word(r.payload.UniqueKey) }},
	{name: "canonical_unique_key", cell: func(r *payloadRow) string { return word(r.payload.CanonicalUniqueKey) }},
}

// payloadLines is a format made of lines, each standing by itself.
type payloadLines struct {
	head    string
	finding func(*payloadRow) []byte // nil: a line a payload
	payload func(*Payload) string    // nil: a line a finding
	tail    func(*PayloadTotals, PayloadEnd) string
}

// linePayloads writes the lines as payloads come.
type linePayloads struct {
	payloadLines
	out    output
	opened bool
}

func newLinePayloads(w io.Writer, l payloadLines) *linePayloads {
	return &linePayloads{payloadLines: l, out: newOutput(w)}
}

func (l *linePayloads) begin() {
	if !l.opened {
		l.out.put(l.head)
		l.opened = true
	}
}

func (l *linePayloads) judged(p *Payload, r *payload.Report) error {
	l.begin()
	if len(r.Findings) == 0 {
		return nil
	}
	if l.payload != nil {
		if r.Worst() > payload.Info {
			l.out.put(l.payload(p))
		}
		return l.out.flush()
	}
	s := shapePayload(p, r, true) // no line holds payload bytes
	for i := range s.Findings {
		l.out.put(string(l.finding(&payloadRow{&s, &s.Findings[i]})))
	}
	return l.out.flush()
}

func (l *linePayloads) end(t *PayloadTotals, e PayloadEnd) error {
	l.begin()
	if l.tail != nil {
		l.out.put(l.tail(t, e))
	}
	return l.out.flush()
}

func csvPayloadLines(o Options) payloadLines {
	l := payloadLines{finding: func(r *payloadRow) []byte { return csvLine(payloadFields, r) }}
	if !o.NoHeaders {
		l.head = string(csvNames(payloadFields))
	}
	l.tail = func(_ *PayloadTotals, e PayloadEnd) string {
		if e.Complete {
			return ""
		}
		return string(csvLine(payloadFields, &payloadRow{&checkedJSON{}, &payloadFindingJSON{Message: "incomplete: " + e.Problem}}))
	}
	return l
}

func markdownPayloadLines() payloadLines {
	return payloadLines{
		head: "## idemctl payload check\n\n" +
			markdownHead([]string{"Severity", "Rule", "Payload", "Type", "Path", "Byte", "What is wrong", "Fix"}),
		finding: func(r *payloadRow) []byte {
			f := r.finding
			return []byte(markdownRow([]string{
				word(&f.Severity), code(f.Rule), code(r.payload.ID), codeOrNone(r.payload.Type), code(f.Path),
				count(f.Start), prose(f.Message), prose(f.Fix),
			}))
		},
		tail: func(t *PayloadTotals, e PayloadEnd) string {
			s := "\n" + plural(t.Payloads, "payload", "payloads") + ", " + count(t.Canonical) + " canonical"
			if e.Unread > 0 {
				s += ", " + plural(e.Unread, "input", "inputs") + " not read"
			}
			if !e.Complete {
				s += ". **Incomplete: " + prose(e.Problem) + "**"
			}
			return s + ".\n"
		},
	}
}

// namePayloadLines names the payloads with warnings or errors.
func namePayloadLines() payloadLines {
	return payloadLines{payload: func(p *Payload) string { return p.Name() + "\n" }}
}
