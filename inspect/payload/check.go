package payload

import "sync"

// Parsers keep their stacks between payloads: checking a queue would otherwise
// spend its time on small allocations.
var parsers = sync.Pool{New: func() any { return new(parser) }}

// largestKept is how many bytes of scratch a parser may bring back to the pool.
const largestKept = 1 << 20

func takeParser() *parser { return parsers.Get().(*parser) }

func (s *parser) giveBack() {
	if s.scratch() > largestKept {
		return
	}
	s.forget()
	parsers.Put(s)
}

// scratch is about how many bytes the parser holds.
func (s *parser) scratch() int {
	n := cap(s.arena) + cap(s.content) + 20*(cap(s.members)+cap(s.frames)+cap(s.shuffled)) + 8*cap(s.order)
	if s.inner != nil {
		n += s.inner.scratch()
	}
	return n
}

// forget drops what belongs to the payload and its caller.
func (s *parser) forget() {
	s.payload, s.p, s.report, s.fault = nil, nil, nil, nil
	s.found.findings = nil
	if s.inner != nil {
		s.inner.forget()
	}
}

// Check judges one payload by all rules that need only one. It never fails: what
// is not JSON is a finding. The payload is not changed; the report may share its
// bytes.
func Check(payload []byte) Report {
	if len(payload) == 0 {
		return emptyReport()
	}
	s := takeParser()
	defer s.giveBack()
	s.found = collector{}
	if fault := s.parse(payload, &s.found); fault != nil {
		return notJSONReport(payload, fault)
	}
	s.found.finish()
	r := Report{Encoding: EncodingJSON, Findings: s.found.findings, counts: s.found.counts}
	switch {
	case s.undefined != RuleUnknown:
	case s.isCanonical():
		r.Canonical = true
		r.Bytes = payload
	default:
		r.Bytes = s.canonical()
	}
	return r
}

func emptyReport() Report {
	r := Report{Canonical: true, Bytes: []byte{}, Encoding: EncodingEmpty}
	r.counts[EmptyPayload] = 1
	r.Findings = []Finding{{Rule: EmptyPayload, Path: "$", Message: "the payload is empty; asynq locks nil and []byte{} apart"}}
	return r
}

func notJSONReport(payload []byte, fault *syntaxError) Report {
	r := Report{Encoding: guessEncoding(payload)}
	message := fault.message
	if !fault.limit {
		message = "not JSON but " + r.Encoding.describe() + ": " + message
	}
	r.counts[NotJSON] = 1
	r.Findings = []Finding{{
		Rule: NotJSON, Path: "$", Start: fault.offset, End: min(fault.offset+1, len(payload)), Message: message,
	}}
	return r
}

// where says which path a finding of the parser belongs to.
type where uint8

const (
	atRoot   where = iota
	atObject       // the innermost open object
	atValue        // the value, or the member, that is being read
)

// find adds a finding if somebody listens.
func (s *parser) find(rule Rule, at where, bytes span, message string) {
	if s.report == nil {
		return
	}
	if s.report.full(rule) {
		s.report.counts[rule]++
		return
	}
	path, cut := s.path(at)
	s.report.add(Finding{Rule: rule, Path: path, Start: bytes.start, End: bytes.end, Message: message}, cut)
}

func (s *parser) path(at where) (path string, cut bool) {
	n := len(s.frames)
	switch at {
	case atRoot:
		n = 0
	case atObject:
		n--
	case atValue:
	}
	return formatPath(n, s.step)
}

// step is the path element that the open container at that depth contributes.
func (s *parser) step(depth int) step {
	f := &s.frames[depth]
	if !f.object {
		return step{index: int(f.index)}
	}
	last := len(s.members)
	if depth+1 < len(s.frames) {
		last = int(s.frames[depth+1].base)
	}
	return step{isKey: true, name: s.nameOf(&s.members[last-1])}
}

// reportLayout applies the rules on byte order mark, whitespace and final newline.
func (s *parser) reportLayout() {
	if s.report == nil {
		return
	}
	if s.body > 0 {
		s.find(BOM, atRoot, span{0, s.body}, "starts with a UTF-8 byte order mark")
	}
	newline := s.newline()
	if newline.size() > 0 {
		s.find(TrailingNewline, atRoot, newline, "ends with a newline")
	}
	if s.blanks > newline.size() {
		s.find(Whitespace, atRoot, span{s.blank.start, min(s.blank.end, newline.start)}, "holds whitespace between its tokens")
	}
}
