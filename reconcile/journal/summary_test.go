package journal

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func summaries(t testing.TB, path string) (all []Summary, errs []error) {
	t.Helper()
	for s, err := range Runs(path) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, s)
	}
	return all, errs
}

func TestRunsCountsEachItemByItsLastOutcome(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := mustOpen(t, path)
	first := Run{ID: "r1", Context: "prod", Command: "idemctl requeue", Reason: "deploy", PlanDigest: "d"}
	_, err := j.Begin(first)
	must(t, err)
	must(t, j.Intend(intent("1", 1), intent("2", 1), intent("3", 1), intent("4", 1)))
	must(t, j.Settle(Record{Item: "1", Outcome: OutcomeDone}, Record{Item: "2", Outcome: OutcomeUnknown},
		Record{Item: "3", Outcome: OutcomeUnknown}, Record{Item: "2", Outcome: OutcomeFailed}, Record{Item: "x", Outcome: OutcomeRefused}))
	must(t, j.Close())

	j = mustOpen(t, path)
	_, err = j.Begin(Run{ID: "r2"})
	must(t, err)
	must(t, j.Intend(intent("1", 1)))
	must(t, j.Settle(Record{Item: "1", Outcome: OutcomeDone}))
	must(t, j.End("r2"))
	must(t, j.Close())

	got, errs := summaries(t, path)
	want := []Summary{
		{Run: first, Operator: "ann", Host: "host-1", Intents: 4, Done: 1, Refused: 1, Failed: 1, Unknown: 1, Pending: 1},
		{Run: Run{ID: "r2"}, Operator: "ann", Host: "host-1", Intents: 1, Done: 1},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Summary{}, "Began", "Ended")); diff != "" || len(errs) > 0 {
		t.Fatalf("runs (-want +got): %v\n%s", errs, diff)
	}
	if got[0].Complete() || !got[1].Complete() {
		t.Errorf("complete: %v and %v, want false and true", got[0].Complete(), got[1].Complete())
	}
	if got[0].Began.IsZero() || !got[0].Ended.IsZero() || got[1].Ended.IsZero() {
		t.Errorf("began %v, ended %v and %v", got[0].Began, got[0].Ended, got[1].Ended)
	}
}

func TestEndedRunWithAnOpenIntentIsNotComplete(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := mustOpen(t, path)
	run := mustBegin(t, j)
	must(t, j.Intend(intent("1", 1)))
	must(t, j.End(run))
	if got, _ := summaries(t, path); len(got) != 1 || got[0].Complete() {
		t.Errorf("%+v is complete", got)
	}
}

func TestRunsCountsAResultWhoseIntentIsDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := mustOpen(t, path)
	run := mustBegin(t, j)
	must(t, j.Intend(intent("1", 1)))
	must(t, j.Settle(Record{Item: "1", Outcome: OutcomeDone}))
	must(t, j.End(run))
	must(t, j.Close())
	lines := linesOf(t, path)
	lines[1][9] ^= 1
	rewrite(t, path, lines...)
	got, errs := summaries(t, path)
	if len(errs) != 1 || len(got) != 1 || got[0].Strays != 1 || got[0].Done != 1 || got[0].Intents != 0 {
		t.Errorf("%+v, %v; want a stray result", got, errs)
	}
}
