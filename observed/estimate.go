package observed

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
)

// Estimate is what the configuration should say of one thing, and how much that
// rests on.
type Estimate struct {
	Name  string // as in the configuration, such as policy.max_retry
	Value string
	// Count is how many observations are behind it, Of what they are of.
	Count int
	Of    string
	// Declared is what is written now; Agrees is whether what was seen does not
	// contradict it.
	Declared string
	Agrees   bool
	Remark   string
}

// Estimates says what the configuration of the kind should say, as far as
// anything was seen that tells.
func (f *Facts) Estimates(declared retry.Params) []Estimate {
	var out []Estimate
	for _, e := range []*Estimate{
		f.estimateRetry(declared), f.estimateMaxRetry(declared), f.estimateTimeout(declared),
		f.estimateWait(declared), f.estimateRun(declared), f.estimateTTL(declared), f.estimatePeriod(declared),
	} {
		if e != nil {
			out = append(out, *e)
		}
	}
	return out
}

func (f *Facts) estimateRetry(declared retry.Params) *Estimate {
	seen, inside := f.Seen()
	if seen == 0 {
		return nil
	}
	e := &Estimate{
		Name: "policy.retry", Count: seen, Of: noun(seen, "task in retry", "tasks in retry"),
		Declared: declared.Delay.String(), Agrees: inside == seen, Value: "unknown",
	}
	fit, ok := f.Fit(declared.Delay)
	if !ok {
		e.Remark = "no policy of a known form gives these delays"
		return e
	}
	e.Value = fit.Policy.String()
	if e.Agrees {
		e.Value = e.Declared
	}
	e.Remark = "seen after " + strconv.Itoa(fit.Counts) + " " + noun(fit.Counts, "number", "different numbers") + " of failures; others are assumed"
	return e
}

func (f *Facts) estimateMaxRetry(declared retry.Params) *Estimate {
	if len(f.MaxRetry) == 0 {
		return nil
	}
	most := slices.Max(slices.Collect(maps.Keys(f.MaxRetry)))
	if f.beyond != nil {
		most = max(most, f.beyond.MaxRetry)
	}
	return &Estimate{
		Name: "policy.max_retry", Value: strconv.Itoa(most), Count: f.Tasks, Of: noun(f.Tasks, "task", "tasks"),
		Declared: strconv.Itoa(declared.MaxRetry), Agrees: most <= declared.MaxRetry,
		Remark: several(len(f.MaxRetry), "values", "the largest counts"),
	}
}

func (f *Facts) estimateTimeout(declared retry.Params) *Estimate {
	if len(f.Timeout) == 0 {
		return nil
	}
	longest := slices.Max(slices.Collect(maps.Keys(f.Timeout)))
	if f.beyond != nil {
		longest = max(longest, f.beyond.Timeout)
	}
	effective := timeoutOf(declared)
	if longest <= 0 {
		return nil // deadlines alone
	}
	return &Estimate{
		Name: "policy.timeout", Value: spell(longest), Count: f.Tasks, Of: noun(f.Tasks, "task", "tasks"),
		Declared: effective.String(), Agrees: retry.SecondsOf(longest) <= effective,
		Remark: several(len(f.Timeout), "values", "the largest counts"),
	}
}

func several(n int, what, then string) string {
	if n < 2 {
		return ""
	}
	return strconv.Itoa(n) + " " + what + ", " + then
}

func (f *Facts) estimateWait(declared retry.Params) *Estimate {
	if f.Waits.Count == 0 {
		return nil
	}
	return &Estimate{
		Name: "policy.queue_wait", Value: spell(f.Waits.Max), Count: f.Waits.Count, Of: noun(f.Waits.Count, "task that still waits", "tasks that still wait"),
		Declared: declared.QueueWait.Max.String(), Agrees: retry.SecondsOf(f.Waits.Max) <= max(1, declared.QueueWait.Max),
		Remark: "at least: the wait is not over",
	}
}

func (f *Facts) estimateRun(declared retry.Params) *Estimate {
	if f.Runs.Count == 0 {
		return nil
	}
	longest := timeoutOf(declared)
	if m := declared.Exec.Max; m != nil {
		longest = *m
	}
	return &Estimate{
		Name: "run", Value: spell(f.Runs.Max), Count: f.Runs.Count, Of: noun(f.Runs.Count, "attempt under way", "attempts under way"),
		Declared: longest.String(), Agrees: retry.SecondsOf(f.Runs.Max) <= longest,
		Remark: "at least: the run is not over",
	}
}

func (f *Facts) estimateTTL(declared retry.Params) *Estimate {
	asked := f.Locks.Asked
	if asked.Count == 0 {
		return nil
	}
	e := &Estimate{
		Name: "unique.ttl", Value: spell(Likely(asked.Max)), Count: asked.Count, Of: noun(asked.Count, "lock of a task not yet tried", "locks of tasks not yet tried"),
		Declared: "none", Remark: "at the enqueue, to about a second",
	}
	if declared.UniqueTTL != nil {
		e.Declared = declared.UniqueTTL.String()
		e.Agrees = Alike(asked.Max, declared.UniqueTTL.Duration())
	}
	return e
}

func noun(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Likely is the whole minute that a TTL was asked for, where what was seen of it
// is off by no more than a lock loses to rounding: up to two seconds (client.go:
// schedule; rdb.go: EnqueueUnique).
func Likely(seen time.Duration) time.Duration {
	const loss = 2 * time.Second
	up := seen.Truncate(time.Minute)
	if up < seen {
		up += time.Minute
	}
	if up-seen <= loss {
		return up
	}
	return seen
}

// Alike says whether a TTL that was seen can be the one that was asked for. A
// lock of a scheduled task loses up to two seconds to rounding, one that the
// forwarder moved up to an interval more (client.go: schedule; forwarder.go).
func Alike(seen, asked time.Duration) bool {
	return seen >= asked-10*time.Second && seen <= asked+2*time.Second
}

func (f *Facts) estimatePeriod(declared retry.Params) *Estimate {
	shortest := f.Interval()
	if shortest == 0 {
		return nil
	}
	e := &Estimate{Name: "unique.period", Value: spell(shortest), Count: len(f.Entries), Of: noun(len(f.Entries), "periodic entry", "periodic entries"), Declared: "none"}
	if declared.Period > 0 {
		e.Declared, e.Agrees = declared.Period.String(), declared.Period <= retry.SecondsOf(shortest)
	}
	return e
}

// Interval is the shortest interval of the kind's periodic entries; 0 where
// there is none, or none that can be read.
func (f *Facts) Interval() time.Duration {
	var shortest time.Duration
	for _, e := range f.Entries {
		if e.Interval > 0 && (shortest == 0 || e.Interval < shortest) {
			shortest = e.Interval
		}
	}
	return shortest
}

// ScheduledTTL is the longest Unique TTL of the kind's periodic entries.
func (f *Facts) ScheduledTTL() time.Duration {
	var longest time.Duration
	for _, e := range f.Entries {
		longest = max(longest, e.Unique)
	}
	return longest
}

// States lists how many tasks are in which state, in asynq's order.
func (f *Facts) States() []StateCount {
	var out []StateCount
	for s, n := range f.ByState {
		out = append(out, StateCount{s, n})
	}
	slices.SortFunc(out, func(a, b StateCount) int { return cmp.Compare(a.State, b.State) })
	return out
}

// StateCount is how many tasks are in a state.
type StateCount struct {
	State inspect.State
	Count int
}

// spell rounds a time up to a whole second and writes it as a policy does.
func spell(d time.Duration) string {
	return retry.SecondsOf(d.Truncate(time.Second) + roundUp(d)).String()
}

func roundUp(d time.Duration) time.Duration {
	if d%time.Second > 0 {
		return time.Second
	}
	return 0
}
