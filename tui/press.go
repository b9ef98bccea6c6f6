package tui

import (
	"cmp"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// keys1 answers keys that came together, as fast fingers and slow lines send them,
// one by one. What was pasted is text: it is no key, but where a line is typed.
func (m *Model) keys1(k tea.KeyMsg) tea.Cmd {
	if k.Type != tea.KeyRunes {
		return m.press(k)
	}
	if k.Paste {
		if m.prompt != nil || m.typing() {
			return m.press(k)
		}
		m.say("pasted text is no key: / or : opens a line for it")
		return nil
	}
	var cmds []tea.Cmd
	for _, r := range k.Runes {
		one := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: k.Alt}
		if r == ' ' {
			one.Type = tea.KeySpace
		}
		cmds = append(cmds, m.press(one))
		if m.quitting {
			break
		}
	}
	return tea.Batch(cmds...)
}

// typing says whether the screen on top takes every key itself.
func (m *Model) typing() bool {
	t, ok := m.top().(typing)
	return ok && t.typing()
}

// press answers a key: the one that always ends, then whoever is on top.
func (m *Model) press(k tea.KeyMsg) tea.Cmd {
	if k.Type == tea.KeyCtrlJ { // Enter, typed before the terminal was the browser's
		k.Type = tea.KeyEnter
	}
	if key.Matches(k, m.keys.stop) {
		return m.leave()
	}
	switch {
	case m.help != nil:
		if m.help.press(k, &m.keys) {
			m.help = nil
		}
		return nil
	case m.prompt != nil:
		return m.pressPrompt(k)
	}
	if t, ok := m.top().(typing); ok && t.typing() {
		return t.typed(k)
	}
	said := m.flashAt
	cmd, ok := perform(k, m.top().actions())
	if !ok {
		cmd, ok = perform(k, m.common())
	}
	if ok {
		m.hushOld(said)
	}
	return cmd
}

// common are the keys of every screen.
func (m *Model) common() []action {
	k := &m.keys
	return []action{
		act(k.filter, "filter", func() tea.Cmd { m.beginFilter(); return nil }),
		act(k.jump, "jump", func() tea.Cmd { m.prompt = newPrompt(':', ""); return nil }),
		act(k.commandLine, "", m.showCommand),
		act(k.undo, "", m.undo),
		act(k.audit, "", func() tea.Cmd { return m.auditNow() }),
		act(k.refresh, "", func() tea.Cmd { return m.refresh(true) }),
		act(k.help, "help", func() tea.Cmd { m.help = newHelp(m); return nil }),
		act(k.back, "back", m.escape),
		act(k.quit, "", m.quit),
		act(k.stop, "", nil),
	}
}

// wanted asks for what the screen on top needs after one has moved in it.
func (m *Model) wanted() tea.Cmd {
	if w, ok := m.top().(wanting); ok {
		return w.want()
	}
	return nil
}

// escape clears the filter, then goes back. It never quits.
func (m *Model) escape() tea.Cmd {
	if f, ok := m.top().(filtered); ok && f.filter() != "" {
		_ = f.setFilter("") // no filter is always one
		return m.wanted()
	}
	cmd, _ := m.back()
	return cmd
}

func (m *Model) quit() tea.Cmd {
	if cmd, went := m.back(); went {
		return cmd
	}
	return m.leave()
}

// leave ends the browser, unless the screen on top may not be left.
func (m *Model) leave() tea.Cmd {
	if words := m.stuck(); words != "" {
		m.say(words)
		return nil
	}
	m.quitting = true
	m.cancel()
	return tea.Quit
}

// showCommand shows the command line that does the same; asked twice, it copies it.
func (m *Model) showCommand() tea.Cmd {
	line := m.top().command()
	shown := m.lineShown(line)
	switch {
	case line == "":
		m.say(cmp.Or(m.uncommanded(), "no command does this"))
	case m.flash == shown:
		return copyText(m.opt.Out, "the command line", line)
	default:
		m.say(shown)
	}
	return nil
}

// uncommanded says why no command does what the screen on top shows; "" where it
// does not say.
func (m *Model) uncommanded() string {
	if p, ok := m.top().(*planScreen); ok && p.plan != nil {
		return p.plan.NoCommand
	}
	return ""
}
