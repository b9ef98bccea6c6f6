package tui

import (
	"slices"
	"strconv"
	"strings"

	"github.com/idemctl/idemctl/reconcile"
)

// filter is what is typed after "/": an expression as --where takes it, or plain
// words, and phrases in double quotes, that must all occur in what is known of a
// task. The zero value passes everything.
type filter struct {
	text  string
	line  string            // as an expression
	where *reconcile.Filter // that; nil: everything passes
	words []string          // and phrases, in lower case, where those were typed
}

// operators show that an expression is meant, so that a mistake in it is not
// taken for words.
var operators = []string{"=", "<", ">", "&&", "||", "(", ")", "\"", "'", "!", " contains ", " startswith ", " endswith ", " matches ", " in ", " and ", " or ", "not "}

// parseFilter reads what was typed. An error is about an expression.
func parseFilter(text string) (filter, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return filter{}, nil
	}
	where, err := reconcile.CompileFilter(text)
	if err == nil {
		return filter{text: text, line: text, where: where}, nil
	}
	lower := strings.ToLower(text)
	if words, ok := phrases(lower); ok {
		return ofWords(text, words)
	}
	if operates(lower) {
		return filter{}, err
	}
	return ofWords(text, strings.Fields(lower))
}

// operates says that an expression is meant.
func operates(lower string) bool {
	return slices.ContainsFunc(operators, func(op string) bool { return strings.Contains(lower+" ", op) })
}

// phrases reads words of which some stand in double quotes: what is between those
// must occur as it stands.
func phrases(lower string) (words []string, ok bool) {
	parts := strings.Split(lower, `"`)
	if len(parts) < 3 || len(parts)%2 == 0 {
		return nil, false // none, or one that does not end
	}
	for i, p := range parts {
		quoted := i%2 == 1
		switch {
		case quoted && strings.TrimSpace(p) == "", !quoted && operates(p):
			return nil, false
		case quoted:
			words = append(words, p)
		default:
			words = append(words, strings.Fields(p)...)
		}
	}
	return words, true
}

// ofWords makes a filter of words and phrases.
func ofWords(text string, words []string) (filter, error) {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = "text contains " + strconv.Quote(w)
	}
	line := strings.Join(parts, " && ")
	where, err := reconcile.CompileFilter(line)
	return filter{text: text, line: line, where: where, words: words}, err
}

func (f *filter) empty() bool { return f.where == nil }

// expression is the filter as --where takes it; "" for none.
func (f *filter) expression() string { return f.line }

// judged is the test for one listing, and how many tasks it could not be evaluated
// for; nil where everything passes. Each listing has its own, since each counts.
func (f filter) judged() (passes func(*reconcile.Judged) bool, failures func() int) {
	if f.empty() {
		return nil, nil
	}
	where, err := reconcile.CompileFilter(f.line)
	if err != nil {
		where = f.where // it was compiled before
	}
	failures = func() int {
		n, _ := where.Failures()
		return n
	}
	return func(j *reconcile.Judged) bool { return where.Passes(reconcile.Subject{Judged: j}) }, failures
}

// finding says whether a finding passes.
func (f *filter) finding(fd *reconcile.Finding) bool {
	return f.where.Passes(reconcile.Subject{Finding: fd})
}

// found says whether every word occurs somewhere.
func (f *filter) found(texts ...string) bool {
	for _, w := range f.words {
		hit := false
		for _, t := range texts {
			if strings.Contains(strings.ToLower(t), w) {
				hit = true
				break
			}
		}
		if !hit {
			return false
		}
	}
	return true
}
