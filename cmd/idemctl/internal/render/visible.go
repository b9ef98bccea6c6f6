package render

import "github.com/idemctl/idemctl/internal/visible"

// Visible shows hostile text as one line of printable characters: visible.Text.
func Visible(s string) string { return visible.Text(s) }

// The page is laid out in the cells that package visible counts, as tablewriter
// counts them too.
const (
	ellipsis = visible.Ellipsis
	maxMarks = visible.MaxMarks
)

func width(s string) int                            { return visible.Width(s) }
func fit(s string, cells int) string                { return visible.Fit(s, cells) }
func split(s string, cells int) (head, tail string) { return visible.Split(s, cells) }
func pad(s string, cells int) string                { return visible.Pad(s, cells) }
func padLeft(s string, cells int) string            { return visible.PadLeft(s, cells) }
func wrap(s string, cells int) []string             { return visible.Wrap(s, cells) }
func shows(r rune) bool                             { return visible.Shows(r) }
func extends(r rune) bool                           { return visible.Extends(r) }
