package reconcile

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// Deletion is the last time that a journal says that a task was deleted, by
// resolve or by a repair.
type Deletion struct {
	Ref inspect.Ref
	// Intent is that of the deletion; nil where there is none.
	Intent *journal.Record
	// Why says why the task cannot be put back, as far as the journal knows; ""
	// where it can.
	Why string
	// Since says what was done to the task after it was deleted; "" for nothing.
	Since string
}

// DeletionFilter says which deletions are meant: those of the IDs, or all of the
// run. A deletion has to fit all that is given.
type DeletionFilter struct {
	IDs   []string
	Queue string // "": any
	Run   string // its whole ID; "": the last of each task, whatever run it was
	// Context is the configuration's whose changes these are.
	Context string
	// Server says whether a record's Redis is the one that is meant; nil: any is.
	Server func(string) bool
}

// maxDeletions bounds what FindDeletions holds in memory, images and all.
const maxDeletions = 50_000

// ErrTooManyDeletions says that more tasks are meant than go at once.
var ErrTooManyDeletions = fmt.Errorf("more than %d deleted tasks are meant", maxDeletions)

// FindDeletions looks for the last deletion of each task. Of IDs that were named
// it says as well why there is none. What is wrong with the journal goes to
// damaged, and reading goes on behind it; an error is one that ends it.
func FindDeletions(records iter.Seq2[journal.Record, error], want DeletionFilter, damaged func(error)) ([]Deletion, error) {
	s := deletionSearch{want: want, open: map[itemOf]*journal.Record{}, tasks: map[inspect.Ref]*taskHistory{}}
	for r, err := range records {
		if err != nil {
			if !journal.GoesOn(err) {
				return nil, err
			}
			damaged(err)
			continue
		}
		switch r.Kind {
		case journal.KindIntent:
			s.intent(r)
		case journal.KindResult:
			s.result(r)
		}
		if s.found > maxDeletions {
			return nil, ErrTooManyDeletions
		}
	}
	return s.deletions(), nil
}

// itemOf names an item of a journal.
type itemOf struct{ run, item string }

type deletionSearch struct {
	want  DeletionFilter
	open  map[itemOf]*journal.Record // intents that may be of interest, without an outcome
	tasks map[inspect.Ref]*taskHistory
	found int
}

// taskHistory is what a journal says of one task.
type taskHistory struct {
	deleted *journal.Record // the last that fits
	since   *journal.Record // what was done after that
	seq     uint64          // of the task's first record
}

// intent keeps it until its result. Images of what deletes nothing are dropped.
func (s *deletionSearch) intent(r journal.Record) {
	if r.TaskID == "" || r.Context != s.want.Context || s.want.Server != nil && !s.want.Server(r.Server) || !s.concerns(&r) {
		return
	}
	if !deletes(r.Change) {
		r.Task, r.Evidence = nil, nil
	}
	s.open[itemOf{r.Run, r.Item}] = &r
}

func (s *deletionSearch) concerns(r *journal.Record) bool {
	if s.want.Queue != "" && r.Queue != s.want.Queue {
		return false
	}
	if len(s.want.IDs) > 0 {
		return slices.Contains(s.want.IDs, r.TaskID)
	}
	return r.Run == s.want.Run && deletes(r.Change) || s.tasks[refOf(r)] != nil
}

func deletes(c journal.Change) bool { return c == journal.ChangeResolve || c == journal.ChangeClose }

func (s *deletionSearch) result(r journal.Record) {
	at := itemOf{r.Run, r.Item}
	intent := s.open[at]
	if intent == nil || r.Outcome == journal.OutcomeUnknown {
		return
	}
	delete(s.open, at)
	if r.Outcome != journal.OutcomeDone {
		if len(s.want.IDs) > 0 {
			s.task(intent)
		}
		return
	}
	t := s.task(intent)
	if deletes(intent.Change) && (s.want.Run == "" || intent.Run == s.want.Run) {
		if t.deleted == nil {
			s.found++
		}
		t.deleted, t.since = intent, nil
		return
	}
	intent.Task = nil
	t.since = intent
}

func (s *deletionSearch) task(r *journal.Record) *taskHistory {
	t := s.tasks[refOf(r)]
	if t == nil {
		t = &taskHistory{seq: r.Seq}
		s.tasks[refOf(r)] = t
	}
	return t
}

// deletions are those of each task, in the order in which they were made, then
// the IDs that have none.
func (s *deletionSearch) deletions() []Deletion {
	pending := map[inspect.Ref]*journal.Record{}
	for _, r := range s.open {
		if last := pending[refOf(r)]; last == nil || last.Seq < r.Seq {
			pending[refOf(r)] = r
		}
		s.task(r)
	}
	var out []Deletion
	for ref, t := range s.tasks {
		out = append(out, t.deletion(ref, pending[ref]))
	}
	slices.SortFunc(out, func(a, b Deletion) int { return cmp.Compare(s.tasks[a.Ref].order(), s.tasks[b.Ref].order()) })
	for _, id := range s.want.IDs {
		if !slices.ContainsFunc(out, func(d Deletion) bool { return d.Ref.ID == id }) {
			out = append(out, Deletion{
				Ref: inspect.Ref{Queue: s.want.Queue, ID: id}, Why: "the journal knows of no change to it" + s.want.words(),
			})
		}
	}
	return out
}

func (w *DeletionFilter) words() string {
	if w.Context == "" {
		return ""
	}
	return fmt.Sprintf(" in context %q", w.Context)
}

func (t *taskHistory) order() uint64 {
	if t.deleted != nil {
		return t.deleted.Seq
	}
	return t.seq
}

func (t *taskHistory) deletion(ref inspect.Ref, pending *journal.Record) Deletion {
	d := Deletion{Ref: ref, Intent: t.deleted}
	switch {
	case pending != nil:
		d.Why = fmt.Sprintf("nobody knows yet what became of its %s by run %s (idemctl journal resume)", pending.Change, pending.Run)
	case t.deleted == nil && t.since == nil:
		d.Why = "no change to it was made"
	case t.deleted == nil:
		d.Why = fmt.Sprintf("it was not deleted: its last change is %s, at %s by run %s", t.since.Change, stamp(t.since.At), t.since.Run)
	case t.since != nil:
		d.Since = fmt.Sprintf("after that came %s, at %s by run %s, and then it left the queue in another way: it may have run", t.since.Change, stamp(t.since.At), t.since.Run)
	}
	return d
}
