package timeline

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect/retry"
)

func TestScaleNeverTurnsBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		end := retry.Seconds(math.Pow(10, rapid.Float64Range(-3, 12).Draw(r, "log end")))
		s := NewScale(end, rapid.IntRange(2, 300).Draw(r, "columns"))
		a := end * retry.Seconds(rapid.Float64Range(0, 1).Draw(r, "a"))
		b := end * retry.Seconds(rapid.Float64Range(0, 1).Draw(r, "b"))
		if a > b {
			a, b = b, a
		}
		if s.Column(a) > s.Column(b) {
			r.Fatalf("%v is in column %d, %v in %d", a, s.Column(a), b, s.Column(b))
		}
		if s.Column(0) != 0 || s.Column(end) != s.Columns()-1 || s.Column(end*2) != s.Columns()-1 {
			r.Fatalf("ends are in columns %d, %d and %d of %d", s.Column(0), s.Column(end), s.Column(end*2), s.Columns())
		}
		column := rapid.IntRange(0, s.Columns()-1).Draw(r, "column")
		if back := s.Column(s.At(column)); back != column {
			r.Fatalf("column %d is %v, which is in column %d", column, s.At(column), back)
		}
	})
}

func TestScaleOfNothingHasColumns(t *testing.T) {
	for _, end := range []retry.Seconds{0, -1, retry.Seconds(math.NaN())} {
		s := NewScale(end, 0)
		if s.Columns() < 2 || s.Column(5) >= s.Columns() {
			t.Errorf("end %v: %d columns, 5 seconds in %d", float64(end), s.Columns(), s.Column(5))
		}
	}
	if (Scale{}).Column(3) != 0 {
		t.Error("the zero scale has more than one column")
	}
}

func TestTicksNeverTouch(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		end := retry.Seconds(math.Pow(10, rapid.Float64Range(-3, 12).Draw(r, "log end")))
		s := NewScale(end, rapid.IntRange(2, 300).Draw(r, "columns"))
		free := 0
		for _, tick := range s.Ticks() {
			if tick.Column < free {
				r.Fatalf("label %q begins in column %d, the one before ends in %d", tick.Label, tick.Column, free)
			}
			if tick.Column+len(tick.Label) > s.Columns() {
				r.Fatalf("label %q leaves the axis", tick.Label)
			}
			free = tick.Column + len(tick.Label) + labelGap
		}
	})
}

// A bound that is rounded the wrong way is none.
func TestClockKeepsABound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := retry.Seconds(math.Pow(10, rapid.Float64Range(-3, 7.4).Draw(r, "log seconds")))
		for rounding, ok := range map[Rounding]func(read retry.Seconds) bool{
			RoundDown: func(read retry.Seconds) bool { return read <= s+1e-5 },
			RoundUp:   func(read retry.Seconds) bool { return read >= s-1e-5 },
		} {
			text := Clock(s, rounding)
			read, err := retry.ParseSeconds(strings.ReplaceAll(text, " ", ""))
			if err != nil {
				r.Fatal(err)
			}
			if !ok(read) || math.Abs(float64(read-s)) > max(1, float64(s)/20) {
				r.Fatalf("%v is written %q (rounding %d)", s, text, rounding)
			}
		}
	})
}

func TestClockCarriesIntoTheNextUnit(t *testing.T) {
	for _, c := range []struct {
		s    retry.Seconds
		r    Rounding
		want string
	}{
		{0, RoundNearest, "0s"},
		{0.001, RoundDown, "0s"},
		{-0.004, RoundUp, "0s"},
		{9.999, RoundUp, "10s"},
		{59.5, RoundUp, "1m"},
		{3599.5, RoundUp, "1h"},
		{3599.5, RoundDown, "59m 59s"},
		{86_399, RoundUp, "1d"},
		{86_399, RoundDown, "23h 59m"},
		{64, RoundNearest, "1m 4s"},
		{3600, RoundNearest, "1h"},
		{364.99 * 86400, RoundUp, "1y"},
		{-90, RoundDown, "-1m 30s"},
		{0.25, RoundNearest, "0.25s"},
		{1_819_745, RoundUp, "21d 2h"},
		{1_819_745, RoundDown, "21d 1h"},
	} {
		if got := Clock(c.s, c.r); got != c.want {
			t.Errorf("Clock(%v, %d) = %q, want %q", c.s, c.r, got, c.want)
		}
	}
}
