package payload

import (
	"fmt"
	"strconv"
)

// parser validates one JSON text in a single pass, learns its document, and (if
// report is set) applies the rules as it goes. It keeps an explicit stack: deep
// nesting costs memory, never a stack overflow.
type parser struct {
	document
	p       []byte
	i       int
	blanks  int  // whitespace bytes so far
	blank   span // the first run of them
	frames  []frame
	members []member
	arena   []byte // unescaped names that are not spelled literally
	text    text
	digits  []byte // scratch for numbers
	content []byte // scratch for unescaped strings
	names   nameCache
	report  *collector // nil: nobody asks for rules
	found   collector
	inner   *parser // for JSON inside strings
	fault   *syntaxError
}

// frame is an open object or array.
type frame struct {
	open   uint32 // offset of the bracket
	base   uint32 // members of outer objects
	index  uint32 // element number in an array
	name   int32  // the member whose name the values here stand under; -1: none
	object bool
	mixed  bool // members are not in canonical order
	twice  bool // two neighbours have one name
}

// member is a name of an open object.
type member struct {
	open       uint32 // offset of the opening quote
	tail       uint32 // end of the value, once the object is closed
	start, end uint32 // the unescaped name, in the payload or in the arena
	inArena    bool
	wide       bool // not ASCII in its first eight bytes, so that prefix does not order it
	class      nameClass
	prefix     uint64 // the first eight bytes, big-endian
}

// parse reads the whole payload. It returns nil if it is one JSON text (bytes in
// strings that are not UTF-8 are let pass, and noted).
func (s *parser) parse(payload []byte, report *collector) *syntaxError {
	s.reset(payload, report)
	if len(payload) > maxSize {
		return &syntaxError{message: errTooLarge.Error(), limit: true}
	}
	if hasBOM(payload) {
		s.body = len(byteOrderMark)
		s.i = s.body
	}
	if !s.value() {
		return s.fault
	}
	for len(s.frames) > 0 {
		if more, ok := s.next(); !ok {
			return s.fault
		} else if more && !s.value() {
			return s.fault
		}
	}
	s.end = s.i
	respelt := s.respelt
	if s.peek(); s.i < len(s.p) {
		s.fail("more follows the value")
		return s.fault
	}
	s.respelt = respelt // what follows the value is not part of it
	s.reportLayout()
	s.sortShuffled()
	return nil
}

func (s *parser) reset(payload []byte, report *collector) {
	s.document = document{payload: payload, shuffled: s.shuffled[:0], order: s.order[:0]}
	s.p, s.i, s.report, s.fault = payload, 0, report, nil
	s.blanks, s.blank = 0, span{}
	s.frames, s.members, s.arena = s.frames[:0], s.members[:0], s.arena[:0]
}

const byteOrderMark = "\xEF\xBB\xBF"

func hasBOM(p []byte) bool { return len(p) >= 3 && string(p[:3]) == byteOrderMark }

// value reads a scalar, or the opening of a container. A container that is not
// empty is left open, with its first value next: value goes on with it.
func (s *parser) value() bool {
	for {
		c := s.peek()
		if len(s.frames) == 0 {
			s.root = c
		}
		switch c {
		case '{':
			opened, ok := s.openObject()
			if !opened {
				return ok
			}
		case '[':
			opened, ok := s.openArray()
			if !opened {
				return ok
			}
		case '"':
			return s.stringValue()
		case 't':
			return s.literal("true")
		case 'f':
			return s.literal("false")
		case 'n':
			return s.nullValue()
		default:
			return s.numberValue()
		}
	}
}

// next reads what follows a value inside a container. It is true if another value
// follows, false if the container was closed.
func (s *parser) next() (more, ok bool) {
	f := &s.frames[len(s.frames)-1]
	switch c := s.peek(); {
	case c == ',' && f.object:
		s.i++
		return true, s.name()
	case c == ',':
		s.i++
		f.index++
		return true, true
	case c == '}' && f.object:
		s.closeObject()
		return false, true
	case c == ']' && !f.object:
		s.close()
		return false, true
	case f.object:
		return false, s.fail("expected a comma or } after the member")
	default:
		return false, s.fail("expected a comma or ] after the element")
	}
}

func (s *parser) openObject() (opened, ok bool) {
	if !s.push(true) {
		return false, false
	}
	if s.peek() == '}' {
		s.close()
		return false, true
	}
	return s.name(), s.fault == nil
}

func (s *parser) openArray() (opened, ok bool) {
	if !s.push(false) {
		return false, false
	}
	if s.peek() == ']' {
		s.close()
		return false, true
	}
	return true, true
}

func (s *parser) push(object bool) bool {
	if len(s.frames) == MaxDepth {
		s.fault = &syntaxError{offset: s.i, message: errTooDeep.Error(), limit: true}
		return false
	}
	f := frame{open: uint32(s.i), base: uint32(len(s.members)), name: -1, object: object}
	if !object {
		f.name = s.nameIndex()
	}
	s.frames = append(s.frames, f)
	s.i++
	return true
}

// close drops the innermost container and the members it held.
func (s *parser) close() {
	f := s.frames[len(s.frames)-1]
	s.frames = s.frames[:len(s.frames)-1]
	s.members = s.members[:f.base]
	if len(s.members) == 0 {
		s.arena = s.arena[:0]
	}
	s.i++
}

// nameIndex is the member whose name the next value stands under, or -1. Names
// apply to the elements of the arrays below them.
func (s *parser) nameIndex() int32 {
	if len(s.frames) == 0 {
		return -1
	}
	if f := &s.frames[len(s.frames)-1]; !f.object {
		return f.name
	}
	return int32(len(s.members) - 1)
}

// peek skips whitespace and returns the next byte, 0 at the end.
func (s *parser) peek() byte {
	if s.i < len(s.p) && s.p[s.i] > ' ' {
		return s.p[s.i]
	}
	start := s.i
	for s.i < len(s.p) && isBlank(s.p[s.i]) {
		s.i++
	}
	if s.i > start {
		s.respelt = true
		if s.blanks == 0 {
			s.blank = span{start, s.i}
		}
		s.blanks += s.i - start
	}
	if s.i == len(s.p) {
		return 0
	}
	return s.p[s.i]
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func (s *parser) literal(word string) bool {
	if len(s.p)-s.i >= len(word) && string(s.p[s.i:s.i+len(word)]) == word {
		s.i += len(word)
		return true
	}
	for k := range len(word) {
		if s.i == len(s.p) || s.p[s.i] != word[k] {
			break
		}
		s.i++
	}
	return s.fail("expected " + word)
}

// fail notes that the payload is not JSON, at the current offset.
func (s *parser) fail(message string) bool {
	if s.i >= len(s.p) {
		message = "ends too early: " + message
	}
	s.fault = &syntaxError{offset: s.i, message: message}
	return false
}

// unexpected names a byte that cannot start a value.
func unexpected(c byte) string {
	if c >= ' ' && c < 0x7F {
		return fmt.Sprintf("expected a value, not %s", strconv.QuoteRune(rune(c)))
	}
	return fmt.Sprintf("expected a value, not byte 0x%02x", c)
}
