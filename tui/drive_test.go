package tui

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

// driver runs a browser without a program: messages go in one by one, and commands
// are carried out when the test says so.
type driver struct {
	*Model
	t    testing.TB
	fake *fake
	at   time.Time
	out  strings.Builder // what was written to the terminal beside the screen
	// held are commands that wait, when hold is set.
	hold    bool
	held    []tea.Cmd
	quit    bool
	execs   int
	pressed map[string]bool // screens with keys; nil: nobody counts
}

func drive(t testing.TB, f *fake, change ...func(*Options)) *driver {
	t.Helper()
	d := &driver{t: t, fake: f, at: noon}
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.Ascii)
	r.SetHasDarkBackground(true)
	o := Options{Out: &d.out, Now: func() time.Time { return d.at }, UTC: true, renderer: r, tick: func() tea.Cmd { return nil }}
	for _, c := range change {
		c(&o)
	}
	d.Model = New(t.Context(), f, o)
	t.Cleanup(d.cancel)
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.run(d.Init())
	d.View()
	return d
}

// run carries a command out, and all that follows from it.
func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	if d.hold {
		d.held = append(d.held, cmd)
		return
	}
	d.take(cmd())
}

// take hands a message over, as the program does.
func (d *driver) take(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case tea.QuitMsg:
		d.quit = true
	default:
		if strings.Contains(reflect.TypeOf(msg).String(), "execMsg") {
			d.execs++ // a pager has the terminal
			return
		}
		d.send(msg)
	}
}

func (d *driver) send(msg tea.Msg) {
	_, cmd := d.Update(msg)
	d.run(cmd)
}

// answers carries out what was held, and keeps what came of it.
func (d *driver) answers() []tea.Msg {
	held := d.held
	d.held, d.hold = nil, false
	var out []tea.Msg
	for len(held) > 0 {
		c := held[0]
		held = held[1:]
		switch msg := c().(type) {
		case tea.BatchMsg:
			for _, c := range msg {
				if c != nil {
					held = append(held, c)
				}
			}
		default:
			out = append(out, msg)
		}
	}
	return out
}

// release carries out what was held.
func (d *driver) release() {
	d.hold = false
	held := d.held
	d.held = nil
	for _, c := range held {
		d.run(c)
	}
}

// keys presses keys: names as bubbletea has them in <>, else each character.
func (d *driver) keys(text string) *driver {
	d.t.Helper()
	for text != "" {
		if text[0] == '<' {
			if end := strings.IndexByte(text, '>'); end > 1 {
				d.press1(keyNamed(d.t, text[1:end]))
				d.View()
				text = text[end+1:]
				continue
			}
		}
		r := []rune(text)[0]
		d.press1(runeKey(r))
		d.View()
		text = text[len(string(r)):]
	}
	return d
}

// press1 presses one key.
func (d *driver) press1(k tea.KeyMsg) {
	if d.pressed != nil && d.prompt == nil && d.help == nil && !d.typing() {
		d.pressed[fmt.Sprintf("%T %s", d.top(), k)] = true
	}
	d.send(k)
}

func runeKey(r rune) tea.KeyMsg {
	if r == ' ' {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}
}

var keyTypes = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "backspace": tea.KeyBackspace,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
	"ctrl+c": tea.KeyCtrlC, "ctrl+d": tea.KeyCtrlD, "ctrl+u": tea.KeyCtrlU, "ctrl+r": tea.KeyCtrlR,
	"ctrl+f": tea.KeyCtrlF, "ctrl+b": tea.KeyCtrlB, "ctrl+w": tea.KeyCtrlW, "ctrl+\\": tea.KeyCtrlBackslash,
	"shift+tab": tea.KeyShiftTab, "f5": tea.KeyF5, "lt": -1, "gt": -2,
}

func keyNamed(t testing.TB, name string) tea.KeyMsg {
	kind, ok := keyTypes[name]
	switch {
	case !ok:
		t.Fatalf("no key %q", name)
	case name == "lt":
		return runeKey('<')
	case name == "gt":
		return runeKey('>')
	}
	return tea.KeyMsg{Type: kind}
}

// wait lets time go by, second by second.
func (d *driver) wait(by time.Duration) *driver {
	for range int(by / time.Second) {
		d.at = d.at.Add(time.Second)
		d.send(second(d.at))
	}
	d.View()
	return d
}

// screen is what is seen, without its paint.
func (d *driver) screen() string {
	return ansi.Strip(d.View())
}

// sees fails unless every text is on the screen.
func (d *driver) sees(texts ...string) *driver {
	d.t.Helper()
	s := d.screen()
	for _, text := range texts {
		if !strings.Contains(s, text) {
			d.t.Errorf("the screen lacks %q:\n%s", text, s)
		}
	}
	return d
}

// lacks fails if one of the texts is on the screen.
func (d *driver) lacks(texts ...string) *driver {
	d.t.Helper()
	s := d.screen()
	for _, text := range texts {
		if strings.Contains(s, text) {
			d.t.Errorf("the screen has %q:\n%s", text, s)
		}
	}
	return d
}

// cursor is the line under the cursor; "" for none.
func (d *driver) cursor() string {
	for _, l := range strings.Split(d.screen(), "\n") {
		if strings.HasPrefix(l, "▸") {
			return l
		}
	}
	return ""
}

// on fails unless the line under the cursor holds the text.
func (d *driver) on(text string) *driver {
	d.t.Helper()
	if !strings.Contains(d.cursor(), text) {
		d.t.Errorf("the cursor is on %q, not on %q:\n%s", d.cursor(), text, d.screen())
	}
	return d
}

// line is the first line of the screen that holds the text.
func (d *driver) line(text string) string {
	d.t.Helper()
	for l := range strings.Lines(d.screen()) {
		if strings.Contains(l, text) {
			return l
		}
	}
	d.t.Fatalf("no line has %q:\n%s", text, d.screen())
	return ""
}
