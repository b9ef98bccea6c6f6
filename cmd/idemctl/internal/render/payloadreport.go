package render

import (
	"io"
	"slices"

	"github.com/idemctl/idemctl/inspect/payload"
)

// PayloadTotals is what a check comes to.
type PayloadTotals struct {
	Payloads, Canonical, Undefined int
	Unread                         int // could not be read or decoded
	ByRule                         map[payload.Rule]int
	BySeverity                     map[payload.Severity]int // by a payload's worst finding
}

// PayloadEnd is how the reading of payloads ended.
type PayloadEnd struct {
	Complete bool
	Problem  string // why not
	Unread   int    // payloads that could not be read or decoded
}

// Payloads writes what the rules say of payloads, one after the other; none is kept.
// It is not safe for concurrent use.
type Payloads struct {
	face   payloadFace
	totals PayloadTotals
	err    error
}

// payloadFace is one format of a check.
type payloadFace interface {
	judged(p *Payload, r *payload.Report) error
	end(t *PayloadTotals, e PayloadEnd) error
}

// NewPayloads prepares a check. Options that Validate refuses are read on the safe
// side: all of a payload is hidden.
func NewPayloads(w io.Writer, o Options) *Payloads {
	columns := o.Width
	o = o.filled()
	hide, _ := newRedactor(o.Redact) // a broken one hides everything
	s := &Payloads{totals: PayloadTotals{ByRule: map[payload.Rule]int{}, BySeverity: map[payload.Severity]int{}}}
	switch o.Format {
	case FormatJSON:
		s.face = &jsonPayloads{document: newDocument(w, o.TTY), hide: hide.active()}
	case FormatNDJSON:
		s.face = &ndjsonPayloads{w: w, hide: hide.active()}
	case FormatCSV:
		s.face = newLinePayloads(w, csvPayloadLines(o))
	case FormatMarkdown:
		s.face = newLinePayloads(w, markdownPayloadLines())
	case FormatName:
		s.face = newLinePayloads(w, namePayloadLines())
	default:
		s.face = newPagePayloads(w, o, columns, hide)
	}
	return s
}

// Judged takes one payload and its report. An error is kept for Err and Close.
func (s *Payloads) Judged(p *Payload, r *payload.Report) {
	s.totals.add(r)
	if s.err == nil {
		s.err = s.face.judged(p, r)
	}
}

// Err is the first error of Judged: once it is there, nothing more is written.
func (s *Payloads) Err() error { return s.err }

// Worst is the highest severity so far.
func (s *Payloads) Worst() payload.Severity {
	worst := payload.SeverityUnknown
	for severity := range s.totals.BySeverity {
		worst = max(worst, severity)
	}
	return worst
}

// Close writes what the check comes to. It is called once.
func (s *Payloads) Close(e PayloadEnd) error {
	s.totals.Unread = e.Unread
	if s.err == nil {
		s.err = s.face.end(&s.totals, e)
	}
	return s.err
}

func (t *PayloadTotals) add(r *payload.Report) {
	t.Payloads++
	switch {
	case r.Canonical:
		t.Canonical++
	case !r.Defined():
		t.Undefined++
	}
	for _, rule := range r.Rules() {
		t.ByRule[rule]++
	}
	if worst := r.Worst(); worst != payload.SeverityUnknown {
		t.BySeverity[worst]++
	}
}

// rules lists the rules that fired, worst and most frequent first.
func (t *PayloadTotals) rules() []payload.Rule {
	rules := make([]payload.Rule, 0, len(t.ByRule))
	for _, r := range payload.Rules() {
		if t.ByRule[r] > 0 {
			rules = append(rules, r)
		}
	}
	slices.SortStableFunc(rules, func(a, b payload.Rule) int {
		if a.Severity() != b.Severity() {
			return int(b.Severity()) - int(a.Severity())
		}
		return t.ByRule[b] - t.ByRule[a]
	})
	return rules
}

// ndjsonPayloads writes a line a payload, and nothing else.
type ndjsonPayloads struct {
	w    io.Writer
	hide bool
}

func (j *ndjsonPayloads) judged(p *Payload, r *payload.Report) error {
	return writeLine(j.w, shapePayload(p, r, j.hide))
}

func (*ndjsonPayloads) end(*PayloadTotals, PayloadEnd) error { return nil }

// jsonPayloads writes one document as the payloads come.
type jsonPayloads struct {
	*document
	hide bool
	open bool
}

func (j *jsonPayloads) begin() {
	if !j.open {
		j.head([]byte(`{"schema":"`+SchemaPayload+`"}`), "payloads")
		j.open = true
	}
}

func (j *jsonPayloads) judged(p *Payload, r *payload.Report) error {
	blob, err := marshal(shapePayload(p, r, j.hide))
	if err != nil {
		return err
	}
	j.begin()
	j.member(blob)
	return nil
}

// payloadTailJSON are the members that follow the payloads: they are known last.
type payloadTailJSON struct {
	Complete bool              `json:"complete"`
	Problem  *string           `json:"problem"`
	Totals   payloadTotalsJSON `json:"totals"`
}

func (j *jsonPayloads) end(t *PayloadTotals, e PayloadEnd) error {
	tail, err := marshal(payloadTailJSON{
		Complete: e.Complete, Problem: text(e.Problem),
		Totals: payloadTotalsJSON{
			Payloads: t.Payloads, Canonical: t.Canonical, Undefined: t.Undefined, Unread: t.Unread,
			ByRule: counts(t.ByRule), BySeverity: counts(t.BySeverity),
		},
	})
	if err != nil {
		return err
	}
	j.begin()
	list := "\n]"
	switch {
	case j.n == 0:
		list = "]"
	case j.pretty:
		list = "\n  ]"
	}
	if j.pretty {
		tail = indent(tail, "")
	}
	j.put(list, ",", string(tail[1:]), "\n")
	return j.flush()
}
