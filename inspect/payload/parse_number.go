package payload

import "strconv"

// numeral is how a number literal is written.
type numeral uint8

const (
	numeralBroken   numeral = iota // not a JSON number
	numeralInteger                 // digits, and not −0
	numeralFraction                // digits, a point, digits
	numeralOther                   // an exponent, or −0
)

// numberValue reads a number, or fails on what cannot start a value.
func (s *parser) numberValue() bool {
	start := s.i
	if start == len(s.p) {
		return s.fail("expected a value")
	}
	if c := s.p[start]; c != '-' && !isDigit(c) {
		return s.fail(unexpected(c))
	}
	end, written := scanNumber(s.p, start)
	s.i = end
	if written == numeralBroken {
		return s.fail("a number starts with a superfluous zero, or lacks digits")
	}
	s.judgeNumber(span{start, end}, written)
	return true
}

// scanNumber finds the end of a number literal (RFC 8259 section 6), or where it
// breaks the grammar.
func scanNumber(p []byte, start int) (end int, written numeral) {
	i := start
	if p[i] == '-' {
		i++
	}
	first := i
	i = skipDigits(p, i)
	if i == first || p[first] == '0' && i > first+1 {
		return min(i, first+1), numeralBroken
	}
	written = numeralInteger
	if first > start && p[first] == '0' {
		written = numeralOther
	}
	if i < len(p) && p[i] == '.' {
		written = numeralFraction
		from := i + 1
		if i = skipDigits(p, from); i == from {
			return i, numeralBroken
		}
	}
	if i < len(p) && p[i]|0x20 == 'e' {
		written = numeralOther
		from := i + 1
		if from < len(p) && (p[from] == '+' || p[from] == '-') {
			from++
		}
		if i = skipDigits(p, from); i == from {
			return i, numeralBroken
		}
	}
	return i, written
}

func skipDigits(p []byte, i int) int {
	for i < len(p) && isDigit(p[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// judgeNumber applies the rules on numbers. What is spelled as nearly all numbers
// are is recognised without reading its digits one by one.
func (s *parser) judgeNumber(at span, written numeral) {
	literal := s.p[at.start:at.end]
	kind := numberUnknown
	if written == numeralInteger && len(literal) <= exactDigits {
		kind = numberInteger
	} else if written == numeralFraction {
		kind = judgeFraction(literal)
	}
	switch kind {
	case numberUnknown:
		s.judgeDecimal(literal, at)
	case numberFraction:
		s.find(FloatNumber, atValue, at, floatMessage)
	case numberLoss:
		s.forbidLoss(at)
	default:
	}
	if s.report == nil {
		return
	}
	class := s.class()
	if class&nameVolatile != 0 || class&nameTime != 0 && len(literal) >= shortestEpoch {
		s.findFacts(numberFacts(parseDecimal(literal, s.digitBuffer()), class), at)
	}
}

// judgeFraction recognises fractions without exponent that are canonical
// (numberFraction) or cannot be (numberLoss). It knows nothing (numberUnknown) of
// literals that may be spelled otherwise than their value.
func judgeFraction(literal []byte) numberKind {
	const (
		longest = 24 // sign, point and all digits of a double
		tooTiny = "0.000000"
	)
	if len(literal) > longest || literal[len(literal)-1] == '0' {
		return numberUnknown
	}
	unsigned := literal
	if unsigned[0] == '-' {
		unsigned = unsigned[1:]
	}
	if len(unsigned) >= len(tooTiny) && string(unsigned[:len(tooTiny)]) == tooTiny {
		return numberUnknown
	}
	if len(unsigned) <= exactDigits+1 {
		return numberFraction
	}
	value, err := strconv.ParseFloat(string(literal), 64)
	if err != nil {
		return numberUnknown
	}
	// The last digit is not zero and ECMAScript would not write an exponent, so the
	// shortest spelling is either this one or another value.
	var scratch [2 * longest]byte
	if string(strconv.AppendFloat(scratch[:0], value, 'f', -1, 64)) == string(literal) {
		return numberFraction
	}
	return numberLoss
}

func (s *parser) digitBuffer() []byte {
	if s.digits == nil {
		s.digits = make([]byte, 0, maxDigits)
	}
	return s.digits
}

const floatMessage = "a fraction: producers round and spell fractions differently"

// judgeDecimal reads the exact value and compares its canonical spelling.
func (s *parser) judgeDecimal(literal []byte, at span) {
	d := parseDecimal(literal, s.digitBuffer())
	var scratch [32]byte
	canonical, kind := d.appendCanonical(scratch[:0])
	switch kind {
	case numberLoss:
		s.forbidLoss(at)
		return
	case numberRange:
		s.forbid(NumberOutOfRange, at)
		s.find(NumberOutOfRange, atValue, at, undefinedMessages[NumberOutOfRange])
		return
	default:
	}
	if string(literal) != string(canonical) {
		s.respelt = true
		if d.isZero() && d.negative {
			s.find(NegativeZero, atValue, at, "zero with a minus sign")
		} else {
			s.find(NumberFormat, atValue, at, "the canonical form spells this number otherwise")
		}
	}
	switch {
	case kind == numberFraction:
		s.find(FloatNumber, atValue, at, floatMessage)
	case kind == numberInteger && d.isUnsafe():
		s.find(NumberUnsafeInteger, atValue, at, "beyond 2^53-1: readers that use doubles see another number")
	}
}

func (s *parser) forbidLoss(at span) {
	s.forbid(NumberPrecisionLoss, at)
	s.find(NumberPrecisionLoss, atValue, at, undefinedMessages[NumberPrecisionLoss])
}
