package journal

import (
	"io"
	"iter"
	"time"
)

// Summary is what became of one run.
type Summary struct {
	Run
	Operator, Host string
	// Began is zero when the run's first record cannot be read; Ended is zero
	// when there is no end record.
	Began, Ended time.Time
	// Intents counts the intents; Done, Refused, Failed and Unknown the items by
	// their last result, refused ones that had no intent among them; Pending the
	// intents without any result.
	Intents, Done, Refused, Failed, Unknown, Pending int
	// NotBegun counts the planned items that the run never began: by its end, or else
	// those of which there is no record. Items whose result says that the run ended
	// before them are among these, and not among Refused. 0 where nobody says how many
	// were planned.
	NotBegun int
	// EndedBy is why it ended early, in words; "" where it did not, or nobody says.
	EndedBy string
	// Strays counts results that are not of refusal and whose intent cannot be
	// read, or that repeat one. They are counted by outcome too.
	Strays int
}

// Complete says whether the run came to its end, and that of its plan, and the
// outcome of every intent is known.
func (s *Summary) Complete() bool { return s.Settled() && s.NotBegun == 0 }

// Settled says whether the run has ended and the outcome of every intent is known,
// so that there is nothing to resume.
func (s *Summary) Settled() bool { return !s.Ended.IsZero() && s.Pending == 0 && s.Unknown == 0 }

// Begun counts the items that the run began, by their last result or without one.
func (s *Summary) Begun() int { return s.Done + s.Refused + s.Failed + s.Unknown + s.Pending }

// Runs yields what is wrong with the file, as Read does, then one summary a run
// in the order of their first records. Memory grows with the number of runs, and
// with the items that are open at one time.
func Runs(path string) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		t := tally{items: pendingItems{}, runs: map[string]*Summary{}}
		each := func(e entry, err error) bool {
			if err != nil {
				return yield(Summary{}, err)
			}
			t.add(e)
			return true
		}
		scan(path, each, func(io.ReaderAt, int64) { t.yield(yield) })
	}
}

// Summarize is Runs for records that come from elsewhere, such as a copy. Those of
// one run must come in the order of their numbers. It yields their errors first.
func Summarize(records iter.Seq2[Record, error]) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		t := tally{items: pendingItems{}, runs: map[string]*Summary{}}
		for r, err := range records {
			switch {
			case err == nil:
				t.add(entry{Record: r})
			case !yield(Summary{}, err):
				return
			}
		}
		t.yield(yield)
	}
}

type tally struct {
	items pendingItems
	runs  map[string]*Summary
	order []string
}

func (t *tally) yield(yield func(Summary, error) bool) {
	for _, run := range t.order {
		s := t.runs[run]
		if s.Ended.IsZero() {
			s.NotBegun = max(0, s.Planned-s.Begun())
		}
		if !yield(*s, nil) {
			return
		}
	}
}

func (t *tally) add(e entry) {
	s := t.run(e.Run)
	switch e.Kind {
	case KindRun:
		s.Run = Run{ID: e.Run, Context: e.Context, Command: e.Command, Reason: e.Reason, PlanDigest: e.PlanDigest, Server: e.Server, Planned: e.Planned}
		s.Operator, s.Host, s.Began = e.Operator, e.Host, e.At
	case KindIntent:
		s.Intents++
		s.close(t.items.intent(e))
		s.Pending++
	case KindResult:
		before := t.items.result(e)
		s.close(before)
		if before == notPending && e.Outcome != OutcomeRefused {
			s.Strays++
		}
		if e.NotBegun == 0 || s.Planned == 0 {
			s.count(e.Outcome)
		}
	case KindEnd:
		s.Ended, s.NotBegun = e.At, e.NotBegun
		if s.Planned > 0 || e.NotBegun > 0 {
			s.EndedBy = e.Error // others say only there why they were never begun
		}
	case KindUnknown: // no record that was read
	}
}

func (t *tally) run(id string) *Summary {
	s := t.runs[id]
	if s == nil {
		s = &Summary{Run: Run{ID: id}}
		t.runs[id] = s
		t.order = append(t.order, id)
	}
	return s
}

// close takes an item out of the count it stood in before.
func (s *Summary) close(before pendingState) {
	switch before {
	case pendingIntent:
		s.Pending--
	case pendingAfterUnknown:
		s.Unknown--
	case notPending:
	}
}

func (s *Summary) count(o Outcome) {
	switch o {
	case OutcomeDone:
		s.Done++
	case OutcomeRefused:
		s.Refused++
	case OutcomeFailed:
		s.Failed++
	case OutcomeUnknown:
		s.Unknown++
	}
}
