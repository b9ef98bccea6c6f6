// Package visible makes text from anywhere safe to show in a terminal, and
// measures, cuts and wraps what is safe.
//
// What a reader must be able to trust about text on a screen:
//
//   - nothing in it moves the cursor, changes colour or speaks to the terminal;
//   - nothing in it is there without being seen, and nothing seen is reordered;
//   - every terminal gives it the same width, so that columns hold.
//
// Hence only what Unicode calls printable stays, with the ASCII space as the one
// blank. Zero-width joiners and variation selectors go too: they are invisible,
// and terminals disagree on the width of what they join.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// MaxMarks is how many combining marks may follow one base character. Living
// scripts need three or four; more is ink spilled over the neighbouring lines.
const MaxMarks = 4

// blanks are printable by category and yet show nothing.
var blanks = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // braille pattern blank
	},
}

// Text shows hostile text as one line of printable characters. Newlines, tabs
// and carriage returns become \n, \t and \r, other ASCII controls \x1b, bytes
// that are not UTF-8 \xff, and every other control, format, invisible, blank,
// private-use or unassigned character \u202e or \U000e0001. Backslashes stay as
// they are. It is safe to repeat.
func Text(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	marks := -1 // combining marks since the last base character; -1: no base
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
			marks = -1
		case Extends(r):
			if marks < 0 || marks == MaxMarks || !Shows(r) {
				escapeRune(&b, r)
				marks = -1
				break
			}
			b.WriteRune(r)
			marks++
		case Shows(r):
			b.WriteRune(r)
			marks = 0
			if r == ' ' {
				marks = -1
			}
		default:
			escapeRune(&b, r)
			marks = -1
		}
		s = s[size:]
	}
	return b.String()
}

// plain says whether the text is printable ASCII, which most of it is.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Shows says whether a character leaves ink of a known width where it stands.
func Shows(r rune) bool {
	return unicode.IsPrint(r) && !prepends(r) && !unicode.In(r,
		unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector,
		blanks,
	)
}

// Extends says whether a character is drawn onto the one before it. That one
// must be its own text's, or it would change a neighbouring column.
func Extends(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.Is(unicode.M, r) || oneGrapheme("a"+string(r)))
}

// prepends says whether a character swallows the one after it.
func prepends(r rune) bool {
	return r >= utf8.RuneSelf && oneGrapheme(string(r)+"a")
}

func oneGrapheme(s string) bool {
	g := displaywidth.StringGraphemes(s)
	return g.Next() && len(g.Value()) == len(s)
}

func escapeRune(b *strings.Builder, r rune) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\t':
		b.WriteString(`\t`)
	case r == '\r':
		b.WriteString(`\r`)
	case r < utf8.RuneSelf:
		fmt.Fprintf(b, `\x%02x`, r)
	case r <= 0xffff:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}
