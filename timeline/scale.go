package timeline

import (
	"math"

	"github.com/idemctl/idemctl/inspect/retry"
)

// Scale maps times after t0 to columns, logarithmically: the first seconds of a
// life take as much room as its last weeks. The zero value has one column.
type Scale struct {
	end     retry.Seconds
	unit    retry.Seconds // about where the axis turns from linear to logarithmic
	columns int
}

// NewScale spreads the time from 0 to end over the columns. An end that is not
// positive counts as one second, fewer than two columns as two.
func NewScale(end retry.Seconds, columns int) Scale {
	if !(end > 0) {
		end = 1
	}
	return Scale{end: end, unit: min(1, end/10), columns: max(2, columns)}
}

// Columns is how many there are.
func (s Scale) Columns() int { return max(1, s.columns) }

// End is the time in the last column.
func (s Scale) End() retry.Seconds { return s.end }

// Column is the column of a time, from 0. Times outside the scale are in its
// first or last column.
func (s Scale) Column(t retry.Seconds) int {
	if s.columns < 2 || !(t > 0) {
		return 0
	}
	at := math.Log1p(float64(t/s.unit)) / math.Log1p(float64(s.end/s.unit))
	return min(int(math.Round(at*float64(s.columns-1))), s.columns-1)
}

// At is the time in the middle of a column.
func (s Scale) At(column int) retry.Seconds {
	if s.columns < 2 || column <= 0 {
		return 0
	}
	if column >= s.columns-1 {
		return s.end
	}
	at := float64(column) / float64(s.columns-1) * math.Log1p(float64(s.end/s.unit))
	return s.unit * retry.Seconds(math.Expm1(at))
}

// Tick is a round time on the axis.
type Tick struct {
	At     retry.Seconds
	Column int
	Label  string // "10m"
}

const (
	minute retry.Seconds = 60
	hour                 = 60 * minute
	day                  = 24 * hour
	year                 = 365 * day
)

// round are the times that may be labelled.
var round = []struct {
	at    retry.Seconds
	label string
}{
	{0, "0"},
	{0.001, "1ms"},
	{0.01, "10ms"},
	{0.1, "0.1s"},
	{1, "1s"},
	{10, "10s"},
	{minute, "1m"},
	{10 * minute, "10m"},
	{hour, "1h"},
	{6 * hour, "6h"},
	{day, "1d"},
	{7 * day, "7d"},
	{30 * day, "30d"},
	{180 * day, "180d"},
	{year, "1y"},
	{10 * year, "10y"},
	{100 * year, "100y"},
	{1000 * year, "1000y"},
	{10_000 * year, "10000y"},
}

// labelGap is how far apart two labels of an axis are at least.
const labelGap = 2

// Ticks are the round times whose labels have room beside each other, in order.
// A label begins in its tick's column.
func (s Scale) Ticks() []Tick {
	var ticks []Tick
	free := 0
	for _, r := range round {
		if r.at > s.end {
			break
		}
		at := s.Column(r.at)
		if at < free || at+len(r.label) > s.Columns() {
			continue
		}
		ticks = append(ticks, Tick{r.at, at, r.label})
		free = at + len(r.label) + labelGap
	}
	return ticks
}
