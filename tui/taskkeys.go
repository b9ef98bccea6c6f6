package tui

import (
	"math"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
)

func (s *tasks) actions() []action {
	k := &s.keys
	moved := func() tea.Cmd { s.toEnd, s.goal = false, 0; return s.want() }
	out := []action{
		act(named(k.open, "open the task"), "open", func() tea.Cmd {
			if ref, ok := s.current(); ok {
				return s.open(newDetail(s.hub, ref))
			}
			return nil
		}),
		act(k.mark, "mark", func() tea.Cmd { s.toggle(); return moved() }),
		act(k.markAll, "", func() tea.Cmd { s.markShown(); return nil }),
		act(k.clearMarks, "", func() tea.Cmd { clear(s.marks); return nil }),
		act(k.requeue, "requeue", func() tea.Cmd { return s.change(VerbRequeue, s.chosen()) }),
		act(k.resolve, "resolve", func() tea.Cmd { return s.change(VerbResolve, s.chosen()) }),
		act(named(k.left, "the state before"), "", func() tea.Cmd { return s.turn(-1) }),
		act(named(k.right, "the next state"), "state", func() tea.Cmd { return s.turn(1) }),
		act(named(k.next, "the next queue"), "", func() tea.Cmd { return s.turnQueue(1) }),
		act(named(k.previous, "the queue before"), "", func() tea.Cmd { return s.turnQueue(-1) }),
		act(k.sort, "sort", s.nextOrder),
		act(k.reverse, "", s.reverse),
		act(k.wide, "", func() tea.Cmd { s.wide = !s.wide; s.table.reset(); return nil }),
		// The end is where the list ends, not where it was read to.
		act(k.bottom, "", func() tea.Cmd {
			s.list.to(s.now.spine.len() - 1)
			s.goal, s.toEnd = math.MaxInt, !s.now.done
			return s.want()
		}),
	}
	out = append(out, s.refActions(s.current)...)
	return append(out, k.moves(&s.list, moved)...)
}

// refActions are what can be done with the task under the cursor anywhere.
func (h *hub) refActions(current func() (inspect.Ref, bool)) []action {
	with := func(do func(inspect.Ref) tea.Cmd) func() tea.Cmd {
		return func() tea.Cmd {
			ref, ok := current()
			if !ok {
				h.say("the cursor is on no task")
				return nil
			}
			return do(ref)
		}
	}
	return []action{
		act(h.keys.explain, "explain", with(h.explainRef)),
		act(h.keys.copyID, "", with(func(ref inspect.Ref) tea.Cmd { return h.copyID(ref.ID) })),
	}
}

// toggle marks the task under the cursor, or takes the mark off, and goes on to the
// next.
func (s *tasks) toggle() {
	ref, ok := s.current()
	switch {
	case !ok:
		return
	case s.marks[ref]:
		delete(s.marks, ref)
	case len(s.marks) >= maxMarks:
		s.say(tooMany)
		return
	default:
		s.marks[ref] = true
	}
	s.list.move(1)
}

const tooMany = "10,000 tasks are marked, which is the most: a command with --where plans more"

// markShown marks every task of the list that was read; where all are, it takes the
// marks off.
func (s *tasks) markShown() {
	n := s.now.spine.len()
	all := n > 0
	for i := 0; i < n && all; i++ {
		all = s.marks[s.now.spine.at(i)]
	}
	if all {
		clear(s.marks)
		return
	}
	for i := range n {
		ref := s.ref(i)
		if r := s.now.rows[ref]; r != nil && r.Gone() {
			continue
		}
		if len(s.marks) >= maxMarks {
			s.say(tooMany)
			return
		}
		s.marks[ref] = true
	}
	if !s.now.done {
		s.say("marked what was read so far; G reads the list to its end")
	}
}

// chosen are the marked tasks in the order of the list, or the one under the
// cursor.
func (s *tasks) chosen() []inspect.Ref {
	if len(s.marks) == 0 {
		if ref, ok := s.current(); ok {
			return []inspect.Ref{ref}
		}
		return nil
	}
	refs := make([]inspect.Ref, 0, len(s.marks))
	for i := range s.now.spine.len() {
		if ref := s.ref(i); s.marks[ref] {
			refs = append(refs, ref)
		}
	}
	if len(refs) < len(s.marks) { // others were marked under another filter
		have := make(map[inspect.Ref]bool, len(refs))
		for _, r := range refs {
			have[r] = true
		}
		var more []inspect.Ref
		for r := range s.marks {
			if !have[r] {
				more = append(more, r)
			}
		}
		slices.SortFunc(more, compareRefs)
		refs = append(refs, more...)
	}
	return refs
}

// turn goes to another state.
func (s *tasks) turn(by int) tea.Cmd {
	states := append([]inspect.State{inspect.StateUnknown}, inspect.States()...)
	i := slices.Index(states, s.state)
	s.state = states[(i+by+len(states))%len(states)]
	return s.begin()
}

// turnQueue goes to another queue, or to all.
func (s *tasks) turnQueue(by int) tea.Cmd {
	names := append([]string{""}, s.queueNames()...)
	i := max(0, slices.Index(names, s.queue))
	s.queue = names[(i+by+len(names))%len(names)]
	return s.begin()
}

// nextOrder sorts by the next column; after the last, as read.
func (s *tasks) nextOrder() tea.Cmd {
	for {
		s.order.by++
		if s.order.by >= len(s.table.columns) {
			s.order.by = -1
		}
		if s.order.by < 0 || !s.left(s.order.by) && (s.wide || !s.table.columns[s.order.by].wide) {
			break
		}
	}
	return s.resort()
}

// reverse sorts the other way round.
func (s *tasks) reverse() tea.Cmd {
	s.order.down = !s.order.down
	return s.resort()
}

// resort brings what is there into order; a list of IDs alone is read for it.
func (s *tasks) resort() tea.Cmd {
	s.ordered = true
	s.order.reset()
	if s.order.by >= 0 && !s.now.keeps {
		return s.begin()
	}
	here, known := s.current()
	s.arrange(here, known)
	return s.want()
}
