package tui

import (
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/idemctl/idemctl/internal/face"
	"github.com/idemctl/idemctl/reconcile"
)

// Colour only repeats what a word, a letter or a shape already says, so that the
// screen means the same to those who see none. The hues are told apart by red-green
// blind eyes: what is bad is red or yellow and loud, what is good is blue.

// theme paints. The zero value paints nothing.
type theme struct {
	title, dim, bold, key, good, note, warn, bad, worst lipgloss.Style
	cursor, tab, bar, banner, danger, safe, open        lipgloss.Style
	plain                                               bool
}

// newTheme suits a light or a dark background; without colour everything is plain.
func newTheme(r *lipgloss.Renderer) theme {
	hue := func(light, dark string) lipgloss.AdaptiveColor {
		return lipgloss.AdaptiveColor{Light: light, Dark: dark}
	}
	s := r.NewStyle
	on := func(fg, bg lipgloss.AdaptiveColor) lipgloss.Style {
		return s().Foreground(fg).Background(bg).Bold(true)
	}
	paper, ink := hue("15", "0"), hue("0", "15")
	return theme{
		title: s().Bold(true).Foreground(hue("25", "117")),
		dim:   s().Foreground(hue("242", "245")),
		bold:  s().Bold(true),
		key:   s().Bold(true).Foreground(hue("25", "117")),
		good:  s().Foreground(hue("25", "75")),
		note:  s().Foreground(hue("23", "80")),
		warn:  s().Foreground(hue("130", "221")),
		bad:   s().Foreground(hue("160", "209")),
		worst: s().Bold(true).Foreground(hue("160", "203")),

		cursor: s().Background(hue("153", "24")).Foreground(ink).Bold(true),
		tab:    s().Reverse(true).Bold(true),
		bar:    s().Background(hue("254", "236")).Foreground(hue("235", "252")),
		banner: on(paper, hue("130", "221")),
		danger: on(hue("15", "15"), hue("160", "160")),
		safe:   on(hue("15", "15"), hue("25", "25")),
		open:   on(hue("0", "0"), hue("221", "221")),
		plain:  r.ColorProfile() == termenv.Ascii,
	}
}

func (t *theme) warnText(s string) string { return t.warn.Render(s) }
func (t *theme) dimText(s string) string  { return t.dim.Render(s) }
func (t *theme) boldText(s string) string { return t.bold.Render(s) }
func (t *theme) keyText(s string) string  { return t.key.Render(s) }

// severity paints text by how bad it is.
func (t *theme) severity(s reconcile.Severity, text string) string {
	switch s {
	case reconcile.SeverityCritical:
		return t.worst.Render(text)
	case reconcile.SeverityHigh:
		return t.bad.Render(text)
	case reconcile.SeverityWarning:
		return t.warn.Render(text)
	case reconcile.SeverityInfo:
		return t.dim.Render(text)
	default:
		return t.good.Render(text)
	}
}

// status paints text by what the ledger says.
func (t *theme) status(s reconcile.Status, text string) string {
	switch s {
	case reconcile.StatusApplied:
		return t.good.Render(text)
	case reconcile.StatusPartial:
		return t.worst.Render(text)
	case reconcile.StatusInProgress, reconcile.StatusNotApplied:
		return t.warn.Render(text)
	default:
		return t.dim.Render(text)
	}
}

// shape is a severity's sign, as in the reports.
func shape(s reconcile.Severity) string { return face.Sign(s.String()) }

// statusShape is the sign of a status.
func statusShape(s reconcile.Status) string {
	switch s {
	case reconcile.StatusApplied:
		return "✓"
	case reconcile.StatusNotApplied:
		return "○"
	case reconcile.StatusInProgress:
		return "◐"
	case reconcile.StatusPartial:
		return "±"
	case reconcile.StatusNatural:
		return "~"
	default:
		return "?"
	}
}

// lockShape is the sign of a lock.
func lockShape(s reconcile.LockState) string {
	switch s {
	case reconcile.LockHeld:
		return "■"
	case reconcile.LockTaken:
		return "✗"
	case reconcile.LockFree:
		return "□"
	default:
		return " "
	}
}

// outcomeShape is the sign of what came of an item.
func outcomeShape(o Outcome) string {
	switch o {
	case OutcomeDone:
		return "✓"
	case OutcomeRefused:
		return "-"
	case OutcomeFailed:
		return "✗"
	case OutcomeUnknown:
		return "?"
	default:
		return " "
	}
}
