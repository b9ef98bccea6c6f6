package render

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-analyze/charts/chartdraw"
	"github.com/go-analyze/charts/chartdraw/drawing"

	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/timeline"
)

// The picture is drawn by chartdraw of go-analyze/charts, the maintained
// continuation of go-chart, which is archived. It adds 1.3 MB to a program;
// gonum's plot, as alive, adds 7 MB, most of it fonts.

// Picture is a format of pictures. The zero value is PictureUnknown.
type Picture uint8

const (
	PictureUnknown Picture = iota
	PictureSVG
	PicturePNG
)

// ParsePicture reads the end of a file's name, ".svg" or ".png".
func ParsePicture(ext string) (Picture, error) {
	switch strings.ToLower(ext) {
	case ".svg":
		return PictureSVG, nil
	case ".png":
		return PicturePNG, nil
	}
	return PictureUnknown, fmt.Errorf("unknown kind of picture (the name ends in .svg or .png)")
}

const (
	plotWidth  = 1000
	plotHeight = 640
	// plotLabels is how many characters the axis has room for.
	plotLabels = 90
	// plotRows is how many attempts a picture shows; of more, some are left out.
	plotRows = 60
)

var (
	plotStart = drawing.ColorFromHex("2a9d4a")
	plotLate  = drawing.ColorFromHex("d1495b")
	plotLock  = drawing.ColorFromHex("c77d00")
	plotRisk  = drawing.ColorFromHex("30638e")
)

// PlotTTL writes the timeline with the curve of the risk as a picture. The
// answer must have a Lifetime.
func PlotTTL(w io.Writer, kind Picture, t *TTL) error {
	line := t.timeline()
	scale, _ := line.Scale(plotLabels)
	p := plot{scale: timeline.NewScale(scale.End(), plotWidth), lock: line.Lock}
	p.attempts(t.Attempts)
	p.risk(t.Risk)
	p.lockLine(len(t.Attempts))
	chart := chartdraw.Chart{
		Title: plotTitle(t), Width: plotWidth, Height: plotHeight,
		TitleStyle: chartdraw.Style{FontStyle: chartdraw.FontStyle{FontSize: 14}},
		Background: chartdraw.Style{Padding: chartdraw.Box{Top: 60, Left: 20, Right: 20, Bottom: 10, IsSet: true}},
		XAxis: chartdraw.XAxis{
			Name: "time after the enqueue (log scale)", Ticks: p.timeTicks(),
			Range: &chartdraw.ContinuousRange{Min: 0, Max: plotWidth},
		},
		YAxis: chartdraw.YAxis{
			Name: "task still alive", Ticks: riskTicks(),
			Range: &chartdraw.ContinuousRange{Min: 0, Max: 100},
		},
		YAxisSecondary: chartdraw.YAxis{
			Name: "attempt", Ticks: attemptTicks(t.Attempts),
			Range: &chartdraw.ContinuousRange{Min: -float64(len(t.Attempts)) - 1, Max: 0},
		},
		Series: p.series,
	}
	renderer := chartdraw.SVG
	if kind == PicturePNG {
		renderer = chartdraw.PNG
	}
	return chart.Render(renderer, w)
}

// plotTitle is the answer. A type's name is text from outside.
func plotTitle(t *TTL) string {
	title := t.Advice.Go
	switch {
	case len(t.Unbounded) > 0:
		title = "no bound: " + t.Unbounded[0].Text
	case title == "":
		title = "longer than any Unique TTL"
	}
	if t.Type != "" {
		title = fit(Visible(t.Type), 40) + ": " + title
	}
	return title
}

// plot gathers the lines of a picture.
type plot struct {
	scale  timeline.Scale
	lock   retry.Seconds
	series []chartdraw.Series
}

func (p *plot) x(t retry.Seconds) float64 { return float64(p.scale.Column(t)) }

// stroke adds a line between points of the attempts' axis.
func (p *plot) stroke(x, y []float64, width float64, colour drawing.Color, dash ...float64) {
	p.series = append(p.series, chartdraw.ContinuousSeries{
		YAxis: chartdraw.YAxisSecondary, XValues: x, YValues: y,
		Style: chartdraw.Style{StrokeWidth: width, StrokeColor: colour, StrokeDashArray: dash},
	})
}

func (p *plot) attempts(attempts []retry.Attempt) {
	every := (len(attempts) + plotRows - 1) / plotRows
	for i, a := range attempts {
		if i%every != 0 && i != len(attempts)-1 {
			continue
		}
		y := -float64(a.N)
		p.split(a.Earliest, a.Latest, y, 6)
		p.split(a.Latest, a.LatestEnd, y, 1.5)
	}
}

// split draws what lies after the lock's end in another colour.
func (p *plot) split(from, to retry.Seconds, y, width float64) {
	draw := func(from, to retry.Seconds, colour drawing.Color) {
		left, right := p.x(from), p.x(to)
		p.stroke([]float64{left, max(right, left+2)}, []float64{y, y}, width, colour)
	}
	switch {
	case p.lock <= 0 || to <= p.lock:
		draw(from, to, plotStart)
	case from >= p.lock:
		draw(from, to, plotLate)
	default:
		draw(from, p.lock, plotStart)
		draw(p.lock, to, plotLate)
	}
}

func (p *plot) risk(points []TTLRisk) {
	if len(points) == 0 {
		return
	}
	x, y := []float64{0}, []float64{100} // nothing is over at the enqueue
	for _, r := range points {
		x, y = append(x, p.x(r.At)), append(y, 100*r.Alive)
	}
	p.series = append(p.series, chartdraw.ContinuousSeries{
		XValues: x, YValues: y,
		Style: chartdraw.Style{StrokeWidth: 2.5, StrokeColor: plotRisk},
	})
}

func (p *plot) lockLine(attempts int) {
	if p.lock <= 0 {
		return
	}
	x := p.x(p.lock)
	p.stroke([]float64{x, x}, []float64{0, -float64(attempts) - 1}, 2, plotLock, 6, 4)
	p.series = append(p.series, chartdraw.AnnotationSeries{
		YAxis: chartdraw.YAxisSecondary,
		Style: chartdraw.Style{StrokeColor: plotLock},
		Annotations: []chartdraw.Value2{{
			XValue: math.Min(x, 0.86*plotWidth), YValue: -0.5,
			Label: "lock ends " + timeline.Clock(p.lock, timeline.RoundNearest),
		}},
	})
}

func (p *plot) timeTicks() []chartdraw.Tick {
	var ticks []chartdraw.Tick
	for _, t := range timeline.NewScale(p.scale.End(), plotLabels).Ticks() {
		ticks = append(ticks, chartdraw.Tick{Value: p.x(t.At), Label: t.Label})
	}
	return append(ticks, chartdraw.Tick{Value: plotWidth}) // the axis ends where its last tick is
}

func riskTicks() []chartdraw.Tick {
	var ticks []chartdraw.Tick
	for v := 0; v <= 100; v += 20 {
		ticks = append(ticks, chartdraw.Tick{Value: float64(v), Label: strconv.Itoa(v) + "%"})
	}
	return ticks
}

func attemptTicks(attempts []retry.Attempt) []chartdraw.Tick {
	ticks := []chartdraw.Tick{{Value: -float64(len(attempts)) - 1, Label: ""}}
	every := (len(attempts) + 12) / 13
	for i := len(attempts) - 1; i >= 0; i-- {
		if i%every == 0 {
			ticks = append(ticks, chartdraw.Tick{Value: -float64(i + 1), Label: strconv.Itoa(i + 1)})
		}
	}
	return append(ticks, chartdraw.Tick{Value: 0, Label: ""})
}
