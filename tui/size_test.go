package tui

import tea "github.com/charmbracelet/bubbletea"

func size(w, h int) tea.WindowSizeMsg { return tea.WindowSizeMsg{Width: w, Height: h} }

func (d *driver) click(line int) {
	d.send(tea.MouseMsg{X: 3, Y: line, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	d.View()
}

func (d *driver) scroll() {
	d.send(tea.MouseMsg{Button: tea.MouseButtonWheelDown, Action: tea.MouseActionPress})
	d.View()
}
