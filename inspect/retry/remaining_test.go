package retry

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func remaining(t interface{ Fatal(...any) }, p Params, seen Seen) Remaining {
	r, err := p.Remaining(seen)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func near(a, b Seconds) bool { return math.Abs(float64(a-b)) <= 1e-6*(1+math.Abs(float64(b))) }

// A task seen at t0 has its whole life before it.
func TestRemainingAtEnqueueIsTheLifetime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genParams(t)
		l, err := p.Lifetime()
		if err != nil {
			t.Fatal(err)
		}
		seen := Seen{State: StatePending}
		if p.Scheduled() {
			seen = Seen{State: StateScheduled, NextProcessIn: p.ProcessIn}
		}
		r := remaining(t, p, seen)
		if !near(r.Min, l.Min) || !near(r.Max, l.Max) || !near(r.Mean, l.Mean) || !near(r.P99, l.P99) {
			t.Fatalf("%+v: remaining %v %v %v, lifetime %v %v %v", p, r.Min, r.Mean, r.Max, l.Min, l.Mean, l.Max)
		}
	})
}

// The quick sum and the timelines must not drift apart.
func TestRemainingBoundsAreThoseOfRemaining(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genParams(t)
		p.IsFailureMayBeFalse = rapid.Bool().Draw(t, "uncounted")
		p.QueuePaused = rapid.Bool().Draw(t, "paused")
		seen := genSeen(t, p.MaxRetry)
		r := remaining(t, p, seen)
		bounds, reasons, err := p.RemainingBounds(seen)
		if err != nil || !near(bounds.Min, r.Min) || !near(bounds.Max, r.Max) || !slices.Equal(reasons, r.UnboundedBecause) {
			t.Fatalf("%+v\n%+v: bounds %v %v (%v), want %v to %v", p, seen, bounds, reasons, err, r.Min, r.Max)
		}
	})
}

// genSeen draws a task in any state that has something left.
func genSeen(t *rapid.T, maxRetry int) Seen {
	s := Seen{
		State: rapid.SampledFrom([]State{
			StateActive, StatePending, StateAggregating, StateScheduled, StateRetry, StateArchived, StateCompleted,
		}).Draw(t, "state"),
		Retried:       rapid.IntRange(0, maxRetry+2).Draw(t, "retried"),
		NextProcessIn: Seconds(rapid.IntRange(-100, 1000).Draw(t, "next")),
	}
	if s.State == StateActive {
		s.Orphaned = rapid.Bool().Draw(t, "orphaned")
		if rapid.Bool().Draw(t, "known") {
			s.RunningFor = new(Seconds(rapid.IntRange(0, 200).Draw(t, "running")))
			s.LeaseExpiredAgo = new(Seconds(rapid.IntRange(0, 150).Draw(t, "expired")))
		}
	}
	return s
}

func TestRemainingIsInOrderAndFallsWithEveryFailure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genParams(t)
		seen := genSeen(t, p.MaxRetry)
		r := remaining(t, p, seen)
		order := []Seconds{0, r.Min, r.P50, r.P95, r.P99, r.Max}
		for i, s := range order[1:] {
			if s < order[i]-1e-6 {
				t.Fatalf("%+v\n%+v: not in order: %v", p, seen, order)
			}
		}
		seen.Retried++
		next := remaining(t, p, seen)
		if next.Max > r.Max+1e-6 || next.Min > r.Min+1e-6 || next.Attempts > r.Attempts {
			t.Fatalf("%+v\n%+v: one more failure, and more is left: %v to %v", p, seen, r.Max, next.Max)
		}
	})
}

func TestRemainingPerState(t *testing.T) {
	p := Params{MaxRetry: 3, Delay: Default(), ForwardInterval: 5, QueueWait: Range{0, 10}, Exec: Exec{Typical: new(Seconds(5)), Max: new(Seconds(60))}}
	crashing := p
	crashing.Crashes = 9
	for name, c := range map[string]struct {
		params   Params
		seen     Seen
		min, max Seconds
		attempts int
	}{
		"completed":                  {p, Seen{State: StateCompleted}, 0, 0, 0},
		"active, start unknown":      {p, Seen{State: StateActive, Retried: 3}, 0, 60, 1},
		"active for long":            {p, Seen{State: StateActive, Retried: 3, RunningFor: new(Seconds(500))}, 0, 0, 1},
		"orphan, lease unknown":      {p, Seen{State: StateActive, Retried: 3, Orphaned: true}, 0, 90, 0},
		"orphan, just now":           {p, Seen{State: StateActive, Retried: 3, Orphaned: true, LeaseExpiredAgo: new(Seconds(0))}, 30, 90, 0},
		"orphan crashes only later":  {crashing, Seen{State: StateActive, Retried: 3, Orphaned: true, LeaseExpiredAgo: new(Seconds(0))}, 30, 90, 0},
		"last attempt crashes":       {crashing, Seen{State: StateActive, Retried: 3, RunningFor: new(Seconds(10))}, 55, 170, 1},
		"archived, exhausted":        {p, Seen{State: StateArchived, Retried: 3}, 0, 70, 1},
		"archived, more than all":    {p, Seen{State: StateArchived, Retried: 9}, 0, 70, 1},
		"archived by skip-retry":     {p, Seen{State: StateArchived, Retried: 2}, 31, 70 + 118 + 75, 2},
		"overdue retry":              {p, Seen{State: StateRetry, Retried: 3, NextProcessIn: -1e6}, 0, 75, 1},
		"scheduled":                  {p, Seen{State: StateScheduled, Retried: 3, NextProcessIn: 7}, 7, 82, 1},
		"aggregating, at the latest": {p, Seen{State: StateAggregating, Retried: 3}, 0, 77, 1},
	} {
		r := remaining(t, c.params, c.seen)
		if r.Min != c.min || r.Max != c.max || r.Attempts != c.attempts {
			t.Errorf("%s: %v to %v, %d attempts; want %v to %v, %d", name, r.Min, r.Max, r.Attempts, c.min, c.max, c.attempts)
		}
		if r.OnlyIfRerun != (c.seen.State == StateArchived) {
			t.Errorf("%s: only if re-run is %v", name, r.OnlyIfRerun)
		}
	}
}

func TestUnboundedReasonsPerState(t *testing.T) {
	p := DefaultParams()
	p.IsFailureMayBeFalse, p.QueuePaused = true, true
	for name, c := range map[string]struct {
		seen Seen
		want []ReasonCode
	}{
		"pending":               {Seen{State: StatePending}, []ReasonCode{ReasonUncounted, ReasonPaused}},
		"last attempt pending":  {Seen{State: StatePending, Retried: 25}, []ReasonCode{ReasonPaused}},
		"last attempt running":  {Seen{State: StateActive, Retried: 25}, nil},
		"completed":             {Seen{State: StateCompleted}, nil},
		"waiting in its group":  {Seen{State: StateAggregating, Retried: 25}, []ReasonCode{ReasonPaused, ReasonAggregating}},
		"archived, exhausted":   {Seen{State: StateArchived, Retried: 30}, []ReasonCode{ReasonPaused}},
		"first attempt running": {Seen{State: StateActive}, []ReasonCode{ReasonUncounted, ReasonPaused}},
	} {
		r := remaining(t, p, c.seen)
		var got []ReasonCode
		for _, reason := range r.UnboundedBecause {
			got = append(got, reason.Code)
		}
		if len(got) != len(c.want) || r.Bounded != (len(c.want) == 0) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
	}
}

// asynq tests Retried >= Retry before it asks IsFailure.
func TestUncountedErrorsAreBoundedWithoutRetries(t *testing.T) {
	p := Params{Delay: Default(), IsFailureMayBeFalse: true}
	if r := p.Unbounded(); r != nil {
		t.Errorf("no retries, yet unbounded: %v", r)
	}
	p.MaxRetry = 1
	if r := p.Unbounded(); len(r) != 1 || r[0].Code != ReasonUncounted {
		t.Errorf("one retry: %v", r)
	}
}

// asynq stores no group for a scheduled task (rdb.go: scheduleCmd).
func TestScheduledTaskOfAGroupIsNotAggregated(t *testing.T) {
	p := DefaultParams()
	p.Group = "g"
	if r := p.Unbounded(); len(r) != 1 || r[0].Code != ReasonAggregating {
		t.Errorf("group: %v", r)
	}
	p.ProcessIn = 10
	if r := p.Unbounded(); r != nil {
		t.Errorf("scheduled: %v", r)
	}
	p.ProcessIn, p.GroupMaxDelay = 0, 60
	l, err := p.Lifetime()
	if err != nil || !l.Bounded || l.Parts[0].Term != TermGroup || l.Parts[0].Max != 67 {
		t.Errorf("group with a limit: %+v %v", l.Parts, err)
	}
}

func TestRemainingRefusesNonsense(t *testing.T) {
	for part, seen := range map[string]Seen{
		"seen.state":               {},
		"seen.retried":             {State: StatePending, Retried: -1},
		"seen.orphaned":            {State: StatePending, Orphaned: true},
		"seen.running_for_s":       {State: StateActive, RunningFor: new(Seconds(-1))},
		"seen.lease_expired_ago_s": {State: StateActive, Orphaned: true, LeaseExpiredAgo: new(Seconds(math.NaN()))},
		"seen.next_process_in_s":   {State: StateRetry, NextProcessIn: Seconds(math.Inf(1))},
	} {
		if _, err := DefaultParams().Remaining(seen); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%+v: %v, want it to name %s", seen, err, part)
		}
	}
}

func TestRetentionCoversTheLifeAndTheRerun(t *testing.T) {
	p := Params{MaxRetry: 2, Delay: mustParse(t, "table(1m, 1h)"), ForwardInterval: 5, QueueWait: Range{1, 10}, Exec: Exec{Max: new(Seconds(100))}, ProcessIn: 50}
	life := Seconds(5 + 3*(10+100) + 60 + 3600 + 2*5 - 1) // from the earliest start of attempt 1
	gap := Seconds(100 + 3600 + 5 + 10)
	for name, c := range map[string]struct {
		policy         RetentionPolicy
		crashes        int
		fixed, sliding Seconds
	}{
		"nothing but the task":      {RetentionPolicy{Zombie: new(Seconds(0))}, 0, life, gap},
		"zombie is the longest run": {RetentionPolicy{}, 0, life + 100, gap + 100},
		"skew":                      {RetentionPolicy{Zombie: new(Seconds(0)), Skew: 60}, 0, life + 60, gap + 60},
		"late duplicates":           {RetentionPolicy{Zombie: new(Seconds(0)), DupHorizon: 9000}, 0, life + 9000, 9000},
		"two re-runs":               {RetentionPolicy{Zombie: new(Seconds(0)), Archive: 9000, Reruns: 2}, 0, life + 2*(9000+110), 9110},
		"crash":                     {RetentionPolicy{Zombie: new(Seconds(0)), Archive: 1, Reruns: 1}, 1, life + 120 + 1 + 110 + 120, gap + 120},
	} {
		q := p
		q.Crashes = c.crashes
		r, err := q.Retention(c.policy)
		if err != nil || r.Fixed != c.fixed || r.Sliding != c.sliding {
			t.Errorf("%s: fixed %v, sliding %v (%v); want %v and %v", name, r.Fixed, r.Sliding, err, c.fixed, c.sliding)
		}
		if !has(r.Warnings, WarningArchive) || has(r.Warnings, WarningRerun) != (c.policy.Reruns == 0) {
			t.Errorf("%s: warnings %v", name, r.Warnings)
		}
	}
	for part, policy := range map[string]RetentionPolicy{
		"reruns":        {Reruns: -1},
		"dup_horizon_s": {DupHorizon: -1},
		"skew_s":        {Skew: Seconds(math.NaN())},
		"archive_days":  {Archive: Seconds(math.Inf(1))},
		"zombie_s":      {Zombie: new(Seconds(-1))},
	} {
		if _, err := p.Retention(policy); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%+v: %v, want it to name %s", policy, err, part)
		}
	}
}
