package reconcile

import (
	"fmt"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// absent is a mark that was never written for the task.
func absent(t failer, task inspect.Task) Evidence {
	return evidence(bound(t, markRule()), task, noRow)
}

// failedAgo is an archived task whose last failure and archiving were that long
// ago.
func failedAgo(d time.Duration) inspect.Task {
	return with(inState(inspect.StateArchived), func(t *inspect.Task) { t.LastFailedAt, t.ArchivedAt = ago(d), ago(d) })
}

func TestSettleTimeIsTheLargerOfTwoMinutesAndTheTasksOwnTimeout(t *testing.T) {
	hour := time.Hour
	tests := []struct {
		name        string
		timeout     time.Duration
		deadlineIn  time.Duration // after the last failure; 0: none
		rule, audit time.Duration
		declared    Policy
		want        time.Duration
	}{
		{name: "short timeout", timeout: time.Minute, want: 2 * time.Minute},
		{name: "two minutes", timeout: 2 * time.Minute, want: 2 * time.Minute},
		{name: "long timeout", timeout: hour, want: hour},
		{name: "timeout and a nearer deadline", timeout: hour, deadlineIn: time.Minute, want: hour},
		{name: "deadline ahead", deadlineIn: 40 * time.Minute, want: 40 * time.Minute},
		{name: "deadline near", deadlineIn: time.Minute, want: 2 * time.Minute},
		{name: "deadline passed", deadlineIn: -hour, want: 2 * time.Minute},
		{name: "neither, as asynq treats it", want: 30 * time.Minute},
		{name: "audit's word, shorter", timeout: hour, audit: 10 * time.Second, want: 10 * time.Second},
		{name: "audit's word, longer", timeout: time.Minute, audit: 3 * hour, want: 3 * hour},
		{name: "rule's word goes first", timeout: hour, audit: 3 * hour, rule: 5 * time.Second, want: 5 * time.Second},
		{name: "declared timeout, the task has its own", timeout: hour, declared: Policy{Timeout: time.Minute}, want: hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			task := failedAgo(hour)
			task.Timeout = tt.timeout
			if tt.deadlineIn != 0 {
				task.Deadline = task.LastFailedAt.Add(tt.deadlineIn)
			}
			r := markRule()
			r.Settle, r.Policy = tt.rule, tt.declared
			e := evidence(bound(t, r), task, noRow)
			due := task.LastFailedAt.Add(tt.want + time.Second)
			early := Judge(e, Moment{Now: due.Add(-time.Nanosecond), Settle: tt.audit})
			if !early.Has(CodeUnsettled) || early.Reason != ReasonSettling || early.Has(CodeLost) {
				t.Errorf("just before %s: %v (%s), want effect/unsettled (settling)", tt.want, early.Codes, early.Reason)
			}
			if !early.SettlesAt.Equal(due) {
				t.Errorf("settles at %s, want %s", early.SettlesAt, due)
			}
			if late := Judge(e, Moment{Now: due, Settle: tt.audit}); !late.Has(CodeLost) || late.Settle != tt.want {
				t.Errorf("after %s: %v, settle %s, want effect/lost", tt.want, late.Codes, late.Settle)
			}
		})
	}
}

// asynq's worker gives a message with neither timeout nor deadline its own 30
// minutes, whatever the operator believes (processor.go: computeDeadline).
func TestSettleTimeIsNotShortenedByADeclaredTimeout(t *testing.T) {
	r := markRule()
	r.Policy.Timeout = time.Minute
	task := failedAgo(10 * time.Minute)
	task.Timeout = 0
	if v := Judge(evidence(bound(t, r), task, noRow), Moment{Now: noon}); v.Has(CodeLost) {
		t.Errorf("lost after 10m (settle %s), while an attempt may run for asynq's 30m", v.Settle)
	}
}

// The last error is only the last attempt's: an earlier one may have timed out
// and still be writing.
func TestSettleTimeHoldsForEveryCause(t *testing.T) {
	causes := []string{
		"", "boom", textLease, textTimeout, textCancelled, "bad input: " + textSkipRetry,
		textPanic + "panic: x", textNoHandler + `payment:charge"`,
	}
	for _, text := range causes {
		for _, retried := range []int{0, 3} {
			task := failedAgo(9 * time.Minute)
			task.LastErr, task.Retried, task.Timeout = text, retried, 10*time.Minute
			if v := Judge(absent(t, task), Moment{Now: noon}); !v.Has(CodeUnsettled) {
				t.Errorf("%q, retried %d: %v within the task's timeout, want effect/unsettled", text, retried, v.Codes)
			}
		}
	}
}

func TestSettleCountsFromTheLatestSignOfLife(t *testing.T) {
	old, fresh := ago(time.Hour), ago(time.Minute)
	signs := []struct {
		name   string
		task   inspect.Task
		settle Code
	}{
		{"last failure", with(failedAgo(time.Hour), func(t *inspect.Task) { t.LastFailedAt = fresh }), CodeLost},
		{"archive score", with(failedAgo(time.Hour), func(t *inspect.Task) { t.ArchivedAt = fresh }), CodeLost},
		{"completion, archived since", with(failedAgo(time.Hour), func(t *inspect.Task) { t.CompletedAt = fresh }), CodeUnmarked},
		{"archived after it succeeded", with(failedAgo(time.Hour), func(t *inspect.Task) {
			t.LastFailedAt, t.CompletedAt, t.ArchivedAt = time.Time{}, old, fresh
		}), CodeUnmarked},
		{"completion", with(inState(inspect.StateCompleted), func(t *inspect.Task) { t.CompletedAt = fresh }), CodeUnmarked},
		{"failure of a re-run, completed before", with(inState(inspect.StateCompleted), func(t *inspect.Task) {
			t.CompletedAt, t.LastFailedAt = old, fresh
		}), CodeUnmarked},
		{"a worker's clock that is ahead", with(failedAgo(time.Hour), func(t *inspect.Task) { t.LastFailedAt = noon.Add(time.Minute) }), CodeLost},
	}
	for _, tt := range signs {
		t.Run(tt.name, func(t *testing.T) {
			e := absent(t, tt.task)
			v := Judge(e, Moment{Now: noon})
			if !v.Has(CodeUnsettled) || v.Reason != ReasonSettling || v.Has(tt.settle) {
				t.Errorf("codes = %v (%s), want effect/unsettled (settling)", v.Codes, v.Reason)
			}
			if later := Judge(e, Moment{Now: noon.Add(10 * time.Minute)}); !later.Has(tt.settle) {
				t.Errorf("ten minutes later: %v, want %s", later.Codes, tt.settle)
			}
		})
	}
}

func TestSettleWaitsForClocksThatDisagree(t *testing.T) {
	const skew = 40 * time.Second
	e := absent(t, failedAgo(2*time.Minute+time.Second+skew-time.Nanosecond))
	if v := Judge(e, Moment{Now: noon, Skew: skew}); !v.Has(CodeUnsettled) {
		t.Errorf("codes = %v within the measured skew, want effect/unsettled", v.Codes)
	}
	if v := Judge(e, Moment{Now: noon.Add(time.Nanosecond), Skew: skew}); !v.Has(CodeLost) {
		t.Errorf("codes = %v, want effect/lost", v.Codes)
	}
}

func TestNothingSettlesWithoutASignOfLife(t *testing.T) {
	task := with(inState(inspect.StateCompleted), func(t *inspect.Task) { t.CompletedAt = time.Time{} })
	v := Judge(absent(t, task), Moment{Now: noon})
	if !v.Has(CodeUnsettled) || !v.SettlesAt.IsZero() {
		t.Errorf("codes = %v, settles at %s: want effect/unsettled at no known time", v.Codes, v.SettlesAt)
	}
}

func TestTwinsKeepAKeyUnsettled(t *testing.T) {
	succeeded := with(failedAgo(time.Hour), func(t *inspect.Task) {
		t.LastFailedAt, t.CompletedAt = time.Time{}, ago(2*time.Hour)
	})
	for _, task := range []inspect.Task{failedAgo(time.Hour), inState(inspect.StateCompleted), succeeded} {
		v := Judge(absent(t, task), Moment{Now: noon, Twin: true})
		if !v.Has(CodeUnsettled) || v.Reason != ReasonTwin || !v.SettlesAt.IsZero() {
			t.Errorf("%s: %v (%s, settles at %s), want effect/unsettled (twin)", task.State, v.Codes, v.Reason, v.SettlesAt)
		}
	}
	// A row that is there is not taken back by another task of its key.
	v := Judge(evidence(bound(t, markRule()), failedAgo(time.Hour), doneAt(ago(time.Hour))), Moment{Now: noon, Twin: true})
	if !v.Has(CodeAppliedArchived) {
		t.Errorf("applied with a twin: %v, want effect/applied-archived", v.Codes)
	}
}

func TestOlderTransactionsKeepAKeyUnsettled(t *testing.T) {
	failed := ago(time.Hour) // settle is 2m
	settled := failed.Add(2 * time.Minute)
	tests := []struct {
		name   string
		writer time.Time
		skew   time.Duration
		want   Reason
	}{
		{"none", time.Time{}, 0, ReasonNone},
		{"begun during the attempt", failed.Add(-time.Second), 0, ReasonWriter},
		{"begun by an attempt that outlived its failure", settled.Add(-time.Millisecond), 0, ReasonWriter},
		{"begun after every attempt was over", settled.Add(time.Second), 0, ReasonNone},
		{"begun within the skew of clocks", settled.Add(9 * time.Second), 10 * time.Second, ReasonWriter},
		{"begun after it", settled.Add(11 * time.Second), 10 * time.Second, ReasonNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := Judge(absent(t, failedAgo(time.Hour)), Moment{Now: noon, Writer: tt.writer, Skew: tt.skew})
			if v.Reason != tt.want || v.Has(CodeLost) != (tt.want == ReasonNone) || v.Has(CodeUnsettled) == v.Has(CodeLost) {
				t.Errorf("codes = %v (%s), want reason %q", v.Codes, v.Reason, tt.want)
			}
		})
	}
	v := Judge(absent(t, inState(inspect.StateCompleted)), Moment{Now: noon, Writer: ago(2 * time.Hour)})
	if !v.Has(CodeUnsettled) || v.Reason != ReasonWriter {
		t.Errorf("completed: %v (%s), want effect/unsettled (open-transaction)", v.Codes, v.Reason)
	}
}

// Producers write "no timeout" as the longest there is, or as a deadline in
// another age. Sums of such durations wrap round.
func TestTasksThatMayRunForeverNeverSettle(t *testing.T) {
	longest := time.Duration(int64(time.Duration(1<<63-1).Seconds())) * time.Second // as client.go cuts it
	endless := map[string]func(*inspect.Task){
		"longest timeout":           func(t *inspect.Task) { t.Timeout = longest },
		"timeout of 200 years":      func(t *inspect.Task) { t.Timeout = 200 * 365 * 24 * time.Hour },
		"deadline in the year 2300": func(t *inspect.Task) { t.Timeout, t.Deadline = 0, time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC) },
		"deadline in the year 9999": func(t *inspect.Task) { t.Timeout, t.Deadline = 0, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) },
	}
	for name, change := range endless {
		for _, task := range []inspect.Task{failedAgo(time.Hour), inState(inspect.StateCompleted)} {
			for _, skew := range []time.Duration{0, 5 * time.Second, time.Hour} {
				r := markRule()
				r.Sources[0].Retention.Forever = true
				v := Judge(evidence(bound(t, r), with(task, change), noRow), Moment{Now: noon, Skew: skew})
				if !v.Has(CodeUnsettled) {
					t.Errorf("%s, %s, skew %s: %v, want effect/unsettled", task.State, name, skew, v.Codes)
				}
			}
		}
	}
}

// The operator's word holds for a task without an end as for any other.
func TestConfiguredSettleHoldsForTasksThatMayRunForever(t *testing.T) {
	r := markRule()
	r.Sources[0].Retention.Forever = true
	r.Settle = 5 * time.Minute
	task := failedAgo(time.Hour)
	task.Timeout, task.Deadline = 0, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	if v := Judge(evidence(bound(t, r), task, noRow), Moment{Now: noon}); !v.Has(CodeLost) {
		t.Errorf("codes = %v (%s), want effect/lost", v.Codes, v.Reason)
	}
}

// A key is as old as its youngest task: what is too young to settle keeps its
// twins unsettled.
func TestYoungTasksAreThoseThatCannotBeSettledYet(t *testing.T) {
	b := bound(t, markRule())
	// The clock is the machine's here, so times are set well away from the edge.
	r := &run{Auditor: &Auditor{}}
	at := func(s inspect.State, d, timeout time.Duration) inspect.Task {
		then := r.now().Add(-d)
		return inspect.Task{State: s, Timeout: timeout, LastFailedAt: then, ArchivedAt: then, CompletedAt: then}
	}
	tests := []struct {
		task inspect.Task
		want bool
	}{
		{at(inspect.StateArchived, time.Minute, time.Minute), true},
		{at(inspect.StateArchived, time.Hour, time.Minute), false},
		{at(inspect.StateArchived, time.Hour, 2*time.Hour), true},
		{at(inspect.StateCompleted, time.Minute, time.Minute), true},
		{at(inspect.StateCompleted, time.Hour, time.Minute), false},
		{at(inspect.StateCompleted, time.Hour, time.Duration(1<<63-1)), true},
		{at(inspect.StateRetry, time.Minute, time.Minute), false}, // live: counted as such
	}
	for i, tt := range tests {
		t.Run(fmt.Sprintf("%d %s", i, tt.task.State), func(t *testing.T) {
			if got := r.young(b, tt.task); got != tt.want {
				t.Errorf("young = %t, want %t", got, tt.want)
			}
		})
	}
}
