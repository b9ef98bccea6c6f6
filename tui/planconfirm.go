package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// confirm asks for a word to be typed: the name of a protected context, else what
// is done with how many.
func (s *planScreen) confirm() {
	in := newInput("")
	s.input, s.typo = &in, ""
}

// password is what has to be typed.
func (s *planScreen) password() string {
	if p := s.backend.Place(); p.Protected {
		return p.Context
	}
	return fmt.Sprintf("%s %d", s.ask.Verb, s.plan.Running())
}

func (s *planScreen) typing() bool { return s.input != nil }

// typed takes a key of the confirmation.
func (s *planScreen) typed(k tea.KeyMsg) tea.Cmd {
	switch k.Type {
	case tea.KeyEsc:
		s.input = nil
		return nil
	case tea.KeyEnter:
		if strings.TrimSpace(s.input.Value()) != s.password() {
			s.typo = "that is not it: type " + s.password()
			return nil
		}
		s.input = nil
		return s.apply()
	}
	var cmd tea.Cmd
	*s.input, cmd = s.input.Update(k)
	s.typo = ""
	return cmd
}

// apply begins the changes. It is called by a right confirmation alone.
func (s *planScreen) apply() tea.Cmd {
	c := s.backend.Changes()
	if words := s.writable(); words != "" || c == nil {
		s.say(words)
		return nil
	}
	if !s.plan.Until.IsZero() && s.now().After(s.plan.Until) {
		s.say("the plan is too old to be applied; plan again")
		s.phase, s.err = phaseFailed, fmt.Errorf("the plan was good until %s", stamp(s.plan.Until, s.opt.UTC))
		return nil
	}
	s.phase = phaseApplying
	return askApply(s.desk, c, s.plan, ApplyOptions{Canary: s.canary})
}
