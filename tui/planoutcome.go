package tui

// event notes what became of an item.
func (s *planScreen) event(e Event) {
	if e.Run != "" {
		s.run = e.Run
	}
	s.waiting = ""
	if e.Waiting {
		s.waiting = e.Words
		return
	}
	if e.ID == "" {
		if e.Words != "" {
			s.said = append(s.said, e.Words)
		}
		return
	}
	if before, ok := s.outcomes[e.Ref]; ok {
		s.tally(before, -1)
	}
	s.outcomes[e.Ref] = e
	s.tally(e, 1)
}

// tally counts what became of an item.
func (s *planScreen) tally(e Event, n int) {
	if e.Outcome != OutcomeNone {
		s.done[e.Outcome] += n
	}
	if e.FateBad {
		s.spoilt += n
	}
}

// tellUndone tells the screens below, of the run that was undone, that it was.
func (s *planScreen) tellUndone() {
	if s.ask.Verb != VerbRestore || s.plan == nil || s.done[OutcomeDone] == 0 {
		return
	}
	for _, other := range s.stack {
		if p, ok := other.(*planScreen); ok && p.run != "" && p.run == s.plan.Run {
			p.undoneBy = s.run
		}
	}
}
