package payload

import "fmt"

// UndefinedError says why a payload has no canonical form.
type UndefinedError struct {
	Rule       Rule // NotJSON, InvalidUTF8, LoneSurrogate, DuplicateKey, NumberPrecisionLoss or NumberOutOfRange
	Start, End int  // the bytes that were seen first
	Message    string
}

// Error names the rule and the offset.
func (e *UndefinedError) Error() string {
	return fmt.Sprintf("no canonical form: %s at byte %d: %s", e.Rule, e.Start, e.Message)
}

// Canonical returns the canonical form of a payload. It shares the payload's bytes
// if that is canonical already, and is empty for zero bytes. The error is an
// *UndefinedError.
func Canonical(payload []byte) ([]byte, error) {
	if len(payload) == 0 {
		return []byte{}, nil
	}
	s := takeParser()
	defer s.giveBack()
	if undefined := s.parseWhole(payload); undefined != nil {
		return nil, undefined
	}
	if s.isCanonical() {
		return payload, nil
	}
	return s.canonical(), nil
}

// parseWhole reads a payload; nil means that it has a canonical form.
func (s *parser) parseWhole(payload []byte) *UndefinedError {
	if len(payload) == 0 {
		return nil
	}
	if fault := s.parse(payload, nil); fault != nil {
		return &UndefinedError{
			Rule: NotJSON, Start: fault.offset, End: min(fault.offset+1, len(payload)), Message: fault.message,
		}
	}
	if s.undefined != RuleUnknown {
		return &UndefinedError{Rule: s.undefined, Start: s.at.start, End: s.at.end, Message: undefinedMessages[s.undefined]}
	}
	return nil
}

var undefinedMessages = [...]string{
	InvalidUTF8:         "holds bytes that are not UTF-8",
	LoneSurrogate:       "half a surrogate pair is escaped",
	DuplicateKey:        "two members of one object have this name",
	NumberPrecisionLoss: "no double spells this decimal exactly, so readers see a neighbour",
	NumberOutOfRange:    "infinite as a double",
}

// canonical writes the canonical form of a document that has one.
func (d *document) canonical() []byte {
	if !d.respelt {
		return d.reorder()
	}
	w := writer{out: make([]byte, 0, d.end-d.body)}
	c := d.cursor()
	for t := c.next(); t.kind != tokenEnd; t = c.next() {
		w.write(d.payload, t)
	}
	return w.out
}

// writer spells tokens canonically.
type writer struct {
	out    []byte
	comma  bool // a value was written in this container
	digits [maxDigits]byte
}

func (w *writer) write(p []byte, t token) {
	closing := t.kind == tokenEndObject || t.kind == tokenEndArray
	if w.comma && !closing {
		w.out = append(w.out, ',')
	}
	w.comma = true
	switch t.kind {
	case tokenName:
		w.out = appendCanonicalText(w.out, p[t.start+1:t.end-1])
		w.out = append(w.out, ':')
		w.comma = false
	case tokenObject, tokenArray:
		w.out = append(w.out, p[t.start])
		w.comma = false
	default:
		w.out = appendScalar(w.out, p, t, w.digits[:0])
	}
}

// appendScalar appends the canonical spelling of a string, number or literal, or a
// closing bracket.
func appendScalar(dst, p []byte, t token, digits []byte) []byte {
	literal := p[t.start:t.end]
	switch t.kind {
	case tokenString:
		return appendCanonicalText(dst, literal[1:len(literal)-1])
	case tokenNumber:
		dst, _ = parseDecimal(literal, digits).appendCanonical(dst)
		return dst
	default:
		return append(dst, literal...)
	}
}
