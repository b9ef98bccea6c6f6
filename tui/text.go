package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/idemctl/idemctl/internal/face"
	"github.com/idemctl/idemctl/internal/visible"
)

// Everything from a queue or a ledger is made visible before it is laid out, and
// only then painted: what is painted is measured and cut by package ansi, which
// knows of colours.

// safe is text from anywhere as one line that is safe to show.
func safe(s string) string { return visible.Text(s) }

// clip cuts a painted line to so many cells, and fills it up to them.
func clip(line string, cells int) string {
	if cells <= 0 {
		return ""
	}
	n := ansi.StringWidth(line)
	if n > cells {
		line = ansi.Truncate(line, cells, visible.Ellipsis)
		n = ansi.StringWidth(line)
	}
	if n < cells {
		line += strings.Repeat(" ", cells-n)
	}
	return line
}

// sides puts one painted text at the left end and one at the right. Where they
// have no room together the right one goes.
func sides(left, right string, cells int) string {
	l, r := ansi.StringWidth(left), ansi.StringWidth(right)
	if l+1+r > cells {
		return clip(left, cells)
	}
	return left + strings.Repeat(" ", cells-l-r) + right
}

// ago is a time beside now as people say it: "3m ago", "in 2h", "now".
func ago(t, now time.Time) string { return face.Ago(t, now) }

// span is a duration in its largest unit, cut and never rounded up.
func span(d time.Duration) string { return face.Span(d) }

// stamp is a time for those who compare it with a log.
func stamp(t time.Time, utc bool) string {
	if t.IsZero() {
		return ""
	}
	if utc {
		t = t.UTC()
	}
	if y := t.Year(); y < 0 || y > 9999 { // a hostile score may say anything
		return "beyond all years"
	}
	return t.Format("2006-01-02 15:04:05 MST")
}

// clockTime is the time of day, for what was a short while ago.
func clockTime(t time.Time, utc bool) string {
	if utc {
		t = t.UTC()
	}
	return t.Format("15:04:05")
}

// count writes a number with commas between thousands.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// brief writes a number in at most four cells or so: 999, 12k, 3.4M.
func brief(n int) string {
	switch {
	case n < 10_000:
		return strconv.Itoa(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	case n < 10_000_000:
		return fmt.Sprintf("%.1fM", float64(n/100_000)/10)
	default:
		return fmt.Sprintf("%dM", n/1_000_000)
	}
}

// plural is a count and its noun: "1 task", "2,000 tasks".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// joined joins the parts that are not empty.
func joined(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, " · ")
}

// sentence begins with a capital and ends with a stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if strings.ContainsAny(s[len(s)-1:], ".!?…") {
		return s
	}
	return s + "."
}

// padded fills lines up to a height, and cuts what is beyond it.
func padded(lines []string, height int) []string {
	if len(lines) > height {
		return lines[:max(0, height)]
	}
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines
}

// plainText is a painted line without its paint.
func plainText(s string) string { return ansi.Strip(s) }
