package retry

import (
	"errors"
	"fmt"
	"math"
)

// RetentionPolicy is what the ledger's rows must survive besides the task
// itself. Start from DefaultRetentionPolicy.
type RetentionPolicy struct {
	// DupHorizon is how late a producer may enqueue the same work again: an
	// outbox that is replayed, a webhook that is delivered twice.
	DupHorizon Seconds
	// Archive is how long an archived task may be kept before it is run again.
	Archive Seconds
	// Reruns is how often an operator may run an archived task again.
	Reruns int
	// Zombie is how long a handler that ignores its context may outlive its
	// attempt; nil: as long as the longest run.
	Zombie *Seconds
	Skew   Seconds // between the clocks that stamp rows and prune them
}

// archiveDays is the age at which the archive is pruned (rdb.go: archiveCmd).
const archiveDays = 90

// DefaultRetentionPolicy is 90 days of archive, one re-run, a minute of skew and
// no late duplicates.
func DefaultRetentionPolicy() RetentionPolicy {
	return RetentionPolicy{Archive: archiveDays * day, Reruns: 1, Skew: minute}
}

// Retention is how long a ledger row has to be kept, counted from its first
// writing at the start of attempt 1 (Fixed) or from the latest attempt's start
// (Sliding, for rows whose expiry every attempt renews).
type Retention struct {
	Bounded          bool
	UnboundedBecause []Reason

	Fixed, Sliding Seconds
	// LongestGap is the longest time between the starts of two consecutive
	// attempts; 0 without retries.
	LongestGap Seconds
	Parts      []Part // of Fixed; Max only
	Warnings   []Warning
}

// Retention computes both. Errors name the parameter that makes no sense.
func (p Params) Retention(policy RetentionPolicy) (Retention, error) {
	if err := policy.check(); err != nil {
		return Retention{}, err
	}
	m, err := p.model()
	if err != nil {
		return Retention{}, err
	}
	high := m.lifetime(m.retries+1, crashLast)
	life := m.high(high) - (m.start + m.wait.min)
	again := m.wait.max + m.run.high
	if m.crashes > 0 {
		again += crashMax
	}
	zombie := m.run.high
	if policy.Zombie != nil {
		zombie = *policy.Zombie
	}
	reruns := Seconds(policy.Reruns)
	r := Retention{
		UnboundedBecause: p.Unbounded(),
		LongestGap:       m.longestGap(),
		Warnings:         append(p.warnings(m), archiveWarnings(policy)...),
		Parts: []Part{
			part(TermReplay, 0, 0, policy.DupHorizon),
			part(TermLife, 0, 0, life),
			part(TermArchive, 0, 0, reruns*(policy.Archive+again)),
			part(TermZombie, 0, 0, zombie),
			part(TermSkew, 0, 0, policy.Skew),
		},
	}
	r.Bounded = len(r.UnboundedBecause) == 0
	for _, part := range r.Parts {
		r.Fixed += part.Max
	}
	stretch := max(r.LongestGap, policy.DupHorizon)
	if policy.Reruns > 0 {
		stretch = max(stretch, policy.Archive+m.run.high+m.wait.max)
	}
	r.Sliding = stretch + zombie + policy.Skew
	return r, nil
}

// longestGap is between the starts of two consecutive attempts.
func (m *model) longestGap() Seconds {
	var longest Seconds
	for _, d := range m.delays {
		longest = max(longest, m.run.high+d.max+m.forward.max+m.wait.max)
	}
	if m.crashes > 0 && longest > 0 {
		longest += crashMax
	}
	return longest
}

func (r RetentionPolicy) check() error {
	if r.Reruns < 0 {
		return fmt.Errorf("policy.reruns %d is negative", r.Reruns)
	}
	if r.Reruns > MaxRetries {
		return fmt.Errorf("policy.reruns %d is above %d", r.Reruns, MaxRetries)
	}
	if math.IsInf(float64(r.Archive), 0) {
		return errors.New("policy.archive_days is infinite")
	}
	list := []named{
		{"policy.dup_horizon_s", r.DupHorizon, false},
		{"policy.archive_days", r.Archive, false},
		{"policy.skew_s", r.Skew, false},
	}
	if r.Zombie != nil {
		list = append(list, named{"policy.zombie_s", *r.Zombie, false})
	}
	for _, t := range list {
		if err := t.check(); err != nil {
			return err
		}
	}
	return nil
}

func archiveWarnings(policy RetentionPolicy) []Warning {
	out := []Warning{{
		WarningArchive,
		"90 days in the archive are a policy, not a guarantee: it is pruned only when another task of the queue is archived, and a re-run that fails starts them anew; a quiet queue keeps its archive, and can run it again, for ever",
	}}
	if policy.Reruns == 0 {
		out = append(out, Warning{
			WarningRerun,
			"no re-run is counted on: rows pruned after this time no longer protect a task that an operator runs from the archive",
		})
	}
	return out
}
