package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
)

// renew adds a page to the list that is read anew, and shows that once it is as
// long as the one shown, or whole.
func (s *tasks) renew(p Page) tea.Cmd {
	if s.anew == nil {
		return nil
	}
	s.anew.take(p)
	if !s.anew.done && (s.now.done || s.anew.spine.len() < s.now.spine.len()) {
		if s.anew.read > 4*autoList && s.err == nil { // it has grown long meanwhile
			s.anew.listing.Close()
			s.anew = nil
			return nil
		}
		return askPage(s.desk, slotAnew, s.anew.listing)
	}
	here, known := s.current()
	for ref, row := range s.now.rows {
		if s.anew.rows[ref] == nil && !row.Gone() {
			s.anew.rows[ref] = row
		}
	}
	old := s.now
	old.listing.Close()
	s.now, s.anew, s.err = s.anew, nil, nil
	s.listed = s.hub.now()
	s.order.reset()
	s.arrange(here, known)
	s.noteUnseen(old)
	return s.want()
}

// noteUnseen notes what stands above the window now and was not there before.
func (s *tasks) noteUnseen(old *gathering) {
	if s.list.top == 0 {
		clear(s.unseen)
		return
	}
	had := make(map[inspect.Ref]bool, old.spine.len())
	for i := range old.spine.len() {
		if ref := old.spine.at(i); !s.unseen[ref] {
			had[ref] = true
		}
	}
	clear(s.unseen)
	for i := range s.list.top {
		if ref := s.ref(i); !had[ref] {
			s.unseen[ref] = true
		}
	}
}

// saw notes that the window shows these lines of the list.
func (s *tasks) saw(from, to int) {
	if from == 0 {
		clear(s.unseen)
	}
	if len(s.unseen) == 0 {
		return
	}
	for i := from; i < to; i++ {
		delete(s.unseen, s.ref(i))
	}
}
