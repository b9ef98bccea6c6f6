package journal

import (
	"bytes"
	"path/filepath"
	"testing"
)

// cutShort writes a run of ten items, of which three were begun, and one more was
// intended and then left.
func cutShort(t *testing.T, j *Journal) string {
	t.Helper()
	run, err := j.Begin(Run{Planned: 10})
	must(t, err)
	must(t, j.Settle(Record{Item: "1", Outcome: OutcomeRefused, Found: "it changed"}))
	must(t, j.Intend(intent("2", 1), intent("3", 1), intent("4", 1)))
	must(t, j.Settle(Record{Item: "2", Outcome: OutcomeDone}, Record{Item: "4", Outcome: OutcomeRefused, NotBegun: 1}))
	return run
}

func oneSummary(t *testing.T, path string) Summary {
	t.Helper()
	all, errs := summaries(t, path)
	if len(all) != 1 || len(errs) > 0 {
		t.Fatalf("%d runs, %v", len(all), errs)
	}
	return all[0]
}

func TestPlannedItemsWithoutARecordWereNeverBegun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := mustOpen(t, path)
	run := cutShort(t, j)
	want := func(s Summary, why string) {
		t.Helper()
		if s.Planned != 10 || s.NotBegun != 7 || s.Done != 1 || s.Refused != 1 || s.EndedBy != why || s.Complete() {
			t.Errorf("%+v, want 7 of 10 never begun, 1 refused, ended by %q", s, why)
		}
	}
	want(oneSummary(t, path), "") // as if it were killed now
	must(t, j.Settle(Record{Item: "3", Outcome: OutcomeDone}))
	must(t, j.EndEarly(run, "interrupted (SIGTERM)", 7))
	s := oneSummary(t, path)
	s.Done-- // item 3
	want(s, "interrupted (SIGTERM)")
	if !s.Settled() {
		t.Error("nothing is pending, and it is not settled")
	}
}

// What the end says counts, where lines of the run are damaged.
func TestNeverBegunIsAsTheEndSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := mustOpen(t, path)
	run := cutShort(t, j)
	must(t, j.Settle(Record{Item: "3", Outcome: OutcomeDone}))
	must(t, j.EndEarly(run, "stopped", 7))
	must(t, j.Close())
	lines := linesOf(t, path)
	for _, at := range []int{2, 5} { // item 2: its intent and its result
		lines[at][9] ^= 1
	}
	rewrite(t, path, lines...)
	all, errs := summaries(t, path)
	if len(errs) == 0 || len(all) != 1 || all[0].NotBegun != 7 {
		t.Errorf("%+v, %v", all, errs)
	}
}

// A run that was killed gets its end later, which keeps what it left.
func TestEndSettledKeepsWhatAKilledRunNeverBegan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := mustOpen(t, path)
	run := cutShort(t, j)
	must(t, j.Close())
	j = mustOpen(t, path)
	must(t, j.Settle(Record{Run: run, Item: "3", Outcome: OutcomeDone}))
	ended, err := j.EndSettled()
	if err != nil || len(ended) != 1 {
		t.Fatal(ended, err)
	}
	if s := oneSummary(t, path); s.NotBegun != 7 || s.EndedBy != "killed: it wrote no end of its own" || s.Complete() {
		t.Errorf("%+v", s)
	}
}

// Journals of earlier versions do not say how much was planned: they read as before.
func TestRunsThatSayNothingOfAPlanReadAsBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := mustOpen(t, path)
	run := mustBegin(t, j)
	must(t, j.Intend(intent("1", 1), intent("2", 1)))
	must(t, j.Settle(Record{Item: "1", Outcome: OutcomeDone}, Record{Item: "2", Outcome: OutcomeRefused, Found: "not begun: interrupted"}))
	must(t, j.write([]Record{{Kind: KindEnd, Run: run, Error: "not begun: the copy is gone", At: j.opt.Now()}}, true))
	s := oneSummary(t, path)
	if s.Planned != 0 || s.NotBegun != 0 || s.EndedBy != "" || s.Refused != 1 || !s.Complete() {
		t.Errorf("%+v", s)
	}
	for _, line := range linesOf(t, path) {
		if bytes.Contains(line, []byte(`"planned"`)) || bytes.Contains(line, []byte(`"not_begun"`)) {
			t.Errorf("a line has a member that it did not have: %s", line)
		}
	}
}

func TestRunThatTheCopyRefusesWasNeverBegun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	table := newMemoryCopy()
	j := mustOpenWith(t, path, table)
	table.down = true
	if _, err := j.Begin(Run{Planned: 3}); err == nil {
		t.Fatal("it began without its copy")
	}
	if s := oneSummary(t, path); s.Planned != 3 || s.NotBegun != 3 || s.EndedBy == "" {
		t.Errorf("%+v", s)
	}
}
