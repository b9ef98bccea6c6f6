package tui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/internal/visible"
)

// help shows the keys of the screen below it. It is made of the actions that answer
// them, so that it cannot say anything else.
type help struct {
	title    string
	sections []helpSection
	list     list
}

type helpSection struct {
	title string
	keys  []key.Help
}

func newHelp(m *Model) *help {
	h := &help{title: m.top().name()}
	here := helpSection{title: "Here"}
	moves := helpSection{title: "Moving"}
	everywhere := helpSection{title: "Everywhere"}
	taken := map[string]bool{}
	add := func(to *helpSection, a action) {
		if !a.Enabled() || a.Help().Desc == "" || slices.Contains(to.keys, a.Help()) {
			return
		}
		for _, k := range a.Keys() {
			taken[k] = true
		}
		to.keys = append(to.keys, a.Help())
	}
	moving := m.keys.moves(&list{}, func() tea.Cmd { return nil })
	isMove := func(a action) bool {
		for _, mv := range moving {
			if mv.Help() == a.Help() {
				return true
			}
		}
		return false
	}
	for _, a := range m.top().actions() {
		if isMove(a) {
			add(&moves, a)
		} else {
			add(&here, a)
		}
	}
	for _, a := range m.common() {
		if keys := a.Keys(); len(keys) > 0 && taken[keys[0]] {
			continue // the screen means something else by it
		}
		add(&everywhere, a)
	}
	for _, s := range []helpSection{here, moves, everywhere} {
		if len(s.keys) > 0 {
			h.sections = append(h.sections, s)
		}
	}
	return h
}

// press scrolls; it says whether the help is done with.
func (h *help) press(k tea.KeyMsg, keys *keyMap) bool {
	_, moved := perform(k, keys.moves(&h.list, func() tea.Cmd { return nil }))
	return !moved
}

// body draws the help.
func (h *help) body(t *theme, width, height int) []string {
	var lines []string
	for _, s := range h.sections {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, t.title.Render(strings.ToUpper(s.title)))
		lines = append(lines, h.columns(t, s.keys, width)...)
	}
	h.list.resize(len(lines)-height+1, 1) // it scrolls as a page does
	return padded(lines[h.list.cursor:], height)
}

// columns lays keys out in as many columns as have room.
func (h *help) columns(t *theme, keys []key.Help, width int) []string {
	const keyWidth = 8
	cell := keyWidth
	for _, k := range keys {
		cell = max(cell, keyWidth+visible.Width(k.Desc)+2)
	}
	across := max(1, (width-1)/cell)
	down := (len(keys) + across - 1) / across
	lines := make([]string, down)
	for i, k := range keys {
		text := t.key.Render(visible.PadLeft(k.Key, keyWidth-2)) + "  " + k.Desc
		if across > 1 {
			text = clip(text, cell)
		}
		lines[i%down] += text
	}
	return lines
}
