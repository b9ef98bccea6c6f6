package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/idemctl/idemctl/internal/visible"
)

const (
	// leastWidth and leastHeight are what anything can be shown in at all.
	leastWidth  = 20
	leastHeight = 5
	// slowAfter is how long an answer is waited for before that is said.
	slowAfter = 2
	maxFlash  = 5 // lines of what is said
	// usualAge is the cells that an age takes, so that what is beside it does not come
	// and go with every second.
	usualAge = len("! 59s ago")
)

// View draws the browser.
func (m *Model) View() string {
	if m.quitting {
		return ""
	}
	w, h := m.width, m.height
	if w < leastWidth || h < leastHeight {
		return strings.Join(padded(tooSmall(w, h), h), "\n")
	}
	top := append([]string{m.header(w), m.path(w)}, m.banners(w)...)
	bottom := m.footer(w)
	room := h - len(top) - len(bottom)
	if room < 1 {
		top, room = top[:1], max(0, h-1-len(bottom))
	}
	var body []string
	if m.help != nil {
		body = m.help.body(&m.theme, w, room)
	} else {
		body = m.top().body(w, room)
	}
	lines := append(append(top, padded(body, room)...), bottom...)
	for i := range lines {
		lines[i] = clip(lines[i], w)
	}
	return strings.Join(padded(lines, h), "\n")
}

// tooSmall asks for room.
func tooSmall(w, h int) []string {
	if w < 1 || h < 1 {
		return nil
	}
	lines := visible.Wrap("idemctl needs a larger window: 40×12 or more", w)
	for i := range lines {
		lines[i] = visible.Fit(lines[i], w)
	}
	return padded(lines, min(h, len(lines)))
}

// badge is the context with how dangerous it is, by colour, shape and letter.
func (m *Model) badge(width int) string {
	p := m.backend.Place()
	name := p.Context
	if name == "" {
		name = "no context"
	}
	name = visible.Fit(safe(name), width)
	switch {
	case p.Protected:
		return m.theme.danger.Render(" ▲P " + name + " ")
	case p.ReadOnly:
		return m.theme.safe.Render(" ○R " + name + " ")
	}
	return m.theme.open.Render(" ◆O " + name + " ")
}

// header says where one is, how old what is shown is, and what may be done.
func (m *Model) header(w int) string {
	p := m.backend.Place()
	mode := m.theme.safe.Render(" READ ONLY ")
	if m.writable() == "" {
		mode = m.theme.danger.Render(" WRITE ")
	}
	s := m.top().shown()
	age := m.age(s)
	right := age + " " + mode
	left := m.badge(max(4, w/3))
	room := w - max(ansi.StringWidth(age), usualAge) - 1 - ansi.StringWidth(mode)
	for _, more := range []string{"  " + safe(p.Redis), "  " + ledgerWords(p.Ledgers)} {
		if ansi.StringWidth(left)+visible.Width(more)+2 <= room {
			left += m.theme.dim.Render(more)
		}
	}
	if ansi.StringWidth(left)+1+ansi.StringWidth(right) > w {
		right = mode
	}
	return sides(left, right, w)
}

// age says how old what is drawn is, or why nothing is.
func (m *Model) age(s shown) string {
	_, waits := m.top().papers().oldest()
	switch {
	case s.at.IsZero() && s.unread == nil && (!waits.IsZero() || m.root.waits(slotCounts) || m.root.waits(slotAudit)):
		return m.theme.dim.Render("reading …")
	case s.at.IsZero():
		return m.theme.warn.Render("! not read")
	case len(m.troubles) > 0:
		return m.theme.warn.Render("! " + ago(s.at, m.now()))
	}
	return m.theme.dim.Render(ago(s.at, m.now()))
}

func ledgerWords(names []string) string {
	switch len(names) {
	case 0:
		return "no ledger"
	case 1:
		return "ledger " + safe(names[0])
	}
	return "ledgers " + safe(strings.Join(names, ", "))
}

// banners say which sources are slow or lost. What is shown stays, and its age with
// it.
func (m *Model) banners(w int) []string {
	var out []string
	for _, source := range sortedKeys(m.troubles) {
		if len(out) < 2 {
			out = append(out, m.theme.banner.Render(clip(" ! "+m.troubleWords(source), w)))
		}
	}
	what, since := m.top().papers().oldest(slotDossier, slotLocks, slotPlan, slotApply, slotAnew)
	if s, c := m.root.oldest(slotAudit, slotText, slotContext); since.IsZero() || !c.IsZero() && c.Before(since) {
		what, since = s, c
	}
	if wait := m.now().Sub(since); !since.IsZero() && wait.Seconds() >= slowAfter && len(out) == 0 {
		out = append(out, m.theme.banner.Render(clip(" ! slow: no answer for "+span(wait)+" from "+m.waitedFor(what), w)))
	}
	return out
}

// footer is a line being typed, what is said, or the keys of most use.
func (m *Model) footer(w int) []string {
	switch {
	case m.prompt != nil:
		return []string{m.prompt.view(m.hub, w)}
	case m.typing():
		return []string{m.theme.dim.Render("enter goes on, esc does not")}
	case m.help != nil:
		return []string{m.theme.dim.Render("any other key closes the help")}
	case m.flash != "":
		var lines []string
		for _, l := range visible.Wrap(m.flash, w-2) {
			lines = append(lines, m.theme.note.Render("» ")+l)
		}
		if most := min(maxFlash, max(1, m.height-leastHeight)); len(lines) > most {
			lines = lines[:most]
		}
		return lines
	}
	return []string{m.hints(w)}
}

// hints are the keys of most use, as many as there is room for; the one that shows
// all of them is always among them.
func (m *Model) hints(w int) string {
	draw := func(a *action) string {
		return m.theme.key.Render(a.Help().Key) + " " + m.theme.dim.Render(a.hint)
	}
	last := act(m.keys.help, "help", nil)
	room := w - 2 - ansi.StringWidth(draw(&last))
	line := ""
	for _, a := range append(m.top().actions(), m.common()...) {
		if a.hint == "" || m.idle(&a) || !a.Enabled() || a.Help() == last.Help() {
			continue
		}
		text := draw(&a)
		if ansi.StringWidth(line)+ansi.StringWidth(text) > room {
			break
		}
		line += text + "  "
	}
	return line + draw(&last)
}

// idle says that a key of every screen does nothing on this one.
func (m *Model) idle(a *action) bool {
	_, filters := m.top().(filtered)
	switch a.Help() {
	case m.keys.filter.Help():
		return !filters
	case m.keys.back.Help():
		return len(m.stack) == 1
	}
	return false
}
