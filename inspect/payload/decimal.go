package payload

import (
	"math"
	"strconv"
)

// numberKind says what the exact value of a literal allows. The zero value is
// numberUnknown.
type numberKind uint8

const (
	numberUnknown  numberKind = iota
	numberZero                // zero, of any sign and exponent
	numberInteger             // an integer that is finite as a double
	numberFraction            // not an integer; some double spells it exactly
	numberLoss                // not an integer; no double spells it exactly
	numberRange               // infinite as a double
)

// decimal is the exact value of a JSON number literal: ±0.D × 10^exp, where D are
// count significant digits without leading or trailing zeros.
type decimal struct {
	negative bool
	digits   []byte // the first maxDigits of D
	count    int    // digits of D
	exp      int    // saturates at ±maxExponent
}

const (
	// maxDigits is more than any double needs: the longest exact decimal that lies
	// between two doubles has fewer, so one further digit decides every rounding.
	maxDigits = 800
	// maxExponent stands for every larger exponent. It exceeds what the longest
	// payload's digits can make up for.
	maxExponent = 1 << 40
	// exactDigits is how many digits any decimal may have and still be the shortest
	// spelling of its nearest double (DBL_DIG), within the normal range.
	exactDigits = 15
	// shortestDigits is the longest shortest spelling of a double.
	shortestDigits = 17
)

// parseDecimal reads a valid JSON number literal. The digits are kept in buf.
func parseDecimal(literal, buf []byte) decimal {
	d := decimal{digits: buf[:0]}
	i := 0
	if literal[0] == '-' {
		d.negative = true
		i++
	}
	point, seen := 0, 0 // digits before the point; all digits so far
	first, last := -1, -1
	fraction := false
scan:
	for ; i < len(literal); i++ {
		switch c := literal[i]; c {
		case '.':
			fraction = true
			continue
		case 'e', 'E':
			break scan
		default:
			if c != '0' {
				if first < 0 {
					first = seen
				}
				last = seen
			}
			if first >= 0 && len(d.digits) < maxDigits {
				d.digits = append(d.digits, c)
			}
			seen++
			if !fraction {
				point++
			}
		}
	}
	if first < 0 {
		d.digits = d.digits[:0]
		return d
	}
	d.count = last - first + 1
	d.digits = d.digits[:min(len(d.digits), d.count)]
	d.exp = saturate(point - first + parseExponent(literal[i:]))
	return d
}

// parseExponent reads e+12 or nothing.
func parseExponent(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	text = text[1:]
	negative := text[0] == '-'
	if negative || text[0] == '+' {
		text = text[1:]
	}
	n := 0
	for _, c := range text {
		if n = n*10 + int(c-'0'); n > maxExponent {
			n = maxExponent
		}
	}
	if negative {
		return -n
	}
	return n
}

func saturate(exp int) int {
	return max(min(exp, maxExponent), -maxExponent)
}

func (d decimal) isZero() bool { return d.count == 0 }

// isInteger holds for zero too.
func (d decimal) isInteger() bool { return d.count <= max(d.exp, 0) }

// appendCanonical appends the literal's canonical spelling and says what it is;
// numberLoss and numberRange append nothing.
func (d decimal) appendCanonical(dst []byte) ([]byte, numberKind) {
	if d.isZero() {
		return append(dst, '0'), numberZero
	}
	if d.exp > 309 {
		return dst, numberRange
	}
	exact := d.count <= exactDigits && d.exp <= 308 && d.exp >= -306
	if !exact {
		var infinite bool
		if exact, infinite = d.isShortest(); infinite {
			return dst, numberRange
		}
	}
	kind := numberFraction
	if d.isInteger() {
		kind = numberInteger
	}
	switch {
	case exact:
		return d.appendES6(dst), kind
	case kind == numberInteger:
		return d.appendPlain(dst), kind
	default:
		return dst, numberLoss
	}
}

// isShortest says whether the shortest decimal that reads back as the nearest
// double is this very value, and whether that double is infinite.
func (d decimal) isShortest() (exact, infinite bool) {
	switch {
	case d.exp < -330:
		return false, false // the nearest double is zero
	case d.count > shortestDigits && d.exp <= 308:
		return false, false
	}
	buf := append([]byte(nil), d.digits...)
	count := len(buf)
	if d.count > count {
		buf = append(buf, '1') // whatever follows decides as any other digit would
		count++
	}
	buf = append(buf, 'e')
	buf = strconv.AppendInt(buf, int64(d.exp-count), 10)
	value, err := strconv.ParseFloat(string(buf), 64)
	if err != nil || math.IsInf(value, 0) {
		return false, true
	}
	if d.count > shortestDigits || value == 0 {
		return false, false
	}
	var scratch [32]byte
	shortest := parseDecimal(strconv.AppendFloat(scratch[:0], value, 'e', -1, 64), make([]byte, 0, shortestDigits))
	return shortest.exp == d.exp && string(shortest.digits) == string(d.digits), false
}

// appendES6 spells the value as ECMAScript's Number::toString does for a double
// whose shortest digits these are.
func (d decimal) appendES6(dst []byte) []byte {
	if d.negative {
		dst = append(dst, '-')
	}
	switch {
	case d.exp > 21 || d.exp <= -6:
		dst = append(dst, d.digits[0])
		if d.count > 1 {
			dst = append(dst, '.')
			dst = append(dst, d.digits[1:]...)
		}
		dst = append(dst, 'e')
		if d.exp > 0 {
			dst = append(dst, '+')
		}
		return strconv.AppendInt(dst, int64(d.exp-1), 10)
	case d.exp <= 0:
		dst = append(dst, "0.000000"[:2-d.exp]...)
		return append(dst, d.digits...)
	case d.count <= d.exp:
		dst = append(dst, d.digits...)
		return appendZeros(dst, d.exp-d.count)
	default:
		dst = append(dst, d.digits[:d.exp]...)
		dst = append(dst, '.')
		return append(dst, d.digits[d.exp:]...)
	}
}

// appendPlain spells an integer with all its digits, of which a finite one has at
// most 309.
func (d decimal) appendPlain(dst []byte) []byte {
	if d.negative {
		dst = append(dst, '-')
	}
	dst = append(dst, d.digits...)
	return appendZeros(dst, d.exp-d.count)
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}

// isUnsafe says whether an integer lies beyond ±(2^53−1).
func (d decimal) isUnsafe() bool {
	if d.exp != 16 {
		return d.exp > 16
	}
	var plain [16]byte
	return string(appendZeros(append(plain[:0], d.digits...), d.exp-d.count)) > "9007199254740991"
}

// uint64 is the value of a non-negative integer below 10^19.
func (d decimal) uint64() uint64 {
	n := uint64(0)
	for _, c := range d.digits {
		n = n*10 + uint64(c-'0')
	}
	for range d.exp - d.count {
		n *= 10
	}
	return n
}
