package observed

import (
	"fmt"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
)

// Need is the lock that the tasks of a kind need.
type Need struct {
	// Safe outlives every one of them; nil: nothing does, or nobody can say, and
	// Why says so.
	Safe *retry.Seconds
	Go   string // as source text
	// Params are those it follows from.
	Params retry.Params
	Why    string
}

// Need is the lock that outlives every task of the kind, whatever options it
// carries. With also, those that are declared count too: somebody declared a
// number of retries or a timeout.
func (f *Facts) Need(declared retry.Params, also bool) Need {
	n := Need{Params: declared}
	delays, inside := f.Seen()
	switch {
	case f.Paused:
		n.Why = "the queue is paused: nothing bounds the life of its tasks"
		return n
	case f.Servers == 0 && f.Queue != "": // "": nobody said which
		n.Why = "no live server takes tasks from the queue: nothing bounds their life"
		return n
	case f.Uncounted > 0:
		n.Why = "failures are not counted (IsFailure): nothing bounds the number of attempts"
		return n
	case f.DeadlineAlone():
		n.Why = "tasks have a deadline and no timeout: how long their runs can last depends on when they were enqueued"
		return n
	case inside < delays:
		n.Why = fmt.Sprintf("%d of %d delays seen contradict the policy %s: declare the true one (policy.retry)", delays-inside, delays, declared.Delay)
		return n
	}
	sets := f.Params(declared)
	if also {
		sets = append(sets, declared)
	}
	for _, p := range sets {
		if f.ByState[inspect.StateScheduled] > 0 {
			p.ProcessIn = 1 // any: a scheduled task passes the forwarder once more
		}
		if because := p.Unbounded(); len(because) > 0 {
			return Need{Params: p, Why: because[0].Text}
		}
		a, err := p.Advise()
		if err != nil {
			return Need{Params: p, Why: err.Error()}
		}
		if n.Safe == nil || a.Safe > *n.Safe {
			n.Safe, n.Go, n.Params = &a.Safe, a.Go, p
		}
	}
	return n
}

// InUse is the TTL that the code uses, and where that is known from: as declared,
// as the periodic entry says, else the largest that was seen at an enqueue; nil
// where nothing tells. What was seen contradicts what was written where not one
// lock can have been given that TTL.
func (f *Facts) InUse(declared *retry.Seconds) (ttl *retry.Seconds, from string) {
	asked := f.Locks.Asked
	seen := retry.SecondsOf(Likely(asked.Max))
	locks := fmt.Sprintf("%d locks seen", asked.Count)
	if asked.Count == 1 {
		locks = "1 lock seen"
	}
	switch scheduled := f.ScheduledTTL(); {
	case declared != nil:
		if asked.Count > 0 && !Alike(asked.Max, declared.Duration()) {
			return &seen, fmt.Sprintf("%s (the configuration says %s)", locks, *declared)
		}
		return declared, "configuration"
	case scheduled > 0:
		s := retry.SecondsOf(scheduled)
		if asked.Count > 0 && asked.Max < scheduled && !Alike(asked.Max, scheduled) {
			return &seen, fmt.Sprintf("%s (the periodic entry says %s)", locks, s)
		}
		return &s, "periodic entry"
	case asked.Count > 0:
		return &seen, locks
	}
	return nil, ""
}
