// Package sqltext reads the SQL an operator writes in a configuration: names of
// tables and columns, and predicates over a row. It knows no database.
package sqltext

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Part is one identifier of a name.
type Part struct {
	Text    string
	Literal bool // written in double quotes: only this spelling is meant
}

// Spellings are the identifiers the part may mean, the likelier first.
func (p Part) Spellings() []string {
	lower := strings.ToLower(p.Text)
	if p.Literal || lower == p.Text {
		return []string{p.Text}
	}
	return []string{p.Text, lower}
}

// ParseName splits a name at the dots outside double quotes. A doubled quote
// inside quotes is a quote.
func ParseName(s string) ([]Part, error) {
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return nil, fmt.Errorf("name %q is not text", s)
	}
	var parts []Part
	rest := s
	for {
		part, tail, err := nextPart(rest)
		if err != nil {
			return nil, fmt.Errorf("name %q: %w", s, err)
		}
		parts = append(parts, part)
		if tail == "" {
			return parts, nil
		}
		rest = tail[1:]
	}
}

// nextPart reads one part and returns what follows it, which is empty or begins
// with a dot.
func nextPart(s string) (Part, string, error) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexByte(s, '.')
		if end < 0 {
			end = len(s)
		}
		text := strings.TrimSpace(s[:end])
		switch {
		case text == "":
			return Part{}, "", errors.New("a part is empty")
		case strings.Contains(text, `"`):
			return Part{}, "", errors.New("a quote stands inside a part: quote the whole part")
		case strings.ContainsAny(text, ";'()") || strings.Contains(text, "--") || strings.Contains(text, "/*"):
			return Part{}, "", errors.New("it holds what only a statement does: quote the part if it is its name")
		}
		return Part{Text: text}, s[end:], nil
	}
	text, tail, ok := quoted(s)
	tail = strings.TrimSpace(tail)
	switch {
	case !ok:
		return Part{}, "", errors.New("a quote is not closed")
	case text == "":
		return Part{}, "", errors.New("a part is empty")
	case tail != "" && tail[0] != '.':
		return Part{}, "", errors.New("a dot is missing after a quoted part")
	}
	return Part{Text: text, Literal: true}, tail, nil
}

// quoted reads a string in double quotes from the start of s.
func quoted(s string) (text, tail string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '"' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '"' {
			b.WriteByte('"')
			i++
			continue
		}
		return b.String(), s[i+1:], true
	}
	return "", "", false
}

// Quote writes an identifier so that it is taken as it is.
func Quote(identifier string) string {
	return `"` + strings.ReplaceAll(identifier, `"`, `""`) + `"`
}

// Display writes a qualified name as an operator would: quotes only where a
// part needs them.
func Display(parts ...string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = p
		if !plain(p) {
			out[i] = Quote(p)
		}
	}
	return strings.Join(out, ".")
}

func plain(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || c == '_'
		digit := '0' <= c && c <= '9' || c == '$'
		if !letter && (i == 0 || !digit) {
			return false
		}
	}
	return s != ""
}
