package render

import (
	"bytes"
	"io"
	"slices"

	"github.com/idemctl/idemctl/inspect/payload"
)

const (
	// mostPayloads is how many payloads a page on a terminal spells out.
	mostPayloads = 20
	// mostOfRule is how many findings of one rule are shown of one payload.
	mostOfRule = 3
	// pipeExcerpt is the width of excerpts where nobody says how wide a line is.
	pipeExcerpt = 100
)

// pagePayloads is a page for a person: every payload with findings worse than info,
// with the bytes that they speak of. A rule is explained where it first fires.
type pagePayloads struct {
	*page
	excerptWidth int
	wide         bool
	tty          bool
	hide         redactor
	shown        int
	left         int // payloads with findings that were not spelled out
	explained    map[payload.Rule]bool
}

func newPagePayloads(w io.Writer, o Options, columns int, hide redactor) *pagePayloads {
	p := &pagePayloads{
		page: newPage(w, o), excerptWidth: o.Width, wide: o.Format == FormatWide, tty: o.TTY, hide: hide,
		explained: map[payload.Rule]bool{},
	}
	if !o.TTY && columns <= 0 {
		p.excerptWidth = pipeExcerpt
	}
	return p
}

func (p *pagePayloads) judged(e *Payload, r *payload.Report) error {
	worst := r.Worst()
	if worst == payload.SeverityUnknown || worst == payload.Info && !p.wide {
		return nil
	}
	if p.tty && !p.wide && p.shown == mostPayloads {
		p.left++
		return nil
	}
	if p.shown > 0 {
		p.blank()
	}
	p.shown++
	p.payloadHead(e, r)
	hidden := p.hide.secretsIn(e.Bytes)
	for _, f := range p.chosen(r) {
		p.finding(e, f, hidden)
	}
	p.omissions(r)
	return p.flush()
}

// payloadHead names the payload and its locks.
func (p *pagePayloads) payloadHead(e *Payload, r *payload.Report) {
	worst := r.Worst()
	sign := p.with(sgrOf(worst), shapeOf(worst)) + " "
	p.hang(sign, "  ", joined(e.name(), Visible(e.Type)), sgrBold)
	lock, form := e.lock(), e.canonicalLock(r.Bytes)
	line := func(label, text string) {
		first := "  " + pad(label, 11) + " "
		if text = Visible(text); width(first)+width(text) > p.width { // a lock that is cut cannot be copied
			p.hang("  ", "  ", label, "")
			first = "    "
		}
		p.hang(first, pad("", width(first)), text, sgrDim)
	}
	if lock == nil {
		return
	}
	label := "lock"
	if e.NoLock {
		label = "would lock"
	}
	switch {
	case form == nil:
		line(label, *lock+" (no canonical form)")
	case *form == *lock:
		line(label, *lock)
	default:
		line(label, *lock)
		line("canonical", *form)
	}
}

// chosen are the findings to show, worst first.
func (p *pagePayloads) chosen(r *payload.Report) []payload.Finding {
	of := map[payload.Rule]int{}
	var shown []payload.Finding
	for _, f := range r.Findings {
		of[f.Rule]++
		if p.wide || of[f.Rule] <= mostOfRule && f.Severity() > payload.Info {
			shown = append(shown, f)
		}
	}
	slices.SortStableFunc(shown, func(a, b payload.Finding) int { return int(b.Severity()) - int(a.Severity()) })
	return shown
}

// finding shows one finding: where, the bytes, and what it means.
func (p *pagePayloads) finding(e *Payload, f payload.Finding, hidden secrets) {
	sgr := sgrOf(f.Severity())
	p.blank()
	p.hang("  "+p.with(sgr, shapeOf(f.Severity())+" "+f.Severity().String())+"  ", "    ",
		joined(f.Rule.String()+" at "+Visible(f.Path), "byte "+count(f.Start)), sgrBold)
	if len(e.Bytes) > 0 {
		p.page.excerpt("    ", excerptOf(e.Bytes, extent{f.Start, f.End}, hidden, p.excerptWidth-4), sgr)
	}
	p.hang("    ", "    ", sentence(Visible(f.Message)), "")
	if try := insteadOf(e, f.Rule); try != "" {
		p.hang("    "+p.dim("try")+"  ", "         ", try, "")
	}
	p.explain(f.Rule)
}

// insteadOf says how a payload that is not JSON may be meant.
func insteadOf(e *Payload, rule payload.Rule) string {
	if rule != payload.NotJSON {
		return ""
	}
	step := payload.DecodingUnknown
	switch payload.Check(e.Bytes).Encoding {
	case payload.EncodingMsgpack:
		step = payload.DecodingMsgpack
	case payload.EncodingGzip:
		step = payload.DecodingGzip
	case payload.EncodingBase64JSON:
		step = payload.DecodingBase64
	case payload.EncodingText:
		if !e.Task && bytes.IndexByte(e.Bytes, '\n') >= 0 {
			return "--lines, if each line is a payload"
		}
	}
	if step == payload.DecodingUnknown {
		return ""
	}
	return "--decode " + step.String() + " looks inside"
}

// explain says once why a rule matters and what to write instead.
func (p *pagePayloads) explain(rule payload.Rule) {
	if p.explained[rule] {
		return
	}
	p.explained[rule] = true
	words := wordsOfRule[rule]
	p.hang("    "+p.dim("why")+"  ", "         ", sentence(words.why), "")
	p.hang("    "+p.dim("fix")+"  ", "         ", sentence(rule.Fix()), "")
	if words.fix != "" {
		p.hang("         ", "           ", words.fix, sgrCyan)
	}
}

// omissions says what was found and not shown.
func (p *pagePayloads) omissions(r *payload.Report) {
	if p.wide {
		if n := r.Omitted(); n > 0 {
			p.blank()
			p.hang("    ", "    ", "and "+plural(n, "finding", "findings")+" more, counted and not kept", sgrDim)
		}
		return
	}
	kept := map[payload.Rule]int{}
	for _, f := range r.Findings {
		kept[f.Rule]++
	}
	for _, rule := range r.Rules() {
		shown := min(kept[rule], mostOfRule)
		if rule.Severity() == payload.Info {
			continue
		}
		if more := r.Count(rule) - shown; more > 0 {
			p.blank()
			p.hang("    ", "    ", "and "+count(more)+" × "+rule.String()+" more (-o wide shows them)", sgrDim)
		}
	}
}

// end writes what the check comes to.
func (p *pagePayloads) end(t *PayloadTotals, e PayloadEnd) error {
	if p.shown > 0 {
		p.blank()
	}
	if p.left > 0 {
		p.text("and "+plural(p.left, "payload", "payloads")+" with findings more (-o wide shows all)", sgrDim)
		p.blank()
	}
	if !e.Complete {
		p.hang(p.with(sgrYellow, "!")+" ", "  ", "incomplete: "+Visible(e.Problem), sgrBold)
	}
	p.payloadVerdict(t)
	for _, rule := range t.rules() {
		s := rule.Severity()
		p.raw("  " + p.with(sgrOf(s), shapeOf(s)+" "+pad(s.String(), 6)) + pad(rule.String(), 22) + " " +
			plural(t.ByRule[rule], "payload", "payloads"))
	}
	if e.Unread > 0 {
		p.hang(p.with(sgrYellow, "!")+" ", "  ", plural(e.Unread, "input", "inputs")+" could not be read: standard error says which", sgrBold)
	}
	return p.flush()
}

// payloadVerdict is the one line that matters.
func (p *pagePayloads) payloadVerdict(t *PayloadTotals) {
	sign, sgr := shapeOf(payload.SeverityUnknown), sgrGreen
	words := plural(t.Payloads, "payload", "payloads") + ", "
	not := t.Payloads - t.Canonical
	switch {
	case t.Payloads == 0:
		p.text("no payload was read", sgrBold)
		return
	case not == 0:
		words += noun(t.Payloads, "canonical", "all canonical")
	default:
		words += count(not) + " not canonical"
		if t.Undefined > 0 {
			words += ", " + count(t.Undefined) + " of them without a canonical form"
		}
	}
	switch {
	case t.BySeverity[payload.Error] > 0:
		sign, sgr = shapeOf(payload.Error), sgrRed
	case t.BySeverity[payload.Warn] > 0:
		sign, sgr = shapeOf(payload.Warn), sgrYellow
	}
	p.hang(p.with(sgr, sign)+" ", "  ", words, sgrBold)
}
