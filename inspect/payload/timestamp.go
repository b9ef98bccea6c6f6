package payload

// timestampFacts judges a string that is, as a whole, a date and a time of day:
// RFC 3339, SQL, Go's time.Time.String and what java.time and Python print. The
// date must exist. A date alone, a time alone and text around a time say nothing.
func timestampFacts(content []byte) facts {
	const shortest = len("2006-01-02T15:04:05")
	if len(content) < shortest || len(content) > maxTimestamp || content[4] != '-' {
		return 0
	}
	c := clock{rest: content}
	midnight, ok := c.dateTime()
	if !ok {
		return 0
	}
	fraction, ok := c.fraction()
	if !ok {
		return 0
	}
	c.zone()
	monotonic := c.monotonic()
	switch {
	case len(c.rest) > 0:
		return 0
	case fraction || monotonic:
		return factSubsecond
	case midnight:
		return 0
	default:
		return factSecond
	}
}

// maxTimestamp bounds what is read as a time: a long fraction, a zone name in
// brackets and a monotonic reading fit.
const maxTimestamp = 128

// clock reads a time from the front of rest.
type clock struct{ rest []byte }

// dateTime reads 2006-01-02T15:04:05 and says whether the time is 00:00:00.
func (c *clock) dateTime() (midnight, ok bool) {
	const separators = "    -  -     :  :  "
	b := c.rest[:len(separators)]
	for i, want := range []byte(separators) {
		if i == 10 {
			continue
		}
		if want == ' ' && !isDigit(b[i]) || want != ' ' && b[i] != want {
			return false, false
		}
	}
	if b[10] != 'T' && b[10] != 't' && b[10] != ' ' {
		return false, false
	}
	year, month, day := twoDigits(b, 0)*100+twoDigits(b, 2), twoDigits(b, 5), twoDigits(b, 8)
	hour, minute, second := twoDigits(b, 11), twoDigits(b, 14), twoDigits(b, 17)
	if day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 60 {
		return false, false
	}
	c.rest = c.rest[len(separators):]
	return hour == 0 && minute == 0 && second == 0, true
}

func twoDigits(b []byte, i int) int { return int(b[i]-'0')*10 + int(b[i+1]-'0') }

// daysIn is 0 for a month that does not exist.
func daysIn(year, month int) int {
	switch month {
	case 1, 3, 5, 7, 8, 10, 12:
		return 31
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	default:
		return 0
	}
}

// fraction reads .123 or ,123 and says whether it is not all zero. A point without
// digits is not a time.
func (c *clock) fraction() (nonZero, ok bool) {
	if len(c.rest) == 0 || c.rest[0] != '.' && c.rest[0] != ',' {
		return false, true
	}
	n := skipDigits(c.rest, 1)
	for _, digit := range c.rest[1:n] {
		nonZero = nonZero || digit != '0'
	}
	c.rest = c.rest[n:]
	return nonZero, n > 1
}

// zone reads Z, +02:00, +0200, +02, each after an optional blank, then a zone name
// as Go prints it (UTC, CEST, +03) or in brackets (RFC 9557). All of it is optional.
func (c *clock) zone() {
	rest := c.rest
	if len(rest) > 0 && rest[0] == ' ' {
		rest = rest[1:]
	}
	if n := offsetLength(rest); n > 0 {
		c.rest = rest[n:]
	}
	if n := bracketLength(c.rest); n > 0 {
		c.rest = c.rest[n:]
		return
	}
	if len(c.rest) > 1 && c.rest[0] == ' ' {
		if n := abbreviationLength(c.rest[1:]); n > 0 {
			c.rest = c.rest[1+n:]
		}
	}
}

func offsetLength(b []byte) int {
	switch {
	case len(b) > 0 && (b[0] == 'Z' || b[0] == 'z'):
		return 1
	case len(b) < 3 || b[0] != '+' && b[0] != '-' || !validPair(b, 1, 23):
		return 0
	case len(b) >= 6 && b[3] == ':' && validPair(b, 4, 59):
		return 6
	case len(b) >= 5 && validPair(b, 3, 59):
		return 5
	default:
		return 3
	}
}

func validPair(b []byte, i, most int) bool {
	return isDigit(b[i]) && isDigit(b[i+1]) && twoDigits(b, i) <= most
}

func bracketLength(b []byte) int {
	if len(b) < 3 || b[0] != '[' {
		return 0
	}
	for i, c := range b[1:] {
		if c == ']' {
			return i + 2
		}
		if !isAlphanumeric(c) && c != '/' && c != '_' && c != '-' && c != '+' && c != '=' {
			return 0
		}
	}
	return 0
}

// abbreviationLength reads 2 to 5 capitals, or the +03 that stands for a zone
// without a name.
func abbreviationLength(b []byte) int {
	if len(b) >= 3 && (b[0] == '+' || b[0] == '-') {
		n := skipDigits(b, 1)
		if n == 3 || n == 5 {
			return n
		}
		return 0
	}
	n := 0
	for n < len(b) && isUpper(b[n]) {
		n++
	}
	if n < 2 || n > 5 {
		return 0
	}
	return n
}

// monotonic reads the m=±1.000000001 that Go's time.Time.String appends.
func (c *clock) monotonic() bool {
	const prefix = " m="
	b := c.rest
	if len(b) <= len(prefix)+1 || string(b[:len(prefix)]) != prefix {
		return false
	}
	b = b[len(prefix):]
	if b[0] != '+' && b[0] != '-' {
		return false
	}
	n := skipDigits(b, 1)
	if n == 1 {
		return false
	}
	if n < len(b) && b[n] == '.' {
		n = skipDigits(b, n+1)
	}
	c.rest = b[n:]
	return true
}
