package payload

// facts are what a value says by itself and by its name. They are shared by the
// rules on one payload and by the statistics on many.
type facts uint8

const (
	factVolatile  facts = 1 << iota // volatile-name
	factSubsecond                   // timestamp-subsecond
	factEpoch                       // timestamp-epoch
	factSecond                      // timestamp-second
	factRandomID                    // random-id
	factHex                         // bare hexadecimal of a digest's or an identifier's length
)

var factRules = [...]struct {
	fact    facts
	rule    Rule
	message string
}{
	{factVolatile, VolatileName, "the name says that the value is set per enqueue"},
	{factSubsecond, TimestampSubsecond, "a time finer than a second is usually the time of the enqueue"},
	{factEpoch, TimestampEpoch, "a Unix time finer than a second is usually the time of the enqueue"},
	{factSecond, TimestampSecond, "a time of whole seconds may be the time of the enqueue"},
	{factRandomID, RandomID, "a random or time-based identifier"},
}

func (s *parser) findFacts(found facts, at span) {
	for _, f := range factRules {
		if found&f.fact != 0 {
			s.find(f.rule, atValue, at, f.message)
		}
	}
}

// stringFacts judges an unescaped string value.
func stringFacts(content []byte, class nameClass) facts {
	if len(content) == 0 {
		return 0
	}
	var found facts
	if hexDigit(content[0]) >= 0 { // as all of them start
		found = timestampFacts(content) | identifierFacts(content)
	}
	if class&nameTime != 0 && isDigits(content) {
		found |= epochFacts(parseDecimal(content, make([]byte, 0, 20)))
	}
	switch {
	case class&nameVolatile != 0,
		class&nameRequest != 0 && (found&factRandomID != 0 || isRequestHex(content)),
		isTraceparent(content):
		found |= factVolatile
	}
	return found
}

// numberFacts judges a number.
func numberFacts(d decimal, class nameClass) facts {
	var found facts
	if class&nameVolatile != 0 {
		found |= factVolatile
	}
	if class&nameTime != 0 {
		found |= epochFacts(d)
	}
	return found
}

// shortestEpoch is the digit count of the smallest Unix time that a rule looks at.
const shortestEpoch = 10

// epochFacts reads a number under a time-like name as a Unix time of seconds,
// milliseconds, microseconds or nanoseconds between 2001 and 2286. Whole days are
// periods, not clock readings.
func epochFacts(d decimal) facts {
	if d.negative || d.isZero() {
		return 0
	}
	if !d.isInteger() {
		if d.exp == shortestEpoch {
			return factEpoch
		}
		return 0
	}
	const day = 86_400
	switch d.exp {
	case 10:
		if d.uint64()%day != 0 {
			return factSecond
		}
	case 13:
		return wholeDayOr(d, day*1_000)
	case 16:
		return wholeDayOr(d, day*1_000_000)
	case 19:
		return wholeDayOr(d, day*1_000_000_000)
	}
	return 0
}

func wholeDayOr(d decimal, day uint64) facts {
	if d.uint64()%day == 0 {
		return 0
	}
	return factEpoch
}

// isDigits holds for strings that could be a Unix time; a longer one is not read.
func isDigits(content []byte) bool {
	return len(content) >= shortestEpoch && len(content) <= 19 && content[0] != '0' &&
		skipDigits(content, 0) == len(content)
}
