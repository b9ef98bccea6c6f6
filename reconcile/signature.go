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
	g.Count++
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

// maxShape bounds a shape in bytes, and how much of an error is read for it.
const maxShape = 200

// Shape is an error text with its variable parts replaced: quoted values by
// "…", and words that hold digits (numbers, identifiers, hex, times) by #. Two
// texts of one shape are taken for the same failure.
func Shape(text string) string {
	if len(text) > 4*maxShape {
		text = text[:4*maxShape]
	}
	var b strings.Builder
	for text != "" && b.Len() < maxShape {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == '"' || r == '\'' || r == '`':
			if end := closing(text, byte(r)); end > 0 {
				b.WriteString(string(r) + "…" + string(r))
				text = text[end:]
				continue
			}
			b.WriteRune(r)
		case wordRune(r):
			word, rest := cutWord(text)
			b.WriteString(shapeWord(word))
			text = rest
			continue
		default:
			b.WriteRune(r)
		}
		text = text[size:]
	}
	shape := b.String()
	for len(shape) > maxShape {
		_, size := utf8.DecodeLastRuneInString(shape)
		shape = shape[:len(shape)-size]
	}
	return shape
}

// closing is the index after the quote that closes the one text begins with; 0
// when it stays open. An apostrophe inside a word opens nothing.
func closing(text string, quote byte) int {
	end := strings.IndexByte(text[1:], quote)
	if end < 0 {
		return 0
	}
	return end + 2
}

// wordRune says whether r belongs to a word: what holds an identifier, a
// number, a time or a path element together.
func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-'
}

func cutWord(text string) (word, rest string) {
	end := strings.IndexFunc(text, func(r rune) bool { return !wordRune(r) && r != '\'' })
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// shapeWord replaces a word that varies: one with a digit in it, or a long run
// of hex letters.
func shapeWord(word string) string {
	if strings.ContainsFunc(word, unicode.IsDigit) && !constantWords[word] {
		return "#"
	}
	return word
}

// constantWords hold digits and yet name a kind of failure rather than a case
// of it.
var constantWords = map[string]bool{
	"SQLSTATE": true, "HTTP2": true, "http2": true, "UTF-8": true, "utf8": true, "IPv4": true, "IPv6": true,
	"23505": true, "40001": true, "40P01": true, "1062": true, "1213": true, "OAuth2": true, "S3": true, "EC2": true,
	"x509": true, "sha256": true, "md5": true, "base64": true,
}
