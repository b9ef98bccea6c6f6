package tui

import (
	"math"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// tasks lists tasks of one queue or all, in one state or all.
type tasks struct {
	*hub
	desk  *desk
	queue string        // "" is all
	state inspect.State // StateUnknown is all
	where filter

	now  *gathering
	anew *gathering // takes the place of now when it is as long
	// goal is how many are to be read; toEnd that the cursor goes to the end.
	goal  int
	toEnd bool

	order   order
	ordered bool // by somebody
	list    list
	marks   map[inspect.Ref]bool
	// unseen came in above the window since the list was opened.
	unseen map[inspect.Ref]bool
	table  table
	wide   bool
	// listed and read are when the list and its rows were read.
	listed, read time.Time
	stale        bool  // what is shown is to be read again
	err          error // of the listing
	blind        bool  // rows could not be read: they are not asked for before the next refresh
}

// ahead is how many screens of IDs are read beyond what is shown.
const ahead = 3

// autoList is up to how many read tasks a list is read anew by itself.
const autoList = 5000

// maxMarks bounds what one plan is asked for from here.
const maxMarks = 10_000

func newTasks(h *hub, queue string, state inspect.State) *tasks {
	s := &tasks{hub: h, desk: h.newDesk(), queue: queue, state: state, marks: map[inspect.Ref]bool{}, unseen: map[inspect.Ref]bool{}}
	s.order.by, s.order.lastBy = -1, -1
	s.list.height = h.roomAbout()
	return s
}

// roomAbout is how many lines a body has, before it was drawn.
func (h *hub) roomAbout() int { return max(1, h.height-4) }

func (s *tasks) papers() *desk { return s.desk }

func (s *tasks) name() string {
	switch {
	case s.queue == "" && s.state == inspect.StateUnknown:
		return "Tasks"
	case s.state == inspect.StateUnknown:
		return "Tasks of " + s.queue
	case s.queue == "":
		return "Tasks " + s.state.String()
	}
	return s.queue + " " + s.state.String()
}

// query is what is listed.
func (s *tasks) query() Query {
	q := Query{Whole: s.order.by >= 0}
	q.Where, q.Failures = s.where.judged()
	if s.queue != "" {
		q.Queues = []string{s.queue}
	}
	if s.state != inspect.StateUnknown {
		q.States = []inspect.State{s.state}
	}
	return q
}

func (s *tasks) begin() tea.Cmd {
	s.restart()
	return s.want()
}

// restart lists anew from the beginning.
func (s *tasks) restart() {
	s.drop()
	s.hush() // what was said was said of another list
	if !s.ordered {
		s.order.by, s.order.down = s.usualOrder(), false
		s.order.lastBy = s.order.by
	}
	s.now, s.err, s.stale, s.toEnd = gather(s.backend, s.query()), nil, false, false
	s.listed, s.read = time.Time{}, time.Time{}
	s.order.reset()
	s.list.first()
	clear(s.unseen)
	s.goal = 0
	s.table = table{columns: s.columns()}
}

// shortList is up to how many tasks a list is read whole unasked, for its order.
const shortList = 500

// usualOrder is that of a list nobody has sorted: as it was read, but what comes
// due, where that is little to read, soonest first.
func (s *tasks) usualOrder() int {
	if s.state == inspect.StateRetry || s.state == inspect.StateScheduled {
		if n, known := s.countOf(s.state); known && n <= shortList {
			return columnWhen
		}
	}
	return -1
}

// drop ends what is under way.
func (s *tasks) drop() {
	for _, g := range []*gathering{s.now, s.anew} {
		if g != nil {
			g.listing.Close()
		}
	}
	s.anew = nil
	for _, w := range []slot{slotList, slotAnew, slotRows} {
		s.desk.drop(w)
	}
}

// again reads what is shown again, and, where it is short, the list itself as far
// as it was read.
func (s *tasks) again() tea.Cmd {
	s.stale, s.blind = true, false
	cmds := []tea.Cmd{s.want()}
	if s.anew == nil && !s.desk.waits(slotList) && (s.now.read <= autoList || s.err != nil) {
		s.anew = gather(s.backend, s.query())
		cmds = append(cmds, askPage(s.desk, slotAnew, s.anew.listing))
	}
	return tea.Batch(cmds...)
}

// want asks for what the window needs: more of the list, and rows.
func (s *tasks) want() tea.Cmd {
	var cmds []tea.Cmd
	need := max(s.goal, s.list.top+ahead*max(s.list.height, s.roomAbout()))
	if s.order.by >= 0 {
		need = math.MaxInt
	}
	if !s.now.done && s.err == nil && s.now.spine.len() < need && !s.desk.waits(slotList) {
		cmds = append(cmds, askPage(s.desk, slotList, s.now.listing))
	}
	if !s.desk.waits(slotRows) && !s.blind {
		if refs := s.missing(); len(refs) > 0 {
			s.stale = false
			cmds = append(cmds, askRows(s.desk, s.backend, refs))
		}
	}
	return tea.Batch(cmds...)
}

// missing are the tasks around the window whose rows are not there, or all that are
// shown where they are old.
func (s *tasks) missing() []inspect.Ref {
	h := max(s.list.height, s.roomAbout())
	from, to := s.list.top, min(s.now.spine.len(), s.list.top+h)
	if s.now.keeps && !s.stale {
		return nil
	}
	var refs []inspect.Ref
	lacking := false
	for i := from; i < to; i++ {
		ref := s.ref(i)
		if s.now.rows[ref] == nil {
			lacking = true
		}
		if s.stale || s.now.rows[ref] == nil {
			refs = append(refs, ref)
		}
	}
	if !lacking && !s.stale {
		return nil
	}
	for i := max(0, from-h); i < min(s.now.spine.len(), to+h); i++ { // those who come next
		if i < from || i >= to {
			if ref := s.ref(i); s.now.rows[ref] == nil {
				refs = append(refs, ref)
			}
		}
	}
	return refs
}

// ref is the task in a place of the list.
func (s *tasks) ref(i int) inspect.Ref { return s.now.spine.at(s.order.at(i)) }

// current is the task under the cursor.
func (s *tasks) current() (inspect.Ref, bool) {
	if s.now == nil || s.list.cursor >= s.now.spine.len() {
		return inspect.Ref{}, false
	}
	return s.ref(s.list.cursor), true
}

func (s *tasks) answer(r reply) tea.Cmd {
	switch v := r.value.(type) {
	case Page:
		if r.err == nil && r.slot == slotList {
			s.grow(v)
		}
		if r.err == nil && r.slot == slotAnew {
			return s.renew(v)
		}
	case rowsAnswer:
		s.now.note(v, r.err != nil)
		if r.err == nil {
			s.read = s.hub.now()
			for i := range v.rows {
				if v.rows[i].Gone() {
					delete(s.marks, v.rows[i].Ref)
				}
			}
			from, to := s.list.window()
			s.now.trim(s.ref, from, to)
		}
	}
	if r.err != nil {
		s.failed(r)
	}
	return s.want()
}

// failed keeps what is shown. A listing that failed has ended: the list is read
// anew at the next refresh.
func (s *tasks) failed(r reply) {
	switch r.slot {
	case slotRows:
		s.blind = true
	case slotList:
		s.err = r.err
	case slotAnew:
		s.err = r.err
		s.anew.listing.Close()
		s.anew = nil
	}
}

// grow adds a page to the list.
func (s *tasks) grow(p Page) {
	here, known := s.current()
	s.now.take(p)
	s.listed = s.hub.now()
	s.arrange(here, known)
	if s.order.by >= 0 && !s.list.moved {
		s.list.first() // and not the task that was read first
	}
	if s.toEnd {
		s.list.to(s.now.spine.len() - 1)
		s.toEnd = !s.now.done
	}
}

// arrange sorts, and brings the cursor back to its task.
func (s *tasks) arrange(here inspect.Ref, known bool) {
	s.order.arrange(s.now)
	s.list.resize(s.now.spine.len(), s.list.height)
	if s.order.chosen() {
		s.list.first() // what is looked for by an order is at its top
		return
	}
	if !known {
		return
	}
	if i := s.now.spine.find(here, s.order.at(min(s.list.cursor, max(0, s.now.spine.len()-1)))); i >= 0 {
		s.list.keep(s.order.place(i))
	}
}

func (s *tasks) command() string {
	line := reconcile.Command("tasks")
	if s.queue != "" {
		line = line.Only("queue", s.queue)
	}
	if s.state != inspect.StateUnknown {
		line = line.Words("-s " + s.state.String())
	}
	if e := s.where.expression(); e != "" {
		line = line.Flag("where", e)
	}
	return s.lineOf(line)
}

func (s *tasks) filter() string { return s.where.text }

func (s *tasks) setFilter(text string) error {
	f, err := parseFilter(text)
	if err != nil {
		return err
	}
	s.where = f
	s.restart()
	return nil
}

func (s *tasks) click(line int) {
	if i := s.list.top + line - 2; line >= 2 && i < s.now.spine.len() {
		s.list.to(i)
	}
}
