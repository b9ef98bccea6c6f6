package retry

import (
	"errors"
	"fmt"
	"math"
)

// CountedFrom is the moment a Unique TTL is counted from. The zero value is
// CountedUnknown.
type CountedFrom uint8

const (
	CountedUnknown       CountedFrom = iota
	CountedFromEnqueue               // at once, in a group, or ProcessAt in the past
	CountedFromProcessAt             // scheduled
)

func (c CountedFrom) String() string {
	switch c {
	case CountedFromEnqueue:
		return "enqueue"
	case CountedFromProcessAt:
		return "process_at"
	}
	return "unknown"
}

// ErrUniqueTTL is asynq's own refusal (client.go: composeOptions).
var ErrUniqueTTL = errors.New("Unique TTL cannot be less than 1s") //nolint:staticcheck // asynq spells it so

// LockTTL is the time to live, from t0, that asynq gives to the lock of
// asynq.Unique(ttl) on a task that is due in processIn: whole seconds, the rest
// cut off (rdb.go: EnqueueUnique, ScheduleUnique, AddToGroupUnique). A scheduled
// task's is time.Until(ProcessAt+ttl), so a whole sum has just lost its last
// second. A TTL below one second is refused with ErrUniqueTTL.
func LockTTL(ttl, processIn Seconds) (Seconds, CountedFrom, error) {
	if math.IsNaN(float64(ttl)) || math.IsNaN(float64(processIn)) {
		return 0, CountedUnknown, errors.New("unique ttl is not a number")
	}
	if ttl < 1 {
		return 0, CountedUnknown, fmt.Errorf("unique ttl of %s: %w (the client refuses it)", ttl, ErrUniqueTTL)
	}
	if processIn <= 0 {
		return floor(ttl), CountedFromEnqueue, nil
	}
	return ceil(ttl+processIn) - 1, CountedFromProcessAt, nil
}

// floor and ceil forgive what sums of floats miss by: less than a nanosecond, or
// a ten-trillionth of the value.
func floor(s Seconds) Seconds { return Seconds(math.Floor(float64(s + noise(s)))) }
func ceil(s Seconds) Seconds  { return Seconds(math.Ceil(float64(s - noise(s)))) }

func noise(s Seconds) Seconds { return 5e-10 + 1e-13*max(s, -s) }

// Lock compares the life of a task's uniqueness lock with the task's own.
type Lock struct {
	Bounded          bool
	UnboundedBecause []Reason

	TTL         Seconds // what Redis is told, from t0
	CountedFrom CountedFrom

	// AliveAtExpiry is the probability that the lock ends while the task still
	// lives; FailProb is the chance that an attempt fails, which it is for.
	AliveAtExpiry float64
	FailProb      float64
	Method        Method

	// Covered is how many attempts, from the first, are over before the lock ends
	// whatever happens; Attempts is MaxRetry+1.
	Covered, Attempts int
	// BlocksMin and BlocksMax are how long an archived task's lock still refuses
	// equal work.
	BlocksMin, BlocksMax Seconds

	SafeUniqueTTL Seconds // Advice.Safe
	Warnings      []Warning
}

// Lock judges Params.UniqueTTL. failProb is the chance that one attempt fails:
// 1 asks for tasks that fail every time.
func (p Params) Lock(failProb float64) (Lock, error) {
	if p.UniqueTTL == nil {
		return Lock{}, errors.New("unique_ttl_s is missing")
	}
	if !(failProb >= 0 && failProb <= 1) {
		return Lock{}, fmt.Errorf("fail_prob %g is not between 0 and 1", failProb)
	}
	ttl, from, err := LockTTL(*p.UniqueTTL, p.ProcessIn)
	if err != nil {
		return Lock{}, err
	}
	m, err := p.model()
	if err != nil {
		return Lock{}, err
	}
	attempts := m.retries + 1
	low := m.lifetime(attempts, crashFirst)
	shortest, most := m.low(low), m.high(m.lifetime(attempts, crashLast))
	l := Lock{
		UnboundedBecause: p.Unbounded(),
		TTL:              ttl,
		CountedFrom:      from,
		FailProb:         failProb,
		Attempts:         attempts,
		BlocksMin:        max(0, ttl-most),
		BlocksMax:        max(0, ttl-shortest),
		SafeUniqueTTL:    p.safeTTL(most),
	}
	l.Bounded = len(l.UnboundedBecause) == 0
	for _, a := range m.windows() {
		if ceil(a.LatestEnd) > ttl {
			break
		}
		l.Covered++
	}
	l.AliveAtExpiry, l.Method = m.alive(low, ttl, failProb)
	l.Warnings = append(p.warnings(m), p.lockWarnings(l, most)...)
	return l, nil
}

// alive is the probability that a task is still alive at t.
func (m *model) alive(steps []step, t Seconds, failProb float64) (float64, Method) {
	risk := 0.0
	method := m.eachEnd(steps, failProb, func(ends float64, law *distribution) { risk += ends * law.exceeds(t) })
	return min(1, risk), method
}

// safeTTL is the smallest whole-second TTL that outlives a life of `most`.
func (p Params) safeTTL(most Seconds) Seconds {
	if p.Scheduled() {
		return max(1, ceil(most-p.ProcessIn)+1)
	}
	return max(1, ceil(most))
}

func (p Params) lockWarnings(l Lock, most Seconds) []Warning {
	out := []Warning{{
		WarningLockEarly,
		"the lock is freed early only by success (or RevokeTask) and by deleting the task; a retry, the archive and a requeue keep it",
	}}
	if p.Period > 0 && *p.UniqueTTL > p.Period {
		out = append(out, Warning{WarningPeriod, fmt.Sprintf(
			"the lock lasts %s but the same work may legally come again after %s: Unique is the wrong tool here, use a TaskID or the check in the handler",
			*p.UniqueTTL, p.Period)})
	}
	if l.TTL < ceil(most) || !l.Bounded {
		out = append(out, Warning{WarningLockShort, fmt.Sprintf(
			"the lock covers %d of %d attempts; in %s of %s it ends before the task does", l.Covered, l.Attempts, share(l.AliveAtExpiry), whose(l.FailProb))})
	}
	if l.BlocksMax > 0 {
		out = append(out, Warning{WarningLockAfter, fmt.Sprintf(
			"after the archive equal work stays refused for %s to %s", rough(l.BlocksMin), rough(l.BlocksMax))})
	}
	return out
}

// whose are the tasks that a risk is a share of.
func whose(failProb float64) string {
	if failProb == 1 {
		return "the tasks that fail every attempt"
	}
	return fmt.Sprintf("the tasks whose attempts fail with probability %g", failProb)
}

// share never rounds a risk down to none: it is asked where none is not proven.
func share(p float64) string {
	switch {
	case p < 0.001:
		return "less than 0.1 %"
	case p > 0.999 && p < 1:
		return "more than 99.9 %"
	}
	return fmt.Sprintf("%.3g %%", p*100)
}
