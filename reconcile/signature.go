package reconcile

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// signatureTable groups findings by type, cause and the shape of the last
// error. The zero value is empty.
type signatureTable struct {
	groups map[signatureKey]*Signature
	cut    int // findings of groups beyond maxSignatures
}

type signatureKey struct {
	taskType string
	cause    Cause
	text     string
}

// maxSignatures bounds the groups kept: error texts come from anywhere.
const maxSignatures = 1000

// add counts an effect finding of a task that failed. Other findings are no
// failures.
func (s *signatureTable) add(f Finding) {
	if f.Code.Family() != "effect" || f.Task.LastErr == "" {
		return
	}
	key := signatureKey{f.Task.Type, f.Cause, Shape(f.Task.LastErr)}
	g := s.groups[key]
	if g == nil {
		if len(s.groups) >= maxSignatures {
			s.cut++
			return
		}
		if s.groups == nil {
			s.groups = map[signatureKey]*Signature{}
		}
		g = &Signature{Type: key.taskType, Cause: key.cause, Text: key.text, Codes: map[Code]int{}, Example: f.Task.Ref}
		s.groups[key] = g
	}
	if f.Code != CodeDuplicated {
		g.Count++ // that one stands beside another finding on the same task
	}
	g.Codes[f.Code]++
	g.Severity = max(g.Severity, f.Severity)
	g.span(f.Task.LastFailedAt)
}

func (g *Signature) span(at time.Time) {
	if at.IsZero() {
		return
	}
	if g.FirstAt.IsZero() || at.Before(g.FirstAt) {
		g.FirstAt = at
	}
	if at.After(g.LastAt) {
		g.LastAt = at
	}
}

// sorted is the groups, most findings first, and how many findings are in none.
func (s *signatureTable) sorted() ([]Signature, int) {
	groups := slices.Collect(maps.Values(s.groups))
	slices.SortFunc(groups, func(a, b *Signature) int {
		return cmp.Or(
			cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Type, b.Type),
			cmp.Compare(a.Cause, b.Cause),
			cmp.Compare(a.Text, b.Text),
		)
	})
	out := make([]Signature, len(groups))
	for i, g := range groups {
		out[i] = *g
	}
	return out, s.cut
}

const (
	// maxShape bounds a shape in bytes, and maxShaped how much of an error is
	// read for it.
	maxShape  = 200
	maxShaped = 16 << 10
	// hexWord is how long a word of hex letters alone has to be to be taken for
	// an identifier.
	hexWord = 16
)

// Shape is an error text with its variable parts replaced: quoted values by
// "…", and words that hold digits (numbers, identifiers, hex, times, addresses)
// by #. Codes that name a kind of failure stay. Two texts of one shape are taken
// for the same failure.
func Shape(text string) string {
	cut := len(text) > maxShaped
	if cut {
		text = text[:maxShaped]
	}
	var b strings.Builder
	before := "" // the word before, to tell codes from numbers
	for text != "" && b.Len() < maxShape {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == '"' || r == '\'' || r == '`':
			end := closing(text, byte(r))
			if end == 0 && !cut {
				b.WriteRune(r)
				break
			}
			b.WriteString(string(r) + "…" + string(r))
			if end == 0 {
				text = "" // the value goes on past what is read
				continue
			}
			size = end
		case wordRune(r):
			word := cutWord(text)
			b.WriteString(shapeWord(word, before))
			before, size = word, len(word)
		default:
			b.WriteRune(r)
			if r != ' ' {
				before = ""
			}
		}
		text = text[size:]
	}
	return clip(b.String(), maxShape)
}

// clip cuts a text to at most n bytes, at a rune's end.
func clip(s string, n int) string {
	for len(s) > n {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

// closing is the index after the quote that closes the one text begins with; 0
// when it stays open. A quote behind a backslash closes nothing.
func closing(text string, quote byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return 0
}

// wordRune says whether r belongs to a word: what holds an identifier, a
// number, a time or a path element together.
func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-'
}

// cutWord is the word that text begins with. Between two digits a point, a colon
// or a comma belongs to it, and inside letters an apostrophe does.
func cutWord(text string) string {
	end := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if wordRune(r) {
			i += size
			end = i
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[i+size:])
		last, _ := utf8.DecodeLastRuneInString(text[:i])
		inNumber := strings.ContainsRune(".:,", r) && unicode.IsDigit(last) && unicode.IsDigit(next)
		inWord := r == '\'' && unicode.IsLetter(last) && unicode.IsLetter(next)
		if !inNumber && !inWord {
			break
		}
		i += size
	}
	return text[:end]
}

// shapeWord replaces a word that varies: one with a digit in it, unless the word
// before says that it is a code, or a long run of hex letters.
func shapeWord(word, before string) string {
	if before == "SQLSTATE" || before == "Error" {
		return word
	}
	if strings.ContainsFunc(word, unicode.IsDigit) || len(word) >= hexWord && strings.Trim(strings.ToLower(word), "abcdef-") == "" {
		return "#"
	}
	return word
}
