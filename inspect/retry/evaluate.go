package retry

import (
	"errors"
	"fmt"
	"math"
)

// Evaluate answers one request. The answer is one of the …Answer types below,
// which marshal to JSON; times are seconds. Errors name the parameter that makes
// no sense.
func Evaluate(r Request) (any, error) {
	switch r.Family {
	case FamilyLifetime:
		return answerLifetime(r.Params)
	case FamilyAttemptStart:
		return answerAttempt(r.Params, r.Attempt)
	case FamilyRemaining:
		return answerRemaining(r.Params, r.Seen)
	case FamilyLockRisk:
		return answerLock(r.Params, r.FailProb)
	case FamilyLockTTL:
		return answerLockTTL(r.Params)
	case FamilyRetention:
		return answerRetention(r.Params, r.Policy)
	case FamilyUnbounded:
		return answerUnbounded(r.Params), nil
	}
	return nil, errors.New("family is missing")
}

// Time is Seconds in JSON: rounded to microseconds, so that no float noise
// shows.
type Time Seconds

// MarshalJSON writes a plain number, never an exponent.
func (t Time) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(t)) || math.IsInf(float64(t), 0) {
		return nil, fmt.Errorf("%g is no number of seconds", float64(t))
	}
	v := math.Round(float64(t)*1e6) / 1e6
	return []byte(Seconds(v).decimal()), nil
}

// LifetimeAnswer answers FamilyLifetime.
type LifetimeAnswer struct {
	Min  Time `json:"min"`
	Max  Time `json:"max"`
	Mean Time `json:"mean"`
	SD   Time `json:"sd"`
	P50  Time `json:"p50"`
	P95  Time `json:"p95"`
	P99  Time `json:"p99"`

	TruncatedMin  Time   `json:"truncated_min"`
	TruncatedMean Time   `json:"truncated_mean"`
	Method        string `json:"method"`
	boundedness
}

// boundedness is in every answer whose times hold only as long as there is a
// bound.
type boundedness struct {
	Bounded          bool     `json:"bounded"`
	UnboundedBecause []string `json:"unbounded_because"`
}

func boundednessOf(reasons []Reason) boundedness {
	b := boundedness{Bounded: len(reasons) == 0, UnboundedBecause: []string{}}
	for _, r := range reasons {
		b.UnboundedBecause = append(b.UnboundedBecause, r.Text)
	}
	return b
}

func answerLifetime(p Params) (any, error) {
	l, err := p.Lifetime()
	if err != nil {
		return nil, err
	}
	return LifetimeAnswer{
		Min: Time(l.Min), Max: Time(l.Max), Mean: Time(l.Mean), SD: Time(l.SD),
		P50: Time(l.P50), P95: Time(l.P95), P99: Time(l.P99),
		TruncatedMin: Time(l.TruncatedMin), TruncatedMean: Time(l.TruncatedMean),
		Method:      l.Method.String(),
		boundedness: boundednessOf(l.UnboundedBecause),
	}, nil
}

// AttemptAnswer answers FamilyAttemptStart.
type AttemptAnswer struct {
	Earliest          Time `json:"earliest"`
	Latest            Time `json:"latest"`
	EarliestTruncated Time `json:"earliest_truncated"`
	boundedness
}

func answerAttempt(p Params, k int) (any, error) {
	list, err := p.Attempts()
	if err != nil {
		return nil, err
	}
	if k < 1 || k > len(list) {
		return nil, fmt.Errorf("attempt %d is not between 1 and %d", k, len(list))
	}
	a := list[k-1]
	return AttemptAnswer{
		Earliest: Time(a.Earliest), Latest: Time(a.Latest), EarliestTruncated: Time(a.EarliestTruncated),
		boundedness: boundednessOf(p.Unbounded()),
	}, nil
}

// RemainingAnswer answers FamilyRemaining.
type RemainingAnswer struct {
	Min  Time `json:"min"`
	Max  Time `json:"max"`
	Mean Time `json:"mean"`
	P50  Time `json:"p50"`
	P95  Time `json:"p95"`
	P99  Time `json:"p99"`
	// OnlyIfRerun: an archived task has nothing left by itself.
	OnlyIfRerun bool `json:"only_if_rerun"`
	boundedness
}

func answerRemaining(p Params, seen Seen) (any, error) {
	r, err := p.Remaining(seen)
	if err != nil {
		return nil, err
	}
	return RemainingAnswer{
		Min: Time(r.Min), Max: Time(r.Max), Mean: Time(r.Mean),
		P50: Time(r.P50), P95: Time(r.P95), P99: Time(r.P99),
		OnlyIfRerun: r.OnlyIfRerun,
		boundedness: boundednessOf(r.UnboundedBecause),
	}, nil
}

// LockAnswer answers FamilyLockRisk.
type LockAnswer struct {
	Expires       Time    `json:"lock_expires_s"`
	AliveAtExpiry float64 `json:"p_alive_at_expiry"`
	SafeUniqueTTL Time    `json:"safe_unique_ttl_s"`
	boundedness
}

func answerLock(p Params, failProb float64) (any, error) {
	l, err := p.Lock(failProb)
	if err != nil {
		return nil, err
	}
	return LockAnswer{
		Expires: Time(l.TTL), AliveAtExpiry: l.AliveAtExpiry, SafeUniqueTTL: Time(l.SafeUniqueTTL),
		boundedness: boundednessOf(l.UnboundedBecause),
	}, nil
}

// LockTTLAnswer answers FamilyLockTTL.
type LockTTLAnswer struct {
	TTL         Time   `json:"lock_ttl_s"`
	CountedFrom string `json:"counted_from"`
}

func answerLockTTL(p Params) (any, error) {
	if p.UniqueTTL == nil {
		return nil, errors.New("unique_ttl_s is missing")
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	ttl, from, err := LockTTL(*p.UniqueTTL, p.ProcessIn)
	if err != nil {
		return nil, err
	}
	return LockTTLAnswer{TTL: Time(ttl), CountedFrom: from.String()}, nil
}

// RetentionAnswer answers FamilyRetention.
type RetentionAnswer struct {
	Fixed   Time `json:"fixed_s"`
	Sliding Time `json:"sliding_s"`
	boundedness
}

func answerRetention(p Params, policy RetentionPolicy) (any, error) {
	r, err := p.Retention(policy)
	if err != nil {
		return nil, err
	}
	return RetentionAnswer{
		Fixed: Time(r.Fixed), Sliding: Time(r.Sliding), boundedness: boundednessOf(r.UnboundedBecause),
	}, nil
}

// UnboundedAnswer answers FamilyUnbounded: bounded is true, false, or "warn"
// when there is a bound but asynq's arithmetic breaks on the way to it.
type UnboundedAnswer struct {
	Bounded any    `json:"bounded"`
	Why     string `json:"why"`
}

func answerUnbounded(p Params) UnboundedAnswer {
	reasons := p.Unbounded()
	if len(reasons) > 0 {
		why := reasons[0].Text
		for _, r := range reasons[1:] {
			why += "; " + r.Text
		}
		return UnboundedAnswer{Bounded: false, Why: why}
	}
	if p.overflows() {
		return UnboundedAnswer{Bounded: "warn", Why: overflowText}
	}
	return UnboundedAnswer{Bounded: true}
}
