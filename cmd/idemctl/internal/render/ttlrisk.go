package render

import (
	"fmt"
	"strings"

	"github.com/guptarohit/asciigraph"

	"github.com/idemctl/idemctl/timeline"
)

// riskHeight is how many lines the chart of the risk has, without its axis.
const riskHeight = 6

// risk draws the chance that a lock ends first, over its TTL. asciigraph draws
// the curve: it depends on nothing, is still released, and speaks text, so that
// a page may be piped and tested. Where the curve goes over a whole life its axis
// is the timeline's own, so that both stand above each other.
func (p *ttlPage) risk() {
	l := p.Lifetime
	if l == nil || len(p.Attempts) == 0 {
		return
	}
	of := "tasks that fail every attempt"
	if p.failProb() < 1 {
		of = fmt.Sprintf("attempts fail with probability %g", p.failProb())
	}
	p.title("Risk", "that a lock ends first, by its TTL; "+of)
	margin := strings.Repeat(" ", chartLeft)
	if len(p.RiskCurve) < 2 {
		p.hang("  ", "  ", "typically all live "+exact(l.Mean, timeline.RoundUp)+": 100 % for a shorter lock; proven none from "+exact(l.Max, timeline.RoundUp)+" on", "")
		return
	}
	scale, left := p.axis.Scale(p.drawWidth())
	p.riskCurve(scale.Columns(), left)
	if p.failProb() < 1 {
		for _, line := range scale.Axis(left) {
			p.raw(p.line(line))
		}
		return
	}
	p.zoomedAxis(scale.Columns(), left)
	p.hang(margin, margin, fmt.Sprintf("50 %% until %s, 5 %% until %s, 1 %% until %s, proven none from %s on",
		exact(l.P50, timeline.RoundUp), exact(l.P95, timeline.RoundUp), exact(l.P99, timeline.RoundUp), exact(l.Max, timeline.RoundUp)), sgrDim)
}

// failProb is what the risks are for.
func (p *ttlPage) failProb() float64 {
	if p.Lock != nil {
		return p.Lock.FailProb
	}
	return 1
}

func (p *ttlPage) riskCurve(columns, left int) {
	points := make([]float64, 0, len(p.RiskCurve))
	for _, r := range p.RiskCurve {
		points = append(points, 100*r.Risk)
	}
	chart := asciigraph.Plot(points,
		asciigraph.Height(riskHeight-1), asciigraph.Width(columns),
		asciigraph.LowerBound(0), asciigraph.UpperBound(100),
		asciigraph.YAxisValueFormatter(func(v float64) string { return fmt.Sprintf("%3.0f%%", v) }))
	margin := strings.Repeat(" ", max(0, left-chartLeft))
	for line := range strings.Lines(chart) {
		p.raw(margin + strings.TrimRight(line, " \n"))
	}
}

// zoomedAxis labels an evenly spaced axis at its ends and, where there is room,
// in its middle.
func (p *ttlPage) zoomedAxis(columns, left int) {
	p.raw(strings.Repeat(" ", left) + p.dim("┴"+strings.Repeat("─", max(0, columns-2))+"┴"))
	last := len(p.RiskCurve) - 1
	from := exact(p.RiskCurve[0].At, timeline.RoundNearest)
	middle := exact(p.RiskCurve[last/2].At, timeline.RoundNearest)
	to := exact(p.RiskCurve[last].At, timeline.RoundNearest)
	gap := columns - width(from) - width(to)
	if room := gap - width(middle); room >= 4 {
		before := max(2, (columns-width(middle))/2-width(from))
		between := strings.Repeat(" ", before) + middle + strings.Repeat(" ", max(2, room-before))
		p.raw(strings.Repeat(" ", left) + p.dim(from+between+to))
		return
	}
	p.raw(strings.Repeat(" ", left) + p.dim(from+strings.Repeat(" ", max(1, gap))+to))
}
