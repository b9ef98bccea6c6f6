package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
)

// places are the screens that ":" goes to, and short words for them.
var places = []struct {
	name  string
	short []string
	make  func(h *hub) screen
}{
	{"overview", []string{"ov", "home"}, func(h *hub) screen { return h.stack[0] }},
	{"findings", []string{"f", "audit"}, func(h *hub) screen { return newFindings(h) }},
	{"tasks", []string{"t", "task"}, func(h *hub) screen { return newTasks(h, "", inspect.StateUnknown) }},
	{"locks", []string{"l", "lock"}, func(h *hub) screen { return newLocks(h) }},
	{"ttl", []string{"ttl-calc", "types"}, func(h *hub) screen { return newTTL(h) }},
	{"journal", []string{"j"}, func(h *hub) screen { return newJournal(h) }},
}

// destination is where the words lead; an error says why nowhere.
func (m *Model) destination(text string) (func() tea.Cmd, string) {
	words := strings.Fields(text)
	switch words[0] {
	case "q", "q!", "quit", "exit":
		return m.leave, ""
	case "ctx", "context":
		return m.contextDestination(words[1:])
	case "help", "h":
		return func() tea.Cmd { m.help = newHelp(m); return nil }, ""
	}
	for _, p := range places {
		if words[0] == p.name || slices.Contains(p.short, words[0]) {
			if p.name == "tasks" && len(words) > 1 {
				return m.tasksDestination(words[1:])
			}
			return func() tea.Cmd { return m.jumpTo(p.make(m.hub)) }, ""
		}
	}
	if to, err := m.tasksDestination([]string{text}); err == "" {
		return to, ""
	}
	if to, err := m.tasksDestination(words); err == "" {
		return to, ""
	}
	if slices.Contains(m.backend.Place().Contexts, text) {
		return m.contextDestination([]string{text})
	}
	if known := m.completions(text, 2); len(known) == 1 {
		return m.destination(known[0])
	}
	return nil, "no screen, state, queue or context " + text
}

// tasksDestination reads a queue, a state, or both.
func (m *Model) tasksDestination(words []string) (func() tea.Cmd, string) {
	queue, state := "", inspect.StateUnknown
	for _, w := range words {
		isQueue := slices.Contains(m.queueNames(), w)
		s, isState := stateNamed(w, !isQueue)
		switch {
		case isState && state == inspect.StateUnknown:
			state = s
		case isQueue && queue == "":
			queue = w
		case w != wordAll || isQueue:
			return nil, "no queue or state " + w
		}
	}
	return func() tea.Cmd { return m.jumpTo(newTasks(m.hub, queue, state)) }, ""
}

// wordAll is what a list of tasks in any state is called.
const wordAll = "all"

// stateNamed reads a state by its name, or by the short word that a screen has for
// it.
func stateNamed(word string, short bool) (inspect.State, bool) {
	for _, s := range inspect.States() {
		if short && word == stateTitle(s) {
			return s, true
		}
	}
	s, err := inspect.ParseState(word)
	return s, err == nil
}

func (m *Model) contextDestination(words []string) (func() tea.Cmd, string) {
	known := m.backend.Place().Contexts
	if len(words) != 1 || !slices.Contains(known, words[0]) {
		if len(known) == 0 {
			return nil, "the configuration has no contexts"
		}
		return nil, "contexts: " + strings.Join(known, ", ")
	}
	return func() tea.Cmd {
		m.say("opening context " + safe(words[0]) + " …")
		return askContext(m.root, m.backend, words[0])
	}, ""
}

// completions are what the words may become, at most n.
func (h *hub) completions(typed string, n int) []string {
	typed = strings.TrimLeft(typed, " ")
	var all []string
	for _, p := range places {
		all = append(all, p.name)
	}
	for _, s := range inspect.States() {
		all = append(all, s.String())
		if short := stateTitle(s); short != s.String() {
			all = append(all, short)
		}
	}
	all = append(all, h.queueNames()...)
	for _, c := range h.backend.Place().Contexts {
		all = append(all, "ctx "+c)
	}
	all = append(all, "quit")
	var out []string
	for _, name := range all {
		if strings.HasPrefix(name, typed) && len(out) < n {
			out = append(out, safe(name))
		}
	}
	return out
}

// complete puts the first completion in place.
func (p *prompt) complete(h *hub) {
	if c := h.completions(p.input.Value(), 1); len(c) > 0 {
		p.input.SetValue(c[0])
		p.input.CursorEnd()
	}
}
