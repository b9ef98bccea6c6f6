package tui

import (
	"strings"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/internal/visible"
)

// prompt is the line at the bottom that is being typed.
type prompt struct {
	sign  byte // ':' jumps, '/' filters
	input textinput.Model
	err   string // why what was typed cannot be done
}

// maxTyped bounds what can be typed or pasted.
const maxTyped = 2000

func newInput(value string) textinput.Model {
	in := textinput.New()
	in.Prompt = ""
	in.CharLimit = maxTyped
	in.Cursor.SetMode(cursor.CursorStatic) // a blinking one is a message a blink
	in.SetValue(value)
	in.CursorEnd()
	in.Focus()
	return in
}

func newPrompt(sign byte, value string) *prompt {
	return &prompt{sign: sign, input: newInput(value)}
}

// typedLine shows a line being typed with its cursor, in so many cells: its end,
// where it is longer. Without colours the cursor is a bar between the characters.
func (t *theme) typedLine(in *textinput.Model, cells int) string {
	runes := []rune(in.Value())
	at := min(in.Position(), len(runes))
	before, after := safe(string(runes[:at])), safe(string(runes[at:]))
	if over := visible.Width(before) - max(1, cells-2); over > 0 {
		_, before = visible.Split(before, over+1)
		before = visible.Ellipsis + before
	}
	after = visible.Fit(after, max(0, cells-1-visible.Width(before)))
	if t.plain {
		return before + "▏" + after
	}
	under, rest := visible.Split(after, 1)
	if under == "" {
		under, rest = " ", after
	}
	return t.bold.Render(before) + t.tab.Render(under) + t.bold.Render(rest)
}

// beginFilter opens the filter's line where there is anything to filter.
func (m *Model) beginFilter() {
	if f, ok := m.top().(filtered); ok {
		m.prompt = newPrompt('/', f.filter())
		return
	}
	m.say("nothing to filter here")
}

// pressPrompt answers a key while a line is typed.
func (m *Model) pressPrompt(k tea.KeyMsg) tea.Cmd {
	p := m.prompt
	switch k.Type {
	case tea.KeyEsc:
		m.prompt = nil
		return nil
	case tea.KeyEnter:
		return m.endPrompt()
	case tea.KeyTab:
		if p.sign == ':' {
			p.complete(m.hub)
		}
		return nil
	case tea.KeyBackspace:
		if p.input.Value() == "" {
			m.prompt = nil
			return nil
		}
	}
	var cmd tea.Cmd
	p.input, cmd = p.input.Update(k)
	p.err = ""
	if p.sign == '/' {
		if _, err := parseFilter(p.input.Value()); err != nil {
			p.err = err.Error()
		}
	}
	return cmd
}

// endPrompt does what was typed.
func (m *Model) endPrompt() tea.Cmd {
	p := m.prompt
	text := strings.TrimSpace(p.input.Value())
	if p.sign == '/' {
		f, ok := m.top().(filtered)
		if !ok {
			m.prompt = nil
			return nil
		}
		if err := f.setFilter(text); err != nil {
			p.err = err.Error()
			return nil
		}
		m.prompt = nil
		return m.wanted()
	}
	if text == "" {
		m.prompt = nil
		return nil
	}
	go1, err := m.destination(text)
	if err != "" {
		p.err = err
		return nil
	}
	m.prompt = nil
	return go1()
}

// view draws the line. What is wrong with it is said beside it, however long it is.
func (p *prompt) view(h *hub, width int) string {
	typed := func(cells int) string {
		return h.theme.key.Render(string(p.sign)) + h.theme.typedLine(&p.input, cells-1)
	}
	if p.err != "" {
		words := visible.Fit("✗ "+safe(p.err), max(width/2, width-4-visible.Width(safe(p.input.Value()))))
		return sides(typed(width-1-visible.Width(words)), h.theme.bad.Render(words), width)
	}
	help := "words, \"a phrase\", or e.g. retried > 3 && status == \"applied\""
	if p.sign == ':' {
		help = strings.Join(h.completions(p.input.Value(), 4), "  ")
	}
	return sides(typed(width), h.theme.dim.Render(help), width)
}
