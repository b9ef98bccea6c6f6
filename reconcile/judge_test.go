package reconcile

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect"
)

// noon is Redis's clock in every test of the judge.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

// failer is what fixtures need of *testing.T and *rapid.T.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// bound makes a rule ready. Its sources remember a year, so that no absence is
// put down to pruning.
func bound(t failer, r Rule) *Bound {
	t.Helper()
	b, err := Bind(1, r)
	if err != nil {
		t.Fatalf("binding the rule: %v", err)
	}
	ages := make([]SourceAge, len(r.Sources))
	for i := range ages {
		ages[i].Oldest = noon.AddDate(-1, 0, 0)
	}
	return aged(b, ages...)
}

// aged says how far back the rule's sources go.
func aged(b *Bound, ages ...SourceAge) *Bound {
	b.ages.Store(&ages)
	return b
}

var (
	markSource   = Source{Role: RoleMark, Table: "processed_tasks", Column: "task_id", At: "processed_at"}
	effectSource = Source{Role: RoleEffect, Table: "payments", Column: "task_id", At: "created_at"}
	inboxSource  = Source{Role: RoleInbox, Table: "inbox", Column: "message_id", At: "received_at"}
)

// paymentRule has a mark and an effect that one transaction writes.
func paymentRule() Rule {
	return Rule{Class: ClassCreate, Sources: []Source{markSource, effectSource}}
}

func markRule() Rule { return Rule{Class: ClassCreate, Sources: []Source{markSource}} }

var noRow = Row{}

// doneAt is one row that passes its source's predicate.
func doneAt(at time.Time) Row { return Row{Count: 1, Passing: 1, FirstAt: at, LastAt: at} }

// claimedAt is one row that does not.
func claimedAt(at time.Time) Row { return Row{Count: 1, ClaimedAt: at} }

// givenID is an ID as asynq gives it to a task that brings none.
const givenID = "0f0c0a5e-6a3b-4a55-9a44-3b1f6f1c7d21"

// inState is a task as asynq leaves it in that state: an hour after its last
// sign of life where it has one, with a timeout of a minute.
func inState(s inspect.State) inspect.Task {
	t := inspect.Task{
		Ref: inspect.Ref{Queue: "default", ID: givenID}, Type: "payment:charge",
		Payload: []byte(`{"event_id":"evt_1"}`), State: s, MaxRetry: 3, Timeout: time.Minute,
	}
	switch s {
	case inspect.StateActive:
		t.LeaseExpiresAt = noon.Add(20 * time.Second)
	case inspect.StatePending:
		t.PendingSince = ago(10 * time.Minute)
	case inspect.StateScheduled:
		t.NextProcessAt = noon.Add(time.Hour)
	case inspect.StateAggregating:
		t.Group, t.GroupedAt = "g", ago(10*time.Minute)
	case inspect.StateRetry:
		t.Retried, t.LastErr, t.LastFailedAt = 1, "boom", ago(time.Minute)
		t.NextProcessAt = noon.Add(time.Minute)
	case inspect.StateArchived:
		t.Retried, t.LastErr, t.LastFailedAt = 3, "boom", ago(time.Hour)
		t.ArchivedAt = ago(time.Hour)
	case inspect.StateCompleted:
		t.CompletedAt, t.ExpiresAt = ago(time.Hour), noon.Add(time.Hour)
	}
	return t
}

func with(t inspect.Task, change func(*inspect.Task)) inspect.Task {
	change(&t)
	return t
}

// statusEvidence makes evidence of one status for a task.
var statusEvidence = map[Status]func(failer, inspect.Task) Evidence{
	StatusApplied: func(t failer, task inspect.Task) Evidence {
		return evidence(bound(t, paymentRule()), task, doneAt(ago(5*time.Minute)), doneAt(ago(5*time.Minute)))
	},
	StatusNotApplied: func(t failer, task inspect.Task) Evidence {
		return evidence(bound(t, paymentRule()), task, noRow, noRow)
	},
	StatusInProgress: func(t failer, task inspect.Task) Evidence {
		return evidence(bound(t, paymentRule()), task, claimedAt(ago(10*time.Second)), noRow)
	},
	StatusPartial: func(t failer, task inspect.Task) Evidence {
		return evidence(bound(t, paymentRule()), task, doneAt(ago(5*time.Minute)), noRow)
	},
	StatusNatural: func(t failer, task inspect.Task) Evidence {
		return Evidence{Task: task, Rule: bound(t, Rule{Class: ClassOverwrite})}
	},
	StatusUnknown: func(_ failer, task inspect.Task) Evidence { return Evidence{Task: task} },
}

func evidence(b *Bound, task inspect.Task, rows ...Row) Evidence {
	return Evidence{Task: task, Rule: b, Key: "t-1", Rows: rows}
}

// said is a verdict's codes as the tables write them.
func said(v Verdict, s inspect.State) string {
	var words []string
	for _, c := range v.Codes {
		words = append(words, fmt.Sprintf("%s %s", c, v.Severity(c, s)))
	}
	if v.Recheck {
		words = append(words, "recheck")
	}
	return strings.Join(words, ", ")
}

// stateTable is the contract's table of state against status, in full. "" is no
// finding.
var stateTable = []struct {
	name    string
	task    inspect.Task
	applied string
	absent  string // not-applied
	doing   string // in-progress
	half    string // partial
	natural string
	unknown string
}{
	{
		name: "active, lease valid", task: inState(inspect.StateActive),
		applied: "effect/applied-active info, recheck",
		half:    "effect/partial critical, recheck",
	},
	{
		name: "active, lease expired",
		task: with(inState(inspect.StateActive), func(t *inspect.Task) { t.LeaseExpiresAt = ago(time.Second) }),

		applied: "effect/applied-orphaned high",
		absent:  "effect/orphaned warning",
		doing:   "effect/in-doubt high",
		half:    "effect/partial critical",
	},
	{
		name: "active, lease ends this instant",
		task: with(inState(inspect.StateActive), func(t *inspect.Task) { t.LeaseExpiresAt = noon }),

		applied: "effect/applied-orphaned high",
		absent:  "effect/orphaned warning",
		doing:   "effect/in-doubt high",
		half:    "effect/partial critical",
	},
	{
		name: "active, no lease", // the structure's fault, and integrity/no-lease alone
		task: with(inState(inspect.StateActive), func(t *inspect.Task) { t.LeaseExpiresAt = time.Time{} }),

		applied: "integrity/no-lease high",
		absent:  "integrity/no-lease high",
		doing:   "integrity/no-lease high",
		half:    "integrity/no-lease high",
		natural: "integrity/no-lease high",
		unknown: "integrity/no-lease high",
	},
	{
		name: "pending", task: inState(inspect.StatePending),
		applied: "effect/applied-waiting warning",
		doing:   "effect/in-doubt warning",
		half:    "effect/partial critical",
	},
	{
		name: "scheduled", task: inState(inspect.StateScheduled),
		applied: "effect/applied-waiting warning",
		doing:   "effect/in-doubt warning",
		half:    "effect/partial critical",
	},
	{
		// Its rule looks for the task ID, under which no aggregate ever runs.
		name: "aggregating", task: inState(inspect.StateAggregating),
		applied: "effect/applied-waiting warning, identity/grouped-task-id warning",
		absent:  "identity/grouped-task-id warning",
		doing:   "effect/in-doubt warning, identity/grouped-task-id warning",
		half:    "effect/partial critical, identity/grouped-task-id warning",
	},
	{
		name: "retry", task: inState(inspect.StateRetry),
		applied: "effect/applied-retry warning",
		doing:   "effect/in-doubt warning",
		half:    "effect/partial critical",
	},
	{
		name: "archived", task: inState(inspect.StateArchived),
		applied: "effect/applied-archived high",
		absent:  "effect/lost high",
		doing:   "effect/in-doubt high",
		half:    "effect/partial critical",
		natural: "effect/rerunnable info",
		unknown: "effect/unknown warning",
	},
	{
		name: "archived by hand after it succeeded",
		task: with(inState(inspect.StateArchived), func(t *inspect.Task) {
			t.Retried, t.LastErr, t.LastFailedAt = 0, "", time.Time{}
			t.CompletedAt = ago(90 * time.Minute)
		}),

		absent:  "effect/unmarked critical",
		doing:   "effect/in-doubt high",
		half:    "effect/partial critical",
		natural: "effect/rerunnable info",
		unknown: "effect/unknown warning",
	},
	{
		name: "archived by hand after a retry succeeded",
		task: with(inState(inspect.StateArchived), func(t *inspect.Task) {
			t.Retried, t.LastFailedAt = 1, ago(2*time.Hour)
			t.CompletedAt = ago(90 * time.Minute)
		}),

		absent:  "effect/unmarked critical",
		doing:   "effect/in-doubt high",
		half:    "effect/partial critical",
		natural: "effect/rerunnable info",
		unknown: "effect/unknown warning",
	},
	{
		name: "archived when a re-run after a success failed",
		task: with(inState(inspect.StateArchived), func(t *inspect.Task) { t.CompletedAt = ago(2 * time.Hour) }),

		applied: "effect/applied-archived high",
		absent:  "effect/lost high",
		doing:   "effect/in-doubt high",
		half:    "effect/partial critical",
		natural: "effect/rerunnable info",
		unknown: "effect/unknown warning",
	},
	{
		name: "archived by hand before any attempt failed",
		task: with(inState(inspect.StateArchived), func(t *inspect.Task) {
			t.Retried, t.LastErr, t.LastFailedAt = 0, "", time.Time{}
		}),

		applied: "effect/applied-archived high",
		absent:  "effect/parked info",
		doing:   "effect/in-doubt high",
		half:    "effect/partial critical",
		natural: "effect/rerunnable info",
		unknown: "effect/unknown warning",
	},
	{
		name: "completed", task: inState(inspect.StateCompleted),
		absent: "effect/unmarked critical",
		doing:  "effect/in-doubt high",
		half:   "effect/partial critical",
	},
	{
		name: "no state known", task: with(inState(inspect.StateUnknown), func(*inspect.Task) {}),
	},
}

func TestJudgeSaysWhatStateAndStatusMeanTogether(t *testing.T) {
	for _, row := range stateTable {
		want := map[Status]string{
			StatusApplied: row.applied, StatusNotApplied: row.absent, StatusInProgress: row.doing,
			StatusPartial: row.half, StatusNatural: row.natural, StatusUnknown: row.unknown,
		}
		for _, status := range Statuses() {
			t.Run(row.name+"/"+status.String(), func(t *testing.T) {
				v := Judge(statusEvidence[status](t, row.task), Moment{Now: noon})
				if v.Status != status {
					t.Fatalf("status = %s (%s), want %s", v.Status, v.Reason, status)
				}
				if got := said(v, row.task.State); got != want[status] {
					t.Errorf("verdict = %q, want %q", got, want[status])
				}
			})
		}
	}
}

func TestJudgeStopsRecheckingOnceThePairPersisted(t *testing.T) {
	for _, status := range []Status{StatusApplied, StatusPartial} {
		e := statusEvidence[status](t, inState(inspect.StateActive))
		if v := Judge(e, Moment{Now: noon, Persisted: true}); v.Recheck || len(v.Codes) != 1 {
			t.Errorf("%s: codes %v, recheck %t: want the code and no further look", status, v.Codes, v.Recheck)
		}
	}
	// Only the moment between commit and acknowledgement passes by itself.
	for _, status := range []Status{StatusNotApplied, StatusInProgress} {
		if v := Judge(statusEvidence[status](t, inState(inspect.StateActive)), Moment{Now: noon}); v.Recheck {
			t.Errorf("%s on a running task asks for another look", status)
		}
	}
}

func TestStatusFollowsItsDefinition(t *testing.T) {
	at := ago(time.Hour)
	twice := Row{Count: 3, Passing: 2, FirstAt: at, LastAt: at}
	tests := []struct {
		name  string
		roles []Role
		rows  []Row
		want  Status
	}{
		{"mark done", []Role{RoleMark}, []Row{doneAt(at)}, StatusApplied},
		{"mark absent", []Role{RoleMark}, []Row{noRow}, StatusNotApplied},
		{"mark claimed", []Role{RoleMark}, []Row{claimedAt(at)}, StatusInProgress},
		{"mark claimed and done", []Role{RoleMark}, []Row{twice}, StatusApplied},
		{"effect done", []Role{RoleEffect}, []Row{doneAt(at)}, StatusApplied},
		{"both done", []Role{RoleMark, RoleEffect}, []Row{doneAt(at), doneAt(at)}, StatusApplied},
		{"neither", []Role{RoleMark, RoleEffect}, []Row{noRow, noRow}, StatusNotApplied},
		{"mark without effect", []Role{RoleMark, RoleEffect}, []Row{doneAt(at), noRow}, StatusPartial},
		{"effect without mark", []Role{RoleMark, RoleEffect}, []Row{noRow, doneAt(at)}, StatusPartial},
		{"mark done, effect unfinished", []Role{RoleMark, RoleEffect}, []Row{doneAt(at), claimedAt(at)}, StatusPartial},
		{"claim without effect", []Role{RoleMark, RoleEffect}, []Row{claimedAt(at), noRow}, StatusInProgress},
		{"claim in both", []Role{RoleMark, RoleEffect}, []Row{claimedAt(at), claimedAt(at)}, StatusInProgress},
		{"two of three effects", []Role{RoleEffect, RoleEffect, RoleEffect}, []Row{doneAt(at), doneAt(at), noRow}, StatusPartial},
		{"inbox alone", []Role{RoleMark, RoleInbox}, []Row{noRow, doneAt(at)}, StatusNotApplied},
		{"inbox claimed alone", []Role{RoleInbox, RoleMark}, []Row{claimedAt(at), noRow}, StatusNotApplied},
		{"done, no inbox row", []Role{RoleMark, RoleInbox}, []Row{doneAt(at), noRow}, StatusApplied},
		{"done, inbox claimed", []Role{RoleInbox, RoleMark}, []Row{claimedAt(at), doneAt(at)}, StatusApplied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Rule{Class: ClassCreate}
			for i, role := range tt.roles {
				r.Sources = append(r.Sources, Source{Role: role, Table: fmt.Sprintf("t%d", i), Column: "k", At: "at"})
			}
			v := Judge(evidence(bound(t, r), inState(inspect.StatePending), tt.rows...), Moment{Now: noon})
			if v.Status != tt.want || v.Reason != ReasonNone {
				t.Errorf("status = %s (%s), want %s", v.Status, v.Reason, tt.want)
			}
		})
	}
}

func TestNaturalClassesWithASourceAreJudgedByIt(t *testing.T) {
	for _, class := range []Class{ClassOverwrite, ClassSetStatus, ClassDelete} {
		natural := Judge(Evidence{Task: inState(inspect.StateArchived), Rule: bound(t, Rule{Class: class})}, Moment{Now: noon})
		if natural.Status != StatusNatural {
			t.Errorf("%s without a source: status %s, want natural", class, natural.Status)
		}
		r := markRule()
		r.Class = class
		v := Judge(evidence(bound(t, r), inState(inspect.StateArchived), noRow), Moment{Now: noon})
		if v.Status != StatusNotApplied || !v.Has(CodeLost) {
			t.Errorf("%s with a mark and no row: %s %v, want not-applied and effect/lost", class, v.Status, v.Codes)
		}
	}
	for _, class := range []Class{ClassUnknown, ClassCreate, ClassIncrement} {
		v := Judge(Evidence{Task: inState(inspect.StateArchived), Rule: bound(t, Rule{Class: class})}, Moment{Now: noon})
		if v.Status != StatusUnknown || v.Reason != ReasonNoSource {
			t.Errorf("class %q without a source: %s (%s), want unknown (no-source)", class, v.Status, v.Reason)
		}
	}
}

func TestKeyMissingIsToldInEveryState(t *testing.T) {
	for _, state := range inspect.States() {
		e := Evidence{Task: inState(state), Rule: bound(t, markRule()), KeyProblem: "payload.event_id is missing or null"}
		v := Judge(e, Moment{Now: noon})
		if v.Status != StatusUnknown || v.Reason != ReasonKeyMissing || !v.Has(CodeKeyMissing) {
			t.Errorf("%s: %s (%s) %v, want unknown (key-missing) and identity/key-missing", state, v.Status, v.Reason, v.Codes)
		}
		if s := v.Severity(CodeKeyMissing, state); s != SeverityHigh {
			t.Errorf("%s: severity %s, want high", state, s)
		}
	}
}

func TestDuplicatedCountsFinishedEffectRowsAgainstTheRule(t *testing.T) {
	rows := func(count, passing int64) Row {
		return Row{Count: count, Passing: passing, FirstAt: ago(5 * time.Minute), LastAt: ago(time.Minute)}
	}
	tests := []struct {
		name         string
		mark, effect Row
		max          int
		want         bool
	}{
		{"one", rows(1, 1), rows(1, 1), 0, false},
		{"two", rows(1, 1), rows(2, 2), 0, true},
		{"two without a mark", noRow, rows(2, 2), 0, true},
		{"as many as the rule allows", rows(1, 1), rows(3, 3), 3, false},
		{"one more than the rule allows", rows(1, 1), rows(4, 4), 3, true},
		{"a second that is not finished", rows(1, 1), rows(2, 1), 0, false},
		{"two marks", rows(2, 2), rows(1, 1), 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := paymentRule()
			r.MaxEffects = tt.max
			v := Judge(evidence(bound(t, r), inState(inspect.StateCompleted), tt.mark, tt.effect), Moment{Now: noon})
			if v.Has(CodeDuplicated) != tt.want {
				t.Errorf("codes = %v, want effect/duplicated: %t", v.Codes, tt.want)
			}
		})
	}
	if s := (Verdict{}).Severity(CodeDuplicated, inspect.StatePending); s != SeverityCritical {
		t.Errorf("severity of effect/duplicated = %s, want critical", s)
	}
}

func TestMismatchComparesTheStoredHashWithTheRawPayload(t *testing.T) {
	task := inState(inspect.StateRetry)
	m, s := md5.Sum(task.Payload), sha256.Sum256(task.Payload)
	tests := []struct {
		name, hash, stored string
		want               bool
	}{
		{"same md5", "md5", hex.EncodeToString(m[:]), false},
		{"same sha256", "sha256", hex.EncodeToString(s[:]), false},
		{"another payload's md5", "md5", strings.Repeat("0", 32), true},
		{"another payload's sha256", "sha256", strings.Repeat("0", 64), true},
		{"a row without one", "md5", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := markRule()
			r.Sources[0].Fingerprint, r.Sources[0].FingerprintHash = "payload_hash", tt.hash
			row := doneAt(ago(5 * time.Minute))
			row.Fingerprint = tt.stored
			v := Judge(evidence(bound(t, r), task, row), Moment{Now: noon})
			if v.Has(CodeMismatch) != tt.want {
				t.Errorf("codes = %v, want effect/mismatch: %t", v.Codes, tt.want)
			}
			if tt.want && v.Has(CodeAppliedRetry) {
				t.Errorf("codes = %v: another payload's row is read as this one's effect", v.Codes)
			}
		})
	}
	r := markRule() // names no fingerprint: what a row stores is not looked at
	row := doneAt(ago(5 * time.Minute))
	row.Fingerprint = "feed"
	if v := Judge(evidence(bound(t, r), task, row), Moment{Now: noon}); v.Has(CodeMismatch) {
		t.Errorf("codes = %v without a fingerprint in the rule", v.Codes)
	}
}

func TestStaleClaimNeedsAClaimOlderThanAnyAttempt(t *testing.T) {
	const past = time.Nanosecond
	tests := []struct {
		name   string
		state  inspect.State
		limit  time.Duration // the task's timeout
		settle time.Duration // the rule's
		skew   time.Duration
		age    time.Duration
		held   bool
		want   string
	}{
		{"timeout plus settle", inspect.StateRetry, time.Minute, 0, 0, 3 * time.Minute, false, "effect/in-doubt warning"},
		{"older", inspect.StateRetry, time.Minute, 0, 0, 3*time.Minute + past, false, "effect/stale-claim high"},
		{"long timeout", inspect.StateRetry, 10 * time.Minute, 0, 0, 20 * time.Minute, false, "effect/in-doubt warning"},
		{"older than a long timeout", inspect.StateRetry, 10 * time.Minute, 0, 0, 20*time.Minute + past, false, "effect/stale-claim high"},
		{"configured settle", inspect.StateRetry, time.Minute, 30 * time.Second, 0, 90*time.Second + past, false, "effect/stale-claim high"},
		{"younger than a configured settle", inspect.StateRetry, time.Minute, time.Hour, 0, time.Hour, false, "effect/in-doubt warning"},
		{"clocks apart", inspect.StateRetry, time.Minute, 0, 10 * time.Second, 3*time.Minute + 10*time.Second, false, "effect/in-doubt warning"},
		{"older than clocks apart", inspect.StateRetry, time.Minute, 0, 10 * time.Second, 3*time.Minute + 10*time.Second + past, false, "effect/stale-claim high"},
		{"a worker names it", inspect.StateRetry, time.Minute, 0, 0, time.Hour, true, "effect/in-doubt warning"},
		{"pending", inspect.StatePending, time.Minute, 0, 0, time.Hour, false, "effect/stale-claim high"},
		{"scheduled", inspect.StateScheduled, time.Minute, 0, 0, time.Hour, false, "effect/stale-claim high"},
		{"archived", inspect.StateArchived, time.Minute, 0, 0, 2 * time.Hour, false, "effect/stale-claim high"},
		{"archived, fresh", inspect.StateArchived, time.Minute, 0, 0, time.Minute, false, "effect/in-doubt high"},
		{"active, lease valid", inspect.StateActive, time.Minute, 0, 0, time.Hour, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := markRule()
			r.Settle = tt.settle
			task := inState(tt.state)
			task.Timeout = tt.limit
			v := Judge(evidence(bound(t, r), task, claimedAt(ago(tt.age))), Moment{Now: noon, Skew: tt.skew, Held: tt.held})
			if got := said(v, tt.state); got != tt.want {
				t.Errorf("verdict = %q, want %q", got, tt.want)
			}
		})
	}
	orphan := with(inState(inspect.StateActive), func(t *inspect.Task) { t.LeaseExpiresAt = ago(time.Hour) })
	if v := Judge(evidence(bound(t, markRule()), orphan, claimedAt(ago(time.Hour))), Moment{Now: noon}); v.Has(CodeStaleClaim) {
		t.Errorf("an active task's claim is called stale: %v", v.Codes)
	}
	v := Judge(evidence(bound(t, markRule()), inState(inspect.StateArchived), Row{Count: 1}), Moment{Now: noon})
	if got := said(v, inspect.StateArchived); got != "effect/in-doubt high" {
		t.Errorf("a claim of unknown age gives %q, want effect/in-doubt", got)
	}
}

func TestStaleClaimTakesTheYoungestClaim(t *testing.T) {
	e := evidence(bound(t, paymentRule()), inState(inspect.StateArchived), claimedAt(ago(time.Hour)), claimedAt(ago(time.Minute)))
	if v := Judge(e, Moment{Now: noon}); v.Has(CodeStaleClaim) {
		t.Errorf("codes = %v although a claim of the key is a minute old", v.Codes)
	}
	e = evidence(bound(t, paymentRule()), inState(inspect.StateArchived), claimedAt(ago(time.Hour)), Row{Count: 1})
	if v := Judge(e, Moment{Now: noon}); v.Has(CodeStaleClaim) {
		t.Errorf("codes = %v although nobody knows how old the other claim is", v.Codes)
	}
}

func TestStaleClaimIgnoresInboxRows(t *testing.T) {
	r := Rule{Class: ClassCreate, Sources: []Source{markSource, inboxSource}}
	task := inState(inspect.StateArchived)
	old := evidence(bound(t, r), task, Row{Count: 1}, claimedAt(ago(time.Hour)))
	if v := Judge(old, Moment{Now: noon}); v.Has(CodeStaleClaim) {
		t.Errorf("codes = %v: the age is the inbox row's, and nobody knows the claim's", v.Codes)
	}
	fresh := evidence(bound(t, r), task, claimedAt(ago(time.Hour)), claimedAt(ago(time.Second)))
	if v := Judge(fresh, Moment{Now: noon}); !v.Has(CodeStaleClaim) {
		t.Errorf("codes = %v: a message received again hides the claim of a dead attempt", v.Codes)
	}
}

// A deadline or a timeout may lie so far away that sums of durations wrap round.
func TestStaleClaimIsNeverToldOfAFreshClaim(t *testing.T) {
	far := map[string]func(*inspect.Task){
		"deadline in the year 9999": func(t *inspect.Task) { t.Timeout, t.Deadline = 0, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) },
		"deadline long past":        func(t *inspect.Task) { t.Timeout, t.Deadline = 0, ago(30*24*time.Hour) },
		"deadline in an hour":       func(t *inspect.Task) { t.Timeout, t.Deadline = 0, noon.Add(time.Hour) },
		"longest timeout":           func(t *inspect.Task) { t.Timeout = 9_223_372_036 * time.Second },
		"timeout of 150 years":      func(t *inspect.Task) { t.Timeout = 150 * 365 * 24 * time.Hour },
	}
	for name, change := range far {
		for _, state := range []inspect.State{inspect.StatePending, inspect.StateScheduled, inspect.StateRetry, inspect.StateArchived} {
			for _, settle := range []time.Duration{0, 2 * time.Minute} {
				e := evidence(bound(t, markRule()), with(inState(state), change), claimedAt(ago(time.Second)))
				if v := Judge(e, Moment{Now: noon, Settle: settle}); v.Has(CodeStaleClaim) {
					t.Errorf("%s, %s, settle %s: a claim one second old is called stale", state, name, settle)
				}
			}
		}
	}
}

func TestAttributionSaysWhichAttemptCanHaveWrittenTheRow(t *testing.T) {
	archived := inState(inspect.StateArchived) // failed at 11:00:00, timeout 1m
	failed := archived.LastFailedAt
	lease := with(archived, func(t *inspect.Task) { t.LastErr = textLease })
	pending := inState(inspect.StatePending)
	grouped := inState(inspect.StateAggregating)
	ms := time.Millisecond
	tests := []struct {
		name string
		task inspect.Task
		at   time.Time
		skew time.Duration
		want Attribution
	}{
		{"at the failure", archived, failed, 0, AttributionLast},
		{"within the second that asynq cuts off", archived, failed.Add(999 * ms), 0, AttributionLast},
		{"a second after", archived, failed.Add(time.Second), 0, AttributionAfter},
		{"at the attempt's start", archived, failed.Add(-time.Minute), 0, AttributionLast},
		{"before the attempt's start", archived, failed.Add(-time.Minute - ms), 0, AttributionEarlier},
		{"retry, at the failure", inState(inspect.StateRetry), ago(time.Minute), 0, AttributionLast},
		{"lease expired, before the recoverer came", lease, failed.Add(-3 * time.Minute), 0, AttributionLast},
		{"lease expired, before the attempt", lease, failed.Add(-3*time.Minute - ms), 0, AttributionEarlier},
		{"no time", archived, time.Time{}, 0, AttributionUnknown},
		{"never failed", inState(inspect.StateScheduled), ago(time.Hour), 0, AttributionUnknown},

		{"clocks apart, near the end", archived, failed.Add(2 * time.Second), 3 * time.Second, AttributionUnknown},
		{"clocks apart, after the end", archived, failed.Add(4 * time.Second), 3 * time.Second, AttributionAfter},
		{"clocks apart, near the start", archived, failed.Add(-61 * time.Second), 3 * time.Second, AttributionUnknown},
		{"clocks apart, before the start", archived, failed.Add(-64 * time.Second), 3 * time.Second, AttributionEarlier},
		{"clocks apart, within", archived, failed.Add(-30 * time.Second), 3 * time.Second, AttributionLast},

		{"pending, after it was enqueued", pending, ago(5 * time.Minute), 0, AttributionUnknown},
		{"pending, within the slack of clocks", pending, pending.PendingSince.Add(-5 * time.Second), 0, AttributionUnknown},
		{"pending, older than it", pending, pending.PendingSince.Add(-5*time.Second - ms), 0, AttributionBefore},
		{"pending, within measured skew", pending, pending.PendingSince.Add(-8 * time.Second), 3 * time.Second, AttributionUnknown},
		{"aggregating, within the slack", grouped, grouped.GroupedAt.Add(-5 * time.Second), 0, AttributionUnknown},
		{"aggregating, older than it", grouped, grouped.GroupedAt.Add(-5*time.Second - ms), 0, AttributionBefore},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := Judge(evidence(bound(t, markRule()), tt.task, doneAt(tt.at)), Moment{Now: noon, Skew: tt.skew})
			if v.Attribution != tt.want {
				t.Errorf("attribution = %q, want %q", v.Attribution, tt.want)
			}
			if stale := v.Has(CodeStaleMark); stale != (tt.want == AttributionBefore) {
				t.Errorf("codes = %v with attribution %q", v.Codes, v.Attribution)
			}
			if v.Has(CodeStaleMark) && v.Has(CodeAppliedWaiting) {
				t.Errorf("codes = %v: two findings for one", v.Codes)
			}
		})
	}
}

// When a task was enqueued is not known once it has run: the times that its
// state bears are those of its last move.
func TestPredatesTaskIsNeverSaidOfATaskThatRan(t *testing.T) {
	traces := map[string]func(*inspect.Task){
		"counted failure":  func(t *inspect.Task) { t.Retried = 1 },
		"last error":       func(t *inspect.Task) { t.LastErr = "boom" },
		"last failure":     func(t *inspect.Task) { t.LastFailedAt = ago(30 * time.Minute) },
		"earlier success":  func(t *inspect.Task) { t.CompletedAt = ago(30 * time.Minute) },
		"no pending_since": func(t *inspect.Task) { t.PendingSince, t.GroupedAt = time.Time{}, time.Time{} },
	}
	for name, leave := range traces {
		for _, state := range []inspect.State{inspect.StatePending, inspect.StateAggregating} {
			t.Run(state.String()+"/"+name, func(t *testing.T) {
				e := evidence(bound(t, markRule()), with(inState(state), leave), doneAt(ago(20*time.Minute)))
				v := Judge(e, Moment{Now: noon})
				if v.Attribution == AttributionBefore || v.Has(CodeStaleMark) {
					t.Errorf("codes = %v, attribution %q", v.Codes, v.Attribution)
				}
			})
		}
	}
	for _, state := range []inspect.State{inspect.StateScheduled, inspect.StateRetry, inspect.StateArchived, inspect.StateCompleted} {
		e := evidence(bound(t, markRule()), inState(state), doneAt(ago(300*24*time.Hour)))
		if v := Judge(e, Moment{Now: noon}); v.Attribution == AttributionBefore || v.Has(CodeStaleMark) {
			t.Errorf("%s: %v, attribution %q", state, v.Codes, v.Attribution)
		}
	}
}

// The attempt that runs now, or that succeeded, came after the last failure: a
// row of its is neither a zombie's nor a twin's.
func TestAfterFailureIsNotSaidOfTheAttemptThatFollowedIt(t *testing.T) {
	failedBefore := func(t *inspect.Task) { t.Retried, t.LastErr, t.LastFailedAt = 1, "boom", ago(2*time.Hour) }
	tasks := map[string]inspect.Task{
		"running":        with(inState(inspect.StateActive), failedBefore),
		"worker is gone": with(with(inState(inspect.StateActive), failedBefore), func(t *inspect.Task) { t.LeaseExpiresAt = ago(time.Minute) }),
		"succeeded":      with(inState(inspect.StateCompleted), failedBefore),
		"archived after it succeeded": with(with(inState(inspect.StateArchived), failedBefore), func(t *inspect.Task) {
			t.CompletedAt = ago(90 * time.Minute)
		}),
		// Neither a graceful shutdown nor an operator leaves a trace of an attempt.
		"put back by a shutdown": with(with(inState(inspect.StatePending), failedBefore), func(t *inspect.Task) {
			t.PendingSince = time.Time{}
		}),
	}
	for name, task := range tasks {
		t.Run(name, func(t *testing.T) {
			v := Judge(evidence(bound(t, markRule()), task, doneAt(ago(91*time.Minute))), Moment{Now: noon})
			if v.Attribution == AttributionAfter {
				t.Errorf("the row of the attempt after the failure is called %q", v.Attribution)
			}
		})
	}
}

func TestAppliedAtIsTheFirstMarksTime(t *testing.T) {
	mark, effect, late := ago(50*time.Minute), ago(55*time.Minute), ago(time.Minute)
	tests := []struct {
		name         string
		mark, effect Row
		want         time.Time
	}{
		{"both", doneAt(mark), doneAt(effect), mark},
		{"a mark without a time", Row{Count: 1, Passing: 1}, doneAt(effect), effect},
		{"effect alone", noRow, doneAt(effect), effect},
		{"an unfinished mark", claimedAt(mark), doneAt(effect), effect},
		{"the first of several", Row{Count: 2, Passing: 2, FirstAt: mark, LastAt: late}, doneAt(effect), mark},
		{"none", noRow, claimedAt(effect), time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := Judge(evidence(bound(t, paymentRule()), inState(inspect.StateArchived), tt.mark, tt.effect), Moment{Now: noon})
			if !v.AppliedAt.Equal(tt.want) {
				t.Errorf("applied at %s, want %s", v.AppliedAt, tt.want)
			}
		})
	}
	r := Rule{Class: ClassCreate, Sources: []Source{inboxSource, markSource}}
	v := Judge(evidence(bound(t, r), inState(inspect.StateArchived), doneAt(late), noRow), Moment{Now: noon})
	if !v.AppliedAt.IsZero() {
		t.Errorf("applied at %s: that is when the message was received", v.AppliedAt)
	}
}

// drawn is a random case: any task, any rule, any rows, any moment.
type drawn struct {
	e Evidence
	m Moment
}

func drawCase(t *rapid.T) drawn {
	offsets := rapid.SampledFrom([]time.Duration{
		0, time.Second, 119 * time.Second, 2 * time.Minute, 2*time.Minute + time.Second, 3 * time.Minute,
		10 * time.Minute, 29 * time.Minute, 31 * time.Minute, time.Hour, 5 * time.Hour, 26 * time.Hour, 40 * 24 * time.Hour,
	})
	past := func(name string) time.Time {
		if rapid.Bool().Draw(t, name+"?") {
			return time.Time{}
		}
		return ago(offsets.Draw(t, name)).Add(rapid.SampledFrom([]time.Duration{0, 0, -time.Second, time.Second}).Draw(t, name+"±"))
	}
	task := inspect.Task{
		Ref: inspect.Ref{Queue: "default", ID: "t-1"}, Type: "payment:charge", Payload: []byte("p"),
		State:   rapid.SampledFrom(append(inspect.States(), inspect.StateUnknown)).Draw(t, "state"),
		Retried: rapid.IntRange(0, 3).Draw(t, "retried"), MaxRetry: rapid.IntRange(0, 3).Draw(t, "max retry"),
		LastErr: rapid.SampledFrom([]string{
			"", "boom", textLease, textTimeout, textCancelled, textSkipRetry, "SQLSTATE 23505", textPanic + "x", textNoHandler + `x"`,
		}).Draw(t, "last error"),
		Timeout:        rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute, 30 * time.Minute, 3 * time.Hour}).Draw(t, "timeout"),
		LastFailedAt:   past("failed"),
		ArchivedAt:     past("archived"),
		CompletedAt:    past("completed"),
		PendingSince:   past("pending since"),
		GroupedAt:      past("grouped"),
		LeaseExpiresAt: past("lease"),
	}
	if rapid.IntRange(0, 3).Draw(t, "deadline?") == 0 {
		task.Deadline = noon.Add(rapid.SampledFrom([]time.Duration{-time.Hour, -time.Minute, time.Minute, 9 * time.Hour}).Draw(t, "deadline"))
	}
	if rapid.IntRange(0, 9).Draw(t, "defect?") == 0 {
		task.Defect = inspect.DefectUndecodable
	}
	d := drawn{e: Evidence{Task: task, Key: "t-1"}}
	d.m = Moment{
		Now: noon, Skew: rapid.SampledFrom([]time.Duration{0, time.Second, 10 * time.Second}).Draw(t, "skew"),
		Settle: rapid.SampledFrom([]time.Duration{0, 0, time.Second, time.Hour}).Draw(t, "settle"),
		Twin:   rapid.IntRange(0, 4).Draw(t, "twin") == 0, Writer: past("writer"),
		Held: rapid.Bool().Draw(t, "held"), Persisted: rapid.Bool().Draw(t, "persisted"),
	}
	if rapid.IntRange(0, 9).Draw(t, "rule?") == 0 {
		return d
	}
	r, ages, rows := drawRule(t, past)
	d.e.Rule = aged(bound(t, r), ages...)
	switch rapid.IntRange(0, 9).Draw(t, "unread?") {
	case 0:
		d.e.Key, d.e.KeyProblem = "", "the key is empty"
	case 1:
		d.e.Unread = "connection refused"
	default:
		d.e.Rows, d.e.Lagging = rows, rapid.IntRange(0, 5).Draw(t, "lagging") == 0
	}
	return d
}

func drawRule(t *rapid.T, past func(string) time.Time) (Rule, []SourceAge, []Row) {
	r := Rule{
		Class:     rapid.SampledFrom([]Class{ClassUnknown, ClassCreate, ClassIncrement, ClassOverwrite, ClassDelete}).Draw(t, "class"),
		NotAtomic: rapid.IntRange(0, 4).Draw(t, "not atomic") == 0,
		Settle:    rapid.SampledFrom([]time.Duration{0, 0, 0, 30 * time.Second, 2 * time.Hour}).Draw(t, "rule settle"),
		Policy:    Policy{QueueWait: rapid.SampledFrom([]time.Duration{0, 10 * time.Minute}).Draw(t, "queue wait")},
	}
	n := rapid.IntRange(0, 3).Draw(t, "sources")
	ages := make([]SourceAge, n)
	rows := make([]Row, n)
	for i := range n {
		s := Source{
			Role:  rapid.SampledFrom([]Role{RoleMark, RoleEffect, RoleInbox}).Draw(t, "role"),
			Table: fmt.Sprintf("t%d", i), Column: "k",
		}
		switch rapid.IntRange(0, 2).Draw(t, "retention") {
		case 0:
			s.Retention.Forever = true
		case 1:
			s.Retention.For = rapid.SampledFrom([]time.Duration{time.Hour, 24 * time.Hour, 30 * 24 * time.Hour}).Draw(t, "for")
		}
		r.Sources = append(r.Sources, s)
		if rapid.IntRange(0, 5).Draw(t, "empty") == 0 {
			ages[i].Empty = true
			continue
		}
		ages[i].Oldest = past("oldest")
		rows[i].Count = rapid.Int64Range(0, 2).Draw(t, "count")
		rows[i].Passing = rapid.Int64Range(0, rows[i].Count).Draw(t, "passing")
		if rows[i].Passing > 0 {
			rows[i].FirstAt = past("row")
			rows[i].LastAt = rows[i].FirstAt
		}
		if rows[i].Passing < rows[i].Count {
			rows[i].ClaimedAt = past("claim")
		}
	}
	return r, ages, rows
}

// drawAbsence is a random case that could be lost or unmarked: a finished task
// with a mark that never had a row. What else is drawn decides.
func drawAbsence(t *rapid.T) drawn {
	d := drawCase(t)
	d.e.Task.State = rapid.SampledFrom([]inspect.State{inspect.StateArchived, inspect.StateCompleted}).Draw(t, "finished")
	d.e.Task.Defect = inspect.DefectNone
	r := markRule()
	r.NotAtomic = rapid.IntRange(0, 4).Draw(t, "mark not atomic") == 0
	r.Settle = rapid.SampledFrom([]time.Duration{0, 0, 30 * time.Second, 2 * time.Hour}).Draw(t, "mark settle")
	age := SourceAge{Empty: rapid.IntRange(0, 4).Draw(t, "mark empty") == 0}
	r.Sources[0].Retention.Forever = rapid.Bool().Draw(t, "mark forever")
	d.e.Rule, d.e.Rows = aged(bound(t, r), age), []Row{noRow}
	d.e.Key, d.e.KeyProblem, d.e.Unread = "t-1", "", ""
	return d
}

// effectStatus is the definition of the statuses, written as the contract has
// it: each by itself, so that a test can see that exactly one holds.
func effectStatus(e Evidence) map[Status]bool {
	all, none, rows, witnesses := true, true, false, 0
	for i, s := range e.Rule.Sources {
		if s.Role == RoleInbox {
			continue
		}
		witnesses++
		all = all && e.Rows[i].Passing > 0
		none = none && e.Rows[i].Passing == 0
		rows = rows || e.Rows[i].Count > 0
	}
	return map[Status]bool{
		StatusApplied:    witnesses > 0 && all,
		StatusNotApplied: witnesses > 0 && !rows,
		StatusInProgress: witnesses > 0 && rows && none,
		StatusPartial:    witnesses > 0 && !all && !none,
	}
}

func TestStatusesPartitionWhatSourcesCanSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawCase(t)
		if d.e.Rows == nil || len(d.e.Rule.witnesses()) == 0 || d.e.Task.Defect != inspect.DefectNone {
			return
		}
		v := Judge(d.e, d.m)
		holding := 0
		for status, holds := range effectStatus(d.e) {
			if !holds {
				continue
			}
			holding++
			if v.Status != status && v.Status != StatusUnknown {
				t.Fatalf("status = %s, by definition %s", v.Status, status)
			}
			if v.Status == StatusUnknown && (!status.Absent() || v.Reason == ReasonNone) {
				t.Fatalf("status = unknown (%q), by definition %s", v.Reason, status)
			}
		}
		if holding != 1 {
			t.Fatalf("%d statuses hold at once", holding)
		}
	})
}

// absenceCodes are those that rest on a row that was not there.
var absenceCodes = []Code{CodeLost, CodeUnmarked, CodeParked, CodeOrphaned, CodePartial, CodeInDoubt, CodeStaleClaim, CodeUnsettled}

func TestUnknownIsNeverReadAsNotApplied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawCase(t)
		v := Judge(d.e, d.m)
		readable := d.e.Task.Defect == inspect.DefectNone && d.e.Rule != nil && d.e.Rows != nil && len(d.e.Rule.witnesses()) > 0
		if !readable && v.Status != StatusUnknown && v.Status != StatusNatural {
			t.Fatalf("status = %s although no row was read", v.Status)
		}
		if v.Status != StatusUnknown {
			return
		}
		if v.Reason == ReasonNone {
			t.Fatal("unknown without a reason")
		}
		for _, c := range v.Codes {
			if slices.Contains(absenceCodes, c) {
				t.Fatalf("unknown (%s) gives %s", v.Reason, c)
			}
		}
		if archived := d.e.Task.State == inspect.StateArchived; v.Has(CodeUnknown) != (archived && !v.Has(CodeMismatch)) {
			t.Fatalf("unknown (%s) in state %s gives %v", v.Reason, d.e.Task.State, v.Codes)
		}
	})
}

// settlesAfter is the settle time by the contract, apart from the judge's own
// reckoning.
func settlesAfter(d drawn, last time.Time) time.Duration {
	switch {
	case d.e.Rule.Settle > 0:
		return d.e.Rule.Settle
	case d.m.Settle > 0:
		return d.m.Settle
	case d.e.Task.Timeout > 0:
		return max(2*time.Minute, d.e.Task.Timeout)
	case !d.e.Task.Deadline.IsZero():
		return max(2*time.Minute, d.e.Task.Deadline.Sub(last))
	}
	return 30 * time.Minute // asynq's own timeout
}

func TestLostAndUnmarkedNeedASettledKey(t *testing.T) {
	found := 0
	property := func(t *rapid.T) {
		d := drawAbsence(t)
		v := Judge(d.e, d.m)
		if !v.Has(CodeLost) && !v.Has(CodeUnmarked) {
			return
		}
		found++
		task := d.e.Task
		if v.Status != StatusNotApplied || task.State.Live() || d.m.Twin || d.e.Lagging || d.e.Rule.NotAtomic {
			t.Fatalf("%v of a %s task, status %s, twin %t, lagging %t, not atomic %t",
				v.Codes, task.State, v.Status, d.m.Twin, d.e.Lagging, d.e.Rule.NotAtomic)
		}
		last := slices.MaxFunc([]time.Time{task.LastFailedAt, task.ArchivedAt, task.CompletedAt}, time.Time.Compare)
		settle := settlesAfter(d, last)
		if since := d.m.Now.Sub(last); since < settle+time.Second+d.m.Skew {
			t.Fatalf("%v %s after the last sign of life; settle is %s, skew %s", v.Codes, since, settle, d.m.Skew)
		}
		if !d.m.Writer.IsZero() && d.m.Writer.Before(last.Add(settle)) {
			t.Fatalf("%v although a transaction begun %s may still write", v.Codes, d.m.Writer)
		}
		for i, s := range d.e.Rule.Sources {
			if age := (*d.e.Rule.ages.Load())[i]; s.Role != RoleInbox && age.Empty && !s.Retention.Forever {
				t.Fatalf("%v from an empty source", v.Codes)
			}
		}
	}
	for range 50 { // few of the drawn cases are lost; all of these hold the property
		rapid.Check(t, property)
		if found > 0 {
			break
		}
	}
	if found == 0 {
		t.Error("no case was lost or unmarked: the property was not tried")
	}
}

// done orders the statuses that rows give by how much is done.
var done = map[Status]int{StatusNotApplied: 0, StatusInProgress: 1, StatusPartial: 2, StatusApplied: 3}

func TestAnotherPassingRowNeverMakesAKeyLessApplied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawCase(t)
		if len(d.e.Rows) == 0 || len(d.e.Rule.witnesses()) == 0 {
			return
		}
		before := Judge(d.e, d.m)
		i := rapid.IntRange(0, len(d.e.Rows)-1).Draw(t, "source")
		more := d
		more.e.Rows = slices.Clone(d.e.Rows)
		more.e.Rows[i].Count++
		more.e.Rows[i].Passing++
		after := Judge(more.e, more.m)
		if statusOfRows(d.e.Rule, d.e.Rows) == StatusApplied && after.Status != before.Status {
			t.Fatalf("an applied key became %s (%s)", after.Status, after.Reason)
		}
		if before.Status == StatusUnknown || after.Status == StatusUnknown {
			return // an absence that proves nothing says nothing about more or less
		}
		if done[after.Status] < done[before.Status] {
			t.Fatalf("status went from %s to %s with one more row that passes", before.Status, after.Status)
		}
	})
}

func TestJudgeIsDeterministicAndLeavesItsInputsAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawCase(t)
		rows, payload := slices.Clone(d.e.Rows), slices.Clone(d.e.Task.Payload)
		var rule Rule
		var ages []SourceAge
		if d.e.Rule != nil {
			rule, ages = d.e.Rule.Rule, slices.Clone(*d.e.Rule.ages.Load())
			rule.Sources = slices.Clone(rule.Sources)
		}
		first, second := Judge(d.e, d.m), Judge(d.e, d.m)
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("two verdicts of one case: %+v and %+v", first, second)
		}
		if !reflect.DeepEqual(rows, d.e.Rows) || !slices.Equal(payload, d.e.Task.Payload) {
			t.Fatal("the evidence was changed")
		}
		if d.e.Rule != nil && (!reflect.DeepEqual(rule, d.e.Rule.Rule) || !slices.Equal(ages, *d.e.Rule.ages.Load())) {
			t.Fatal("the rule was changed")
		}
	})
}

// codeStates are the states in which each code means anything.
var codeStates = map[Code][]inspect.State{
	CodeAppliedActive:   {inspect.StateActive},
	CodeAppliedOrphaned: {inspect.StateActive},
	CodeOrphaned:        {inspect.StateActive},
	CodeAppliedWaiting:  {inspect.StatePending, inspect.StateScheduled, inspect.StateAggregating},
	CodeStaleMark:       {inspect.StatePending, inspect.StateAggregating},
	CodeAppliedRetry:    {inspect.StateRetry},
	CodeAppliedArchived: {inspect.StateArchived},
	CodeLost:            {inspect.StateArchived},
	CodeParked:          {inspect.StateArchived},
	CodeRerunnable:      {inspect.StateArchived},
	CodeUnknown:         {inspect.StateArchived},
	CodeUnmarked:        {inspect.StateArchived, inspect.StateCompleted},
	CodeUnsettled:       {inspect.StateArchived, inspect.StateCompleted},
}

func TestJudgeGivesAtMostOneReadingOfATask(t *testing.T) {
	// What is said of the effect itself; the rest stands beside it.
	reading := func(c Code) bool {
		return c.Family() == "effect" && c != CodeDuplicated || c == CodeStaleMark || c == CodeNoLease
	}
	rapid.Check(t, func(t *rapid.T) {
		d := drawCase(t)
		v := Judge(d.e, d.m)
		readings := 0
		for i, c := range v.Codes {
			if slices.Contains(v.Codes[:i], c) {
				t.Fatalf("%s twice in %v", c, v.Codes)
			}
			if states, limited := codeStates[c]; limited && !slices.Contains(states, d.e.Task.State) {
				t.Fatalf("%s of a task in state %s", c, d.e.Task.State)
			}
			if reading(c) {
				readings++
			}
		}
		if readings > 1 {
			t.Fatalf("%v of one task", v.Codes)
		}
		if v.Has(CodeUnsettled) && v.Reason == ReasonNone {
			t.Fatal("unsettled without a reason")
		}
		if v.Recheck && (d.m.Persisted || !d.e.Task.LeaseValid(d.m.Now)) {
			t.Fatal("asks for another look at a pair that cannot pass by itself")
		}
	})
}
