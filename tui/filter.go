package tui

import (
	"strings"

	"github.com/idemctl/idemctl/reconcile"
)

// filter is what is typed after "/": an expression as --where takes it, or plain
// words that must all occur in what is known of a task. The zero value passes
// everything.
type filter struct {
	text  string
	where *reconcile.Filter // nil: words
	words []string          // lower case
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
		return filter{text: text, where: where}, nil
	}
	lower := strings.ToLower(text)
	for _, op := range operators {
		if strings.Contains(lower+" ", op) {
			return filter{}, err
		}
	}
	return filter{text: text, words: strings.Fields(lower)}, nil
}

func (f *filter) empty() bool { return f.where == nil && len(f.words) == 0 }

// expression is the filter as --where takes it; "" where it has no such form.
func (f *filter) expression() string {
	if f.where == nil {
		return ""
	}
	return f.text
}

// judged is the test for a listing; nil where everything passes.
func (f filter) judged() func(*reconcile.Judged) bool {
	switch {
	case f.empty():
		return nil
	case f.where != nil:
		return func(j *reconcile.Judged) bool { return f.where.Passes(reconcile.Subject{Judged: j}) }
	}
	return func(j *reconcile.Judged) bool {
		t := &j.Task
		return f.found(
			t.ID, t.Type, t.Queue, t.Group, t.State.String(), j.Key, j.Verdict.Status.String(),
			string(j.Verdict.Reason), string(j.Verdict.Cause), t.LastErr,
		)
	}
}

// finding says whether a finding passes.
func (f *filter) finding(fd *reconcile.Finding) bool {
	switch {
	case f.empty():
		return true
	case f.where != nil:
		return f.where.Passes(reconcile.Subject{Finding: fd})
	}
	t := &fd.Task
	return f.found(
		t.ID, t.Type, t.Queue, t.State.String(), fd.Key, string(fd.Code), fd.Severity.String(),
		fd.Status.String(), string(fd.Reason), string(fd.Cause), t.LastErr,
	)
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
