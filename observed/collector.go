package observed

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
)

// Collector gathers Facts. It is not safe for concurrent use.
type Collector struct {
	// Declared gives the parameters that hold for a kind, as far as anyone wrote
	// them down; its policy is what delays are held against.
	declared func(Kind) retry.Params
	kinds    map[Kind]*Facts
	servers  map[string]int // by queue
	paused   map[string]bool
	// Dropped is how many tasks were of kinds beyond the most that are kept.
	Dropped int
}

// mostKinds bounds what a hostile queue can make us remember.
const mostKinds = 10_000

// NewCollector begins with nothing seen.
func NewCollector(declared func(Kind) retry.Params) *Collector {
	return &Collector{
		declared: declared, kinds: map[Kind]*Facts{},
		servers: map[string]int{}, paused: map[string]bool{},
	}
}

// Facts lists what was gathered, by type and queue.
func (c *Collector) Facts() []*Facts {
	all := slices.Collect(maps.Values(c.kinds))
	slices.SortFunc(all, func(a, b *Facts) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Queue, b.Queue))
	})
	for _, f := range all {
		f.Servers, f.Paused = c.servers[f.Queue], c.paused[f.Queue]
		slices.SortFunc(f.Delays, func(a, b Delay) int { return cmp.Compare(a.N, b.N) })
	}
	return all
}

// Kind makes sure that a kind is among the Facts, also when nothing is seen of
// it. It is nil when there are too many.
func (c *Collector) Kind(k Kind) *Facts {
	if f, ok := c.kinds[k]; ok {
		return f
	}
	if len(c.kinds) >= mostKinds {
		return nil
	}
	f := &Facts{
		Kind: k, ByState: map[inspect.State]int{}, MaxRetry: map[int]int{},
		Timeout: map[time.Duration]int{}, Options: map[Options]int{},
	}
	c.kinds[k] = f
	return f
}

// Queue notes whether a queue is paused.
func (c *Collector) Queue(q inspect.Queue) { c.paused[q.Name] = q.Paused }

// Servers notes who serves which queue, and how long workers have run at now. A
// server that is stopped serves nothing. wanted says which kinds are asked for.
func (c *Collector) Servers(servers []inspect.Server, now time.Time, wanted func(Kind) bool) {
	for _, s := range servers {
		if s.Status == "active" {
			for q := range s.Queues {
				c.servers[q]++
			}
		}
		for _, w := range s.Workers {
			if k := (Kind{w.Type, w.Ref.Queue}); wanted(k) && !w.StartedAt.IsZero() {
				if f := c.Kind(k); f != nil {
					f.Runs.add(now.Sub(w.StartedAt))
				}
			}
		}
	}
}

// Schedules notes the periodic entries of the kinds that are asked for.
func (c *Collector) Schedules(schedules []inspect.Schedule, wanted func(Kind) bool) {
	for _, s := range schedules {
		queue, e := entryOf(s)
		if k := (Kind{s.Type, queue}); wanted(k) {
			if f := c.Kind(k); f != nil {
				f.Entries = append(f.Entries, e)
			}
		}
	}
}

// Task notes a task with its lock, which is nil for a task that has none or
// whose lock was not read. now is the clock of Redis. A task that was seen
// before in another state is noted again only for what is new.
func (c *Collector) Task(t inspect.Task, lock *inspect.Lock, now time.Time) {
	if t.Defect != inspect.DefectNone || t.Prev != inspect.StateUnknown {
		return
	}
	f := c.Kind(Kind{t.Type, t.Queue})
	if f == nil {
		c.Dropped++
		return
	}
	f.Tasks++
	f.ByState[t.State]++
	f.options(Options{t.MaxRetry, t.Timeout, !t.Deadline.IsZero()})
	p := c.declared(f.Kind)
	f.delay(t, p.Delay)
	if t.State == inspect.StatePending && !t.PendingSince.IsZero() {
		f.Waits.add(now.Sub(t.PendingSince))
	}
	if t.UniqueKey != "" && t.State.Live() {
		f.Locks.note(t, lock, p, now)
	}
}
