package tui

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// The keys are those that k9s, lazygit and asynq's dash have taught. Capitals change
// something, and always through a plan.

// keyMap is every key. What a key does on a screen is said by the screen's actions.
type keyMap struct {
	help, quit, back, stop                        key.Binding
	jump, filter, refresh, commandLine            key.Binding
	up, down, top, bottom, halfDown, halfUp       key.Binding
	pageDown, pageUp, left, right, next, previous key.Binding
	open, mark, markAll, clearMarks               key.Binding
	sort, reverse, wide                           key.Binding
	copyID, explain, audit                        key.Binding
	requeue, resolve, undo                        key.Binding
	less, more, reset, only, canary, apply        key.Binding
}

func bind(help string, keys ...string) key.Binding {
	shown := keys[0]
	switch shown {
	case " ":
		shown = "space"
	case "ctrl+d", "ctrl+u", "ctrl+r", "ctrl+c":
		shown = "^" + shown[len("ctrl+"):]
	}
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, help))
}

func newKeyMap() keyMap {
	both := func(help, shown string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, help))
	}
	return keyMap{
		help: bind("this help", "?"),
		quit: bind("back, or quit", "q"),
		back: bind("back", "esc"),
		stop: bind("quit", "ctrl+c"),

		jump:        bind("jump to a screen, state, queue or context", ":"),
		filter:      bind("filter: words, or an expression", "/"),
		refresh:     bind("read again", "ctrl+r", "f5"),
		commandLine: bind("the command line that does this", "@"),

		up:       both("up", "k ↑", "k", "up"),
		down:     both("down", "j ↓", "j", "down"),
		top:      both("first", "g", "g", "home", "<"),
		bottom:   both("last", "G", "G", "end", ">"),
		halfDown: bind("half a page down", "ctrl+d"),
		halfUp:   bind("half a page up", "ctrl+u"),
		pageDown: both("a page down", "PgDn", "pgdown", "ctrl+f", "n"),
		pageUp:   both("a page up", "PgUp", "pgup", "ctrl+b", "p"),
		left:     both("left", "h ←", "h", "left"),
		right:    both("right", "l →", "l", "right"),
		next:     both("next", "]", "]", "tab"),
		previous: both("previous", "[", "[", "shift+tab"),

		open:       bind("open", "enter", "d"),
		mark:       bind("mark", " "),
		markAll:    bind("mark all shown", "*"),
		clearMarks: bind("clear marks", "\\", "ctrl+\\"),
		sort:       bind("sort by the next column", "s"),
		reverse:    bind("sort the other way round", "r"),
		wide:       bind("wide", "w", "ctrl+w"),

		copyID:  bind("copy the ID", "y", "c"),
		explain: bind("explain, in the pager", "e"),
		audit:   bind("audit now", "a"),

		requeue: bind("requeue: plan to run again", "R"),
		resolve: bind("resolve: plan to delete what is done", "X"),
		undo:    bind("undo the last change: plan to restore", "z"),

		less:   both("less", "h ←", "h", "left", "-"),
		more:   both("more", "l →", "l", "right", "+", "="),
		reset:  bind("as declared", "0"),
		only:   bind("all, run, held", "f"),
		canary: bind("canary: run one first, and watch", "c"),
		apply:  bind("apply", "A"),
	}
}

// action is what a key does on a screen now.
type action struct {
	key.Binding
	// hint is the word in the footer; "" keeps it out of there.
	hint string
	do   func() tea.Cmd
}

// act pairs a key with what it does.
func act(b key.Binding, hint string, do func() tea.Cmd) action { return action{b, hint, do} }

// named is a key with other words in the help.
func named(b key.Binding, help string) key.Binding {
	b.SetHelp(b.Help().Key, help)
	return b
}

// perform does what the key does among the actions, if it does anything.
func perform(k tea.KeyMsg, actions []action) (tea.Cmd, bool) {
	for _, a := range actions {
		if key.Matches(k, a.Binding) {
			return a.do(), true
		}
	}
	return nil, false
}

// moves are the actions that go through a list.
func (m *keyMap) moves(l *list, then func() tea.Cmd) []action {
	go1 := func(b key.Binding, f func()) action {
		return act(b, "", func() tea.Cmd { f(); return then() })
	}
	return []action{
		go1(m.up, func() { l.move(-1) }),
		go1(m.down, func() { l.move(1) }),
		go1(m.top, func() { l.to(0) }),
		go1(m.bottom, func() { l.to(l.n - 1) }),
		go1(m.halfDown, func() { l.move(l.half()) }),
		go1(m.halfUp, func() { l.move(-l.half()) }),
		go1(m.pageDown, func() { l.move(l.page()) }),
		go1(m.pageUp, func() { l.move(-l.page()) }),
	}
}
