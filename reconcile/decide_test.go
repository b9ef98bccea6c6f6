package reconcile

import (
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// decided is an archived task with a verdict of that status, under a rule whose
// table takes no second row.
func decided(t failer, status Status, change func(*Archived)) Archived {
	b := guarded(t, markRule(), UniqueYes)
	a := Archived{
		Task: inState(inspect.StateArchived), Rule: b, Key: givenID, Now: noon,
		Verdict: Verdict{Status: status, AppliedAt: ago(time.Hour)}, StaleAfter: 2 * time.Hour,
	}
	if status == StatusNotApplied {
		a.Verdict.Codes, a.Verdict.AppliedAt = []Code{CodeLost}, time.Time{}
	}
	if status == StatusUnknown {
		a.Verdict.Reason = ReasonReplica
	}
	if change != nil {
		change(&a)
	}
	return a
}

func TestDecideRunsOrDeletesOnlyWhatIsSure(t *testing.T) {
	code := func(c Code) func(*Archived) { return func(a *Archived) { a.Verdict.Codes = []Code{c} } }
	for _, tt := range []struct {
		name    string
		status  Status
		change  func(*Archived)
		requeue string // the action, or why it is held
		resolve string
	}{
		{"lost", StatusNotApplied, nil, "run", "not-applied"},
		{"natural", StatusNatural, nil, "run", "natural"},
		{"applied", StatusApplied, nil, "applied", "resolve"},
		{"applied, by a row of the same key from before", StatusApplied, func(a *Archived) {
			a.Key, a.Verdict.AppliedAt = "invoice-7", ago(9*time.Hour)
		}, "stale-mark", "stale-mark"},
		{"applied, under a key that is used once", StatusApplied, func(a *Archived) { a.Verdict.AppliedAt = ago(9 * time.Hour) }, "applied", "resolve"},
		{"applied at an unknown time, under a key of its producer's", StatusApplied, func(a *Archived) {
			a.Key, a.Verdict.AppliedAt = "invoice-7", time.Time{}
		}, "stale-mark", "stale-mark"},
		{"in progress", StatusInProgress, code(CodeInDoubt), "in-progress", "in-progress"},
		{"half applied", StatusPartial, code(CodePartial), "partial", "partial"},
		{"unknown", StatusUnknown, nil, "unknown", "unknown"},
		{"unsettled", StatusNotApplied, code(CodeUnsettled), "unsettled", "unsettled"},
		{"unmarked", StatusNotApplied, code(CodeUnmarked), "unmarked", "unmarked"},
		{"another payload's row", StatusApplied, code(CodeMismatch), "mismatch", "mismatch"},
		{"applied twice", StatusApplied, code(CodeDuplicated), "duplicated", "duplicated"},
		{"no key", StatusUnknown, func(a *Archived) { a.Verdict.Reason = ReasonKeyMissing }, "key-missing", "key-missing"},
		{"no message", StatusUnknown, func(a *Archived) { a.Task.Defect = inspect.DefectUndecodable }, "undecodable", "undecodable"},
		{"its ID is in another queue, too", StatusNotApplied, func(a *Archived) { a.Shared = true }, "id-shared", "id-shared"},
		{"a twin is alive", StatusNotApplied, func(a *Archived) { a.Twin = true }, "twin", "not-applied"},
		{"its lock is another's", StatusNotApplied, func(a *Archived) { a.Lock = &Lock{State: LockTaken} }, "locked", "not-applied"},
		{"its deadline is past", StatusNotApplied, func(a *Archived) { a.Task.Deadline = ago(time.Minute) }, "deadline-passed", "not-applied"},
		{"nothing stops a second row", StatusNotApplied, func(a *Archived) { a.Rule = guarded(t, markRule(), UniqueNo) }, "no-unique-index", "not-applied"},
		{"the same, accepted", StatusNotApplied, func(a *Archived) {
			a.Rule, a.Accepted = guarded(t, markRule(), UniqueNo), true
		}, "run", "not-applied"},
		{"no source", StatusUnknown, func(a *Archived) { a.Verdict.Reason = ReasonNoSource }, "unprotected", "unprotected"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := decided(t, tt.status, tt.change)
			for name, c := range map[string]struct {
				decide func(Archived) (Action, HoldReason)
				want   string
			}{"requeue": {DecideRequeue, tt.requeue}, "resolve": {DecideResolve, tt.resolve}} {
				action, hold := c.decide(a)
				got := string(action)
				if action == ActionHold {
					got = string(hold)
				}
				if got != c.want {
					t.Errorf("%s: %s, want %s", name, got, c.want)
				}
			}
		})
	}
}
