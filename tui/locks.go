package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// locks lists the uniqueness locks, what hurts most first.
type locks struct {
	*hub
	desk  *desk
	where filter
	all   *Locks
	rows  []*LockRow // that pass the filter
	met   int        // while they are read
	list  list
	table table
	wide  bool
	last  shown
	err   error
}

func newLocks(h *hub) *locks {
	return &locks{hub: h, desk: h.newDesk(), table: table{columns: lockColumns()}}
}

func (s *locks) papers() *desk { return s.desk }
func (s *locks) name() string  { return "Locks" }

func (s *locks) begin() tea.Cmd {
	s.met = 0
	return askLocks(s.desk, s.backend)
}

// again reads the locks again where that is little work; a sweep over the keys is
// not done every few seconds.
func (s *locks) again() tea.Cmd {
	if s.desk.waits(slotLocks) {
		return nil
	}
	if s.all != nil && s.err == nil && s.now().Sub(s.last.at) < auditEvery/2 || s.total() > autoAudit && s.all != nil {
		return nil
	}
	return s.begin()
}

func (s *locks) answer(r reply) tea.Cmd {
	switch v := r.value.(type) {
	case int:
		s.met = v
		return nil
	case *Locks:
		if r.err == nil {
			s.all, s.err = v, nil
			s.last.at = s.now()
			if v.Problem != nil {
				s.blame(v.Problem)
			} else {
				s.fine()
			}
			s.arrange()
			return nil
		}
	}
	s.err = r.err
	return nil
}

// arrange filters, and keeps the cursor on its lock.
func (s *locks) arrange() {
	here := ""
	if r := s.row(); r != nil {
		here = r.key()
	}
	s.rows = s.rows[:0]
	for i := range s.all.Rows {
		r := &s.all.Rows[i]
		if r.passes(&s.where) {
			s.rows = append(s.rows, r)
		}
	}
	s.list.resize(len(s.rows), s.list.height)
	for i, r := range s.rows {
		if r.key() == here {
			s.list.keep(i)
			break
		}
	}
}

func (r *LockRow) key() string {
	key := r.Finding.Task.Queue + "\x00" + r.Finding.Task.ID
	if l := r.Finding.Lock; l != nil {
		key += "\x00" + l.Key
	}
	return key
}

func (r *LockRow) passes(f *filter) bool {
	if len(f.words) == 0 {
		return f.finding(&r.Finding)
	}
	owner := ""
	if l := r.Finding.Lock; l != nil {
		owner = l.Owner
	}
	return f.found(string(r.Verdict), r.Queue, r.Type, owner, r.Finding.Task.ID, r.Finding.Task.State.String(), r.Finding.Status.String(), string(r.Finding.Code))
}

func (s *locks) row() *LockRow {
	if s.list.cursor < len(s.rows) {
		return s.rows[s.list.cursor]
	}
	return nil
}

func (s *locks) current() (inspect.Ref, bool) {
	r := s.row()
	if r == nil || r.Finding.Task.ID == "" {
		return inspect.Ref{}, false
	}
	return r.Finding.Task.Ref, true
}

func (s *locks) shown() shown {
	out := s.last
	out.filter = s.where.text
	if s.all == nil {
		out.unread = s.err
	} else {
		out.words = plural(len(s.rows), "lock", "locks")
		if s.all.Omitted > 0 {
			out.words += fmt.Sprintf(" of %s", count(len(s.all.Rows)+s.all.Omitted))
		}
		if !s.all.Complete {
			out.words += " · ! incomplete"
		}
	}
	if s.desk.waits(slotLocks) {
		out.busy = fmt.Sprintf("sweeping %s …", brief(s.met))
	}
	return out
}

func (s *locks) command() string {
	line := reconcile.Command("locks")
	if len(s.where.words) > 0 {
		return "" // they look at more than an expression sees of a lock
	}
	if e := s.where.expression(); e != "" {
		line = line.Flag("where", e)
	}
	return s.lineOf(line)
}

func (s *locks) filter() string { return s.where.text }

func (s *locks) setFilter(text string) error {
	f, err := parseFilter(text)
	if err != nil {
		return err
	}
	s.where = f
	if s.all != nil {
		s.arrange()
	}
	return nil
}

func (s *locks) actions() []action {
	k := &s.keys
	out := []action{
		act(named(k.open, "open the lock's task"), "open", func() tea.Cmd {
			if ref, ok := s.current(); ok {
				page := newDetail(s.hub, ref)
				page.owner = true
				return s.open(page)
			}
			return nil
		}),
		act(k.wide, "wide", func() tea.Cmd { s.wide = !s.wide; s.table.reset(); return nil }),
		act(k.refresh, "read again", s.begin),
	}
	out = append(out, s.refActions(s.current)...)
	return append(out, k.moves(&s.list, func() tea.Cmd { return nil })...)
}

func (s *locks) click(line int) {
	if i := s.list.top + line - 1; line >= 1 && i < len(s.rows) {
		s.list.to(i)
	}
}
