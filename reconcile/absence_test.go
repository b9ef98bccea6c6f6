package reconcile

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect"
)

const day = 24 * time.Hour

// failedOnce is an archived task with one attempt of a minute, so that its first
// attempt can have begun 3 minutes before its failure: the minute, and the
// 2 minutes that a recoverer may take.
func failedOnce(at time.Time) inspect.Task {
	return with(inState(inspect.StateArchived), func(t *inspect.Task) {
		t.Retried, t.MaxRetry, t.LastFailedAt, t.ArchivedAt = 0, 0, at, at
	})
}

// judgedOn is the verdict on an absent mark whose source was kept and remembers
// as said.
func judgedOn(t failer, task inspect.Task, keep Retention, age SourceAge) Verdict {
	r := markRule()
	r.Sources[0].Retention = keep
	return Judge(evidence(aged(bound(t, r), age), task, noRow), Moment{Now: noon})
}

func TestAbsenceProvesNothingPastTheLedgersMemory(t *testing.T) {
	const edge = 3 * time.Minute // see failedOnce
	failed := ago(day)
	first := failed.Add(-edge)
	forever, kept := Retention{Forever: true}, func(d time.Duration) Retention { return Retention{For: d} }
	tests := []struct {
		name string
		keep Retention
		age  SourceAge
		want Reason
	}{
		{"rows older than the task", Retention{}, SourceAge{Oldest: first.Add(-time.Second)}, ReasonNone},
		{"rows as old as the task", Retention{}, SourceAge{Oldest: first}, ReasonNone},
		{"rows begin after its first attempt can have", Retention{}, SourceAge{Oldest: first.Add(time.Second)}, ReasonRetention},
		{"rows begin after its failure", Retention{}, SourceAge{Oldest: ago(time.Hour)}, ReasonRetention},
		{"no time column, nothing declared", Retention{}, SourceAge{}, ReasonNone},
		{"no time column, kept long enough", kept(day + edge), SourceAge{}, ReasonNone},
		{"no time column, pruned since", kept(day + edge - time.Second), SourceAge{}, ReasonRetention},
		{"kept long enough", kept(30 * day), SourceAge{Oldest: ago(30 * day)}, ReasonNone},
		{"pruned since", kept(time.Hour), SourceAge{Oldest: ago(30 * day)}, ReasonRetention},
		{"pruned since, rows show it", kept(time.Hour), SourceAge{Oldest: ago(time.Hour)}, ReasonRetention},
		{"kept for ever", forever, SourceAge{Oldest: ago(time.Hour)}, ReasonNone},
		{"kept for ever, no time column", forever, SourceAge{}, ReasonNone},
		{"empty", Retention{}, SourceAge{Empty: true}, ReasonEmptySource},
		{"empty, kept for a time", kept(30 * day), SourceAge{Empty: true}, ReasonEmptySource},
		{"empty, kept for ever", forever, SourceAge{Empty: true}, ReasonNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := judgedOn(t, failedOnce(failed), tt.keep, tt.age)
			want := StatusUnknown
			if tt.want == ReasonNone {
				want = StatusNotApplied
			}
			if v.Status != want || v.Reason != tt.want {
				t.Errorf("status = %s (%s), want %s (%s)", v.Status, v.Reason, want, tt.want)
			}
			if v.Has(CodeLost) != (tt.want == ReasonNone) || v.Has(CodeUnknown) == v.Has(CodeLost) {
				t.Errorf("codes = %v", v.Codes)
			}
		})
	}
}

// What was declared is not all: rows may be pruned sooner than the operator
// believes, or the table be younger than the task.
func TestAbsenceIsDoubtedWhereRowsBeginLateWhateverWasDeclared(t *testing.T) {
	v := judgedOn(t, failedOnce(ago(5*day)), Retention{For: 30 * day}, SourceAge{Oldest: ago(day)})
	if v.Status != StatusUnknown || v.Reason != ReasonRetention {
		t.Errorf("status = %s (%s) although no row is older than a day and the task failed five days ago", v.Status, v.Reason)
	}
}

func TestSkewWidensWhatTheLedgerCannotRemember(t *testing.T) {
	const skew = 10 * time.Second
	task := failedOnce(ago(day))
	first := ago(day).Add(-3 * time.Minute)
	b := aged(bound(t, markRule()), SourceAge{Oldest: first.Add(-skew + time.Second)})
	if v := Judge(evidence(b, task, noRow), Moment{Now: noon, Skew: skew}); v.Reason != ReasonRetention {
		t.Errorf("status = %s (%s) within the skew of the clocks, want past-retention", v.Status, v.Reason)
	}
	r := markRule()
	r.Sources[0].Retention.For = day + 3*time.Minute + skew - time.Second
	if v := Judge(evidence(bound(t, r), task, noRow), Moment{Now: noon, Skew: skew}); v.Reason != ReasonRetention {
		t.Errorf("status = %s (%s) within the skew of the clocks, want past-retention", v.Status, v.Reason)
	}
}

// firstBy finds the judge's estimate of a task's first possible attempt by
// asking from which age of the oldest row on an absence is believed.
func firstBy(t failer, task inspect.Task, r Rule) time.Time {
	believed := func(age time.Duration) bool {
		b := aged(bound(t, r), SourceAge{Oldest: ago(age)})
		return Judge(evidence(b, task, noRow), Moment{Now: noon}).Status == StatusNotApplied
	}
	low, high := time.Duration(0), 290*365*day
	if !believed(high) {
		return time.Time{} // no row is old enough
	}
	for high-low > time.Millisecond {
		if middle := low + (high-low)/2; believed(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return ago(high).Round(10 * time.Millisecond)
}

func TestFirstAttemptIsReckonedBackFromTheLastFailure(t *testing.T) {
	failed := ago(day)
	task := func(retried int, timeout time.Duration) inspect.Task {
		return with(failedOnce(failed), func(t *inspect.Task) { t.Retried, t.MaxRetry, t.Timeout = retried, retried, timeout })
	}
	fixed := Policy{Retry: "fixed(10s)"}
	waiting := Policy{Retry: "fixed(10s)", QueueWait: time.Minute}
	tests := []struct {
		name   string
		task   inspect.Task
		policy Policy
		want   time.Duration // before the failure
	}{
		{"one attempt", task(0, time.Minute), fixed, 3 * time.Minute},
		{"three attempts", task(2, time.Minute), fixed, 3*time.Minute + 2*10*time.Second + 2*time.Minute},
		{"three attempts that wait in their queue", task(2, time.Minute), waiting, 3*time.Minute + 2*10*time.Second + 2*time.Minute + 2*time.Minute},
		{"asynq's own timeout", task(0, 0), fixed, 32 * time.Minute},
		// asynq's default delays are at the longest 15+29, 16+58 and 31+87 s.
		{"asynq's own delays", task(3, time.Minute), Policy{}, 4*time.Minute + (44+74+118)*time.Second + 2*time.Minute},
		{"delays that grow", task(3, time.Minute), Policy{Retry: "exponential(base=10s, factor=2)"}, 4*time.Minute + 70*time.Second + 2*time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := markRule()
			r.Policy = tt.policy
			if got, want := firstBy(t, tt.task, r), failed.Add(-tt.want); !got.Equal(want) {
				t.Errorf("first attempt at %s, want %s", got, want)
			}
		})
	}
}

func TestFirstAttemptIsReckonedFromTheEarliestSignOfOne(t *testing.T) {
	tests := []struct {
		name   string
		task   inspect.Task
		before time.Time // the first attempt was over by then
	}{
		{"failed, then succeeded a week later", with(inState(inspect.StateCompleted), func(t *inspect.Task) {
			t.Retried, t.LastErr, t.LastFailedAt, t.CompletedAt = 1, "boom", ago(8*day), ago(day)
		}), ago(8 * day)},
		{"failed, succeeded, archived by hand", with(inState(inspect.StateArchived), func(t *inspect.Task) {
			t.Retried, t.LastFailedAt, t.CompletedAt, t.ArchivedAt = 1, ago(8*day), ago(2*day), ago(day)
		}), ago(8 * day)},
		{"succeeded, then failed when it was run again", with(inState(inspect.StateArchived), func(t *inspect.Task) {
			t.CompletedAt, t.LastFailedAt, t.ArchivedAt = ago(8*day), ago(day), ago(day)
		}), ago(8 * day)},
		{"succeeded, then run again and completed", with(inState(inspect.StateCompleted), func(t *inspect.Task) {
			t.CompletedAt = ago(day)
		}), ago(day)},
		{"failed long before it was archived by hand", with(inState(inspect.StateArchived), func(t *inspect.Task) {
			t.LastFailedAt, t.ArchivedAt = ago(8*day), ago(day)
		}), ago(8 * day)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := firstBy(t, tt.task, markRule()); got.After(tt.before) {
				t.Errorf("first attempt at %s; one was over at %s", got, tt.before)
			}
		})
	}
}

// A message may claim any count of failures.
func TestFirstAttemptOfAHostileCountIsNeverYoungerThanTheFailure(t *testing.T) {
	for _, retried := range []int{1_000_000, 1<<31 - 1, -1, -10_000_000, -(1 << 31)} {
		task := failedOnce(ago(day))
		task.Retried, task.MaxRetry = retried, retried
		if got := firstBy(t, task, markRule()); got.After(ago(day)) {
			t.Errorf("retried %d: first attempt at %s, after its failure at %s", retried, got, ago(day))
		}
	}
}

// A task that waits, and of which no attempt is known, is as young as it looks,
// also where it has a deadline and no timeout.
func TestWaitingTaskWithADeadlineIsNotPastRetention(t *testing.T) {
	for _, state := range []inspect.State{inspect.StatePending, inspect.StateScheduled, inspect.StateAggregating} {
		task := with(inState(state), func(t *inspect.Task) { t.Timeout, t.Deadline = 0, noon.Add(time.Hour) })
		v := judgedOn(t, task, Retention{}, SourceAge{Oldest: ago(300 * day)})
		if v.Status != StatusNotApplied {
			t.Errorf("%s: status = %s (%s), want not-applied", state, v.Status, v.Reason)
		}
	}
}

// The other source's row says when the key was worked on.
func TestHalfOfAnOldPairMayHaveBeenPruned(t *testing.T) {
	r := paymentRule()
	r.Sources[0].Retention.Forever = true
	r.Sources[1].Retention.For = day
	b := aged(bound(t, r), SourceAge{Oldest: ago(300 * day)}, SourceAge{Oldest: ago(day)})
	requeued := with(inState(inspect.StatePending), func(t *inspect.Task) { t.PendingSince = time.Time{} })
	v := Judge(evidence(b, requeued, doneAt(ago(3*day)), noRow), Moment{Now: noon})
	if v.Has(CodePartial) || v.Reason != ReasonRetention {
		t.Errorf("%s (%s) %v: the mark is older than anything the effect's table remembers", v.Status, v.Reason, v.Codes)
	}
}

func TestEachAbsentSourceMustBeAbleToProveIt(t *testing.T) {
	recent, old := SourceAge{Oldest: ago(time.Hour)}, SourceAge{Oldest: ago(300 * day)}
	task := failedOnce(ago(day))
	row := doneAt(ago(day))
	tests := []struct {
		name         string
		mark, effect Row
		ages         []SourceAge
		status       Status
		reason       Reason
	}{
		{"both absent, one remembers too little", noRow, noRow, []SourceAge{old, recent}, StatusUnknown, ReasonRetention},
		{"both absent, the other remembers too little", noRow, noRow, []SourceAge{recent, old}, StatusUnknown, ReasonRetention},
		{"both absent, one table empty", noRow, noRow, []SourceAge{old, {Empty: true}}, StatusUnknown, ReasonEmptySource},
		{"half, the absent one remembers too little", row, noRow, []SourceAge{old, recent}, StatusUnknown, ReasonRetention},
		{"half, the absent one remembers", row, noRow, []SourceAge{recent, old}, StatusPartial, ReasonNone},
		{"half, the absent one is empty", row, noRow, []SourceAge{old, {Empty: true}}, StatusUnknown, ReasonEmptySource},
		{"both there", row, row, []SourceAge{recent, recent}, StatusApplied, ReasonNone},
		{"half, the other unfinished", row, claimedAt(ago(day)), []SourceAge{recent, recent}, StatusPartial, ReasonNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := Judge(evidence(aged(bound(t, paymentRule()), tt.ages...), task, tt.mark, tt.effect), Moment{Now: noon})
			if v.Status != tt.status || v.Reason != tt.reason {
				t.Errorf("status = %s (%s), want %s (%s)", v.Status, v.Reason, tt.status, tt.reason)
			}
		})
	}
}

func TestInboxRowsProveNoAbsence(t *testing.T) {
	r := Rule{Class: ClassCreate, Sources: []Source{markSource, inboxSource}}
	b := aged(bound(t, r), SourceAge{Oldest: ago(300 * day)}, SourceAge{Empty: true})
	if v := Judge(evidence(b, failedOnce(ago(day)), noRow, noRow), Moment{Now: noon}); v.Status != StatusNotApplied {
		t.Errorf("status = %s (%s): an empty inbox decides nothing", v.Status, v.Reason)
	}
}

func TestReplicaCannotProveAnAbsence(t *testing.T) {
	archived, completed := inState(inspect.StateArchived), inState(inspect.StateCompleted)
	row := doneAt(ago(time.Hour))
	tests := []struct {
		name         string
		task         inspect.Task
		mark, effect Row
		status       Status
		want         string
	}{
		{"not-applied", archived, noRow, noRow, StatusUnknown, "effect/unknown warning"},
		{"unmarked", completed, noRow, noRow, StatusUnknown, ""},
		{"partial", archived, row, noRow, StatusUnknown, "effect/unknown warning"},
		{"partial, waiting", inState(inspect.StatePending), row, noRow, StatusUnknown, ""},
		{"applied", archived, row, row, StatusApplied, "effect/applied-archived high"},
		{"applied and completed", completed, row, row, StatusApplied, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := evidence(bound(t, paymentRule()), tt.task, tt.mark, tt.effect)
			e.Lagging = true
			v := Judge(e, Moment{Now: noon})
			if v.Status != tt.status || tt.status == StatusUnknown && v.Reason != ReasonReplica {
				t.Errorf("status = %s (%s), want %s", v.Status, v.Reason, tt.status)
			}
			if got := said(v, tt.task.State); got != tt.want {
				t.Errorf("verdict = %q, want %q", got, tt.want)
			}
		})
	}
	// The row that ends the claim may be on the primary already.
	e := evidence(bound(t, paymentRule()), archived, claimedAt(ago(5*time.Hour)), noRow)
	e.Lagging = true
	if v := Judge(e, Moment{Now: noon}); v.Has(CodeStaleClaim) {
		t.Errorf("codes = %v from a replica", v.Codes)
	}
}

func TestAbsenceProvesNothingWithoutOneTransaction(t *testing.T) {
	archived, completed := inState(inspect.StateArchived), inState(inspect.StateCompleted)
	row := doneAt(ago(time.Hour))
	tests := []struct {
		name         string
		task         inspect.Task
		mark, effect Row
		status       Status
		want         string
	}{
		{"not-applied", archived, noRow, noRow, StatusUnknown, "effect/unknown warning"},
		{"unmarked", completed, noRow, noRow, StatusUnknown, ""},
		{"partial", archived, row, noRow, StatusUnknown, "effect/unknown warning"},
		{"applied", archived, row, row, StatusApplied, "effect/applied-archived high"},
		{"the claim of a dead attempt", archived, claimedAt(ago(5 * time.Hour)), noRow, StatusInProgress, "effect/stale-claim high"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := paymentRule()
			r.NotAtomic = true
			v := Judge(evidence(bound(t, r), tt.task, tt.mark, tt.effect), Moment{Now: noon})
			if v.Status != tt.status || tt.status == StatusUnknown && v.Reason != ReasonNotAtomic {
				t.Errorf("status = %s (%s), want %s", v.Status, v.Reason, tt.status)
			}
			if got := said(v, tt.task.State); got != tt.want {
				t.Errorf("verdict = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestWhatCannotBeReadIsUnknownWithItsReason(t *testing.T) {
	task := inState(inspect.StateArchived)
	natural := bound(t, Rule{Class: ClassDelete})
	tests := []struct {
		name string
		e    Evidence
		want Reason
	}{
		{"no rule", Evidence{Task: task}, ReasonNoRule},
		{"no key", Evidence{Task: task, Rule: bound(t, markRule()), KeyProblem: "the key is empty"}, ReasonKeyMissing},
		{"no rows", Evidence{Task: task, Rule: bound(t, markRule()), Key: "k", Unread: "connection refused"}, ReasonLedger},
		{"no source", Evidence{Task: task, Rule: bound(t, Rule{Class: ClassIncrement})}, ReasonNoSource},
		{"an undecodable message", evidence(bound(t, markRule()), with(task, func(t *inspect.Task) {
			t.Defect = inspect.DefectUndecodable
		}), doneAt(noon)), ReasonUndecodable},
		{"an undecodable message of a natural class", Evidence{Task: with(task, func(t *inspect.Task) {
			t.Defect = inspect.DefectUndecodable
		}), Rule: natural}, ReasonUndecodable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := Judge(tt.e, Moment{Now: noon})
			if v.Status != StatusUnknown || v.Reason != tt.want || !v.Has(CodeUnknown) {
				t.Errorf("status = %s (%s), codes %v, want unknown (%s) and effect/unknown", v.Status, v.Reason, v.Codes, tt.want)
			}
		})
	}
}

// remembers is the contract's rule for one absent source, apart from the judge's
// own reckoning.
func remembers(keep Retention, age SourceAge, first time.Time) bool {
	switch {
	case keep.Forever:
		return true
	case age.Empty:
		return false
	case keep.For > 0 && first.Before(noon.Add(-keep.For)):
		return false
	}
	return age.Oldest.IsZero() || !first.Before(age.Oldest)
}

func TestNotAppliedIsOnlySaidWhereEverySourceRemembersTheFirstAttempt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		task := failedOnce(ago(time.Duration(rapid.IntRange(1, 60).Draw(t, "failed days ago")) * day))
		first := task.LastFailedAt.Add(-3 * time.Minute)
		r := Rule{Class: ClassCreate}
		var ages []SourceAge
		var rows []Row
		want := true
		for range rapid.IntRange(1, 3).Draw(t, "sources") {
			s := markSource
			switch rapid.IntRange(0, 2).Draw(t, "retention") {
			case 0:
				s.Retention.Forever = true
			case 1:
				s.Retention.For = time.Duration(rapid.IntRange(1, 60).Draw(t, "kept days")) * day
			}
			age := SourceAge{Empty: rapid.IntRange(0, 4).Draw(t, "empty") == 0}
			if !age.Empty && rapid.Bool().Draw(t, "times") {
				age.Oldest = ago(time.Duration(rapid.IntRange(0, 60).Draw(t, "oldest days")) * day)
			}
			r.Sources, ages, rows = append(r.Sources, s), append(ages, age), append(rows, noRow)
			want = want && remembers(s.Retention, age, first)
		}
		v := Judge(evidence(aged(bound(t, r), ages...), task, rows...), Moment{Now: noon})
		if got := v.Status == StatusNotApplied; got != want {
			t.Fatalf("status = %s (%s), want not-applied: %t", v.Status, v.Reason, want)
		}
	})
}
