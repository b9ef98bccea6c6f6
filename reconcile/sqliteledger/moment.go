package sqliteledger

import (
	"math"
	"strings"
	"time"
)

// layouts are the spellings of instants that SQLite's own functions, its usual
// Go drivers and RFC 3339 give. One without a zone is UTC, as SQLite's are.
var layouts = []string{
	"2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999",
	"2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04Z07:00",
	"2006-01-02T15:04Z07:00",
	"2006-01-02 15:04",
	"2006-01-02T15:04",
	"2006-01-02 15:04:05.999999999 -0700 MST",
	"2006-01-02 15:04:05.999999999 -0700",
}

// moment is a stored value as an instant; the zero time when it is none. A date
// without a time of day is none: a row would look hours older than it is.
func moment(v any) time.Time {
	switch v := v.(type) {
	case string:
		// time.Time.String adds the monotonic clock.
		text, _, _ := strings.Cut(strings.TrimSpace(v), " m=")
		for _, layout := range layouts {
			if t, err := time.Parse(layout, text); err == nil {
				return t.UTC()
			}
		}
	case int64:
		return epochOf(v)
	case float64:
		return fractional(v)
	case time.Time:
		return v.UTC()
	}
	return time.Time{}
}

// epochOf reads a count since 1970. Its size says of what: seconds, milliseconds,
// microseconds and nanoseconds of the years 1973 to 5138 do not overlap.
func epochOf(n int64) time.Time {
	switch {
	case n < 1e8:
		return time.Time{}
	case n < 1e11:
		return time.Unix(n, 0).UTC()
	case n < 1e14:
		return time.UnixMilli(n).UTC()
	case n < 1e17:
		return time.UnixMicro(n).UTC()
	}
	return time.Unix(0, n).UTC()
}

// julianEpoch is 1970-01-01 as a Julian day number.
const julianEpoch = 2440587.5

// fractional reads what julianday() and unixepoch('subsec') give.
func fractional(f float64) time.Time {
	if f > 2e6 && f < 6e6 {
		f = (f - julianEpoch) * 86400
	}
	if math.IsNaN(f) || f < 1e8 || f >= 1e11 {
		return time.Time{}
	}
	return time.UnixMicro(int64(math.Round(f * 1e6))).UTC()
}
