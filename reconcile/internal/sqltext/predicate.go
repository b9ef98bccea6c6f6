package sqltext

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Dialect says whose lexical rules a predicate follows.
type Dialect uint8

const (
	DialectUnknown Dialect = iota
	PostgreSQL
	SQLite
)

// CheckPredicate says why s, put between parentheses, would not stay one
// expression of its own: it ends a statement, opens a comment, closes a
// parenthesis it did not open, leaves a quote open or names a parameter. It does
// not parse the expression; the server does.
func CheckPredicate(s string, d Dialect) error {
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return errors.New("the predicate is not text")
	}
	depth := 0
	for i := 0; i < len(s); {
		if n, err := skipQuoted(s, i, d); err != nil {
			return err
		} else if n > 0 {
			i += n
			continue
		}
		switch {
		case strings.HasPrefix(s[i:], "--"), strings.HasPrefix(s[i:], "/*"):
			return fmt.Errorf("comments are not allowed: %q", excerpt(s[i:]))
		case s[i] == ';':
			return errors.New("a predicate is one expression: it may not hold a semicolon")
		case isParameter(s, i, d):
			return fmt.Errorf("parameters are not allowed: %q", excerpt(s[i:]))
		case s[i] == '(':
			depth++
		case s[i] == ')':
			depth--
		}
		if depth < 0 {
			return fmt.Errorf("a parenthesis is closed that was not opened: %q", excerpt(s[i:]))
		}
		i++
	}
	if depth > 0 {
		return errors.New("a parenthesis is not closed")
	}
	return nil
}

// skipQuoted is the length of the quoted piece that starts at i, 0 where none
// does.
func skipQuoted(s string, i int, d Dialect) (int, error) {
	switch c := s[i]; {
	case c == '\'':
		return closing(s, i, '\'', d == PostgreSQL && escapes(s, i))
	case c == '"', c == '`' && d == SQLite:
		return closing(s, i, c, false)
	case c == '[' && d == SQLite:
		return closing(s, i, ']', false)
	case c == '$' && d == PostgreSQL && !insideWord(s, i):
		return dollarQuoted(s, i)
	}
	return 0, nil
}

// closing finds the end of a piece quoted by the byte end; a doubled end stands
// for itself.
func closing(s string, i int, end byte, backslash bool) (int, error) {
	for j := i + 1; j < len(s); j++ {
		switch {
		case backslash && s[j] == '\\':
			j++
		case s[j] == end && j+1 < len(s) && s[j+1] == end && end != ']':
			j++
		case s[j] == end:
			return j + 1 - i, nil
		}
	}
	return 0, fmt.Errorf("a quote is not closed: %q", excerpt(s[i:]))
}

// escapes says whether the quote at i opens an E'…' string, in which a backslash
// hides the next byte.
func escapes(s string, i int) bool {
	return i > 0 && (s[i-1] == 'E' || s[i-1] == 'e') && !insideWord(s, i-1)
}

// dollarQuoted is the length of a $tag$…$tag$ string, 0 where there is none.
func dollarQuoted(s string, i int) (int, error) {
	j := i + 1
	for j < len(s) && wordByte(s[j]) && s[j] != '$' {
		j++
	}
	if j == len(s) || s[j] != '$' || j > i+1 && digit(s[i+1]) {
		return 0, nil
	}
	tag := s[i : j+1]
	end := strings.Index(s[j+1:], tag)
	if end < 0 {
		return 0, fmt.Errorf("a quote is not closed: %q", excerpt(s[i:]))
	}
	return len(tag) + end + len(tag), nil
}

func isParameter(s string, i int, d Dialect) bool {
	switch d {
	case PostgreSQL:
		return s[i] == '$' && !insideWord(s, i) && i+1 < len(s) && digit(s[i+1])
	case SQLite:
		return strings.IndexByte("?:@", s[i]) >= 0 || s[i] == '$' && !insideWord(s, i)
	}
	return false
}

// insideWord says whether the byte at i goes on a word that began before it.
func insideWord(s string, i int) bool { return i > 0 && wordByte(s[i-1]) }

func wordByte(c byte) bool {
	return c == '_' || c == '$' || digit(c) || c >= 0x80 ||
		'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// excerpt is the start of a text, for messages.
func excerpt(s string) string {
	const most = 24
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
