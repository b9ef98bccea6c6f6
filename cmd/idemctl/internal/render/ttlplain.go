package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// plainTTL is the answer in a pipe: the Go code alone in the first line, then
// tables with columns separated by tabs, times in seconds. Lines that begin with
// # are titles and remarks, which --no-headers leaves out.
func plainTTL(w io.Writer, o Options, s *ttlJSON) error {
	out := newOutput(w)
	remark := func(format string, args ...any) {
		if !o.NoHeaders {
			out.put("# ", fmt.Sprintf(format, args...), "\n")
		}
	}
	row := func(cells ...string) { out.put(strings.Join(cells, "\t"), "\n") }
	titles := func(names ...string) {
		if !o.NoHeaders {
			row(names...)
		}
	}
	switch {
	case s.Go != nil:
		row(*s.Go)
	case s.Bounded:
		row("# no TTL is long enough: no time.Duration holds the life")
	case len(s.UnboundedBecause) > 0:
		row("# no TTL is long enough: " + strings.Join(s.UnboundedBecause, "; "))
	}
	for _, why := range s.UnknownBecause {
		row("# unknown: " + Visible(why))
	}
	if s.AskedUniqueTTL != nil && len(s.UnknownBecause) > 0 {
		remark("whether asynq.Unique of %ss is long enough, nobody can say", number3(float64(*s.AskedUniqueTTL)))
	}
	if l := s.Lock; l != nil && l.Asked {
		remark("a lock that ends %ss after the enqueue covers %d of %d attempts; in %s it ends first",
			number3(float64(l.TTL)), l.Covered, l.Attempts, shareOf(l))
	}
	if l := s.Lifetime; l != nil {
		titles("LIFETIME", "MIN_S", "MEAN_S", "P50_S", "P95_S", "P99_S", "MAX_S")
		row("lifetime", number3(float64(l.Min)), number3(float64(l.Mean)), number3(float64(l.P50)), number3(float64(l.P95)), number3(float64(l.P99)), number3(float64(l.Max)))
		titles("TERM", "MIN_S", "MEAN_S", "MAX_S", "SOURCE")
		for _, t := range s.Parts {
			row(t.Term, number3(float64(t.Min)), number3(float64(t.Mean)), number3(float64(t.Max)), t.Source)
		}
		titles("ATTEMPT", "EARLIEST_S", "LATEST_S", "DELAY_MIN_S", "DELAY_MAX_S")
		for _, a := range s.Attempts {
			low, high := "-", "-"
			if a.DelayMin != nil {
				low, high = number3(float64(*a.DelayMin)), number3(float64(*a.DelayMax))
			}
			row(strconv.Itoa(a.N), number3(float64(a.Earliest)), number3(float64(a.Latest)), low, high)
		}
	}
	for _, line := range s.Explanation {
		remark("%s", line)
	}
	for _, in := range s.Inputs {
		remark("%s = %s  (%s)", in.Name, Visible(in.Value), Visible(in.Source))
	}
	plainObserved(remark, s.Observed)
	for _, warning := range s.Warnings {
		remark("! %s", warning.Text)
	}
	return out.flush()
}

// number3 is a number with at most three decimals.
func number3(f float64) string {
	text := strconv.FormatFloat(f, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
