package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// refs are the tasks of a line that are kept here.
func (l *findingLine) refs() []inspect.Ref {
	if l.find != nil {
		return refsOf([]*reconcile.Finding{l.find})
	}
	return refsOf(l.kept)
}

// whole says that the line's tasks are all kept here.
func (l *findingLine) whole() bool {
	return l.find != nil || l.group.Count <= len(l.group.Examples)
}

// refsOf are the tasks of findings, each once.
func refsOf(found []*reconcile.Finding) []inspect.Ref {
	var refs []inspect.Ref
	have := map[inspect.Ref]bool{}
	for _, f := range found {
		if ref := f.Task.Ref; ref.ID != "" && !have[ref] {
			have[ref] = true
			refs = append(refs, ref)
		}
	}
	return refs
}

func (s *findings) toggle() {
	l, ok := s.line()
	if !ok {
		return
	}
	s.markAllOf(l.refs())
	if !l.whole() {
		s.say(fmt.Sprintf("of %s only %s are kept here and marked; without marks, R and X plan the whole signature", count(l.group.Count), count(len(l.kept))))
	}
	s.list.move(1)
}

// markAllOf marks tasks, or takes the marks off where all have one.
func (s *findings) markAllOf(refs []inspect.Ref) {
	all := len(refs) > 0
	for _, r := range refs {
		all = all && s.marks[r]
	}
	for _, r := range refs {
		switch {
		case all:
			delete(s.marks, r)
		case len(s.marks) < maxMarks:
			s.marks[r] = true
		}
	}
}

func (s *findings) markShown() {
	var refs []inspect.Ref
	whole := true
	for i := range s.lines {
		refs = append(refs, s.lines[i].refs()...)
		whole = whole && s.lines[i].whole()
	}
	s.markAllOf(refs)
	if !whole && len(s.marks) > 0 {
		s.say(fmt.Sprintf("%s are marked, all that are kept here; signatures with ◐ have more", plural(len(s.marks), "task", "tasks")))
	}
}

// change plans for the marked tasks, or for the line under the cursor: a signature
// stands for all tasks that have it, kept here or not.
func (s *findings) change(v Verb) tea.Cmd {
	if len(s.marks) > 0 {
		return s.hub.change(v, sortedRefs(s.marks))
	}
	l, ok := s.line()
	if !ok {
		return nil
	}
	if l.find == nil {
		if sig, ok := l.group.signature(&s.where); ok && (sig.OfEffect || !l.whole()) {
			return s.plan(Ask{Verb: v, Signature: sig})
		}
		if !l.whole() {
			s.say(fmt.Sprintf("of %s only %s are kept here, and a plan takes archived tasks: open the signature", count(l.group.Count), count(len(l.kept))))
			return nil
		}
	}
	return s.hub.change(v, l.refs())
}
