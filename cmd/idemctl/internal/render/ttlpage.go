package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/timeline"
)

// ttlPage is an answer for a person: the Go code first, then what it rests on.
// It is written from the contract of -o json; only the drawing reads the windows
// themselves.
type ttlPage struct {
	*page
	*ttlJSON
	axis timeline.Timeline
	wide bool
}

// mostAttempts is how many lines a timeline has, unless all are asked for.
const mostAttempts = 30

// chartLeft is how many columns stand before the axis of the risk chart.
const chartLeft = 6

func (t *TTL) timeline() timeline.Timeline {
	line := timeline.Timeline{Attempts: t.Attempts, Left: chartLeft}
	if t.Lifetime != nil {
		line.End = t.Lifetime.Max
	}
	if t.Lock != nil {
		line.Lock = t.Lock.TTL
	}
	return line
}

func (p *ttlPage) write() {
	p.answer()
	p.asked()
	p.lifetimeLines()
	if len(p.Parts) > 0 {
		p.parts("Parts of a life that fails every attempt", p.ttlJSON.Parts)
	}
	if len(p.Attempts) > 0 {
		p.drawing()
		p.risk()
	}
	p.explanation()
	p.inputs()
	p.observed(p.Observed)
	p.warnings(slices.DeleteFunc(slices.Clone(p.ttlJSON.Warnings), func(w ttlWarningJSON) bool {
		return w.Code == retry.WarningLockShort.String() // said above
	}))
}

// proof says what the bound rests on: the delays of an expression are found by
// trying rand at many places, which can miss a spike.
func (p *ttlPage) proof() string {
	for _, in := range p.Inputs {
		if in.Name == "delay" && strings.HasPrefix(in.Value, "expr(") {
			return "found by trying rand at many places, not proven"
		}
	}
	return "proven"
}

// answer is the first line, and why.
func (p *ttlPage) answer() {
	switch {
	case p.Go != nil:
		p.raw(p.bold(*p.Go))
		due := ""
		if p.Lock != nil && p.Lock.CountedFrom == retry.CountedFromProcessAt.String() {
			due = " after it is due"
		}
		p.hang("  ", "  ", fmt.Sprintf("outlives %s: %s at the longest%s (%s), and %s for Redis and clocks, rounded up",
			p.failing(), exact(*p.SafeUniqueTTL, timeline.RoundUp), due, p.proof(), exact(*p.Margin, timeline.RoundUp)), "")
	case len(p.UnboundedBecause) == 0 && len(p.UnknownBecause) > 0:
		p.hang(p.with(sgrYellow, "?")+" ", "  ", "unknown: nobody can say how long this task lives", sgrBold)
		p.doubts()
	case !p.Bounded:
		p.hang(p.with(sgrYellow, "!")+" ", "  ", "no TTL is long enough: nothing bounds the life of this task", sgrBold)
		for _, why := range p.UnboundedBecause {
			p.hang("  · ", "    ", why, "")
		}
		p.doubts()
		if p.Lifetime != nil {
			p.hang("  ", "  ", "everything below holds as long as none of that happens", sgrDim)
		}
	default:
		p.hang(p.with(sgrYellow, "!")+" ", "  ", "no TTL is long enough: the life is bounded, but no time.Duration holds it", sgrBold)
	}
}

// doubts say what contradicts the inputs.
func (p *ttlPage) doubts() {
	for _, why := range p.UnknownBecause {
		p.hang("  · ", "    ", Visible(why), "")
	}
}

func (p *ttlPage) failing() string {
	who := "a task"
	if p.Type != nil {
		who = Visible(*p.Type)
	}
	if n := len(p.Attempts); n > 1 {
		return who + " that fails all " + count(n) + " attempts"
	}
	return who + " that fails its only attempt"
}

// asked judges the lock that was asked about.
func (p *ttlPage) asked() {
	if p.AskedUniqueTTL != nil && len(p.UnknownBecause) > 0 {
		p.blank()
		p.hang(p.with(sgrYellow, "?")+" ", "  ", "whether asynq.Unique of "+exact(*p.AskedUniqueTTL, timeline.RoundNearest)+" is long enough, nobody can say", sgrBold)
	}
	l := p.Lock
	if l == nil || !l.Asked {
		return
	}
	ttl := exact(l.TTL, timeline.RoundNearest)
	p.blank()
	switch {
	case p.SafeUniqueTTL == nil:
		p.hang(p.with(sgrYellow, "!")+" ", "  ", "a lock that ends "+ttl+" after the enqueue: nobody can say whether that is enough", sgrBold)
	case l.Covered == l.Attempts:
		p.hang(p.with(sgrGreen, "✓")+" ", "  ", "a lock that ends "+ttl+" after the enqueue is long enough", sgrBold)
	default:
		p.hang(p.with(sgrRed, "✗")+" ", "  ", fmt.Sprintf("a lock that ends %s after the enqueue is too short: it covers %s of %s attempts; in %s the lock ends first",
			ttl, count(l.Covered), count(l.Attempts), shareOf(l)), sgrBold)
	}
}

// shareOf says which tasks outlive a lock. It never rounds a risk down to none.
func shareOf(l *ttlLockJSON) string {
	return percentText(l.RiskAtExpiry) + " of " + whose(l.FailProb)
}

// whose are the tasks that a risk is a share of.
func whose(failProb float64) string {
	if failProb == 1 {
		return "failing tasks"
	}
	return fmt.Sprintf("tasks whose attempts fail with probability %g", failProb)
}

func percentText(p float64) string {
	switch {
	case p > 0 && p < 0.001:
		return "less than 0.1 %"
	case p > 0.999 && p < 1:
		return "more than 99.9 %"
	}
	return fmt.Sprintf("%.3g %%", p*100)
}

// lifetimeLines says how long such a life is.
func (p *ttlPage) lifetimeLines() {
	l := p.Lifetime
	if l == nil {
		return
	}
	p.title("Lifetime", "from the enqueue to the archive; "+l.Method)
	p.pieces("  ", []string{
		"shortest " + exact(l.Min, timeline.RoundDown),
		"mean " + exact(l.Mean, timeline.RoundNearest),
		"half of them by " + exact(l.P50, timeline.RoundUp),
		"95 % by " + exact(l.P95, timeline.RoundUp),
		"99 % by " + exact(l.P99, timeline.RoundUp),
		"longest " + exact(l.Max, timeline.RoundUp),
	}, "")
}

// parts writes a table of terms. Where its last column has no room, the sources
// stand below it.
func (p *page) parts(title string, parts []ttlPartJSON) {
	p.title(title, "")
	columns := []column{{title: "term"}, {title: "shortest", right: true}, {title: "mean", right: true}, {title: "longest", right: true}, {title: "source in asynq"}}
	var rows [][]string
	for _, t := range parts {
		rows = append(rows, []string{
			t.Term, exact(t.Min, timeline.RoundDown), exact(t.Mean, timeline.RoundNearest), exact(t.Max, timeline.RoundUp), t.Source,
		})
	}
	need := len(gridGap) * (len(columns) - 1)
	for _, w := range gridWidths(columns, rows) {
		need += w
	}
	if need+2 <= p.width {
		p.grid("  ", columns, rows)
		return
	}
	p.grid("  ", columns[:len(columns)-1], rows)
	p.sources(parts)
}

func (p *page) sources(parts []ttlPartJSON) {
	p.blank()
	margin := 0
	for _, t := range parts {
		margin = max(margin, width(t.Term)+4)
	}
	for _, t := range parts {
		p.hang("  "+p.dim(pad(t.Term, margin-2)), pad("", margin), t.Source, sgrDim)
	}
}

// drawing is the timeline.
func (p *ttlPage) drawing() {
	p.title("Attempts", "when each can start; log scale")
	rows := mostAttempts
	if p.wide {
		rows = 0
	}
	for _, line := range p.axis.Draw(p.drawWidth(), rows) {
		p.raw(p.line(line))
	}
	key := "━ can start"
	if slices.ContainsFunc(p.Attempts, func(a ttlAttemptJSON) bool { return a.LatestEnd > a.Latest }) {
		key += "   ─ can still run"
	}
	if l := p.Lock; l != nil && l.Covered < l.Attempts {
		key += "   ░ · the same after the lock's end"
	}
	p.hang(strings.Repeat(" ", chartLeft), strings.Repeat(" ", chartLeft), key, sgrDim)
}

// drawWidth is how wide a drawing is: a page in a pipe has no width.
func (p *ttlPage) drawWidth() int { return min(p.width, widePipe) }

// line colours a line of a drawing.
func (p *page) line(line timeline.Line) string {
	var b strings.Builder
	for _, s := range line {
		b.WriteString(p.with(colourOf[s.Role], s.Text))
	}
	return strings.TrimRight(b.String(), " ")
}

var colourOf = map[timeline.Role]string{
	timeline.RoleLabel: sgrDim, timeline.RoleAxis: sgrDim, timeline.RoleStart: sgrGreen,
	timeline.RoleLate: sgrRed, timeline.RoleLock: sgrYellow, timeline.RoleNow: sgrCyan,
}

func (p *ttlPage) explanation() {
	if p.Explanation == nil {
		return
	}
	p.title("Formula", "seconds")
	for _, line := range p.Explanation {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		p.hang("  ", strings.Repeat(" ", indent+6), line, "")
	}
}

func (p *ttlPage) inputs() {
	if len(p.Inputs) == 0 {
		return
	}
	p.title("What was put in", "")
	var rows [][]string
	for _, in := range p.Inputs {
		rows = append(rows, []string{in.Name, Visible(in.Value), Visible(in.Source)})
	}
	p.grid("  ", []column{{title: "name"}, {title: "value", least: 20}, {title: "from", least: 20}}, rows)
}

func (p *page) warnings(warnings []ttlWarningJSON) {
	if len(warnings) == 0 {
		return
	}
	p.title("Warnings", "")
	for _, w := range warnings {
		p.hang("  "+p.with(sgrYellow, "!")+" ", "    ", w.Text, "")
	}
}

// exact writes a time to the second: "20d 9h 49m 55s". Under ten seconds it has
// decimals.
func exact(t retry.Time, r timeline.Rounding) string {
	s := retry.Seconds(t)
	if s > -10 && s < 10 {
		return timeline.Clock(s, r)
	}
	whole := retry.SecondsOf(s.Duration()) // what is too long for a Duration is cut
	if whole < s {
		return timeline.Clock(s, r)
	}
	return spaced(timeline.Whole(s, r).String())
}

// spaced puts blanks between the units of "20d9h49m55s".
func spaced(text string) string {
	var b strings.Builder
	for i, r := range text {
		if i > 0 && r >= '0' && r <= '9' && text[i-1] > '9' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}
