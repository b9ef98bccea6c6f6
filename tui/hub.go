package tui

import (
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/idemctl/idemctl/reconcile"
)

// screen is one page of the browser. It draws what it was told last, and asks its
// desk for what it needs.
type screen interface {
	// name is the screen's part of the path above it.
	name() string
	// begin asks for what is shown first; again for what may have changed since.
	begin() tea.Cmd
	again() tea.Cmd
	// answer takes a reply that the desk has waited for.
	answer(r reply) tea.Cmd
	// actions are the screen's keys, as they are now.
	actions() []action
	// body draws the screen in at most height lines of at most width cells.
	body(width, height int) []string
	// shown says what is known of what is drawn.
	shown() shown
	// command is the command line that shows the same; "" for none.
	command() string
	papers() *desk
}

// shown is what the frame says of a screen.
type shown struct {
	at    time.Time // when what is drawn was read; zero: nothing was yet
	words string    // position, marks and the like: what is never left out
	// more is said where there is room for it; what comes first stays longest.
	more   []string
	filter string // as it was typed; it is cut where there is little room
	busy   string // what is under way, in words; "" for nothing
	// unread says that nothing is drawn since it could not be read.
	unread error
}

// filtered is a screen that "/" narrows.
type filtered interface {
	filter() string
	// setFilter is refused with an error where the text is no filter.
	setFilter(text string) error
}

// wanting is a screen that needs more when one has moved in it.
type wanting interface {
	want() tea.Cmd
}

// typing is a screen that takes every key itself for now, as a line being typed.
type typing interface {
	typing() bool
	typed(k tea.KeyMsg) tea.Cmd
}

// leaving is a screen that may refuse to be left.
type leaving interface {
	// mayLeave says why not; "" lets it go.
	mayLeave() string
}

// clicked is a screen that a mouse can point into.
type clicked interface {
	// click is told a line of its body.
	click(line int)
}

// hub is what the screens share.
type hub struct {
	opt     Options
	backend Backend
	keys    keyMap
	// renderer is what the theme paints with: it knows the terminal's background.
	renderer *lipgloss.Renderer
	theme    theme
	ctx      context.Context
	cancel   context.CancelFunc

	numbers uint64 // of requests
	desks   int
	root    *desk
	stack   []screen

	width, height int

	// counts is what the queues held last, and before is what they held at the refresh
	// before that.
	counts, before *Counts
	countsAt       time.Time // by this machine's clock
	// audit is the last one; news says which of its groups the one before had not.
	audit   *Audit
	auditAt time.Time
	// auditTried is when the last one ended, well or not.
	auditTried time.Time
	news       map[string]bool
	progress   *reconcile.Progress // of an audit under way
	refused    error               // of the last audit

	// refreshed is when what is shown was asked for last.
	refreshed time.Time
	// unread is why the counts could not be read last; nil: they were.
	unread error

	troubles map[string]trouble
	// answered is when a source answered last; pinged is when the ledgers did, or
	// did not.
	answered map[string]time.Time
	pinged   time.Time

	flash   string
	flashAt time.Time
}

func (h *hub) now() time.Time { return h.opt.Now() }

// triedAgain says when what failed is tried again.
func (h *hub) triedAgain() string {
	if wait := h.refreshed.Add(h.opt.Refresh).Sub(h.now()); wait >= time.Second {
		return "it is tried again in " + span(wait)
	}
	return "it is tried again now"
}

// redisNow is about what Redis's clock says: times of tasks are measured by it.
func (h *hub) redisNow() time.Time {
	if h.counts == nil || h.counts.At.IsZero() {
		return h.now()
	}
	return h.counts.At.Add(h.now().Sub(h.countsAt))
}

func (h *hub) newDesk() *desk {
	h.desks++
	return newDesk(h.ctx, h.desks, &h.numbers, h.now)
}

func (h *hub) top() screen { return h.stack[len(h.stack)-1] }

// maxDepth bounds how many screens lie on each other.
const maxDepth = 24

// open puts a screen on top.
func (h *hub) open(s screen) tea.Cmd {
	if len(h.stack) >= maxDepth {
		h.stack[1].papers().close()
		h.stack = slices.Delete(h.stack, 1, 2)
	}
	h.stack = append(h.stack, s)
	h.hush()
	return s.begin()
}

// jumpTo goes to a screen from wherever one is; back then leads to the overview.
func (h *hub) jumpTo(s screen) tea.Cmd {
	if words := h.stuck(); words != "" {
		h.say(words)
		s.papers().close()
		return nil
	}
	for _, old := range h.stack[1:] {
		old.papers().close()
	}
	h.stack = h.stack[:1]
	h.hush()
	if s == h.stack[0] {
		return s.again()
	}
	return h.open(s)
}

// stuck says why the screen on top cannot be left.
func (h *hub) stuck() string {
	if l, ok := h.top().(leaving); ok {
		return l.mayLeave()
	}
	return ""
}

// back leaves the screen on top; the last one is not left by it.
func (h *hub) back() (tea.Cmd, bool) {
	if words := h.stuck(); words != "" {
		h.say(words)
		return nil, true
	}
	if len(h.stack) == 1 {
		return nil, false
	}
	h.top().papers().close()
	h.stack = h.stack[:len(h.stack)-1]
	h.hush()
	return h.top().again(), true
}

// writable says why nothing may be changed; "" where it may.
func (h *hub) writable() string {
	p := h.backend.Place()
	switch {
	case !p.Writable:
		return p.Because
	case h.backend.Changes() == nil:
		return "this program cannot change tasks"
	}
	return ""
}

// queueNames are the queues that are known, in order.
func (h *hub) queueNames() []string {
	if h.counts == nil {
		return nil
	}
	names := make([]string, len(h.counts.Queues))
	for i, q := range h.counts.Queues {
		names[i] = q.Name
	}
	return names
}
