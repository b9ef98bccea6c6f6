package tui

import (
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// detail is everything that is known of one task.
type detail struct {
	*hub
	desk    *desk
	ref     inspect.Ref
	owner   bool // it was asked for as a lock's owner
	dossier *Dossier
	err     error // of the last reading
	at      time.Time
	pane    pane
	drawn   []string // for width and dossier
	width   int
	fresh   bool // drawn is of the dossier
	minute  time.Time
}

func newDetail(h *hub, ref inspect.Ref) *detail {
	return &detail{hub: h, desk: h.newDesk(), ref: ref}
}

func (s *detail) papers() *desk  { return s.desk }
func (s *detail) name() string   { return s.ref.ID }
func (s *detail) begin() tea.Cmd { return askDossier(s.desk, s.backend, s.ref) }

// again reads the task again, unless that is under way: it may take long.
func (s *detail) again() tea.Cmd {
	if s.desk.waits(slotDossier) {
		return nil
	}
	return s.begin()
}

func (s *detail) answer(r reply) tea.Cmd {
	s.err, s.fresh = r.err, false
	d, ok := r.value.(*Dossier)
	if s.dossier == nil && errors.As(r.err, new(*reconcile.TaskError)) {
		s.at = s.now() // it was looked for, and is not there
	}
	if !ok || r.err != nil {
		return nil
	}
	if d.Unread != nil {
		s.blame(d.Unread)
		if s.dossier != nil && s.dossier.Unread == nil { // half a page replaces no whole one
			s.err = d.Unread
			return nil
		}
	}
	s.dossier, s.at = d, s.now()
	return nil
}

func (s *detail) command() string { return s.explainLine(s.ref) }

func (s *detail) shown() shown {
	out := shown{at: s.at, words: joined(s.ref.Queue, s.pane.where())}
	out.words = safe(out.words)
	if s.dossier == nil && !errors.As(s.err, new(*reconcile.TaskError)) {
		out.unread = s.err
	}
	if s.desk.waits(slotDossier) {
		out.busy = "explaining …"
	}
	return out
}

// unreadable says why there is no page, or no new one. That there is no such task is an answer, and no
// failure to read.
func (s *detail) unreadable(failed string) string {
	var gone *reconcile.TaskError
	switch {
	case !errors.As(s.err, &gone):
		return failed + ": " + safe(s.err.Error()) + "; " + s.triedAgain()
	case s.owner:
		return "the owner of this lock is gone: " + safe(gone.Error())
	}
	return "the task is gone: " + safe(gone.Error())
}

func (s *detail) actions() []action {
	k := &s.keys
	current := func() (inspect.Ref, bool) { return s.ref, true }
	one := []inspect.Ref{s.ref}
	out := []action{
		act(k.requeue, "requeue", func() tea.Cmd { return s.change(VerbRequeue, one) }),
		act(k.resolve, "resolve", func() tea.Cmd { return s.change(VerbResolve, one) }),
	}
	out = append(out, s.refActions(current)...)
	return append(out, k.moves(&s.pane.list, func() tea.Cmd { return nil })...)
}

func (s *detail) body(width, height int) []string {
	if s.dossier == nil {
		words := "explaining: the task, its rows in every ledger, its lock and its worker …"
		if s.err != nil {
			words = s.unreadable("not read")
		}
		return append([]string{""}, indented(words, width)...)
	}
	// Ages move with the clock; the page is laid out anew each second at most.
	if now := s.now(); !s.fresh || s.width != width || now.Sub(s.minute) >= time.Second {
		w := &writer{theme: &s.theme, width: width}
		s.write(w)
		s.drawn, s.width, s.fresh, s.minute = w.lines, width, true, now
	}
	return s.pane.body(s.drawn, height)
}
