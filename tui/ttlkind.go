package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/internal/visible"
	"github.com/idemctl/idemctl/timeline"
)

// ttlOne is the life of one type's tasks as a timeline. Its parameters can be
// changed, and the answer moves.
type ttlOne struct {
	*hub
	desk   *desk
	kind   ttlKind
	params retry.Params
	answer1
	list list // of parameters
}

// answer1 is what follows from the parameters.
type answer1 struct {
	attempts  []retry.Attempt
	advice    retry.Advice
	unbounded []retry.Reason
	err       error
}

func newTTLKind(h *hub, k ttlKind) *ttlOne {
	s := &ttlOne{hub: h, desk: h.newDesk(), kind: k, params: k.params}
	if k.inUse != nil { // which is not what is declared, where the locks say otherwise
		ttl := *k.inUse
		s.params.UniqueTTL = &ttl
	}
	// What holds for the queue and its tasks now bounds nothing, whatever is turned.
	s.params.QueuePaused = s.params.QueuePaused || k.facts.Paused
	s.params.Unserved = s.params.Unserved || k.facts.Servers == 0
	s.params.IsFailureMayBeFalse = s.params.IsFailureMayBeFalse || k.facts.Uncounted > 0
	s.kind.params = s.params
	s.list.resize(len(knobs), len(knobs))
	s.compute()
	return s
}

func (s *ttlOne) papers() *desk        { return s.desk }
func (s *ttlOne) name() string         { return s.kind.Type }
func (s *ttlOne) begin() tea.Cmd       { return nil }
func (s *ttlOne) again() tea.Cmd       { return nil }
func (s *ttlOne) answer(reply) tea.Cmd { return nil }

func (s *ttlOne) shown() shown {
	out := shown{at: s.auditAt, words: safe(s.kind.Queue)}
	if s.changed() {
		out.words += " · changed; 0 goes back"
	}
	return out
}

// changed says whether a parameter is not what it was.
func (s *ttlOne) changed() bool {
	for _, k := range knobs {
		if k.show(&s.params) != k.show(&s.kind.params) {
			return true
		}
	}
	return false
}

// compute works out what follows; it is quick, and reads nothing.
func (s *ttlOne) compute() {
	s.answer1 = answer1{unbounded: s.params.Unbounded()}
	if s.attempts, s.err = s.params.Attempts(); s.err == nil {
		s.advice, s.err = s.params.Advise()
	}
}

func (s *ttlOne) actions() []action {
	k := &s.keys
	turn := func(by int) func() tea.Cmd {
		return func() tea.Cmd {
			knobs[s.list.cursor].turn(&s.params, by)
			s.compute()
			return nil
		}
	}
	out := []action{
		act(k.more, "more", turn(1)),
		act(k.less, "less", turn(-1)),
		act(k.reset, "as declared", func() tea.Cmd { s.params = s.kind.params; s.compute(); return nil }),
	}
	return append(out, k.moves(&s.list, func() tea.Cmd { return nil })...)
}

func (s *ttlOne) body(width, height int) []string {
	w := &writer{theme: &s.theme, width: width}
	s.words(w)
	s.list.resize(len(knobs), len(knobs))
	for i, k := range knobs {
		text, was := k.show(&s.params), k.show(&s.kind.params)
		if text == "" {
			text = "none"
		}
		note := ""
		if text != was && was != "" {
			note = "  was " + was
		}
		line := visible.Pad(k.name, 14) + "‹ " + safe(text) + " ›" + note
		if i == s.list.cursor {
			w.raw(s.theme.cursor.Render(clip("▸ "+line, width)))
		} else {
			w.raw("  " + line)
		}
	}
	if s.err != nil {
		return w.lines
	}
	w.blank()
	t := timeline.Timeline{Attempts: s.attempts, End: s.attempts[len(s.attempts)-1].LatestEnd}
	if u := s.params.UniqueTTL; u != nil {
		if ttl, _, err := retry.LockTTL(*u, s.params.ProcessIn); err == nil {
			t.Lock = ttl
		}
	}
	for _, l := range t.Draw(width, max(3, height-len(w.lines)-4)) {
		w.raw(s.painted(l))
	}
	return w.lines
}

// words say what the parameters come to.
func (s *ttlOne) words(w *writer) {
	if len(s.unbounded) > 0 || s.kind.safe == 0 && !s.changed() || s.contradicted() {
		s.doubts(w)
		return
	}
	switch {
	case s.err != nil:
		w.hang(s.theme.warn.Render("! "), 2, sentence(safe(s.err.Error())), nil)
	case s.advice.Go == "":
		w.hang(s.theme.bad.Render("✗ "), 2, "No time is long enough: lower the retries, or cap the delay.", nil)
	default:
		w.hang(s.theme.good.Render("✓ "), 2, fmt.Sprintf("%s outlives every task (proven: %s).", s.advice.Go, timeline.Clock(s.advice.Safe, timeline.RoundUp)), s.theme.boldText)
	}
	if u := s.params.UniqueTTL; u != nil && s.err == nil {
		if *u < s.advice.Safe {
			w.hang(s.theme.bad.Render("▲ "), 2, fmt.Sprintf("The lock in use, %s, is too short by up to %s.", timeline.Clock(*u, timeline.RoundDown), timeline.Clock(s.advice.Safe-*u, timeline.RoundUp)), nil)
		} else {
			w.hang(s.theme.good.Render("✓ "), 2, fmt.Sprintf("The lock in use, %s, is long enough.", timeline.Clock(*u, timeline.RoundDown)), nil)
		}
	}
	w.blank()
}

// contradicted says whether the delays that were seen refute the policy as it stands:
// other parameters can be turned, and prove nothing.
func (s *ttlOne) contradicted() bool { return s.kind.contradicted(s.params.Delay) }

// doubts say why nobody can say how long a lock must live: no number stands beside
// them.
func (s *ttlOne) doubts(w *writer) {
	for _, r := range s.unbounded {
		w.hang(s.theme.warn.Render("! "), 2, sentence("not bounded: "+safe(r.Text)), nil)
	}
	switch {
	case s.contradicted():
		w.hang(s.theme.warn.Render("! "), 2, sentence("nobody can say: delays that were seen contradict the policy "+safe(s.params.Delay.String())+"; turn to the true one, or declare it (policy.retry)"), nil)
	case len(s.unbounded) == 0:
		w.hang(s.theme.warn.Render("! "), 2, sentence("nobody can say: "+safe(s.kind.why)), nil)
	}
	w.blank()
}

// painted gives the parts of a drawing their colours.
func (s *ttlOne) painted(l timeline.Line) string {
	var b strings.Builder
	styles := map[timeline.Role]lipgloss.Style{
		timeline.RoleLabel: s.theme.dim, timeline.RoleAxis: s.theme.dim, timeline.RoleStart: s.theme.note,
		timeline.RoleRun: s.theme.note, timeline.RoleLate: s.theme.bad, timeline.RoleLock: s.theme.warn, timeline.RoleNow: s.theme.bold,
	}
	for _, sp := range l {
		if style, ok := styles[sp.Role]; ok {
			b.WriteString(style.Render(sp.Text))
		} else {
			b.WriteString(sp.Text)
		}
	}
	return b.String()
}
