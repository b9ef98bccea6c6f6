package observed

import (
	"cmp"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
)

// Kind names tasks that are judged together.
type Kind struct{ Type, Queue string }

// Facts is what Redis shows of the tasks of one kind.
type Facts struct {
	Kind
	Tasks   int
	ByState map[inspect.State]int

	// MaxRetry, Timeout and Options count the values that tasks carry. A timeout
	// of 0 is a task that has a deadline only.
	MaxRetry map[int]int
	Timeout  map[time.Duration]int
	Options  map[Options]int

	// beyond holds the largest values of tasks whose own are too many to keep; nil:
	// there are none.
	beyond *Options

	// Delays are by counted failures before the last one (n of RetryDelayFunc),
	// sorted. Uncounted are tasks in retry without a counted failure, which have
	// no n.
	Delays    []Delay
	Uncounted int

	// Waits are of pending tasks that say since when: each still waits.
	Waits Spread
	// Runs are of active workers: each still runs.
	Runs Spread

	Locks Locks

	Entries []Entry

	// Servers is how many live servers take tasks from the queue, Paused whether
	// nobody may.
	Servers int
	Paused  bool
}

// Options are what a task carries that its longest life depends on.
type Options struct {
	MaxRetry int
	Timeout  time.Duration // 0: none
	Deadline bool
}

// Delay is what workers decided after n counted failures.
type Delay struct {
	N        int
	Count    int
	Min, Max time.Duration // whole seconds, each up to a second off
	// Inside is how many agree with the policy that was declared, for n or, where
	// the last failure may not have counted, n+1.
	Inside int
}

// Spread is a count of times with their ends; the zero value is of none.
type Spread struct {
	Count    int
	Min, Max time.Duration
	Sum      time.Duration // Sum/Count is the mean
}

func (s *Spread) add(d time.Duration) {
	d = max(0, d)
	if s.Count == 0 || d < s.Min {
		s.Min = d
	}
	s.Max = max(s.Max, d)
	s.Sum += d
	s.Count++
}

// Mean is 0 where nothing was seen.
func (s Spread) Mean() time.Duration {
	if s.Count == 0 {
		return 0
	}
	return s.Sum / time.Duration(s.Count)
}

// Locks is what the locks of a kind's tasks show.
type Locks struct {
	Unique int // live tasks that were enqueued with asynq.Unique
	// Asked are TTLs as they were at the enqueue, to about a second: of tasks that
	// no attempt was made of, and that say when they were enqueued or are due.
	Asked Spread
	Left  Spread // what is left of locks that their tasks hold
	// Short are the live tasks whose lock ends, or has ended, before they can.
	Short int
	// First are those of them whose locks end first, soonest first, at most
	// mostShort.
	First []Short
}

// Short is a task that outlives its lock.
type Short struct {
	Ref   inspect.Ref
	State inspect.State
	Held  bool          // the lock is there and this task's
	Left  time.Duration // of the lock; 0 unless Held
	Life  time.Duration // longest that the task can still live
}

// mostShort is how many tasks are named.
const mostShort = 5

func (l *Locks) short(s Short) {
	l.Short++
	l.First = append(l.First, s)
	slices.SortStableFunc(l.First, func(a, b Short) int {
		return cmp.Or(cmp.Compare(a.Left, b.Left), cmp.Compare(a.Ref.ID, b.Ref.ID))
	})
	l.First = l.First[:min(len(l.First), mostShort)]
}

// Seen counts the delays, and how many of them agree with the declared policy.
func (f *Facts) Seen() (delays, inside int) {
	for _, d := range f.Delays {
		delays += d.Count
		inside += d.Inside
	}
	return delays, inside
}

// Outside counts the delays that another policy than the declared one cannot have
// given; at least so many, since of delays after equally many failures only the
// shortest and the longest are known.
func (f *Facts) Outside(p retry.Policy) int {
	out := 0
	for _, d := range f.Delays {
		ends := []time.Duration{d.Min, d.Max}
		if d.Count == 1 {
			ends = ends[:1]
		}
		for _, end := range ends {
			if !agrees(p, d.N, end) && !agrees(p, d.N+1, end) {
				out++
			}
		}
	}
	return out
}

// mostValues bounds how many different values of one thing are kept.
const mostValues = 1000

// tally counts a value, if there is room for it.
func tally[K comparable](counts map[K]int, value K) bool {
	if _, known := counts[value]; !known && len(counts) >= mostValues {
		return false
	}
	counts[value]++
	return true
}

// options counts what a task carries.
func (f *Facts) options(o Options) {
	kept := tally(f.MaxRetry, o.MaxRetry)
	kept = tally(f.Timeout, o.Timeout) && kept
	if kept = tally(f.Options, o) && kept; kept {
		return
	}
	if f.beyond == nil {
		f.beyond = &Options{}
	}
	f.beyond.MaxRetry = max(f.beyond.MaxRetry, o.MaxRetry)
	f.beyond.Timeout = max(f.beyond.Timeout, o.Timeout)
	f.beyond.Deadline = f.beyond.Deadline || o.deadlineAlone()
}

// deadlineAlone says whether only a deadline ends a run (processor.go:
// computeDeadline).
func (o Options) deadlineAlone() bool { return o.Deadline && o.Timeout <= 0 }

// DeadlineAlone says whether there are tasks whose runs only a deadline ends: it
// says nothing of how long those of other tasks can last.
func (f *Facts) DeadlineAlone() bool {
	for o := range f.Options {
		if o.deadlineAlone() {
			return true
		}
	}
	return f.beyond != nil && f.beyond.Deadline
}

// Params are the parameters of the sets of options that tasks of this kind and
// their periodic entries carry, over the declared ones, by MaxRetry: the longest
// life of the kind is the longest of theirs. Sets that another one exceeds in all
// are left out, and so are deadlines, which only shorten a life where there is a
// timeout too (see DeadlineAlone). It is the declared parameters alone where
// nothing was seen.
func (f *Facts) Params(declared retry.Params) []retry.Params {
	var sets []Options
	for o := range f.Options {
		sets = append(sets, Options{MaxRetry: o.MaxRetry, Timeout: o.Timeout})
	}
	if f.beyond != nil {
		sets = append(sets, Options{MaxRetry: f.beyond.MaxRetry, Timeout: f.beyond.Timeout})
	}
	for _, e := range f.Entries {
		if e.MaxRetry >= 0 || e.Timeout > 0 {
			o := Options{MaxRetry: declared.MaxRetry, Timeout: e.Timeout}
			if e.MaxRetry >= 0 {
				o.MaxRetry = e.MaxRetry
			}
			sets = append(sets, o)
		}
	}
	if len(sets) == 0 {
		return []retry.Params{declared}
	}
	all := make([]retry.Params, len(sets))
	for i, o := range sets {
		all[i] = declared
		all[i].MaxRetry = o.MaxRetry
		if o.Timeout > 0 {
			timeout := retry.SecondsOf(o.Timeout)
			all[i].Timeout = &timeout
		}
	}
	return longest(all)
}

// longest drops the parameters that others exceed, or equal.
func longest(all []retry.Params) []retry.Params {
	slices.SortFunc(all, func(a, b retry.Params) int {
		return cmp.Or(cmp.Compare(b.MaxRetry, a.MaxRetry), cmp.Compare(timeoutOf(b), timeoutOf(a)))
	})
	kept := all[:0]
	for _, p := range all {
		if len(kept) == 0 || timeoutOf(p) > timeoutOf(kept[len(kept)-1]) {
			kept = append(kept, p)
		}
	}
	slices.Reverse(kept)
	return kept
}

func timeoutOf(p retry.Params) retry.Seconds {
	timeout, _ := p.EffectiveTimeout()
	return timeout
}
