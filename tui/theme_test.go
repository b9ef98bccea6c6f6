package tui

import (
	"io"
	"math"
	"strconv"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// rgb is a colour of xterm's 256: 16 of the terminal's own, a cube and greys.
func rgb(t *testing.T, name string) [3]float64 {
	t.Helper()
	n, err := strconv.Atoi(name)
	if err != nil {
		t.Fatalf("colour %q is none of the 256", name)
	}
	c, err := strconv.ParseUint(termenv.ANSI256Color(n).String()[1:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	return [3]float64{float64(c >> 16 & 255), float64(c >> 8 & 255), float64(c & 255)}
}

// contrast is that of WCAG 2.2 (relative luminance), 1 to 21.
func contrast(a, b [3]float64) float64 {
	light := func(c [3]float64) float64 {
		for i, v := range c {
			if v /= 255; v <= 0.04045 {
				c[i] = v / 12.92
			} else {
				c[i] = math.Pow((v+0.055)/1.055, 2.4)
			}
		}
		return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2]
	}
	x, y := light(a)+0.05, light(b)+0.05
	return max(x, y) / min(x, y)
}

// What is painted can be read on a white and on a black background: 4.5 is what
// WCAG 2.2 asks of text (success criterion 1.4.3).
func TestEveryColourCanBeReadOnLightAndDark(t *testing.T) {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.ANSI256)
	th := newTheme(r)
	styles := map[string]lipgloss.Style{
		"title": th.title, "dim": th.dim, "key": th.key, "good": th.good, "note": th.note, "warn": th.warn, "bad": th.bad, "worst": th.worst,
		"cursor": th.cursor, "bar": th.bar, "banner": th.banner, "danger": th.danger, "safe": th.safe, "open": th.open,
	}
	for _, dark := range []bool{false, true} {
		shade := func(c lipgloss.TerminalColor, otherwise string) [3]float64 {
			a, ok := c.(lipgloss.AdaptiveColor)
			switch {
			case !ok:
				return rgb(t, otherwise)
			case dark:
				return rgb(t, a.Dark)
			}
			return rgb(t, a.Light)
		}
		paper, ink := "15", "0"
		if dark {
			paper, ink = ink, paper
		}
		for name, style := range styles {
			if got := contrast(shade(style.GetForeground(), ink), shade(style.GetBackground(), paper)); got < 4.5 {
				t.Errorf("%s has a contrast of %.1f (dark: %v)", name, got, dark)
			}
		}
	}
}
