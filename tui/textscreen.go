package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/internal/visible"
)

// textScreen shows a text where there is no pager.
type textScreen struct {
	*hub
	desk  *desk
	title string
	text  []string
	pane  pane
}

func newTextScreen(h *hub, title, text string) *textScreen {
	return &textScreen{hub: h, desk: h.newDesk(), title: title, text: strings.Split(strings.TrimRight(text, "\n"), "\n")}
}

func (s *textScreen) papers() *desk        { return s.desk }
func (s *textScreen) name() string         { return s.title }
func (s *textScreen) begin() tea.Cmd       { return nil }
func (s *textScreen) again() tea.Cmd       { return nil }
func (s *textScreen) answer(reply) tea.Cmd { return nil }
func (s *textScreen) command() string      { return "" }
func (s *textScreen) shown() shown         { return shown{at: s.now(), words: s.pane.where()} }

func (s *textScreen) actions() []action {
	return s.keys.moves(&s.pane.list, func() tea.Cmd { return nil })
}

func (s *textScreen) body(width, height int) []string {
	var lines []string
	for _, l := range s.text {
		lines = append(lines, visible.Wrap(safe(l), width)...)
	}
	return s.pane.body(lines, height)
}
