package tui

import tea "github.com/charmbracelet/bubbletea"

// wheel is how many lines a mouse's wheel moves.
const wheel = 3

// mouse lets the wheel move and a click select. Only a browser that was told to
// listens to mice.
func (m *Model) mouse(e tea.MouseMsg) tea.Cmd {
	if !m.opt.Mouse || m.prompt != nil {
		return nil
	}
	switch e.Button {
	case tea.MouseButtonWheelUp, tea.MouseButtonWheelDown:
		k := tea.KeyMsg{Type: tea.KeyDown}
		if e.Button == tea.MouseButtonWheelUp {
			k.Type = tea.KeyUp
		}
		var cmds []tea.Cmd
		for range wheel {
			cmds = append(cmds, m.press(k))
		}
		return tea.Batch(cmds...)
	case tea.MouseButtonLeft:
		if c, ok := m.top().(clicked); ok && m.help == nil && e.Action == tea.MouseActionPress {
			c.click(e.Y - 2 - len(m.banners(m.width)))
			return m.wanted()
		}
	}
	return nil
}
