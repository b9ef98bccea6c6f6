package tui

import (
	"bytes"
	"io"
	"runtime"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Which colours suit is the terminal's to say (OSC 11). It is asked and not waited
// for: the browser begins with a guess, the answer is taken out of what is typed
// whenever it comes, and a terminal that never answers costs nothing. Nothing that
// was typed meanwhile is lost.

// background is what the terminal says of itself.
type background struct{ dark bool }

// rendererOf suits the terminal as far as the environment tells.
func rendererOf(o *Options) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(o.Out)
	if o.Plain {
		r.SetColorProfile(termenv.Ascii)
	}
	r.SetHasDarkBackground(!lightByEnvironment(o.env("COLORFGBG")))
	return r
}

// lightByEnvironment reads COLORFGBG as rxvt, Konsole and others set it, "0;15" or
// "0;default;15": the last number is the background's.
func lightByEnvironment(value string) bool {
	last := value[strings.LastIndex(value, ";")+1:]
	n, err := strconv.Atoi(last)
	return err == nil && (n == 7 || n > 8 && n < 16)
}

// askBackground asks the terminal.
func askBackground(w io.Writer) tea.Cmd {
	return func() tea.Msg {
		_, _ = io.WriteString(w, "\x1b]11;?\x1b\\")
		return nil
	}
}

// terminal is what bubbletea takes for one: it makes that raw, and can stop reading
// it when a pager is to have it.
type terminal interface {
	io.ReadWriteCloser
	Fd() uintptr
	Name() string
}

// ear is a terminal's input without the answer to that question.
type ear struct {
	terminal
	hears func(background)
	held  []byte // the beginning of what may be the answer
	heard bool
}

// listens is the input with an ear, where it is a terminal that answers there.
func listens(in io.Reader, o *Options, hears func(background)) (*ear, bool) {
	t, ok := in.(terminal)
	if !ok || o.Plain || runtime.GOOS == "windows" {
		return nil, false
	}
	return &ear{terminal: t, hears: hears}, true
}

// answer begins the answer; mostAnswer is how long one is at most.
const (
	answer     = "\x1b]11;"
	mostAnswer = 64
)

// Read reads what was typed. It waits once: an answer alone is no text at all.
func (e *ear) Read(p []byte) (int, error) {
	if e.heard && len(e.held) == 0 || len(p) <= mostAnswer {
		return e.terminal.Read(p)
	}
	n, err := e.terminal.Read(p[len(e.held):])
	copy(p, e.held)
	n = max(n, 0) + len(e.held)
	e.held = nil
	typed := e.listen(p[:n])
	return copy(p, typed), err
}

// listen takes the answer out, and holds back what may become it.
func (e *ear) listen(text []byte) []byte {
	at := bytes.Index(text, []byte(answer))
	if e.heard {
		return text
	}
	if at < 0 {
		for n := len(answer) - 1; n >= 2; n-- { // an escape alone is a key
			if bytes.HasSuffix(text, []byte(answer[:n])) {
				return e.hold(text, len(text)-n)
			}
		}
		return text
	}
	rest := text[at+len(answer):]
	end := bytes.IndexAny(rest, "\x07\x1b")
	ends := 1
	if end >= 0 && rest[end] == '\x1b' {
		ends = 2
	}
	switch {
	case len(rest) > mostAnswer && (end < 0 || end > mostAnswer):
		e.heard = true // it is none
		return text
	case end < 0 || end+ends > len(rest):
		return e.hold(text, at)
	}
	e.heard = true
	if dark, ok := darkOf(string(rest[:end])); ok {
		e.hears(background{dark})
	}
	return append(bytes.Clone(text[:at]), rest[end+ends:]...)
}

func (e *ear) hold(text []byte, from int) []byte {
	if len(text)-from > mostAnswer {
		e.heard = true
		return text
	}
	e.held = bytes.Clone(text[from:])
	return text[:from]
}

// darkOf reads a colour as X11 writes it, rgb:ffff/ffff/ffff in one to four digits.
func darkOf(colour string) (dark, ok bool) {
	_, values, ok := strings.Cut(colour, ":")
	parts := strings.Split(values, "/")
	if !ok || len(parts) < 3 {
		return false, false
	}
	least, most := 1.0, 0.0
	for _, part := range parts[:3] {
		n, err := strconv.ParseUint(part, 16, 16)
		if err != nil {
			return false, false
		}
		share := float64(n) / float64(uint64(1)<<(4*len(part))-1)
		least, most = min(least, share), max(most, share)
	}
	return (least+most)/2 < 0.5, true
}
