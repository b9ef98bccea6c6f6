package observed

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
)

// slack is how far an observed delay can be off: asynq cuts both of its ends to
// whole seconds (rdb.go: Retry; base.go: TaskMessage.LastFailedAt).
const slack = time.Second

// delay notes how long a task in retry waits for its next attempt, as its worker
// decided it.
func (f *Facts) delay(t inspect.Task, declared retry.Policy) {
	if t.State != inspect.StateRetry || t.NextProcessAt.IsZero() || t.LastFailedAt.IsZero() {
		return
	}
	if t.Retried < 1 {
		f.Uncounted++
		return
	}
	d, n := max(0, t.NextProcessAt.Sub(t.LastFailedAt)), t.Retried-1
	i := slices.IndexFunc(f.Delays, func(have Delay) bool { return have.N == n })
	if i < 0 && len(f.Delays) >= mostValues {
		return
	}
	if i < 0 {
		f.Delays = append(f.Delays, Delay{N: n, Min: d, Max: d})
		i = len(f.Delays) - 1
	}
	seen := &f.Delays[i]
	seen.Min, seen.Max = min(seen.Min, d), max(seen.Max, d)
	seen.Count++
	if agrees(declared, n, d) || agrees(declared, n+1, d) {
		seen.Inside++
	}
}

// agrees says whether the policy can give the delay after n counted failures.
func agrees(p retry.Policy, n int, d time.Duration) bool {
	low, high := p.Bounds(n)
	return d >= low-slack && d-slack <= high
}

// Fit is the policy that explains delays.
type Fit struct {
	Policy retry.Policy
	// Delays is how many observations it rests on, Counts how many different n
	// they are of.
	Delays, Counts int
	// Assumed says that the policy goes beyond what was seen: delays after other
	// numbers of failures may be anything.
	Assumed bool
}

// Fit finds the simplest policy that explains every delay seen: the declared
// one, asynq's default, one delay, equal steps, a constant factor, and else the
// longest delays seen as a table. false where no delay was seen.
func (f *Facts) Fit(declared retry.Policy) (Fit, bool) {
	fit := Fit{Counts: len(f.Delays), Assumed: true}
	for _, d := range f.Delays {
		fit.Delays += d.Count
	}
	if fit.Delays == 0 {
		return fit, false
	}
	for _, spec := range append([]string{declared.String(), "default"}, f.candidates()...) {
		p, err := retry.Parse(spec)
		if err == nil && f.explains(p) {
			fit.Policy = p
			return fit, true
		}
	}
	return fit, false
}

func (f *Facts) explains(p retry.Policy) bool {
	for _, d := range f.Delays {
		if !agrees(p, d.N, d.Min) || !agrees(p, d.N, d.Max) {
			return false
		}
	}
	return true
}

// candidates are policies whose parameters the delays suggest.
func (f *Facts) candidates() []string {
	longest := f.Delays[0].Max
	for _, d := range f.Delays {
		longest = max(longest, d.Max)
	}
	list := []string{fmt.Sprintf("fixed(%s)", longest)}
	first, last := f.Delays[0], f.Delays[len(f.Delays)-1]
	if steps := last.N - first.N; steps > 0 {
		step := math.Round((last.Max - first.Max).Seconds() / float64(steps))
		base := first.Max.Seconds() - step*float64(first.N)
		list = append(list, fmt.Sprintf("linear(base=%.0fs, step=%.0fs)", base, step))
		if first.Max > 0 && last.Max > first.Max {
			factor := math.Pow(float64(last.Max)/float64(first.Max), 1/float64(steps))
			base := first.Max.Seconds() / math.Pow(factor, float64(first.N))
			for _, round := range []float64{math.Round(factor), math.Round(factor*10) / 10} {
				list = append(list, fmt.Sprintf("exponential(base=%.0fs, factor=%g)", base, round),
					fmt.Sprintf("exponential(base=%.0fs, factor=%g, cap=%s)", base, round, longest))
			}
		}
	}
	return append(list, f.table())
}

// table lists the longest delay seen after each number of failures; where none
// was seen, the longest of those before.
func (f *Facts) table() string {
	text, longest, n := "table(", time.Duration(0), 0
	for _, d := range f.Delays {
		for ; n < d.N && n < mostTable; n++ {
			text += max(longest, d.Max).String() + ", "
		}
		longest = max(longest, d.Max)
		text += d.Max.String() + ", "
		n = d.N + 1
		if n >= mostTable {
			break
		}
	}
	return text[:len(text)-2] + ")"
}

// mostTable bounds a suggestion that a hostile count of failures could make
// endless.
const mostTable = 100
