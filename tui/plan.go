package tui

import (
	"fmt"
	"slices"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// planScreen is the only way to a change: it shows what would be done and what is
// held, asks for a word to be typed, and shows what becomes of every item.
type planScreen struct {
	*hub
	desk     *desk
	ask      Ask
	plan     *Plan
	line     string // the command of a plan that could not be made
	phase    phase
	progress *reconcile.Progress
	err      error // of planning, or what ended the application
	made     shown

	show     showing
	rows     []int // of plan.Items
	outcomes map[inspect.Ref]Event
	said     []string // on the run as a whole, newest last
	waiting  string   // what the run waits for
	run      string
	undoneBy string // the run that has put back what this one deleted
	done     map[Outcome]int
	spoilt   int // were done, and their work came to no good since

	list   list
	table  table
	input  *textinput.Model // what is typed to confirm; nil: nothing is asked
	typo   string
	canary int
}

// phase is how far a plan is.
type phase uint8

const (
	phasePlanning phase = iota
	phaseShown          // it is read and may be applied
	phaseApplying
	phaseApplied
	phaseFailed // it could not be made
)

// showing is which items are shown.
type showing uint8

const (
	showAll showing = iota
	showRunning
	showHeld
)

// plan opens a plan, where anything may be changed.
func (h *hub) plan(a Ask) tea.Cmd {
	if words := h.writable(); words != "" {
		h.say(words)
		return nil
	}
	return h.open(newPlanScreen(h, a))
}

func newPlanScreen(h *hub, a Ask) *planScreen {
	return &planScreen{
		hub: h, desk: h.newDesk(), ask: a, outcomes: map[inspect.Ref]Event{}, done: map[Outcome]int{},
		table: table{columns: []column{
			{title: ""}, {title: "TASK", least: 8, good: 20}, {title: "TYPE", least: 8, good: 14, spare: 5}, {title: "EFFECT", spare: 3}, {title: "WHY", least: 12, good: 24, spare: 1},
		}},
	}
}

func (s *planScreen) papers() *desk { return s.desk }
func (s *planScreen) name() string  { return "Plan " + string(s.ask.Verb) }

func (s *planScreen) begin() tea.Cmd {
	c := s.backend.Changes()
	if words := s.writable(); words != "" || c == nil {
		s.phase, s.err = phaseFailed, fmt.Errorf("%s", words)
		return nil
	}
	s.phase, s.progress, s.err, s.plan, s.line = phasePlanning, &reconcile.Progress{}, nil, nil, ""
	s.said, s.waiting, s.run, s.undoneBy, s.spoilt = nil, "", "", "", 0
	clear(s.outcomes)
	clear(s.done)
	return askPlan(s.desk, c, s.ask)
}

// again does nothing: a plan stands as it was made, and each item is judged again
// when it is applied.
func (s *planScreen) again() tea.Cmd { return nil }

func (s *planScreen) answer(r reply) tea.Cmd {
	switch v := r.value.(type) {
	case reconcile.Progress:
		s.progress = &v
	case Event:
		s.event(v)
	case applied:
		s.phase, s.waiting = phaseApplied, ""
		s.hush() // nobody stops it any more
		if r.err != nil {
			s.err = r.err
		}
		s.tellUndone()
	case *Plan:
		s.progress = nil
		if r.err != nil || v == nil {
			s.phase, s.err = phaseFailed, r.err
			s.made.at = s.now()
			if v != nil {
				s.line = v.Command
			}
			return nil
		}
		s.plan, s.phase = v, phaseShown
		s.made.at = s.now()
		s.arrange()
	default:
		if r.err != nil {
			s.err, s.progress = r.err, nil
			s.made.at = s.now()
			if s.phase = phaseFailed; r.slot == slotApply { // it broke off in the middle
				s.phase, s.waiting = phaseApplied, ""
			}
		}
	}
	return nil
}

// arrange makes the rows of what is to be shown.
func (s *planScreen) arrange() {
	s.rows = s.rows[:0]
	for i := range s.plan.Items {
		runs := s.plan.Items[i].Runs
		if s.show == showAll || runs == (s.show == showRunning) {
			s.rows = append(s.rows, i)
		}
	}
	// What would be changed comes first, in the order in which it would be.
	slices.SortStableFunc(s.rows, func(a, b int) int {
		switch x, y := s.plan.Items[a].Runs, s.plan.Items[b].Runs; {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	s.list.resize(len(s.rows), s.list.height)
}

// mayLeave keeps a plan that is being applied on the screen: leaving would end it.
func (s *planScreen) mayLeave() string {
	if s.phase == phaseApplying {
		return "it is being applied: S stops after the item under way"
	}
	return ""
}

func (s *planScreen) shown() shown {
	out := s.made
	if s.plan != nil {
		run := s.plan.Running()
		out.words = fmt.Sprintf("%s %s, hold %s", s.ask.Verb, count(run), count(len(s.plan.Items)-run))
		if s.show == showRunning {
			out.words += " · those not held"
		} else if s.show == showHeld {
			out.words += " · those held"
		}
	}
	switch s.phase {
	case phasePlanning:
		out.busy = "planning …"
		if p := s.progress; p != nil && p.Expected > 0 {
			out.busy = fmt.Sprintf("planning %d %%", min(100, p.Tasks*100/p.Expected))
		}
	case phaseApplying:
		out.busy = "applying …"
	}
	return out
}

func (s *planScreen) command() string {
	switch {
	case s.plan == nil:
		return s.line
	case s.plan.Command != "" && s.canary > 0:
		return fmt.Sprintf("%s --canary=%d", s.plan.Command, s.canary)
	}
	return s.plan.Command
}

func (s *planScreen) current() (inspect.Ref, bool) {
	if s.plan == nil || s.list.cursor >= len(s.rows) {
		return inspect.Ref{}, false
	}
	ref := s.plan.Items[s.rows[s.list.cursor]].Ref
	return ref, ref.ID != ""
}

func (s *planScreen) actions() []action {
	k := &s.keys
	var out []action
	switch s.phase {
	case phaseShown:
		if s.plan.Running() > 0 {
			out = append(out, act(k.apply, "apply", func() tea.Cmd { s.confirm(); return nil }))
			if s.plan.Canary {
				out = append(out, act(k.canary, "canary", func() tea.Cmd { s.canary = 1 - min(1, s.canary); return nil }))
			}
		}
	case phaseApplying:
		out = append(out, act(bind("stop after the item under way", "S"), "stop", func() tea.Cmd {
			s.desk.open[slotApply].cancel()
			s.say("stopping after the item under way …")
			return nil
		}))
	case phaseFailed, phaseApplied:
		out = append(out, act(named(k.refresh, "plan again"), "plan again", s.begin))
		if s.undoes() {
			out = append(out, act(named(k.undo, "plan to undo this run"), "undo", func() tea.Cmd { return s.undoRun(s.run) }))
		}
	}
	if s.plan != nil {
		out = append(out,
			act(k.only, "all/run/held", func() tea.Cmd { s.show = (s.show + 1) % 3; s.arrange(); return nil }),
			act(named(k.open, "open the task"), "open", func() tea.Cmd {
				if s.phase == phaseApplying {
					s.say(s.mayLeave())
					return nil
				}
				if ref, ok := s.current(); ok {
					return s.open(newDetail(s.hub, ref))
				}
				return nil
			}),
		)
		out = append(out, s.refActions(s.current)...)
	}
	return append(out, k.moves(&s.list, func() tea.Cmd { return nil })...)
}

// undoes says that the run deleted tasks which can be put back.
func (s *planScreen) undoes() bool {
	return s.phase == phaseApplied && s.ask.Verb == VerbResolve && s.run != "" && s.undoneBy == "" && s.done[OutcomeDone] > 0
}
