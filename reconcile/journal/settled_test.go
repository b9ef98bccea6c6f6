package journal

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestEndSettledEndsKilledRunsWithNothingPending(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	killed := func(items ...string) string { // by a writer that ends no run
		j := mustOpen(t, path)
		run := mustBegin(t, j)
		for _, item := range items {
			must(t, j.Intend(intent(item, 10)))
		}
		must(t, j.Close())
		return run
	}
	empty, settled, pending, unknown := killed(), killed("a", "b"), killed("a", "b"), killed("a")
	j := mustOpen(t, path)
	ended := mustBegin(t, j)
	must(t, j.End(ended))
	own := mustBegin(t, j)
	must(t, j.Settle(
		Record{Run: settled, Item: "a", Outcome: OutcomeDone}, Record{Run: settled, Item: "b", Outcome: OutcomeRefused},
		Record{Run: pending, Item: "a", Outcome: OutcomeDone}, Record{Run: unknown, Item: "a", Outcome: OutcomeUnknown},
	))
	got, err := j.EndSettled()
	if err != nil || !slices.Equal(got, []string{empty, settled}) {
		t.Errorf("ended %q, want %q: %v", got, []string{empty, settled}, err)
	}
	must(t, j.End(own))
	if got, err = j.EndSettled(); err != nil || len(got) != 0 {
		t.Errorf("ended %q again: %v", got, err)
	}
	for s, err := range Runs(path) {
		must(t, err)
		if open := s.ID == pending || s.ID == unknown; s.Ended.IsZero() != open {
			t.Errorf("run %s ended at %s", s.ID, s.Ended)
		}
	}
}
