package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is one mistake in the configuration.
type Error struct {
	// Where the mistake stands: "path/config.yaml:12:7", "--db", "IDEMCTL_DB", or "" when it is nowhere in
	// particular.
	Where string
	// Key is the path of the value in the file, such as "contexts[0].redis.db", or "".
	Key string
	// Problem says what was wrong and what was expected.
	Problem string
	// Hint is a command to type next, or "".
	Hint string

	line, column int
	cause        error
}

// Unwrap gives what the mistake came from, such as fs.ErrExist, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Error gives "where: key: problem".
func (e *Error) Error() string {
	parts := make([]string, 0, 3)
	for _, part := range []string{e.Where, e.Key, e.Problem} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// Errors are all mistakes that were found, in the order of the file. It is never empty.
type Errors []*Error

// Error gives one mistake a line.
func (list Errors) Error() string {
	lines := make([]string, len(list))
	for n, one := range list {
		lines[n] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the first [Error].
func (list Errors) Unwrap() []error {
	out := make([]error, len(list))
	for n, one := range list {
		out[n] = one
	}
	return out
}

// Warning is something that works and is probably not meant.
type Warning struct {
	// Where the cause stands, as in [Error].
	Where string
	// Key is the path of the value in the file, or "".
	Key string
	// Problem says what is odd, and what to do about it.
	Problem string
}

// String gives "where: key: problem".
func (w Warning) String() string {
	return (&Error{Where: w.Where, Key: w.Key, Problem: w.Problem}).Error()
}

// findings collects what is wrong and what is odd.
type findings struct {
	errors   Errors
	warnings []Warning
}

func (f *findings) errorf(at Source, key, format string, args ...any) {
	f.errors = append(f.errors, &Error{
		Where: at.Where, Key: key, Problem: fmt.Sprintf(format, args...), line: at.line, column: at.column,
	})
}

func (f *findings) warnf(at Source, key, format string, args ...any) {
	f.warnings = append(f.warnings, Warning{Where: at.Where, Key: key, Problem: fmt.Sprintf(format, args...)})
}

// err gives the mistakes in the order of the file, or nil.
func (f *findings) err() error {
	if len(f.errors) == 0 {
		return nil
	}
	slices.SortStableFunc(f.errors, func(a, b *Error) int {
		if a.line != b.line {
			return a.line - b.line
		}
		return a.column - b.column
	})
	return f.errors
}

// echoLimit is how many characters of a wrong value an error repeats.
const echoLimit = 60

// echo quotes a value for an error: control characters escaped, long values cut, and connection strings that
// stand where none belongs masked.
func echo(text string) string {
	if strings.Contains(text, "://") || strings.Contains(text, "@") || tells(text) && strings.Contains(text, "=") {
		text = Mask(text)
	}
	if utf8.RuneCountInString(text) > echoLimit {
		text = string([]rune(text)[:echoLimit]) + "…"
	}
	return strconv.Quote(text)
}

// didYouMean gives "; did you mean "x"?" when a choice is near enough to text, else "".
func didYouMean(text string, choices []string) string {
	if near := nearest(text, choices); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// nearest gives the choice with the fewest edits to text, or "" when none is within a third of its length (at
// least one edit). Letter case and "-" for "_" cost nothing.
func nearest(text string, choices []string) string {
	if len(text) > echoLimit {
		return ""
	}
	plain := strings.NewReplacer("-", "_")
	best, bestEdits := "", 0
	for _, choice := range choices {
		edits := editDistance(plain.Replace(strings.ToLower(text)), plain.Replace(strings.ToLower(choice)))
		if edits <= max(1, len(choice)/3) && (best == "" || edits < bestEdits) {
			best, bestEdits = choice, edits
		}
	}
	return best
}

// editDistance is the Damerau-Levenshtein distance with adjacent transpositions, over bytes.
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
