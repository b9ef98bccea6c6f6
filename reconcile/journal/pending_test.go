package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// pendingItemsOf is what Pending yields, run and item, and its errors.
func pendingItemsOf(t testing.TB, path string) (pending []string, errs []error) {
	t.Helper()
	for r, err := range Pending(path) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if r.Kind != KindIntent {
			t.Errorf("pending: a record of kind %s", r.Kind)
		}
		pending = append(pending, r.Run+"/"+r.Item)
	}
	return pending, errs
}

func TestPendingYieldsIntentsWhoseOutcomeNobodyKnows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := mustOpen(t, path)
	run := mustBegin(t, j)
	must(t, j.Intend(intent("done", 1), intent("failed", 1), intent("lost", 1), intent("none", 1), intent("lost, then done", 1)))
	must(t, j.Settle(
		Record{Item: "done", Outcome: OutcomeDone}, Record{Item: "failed", Outcome: OutcomeFailed},
		Record{Item: "lost", Outcome: OutcomeUnknown}, Record{Item: "lost, then done", Outcome: OutcomeUnknown},
		Record{Item: "never begun", Outcome: OutcomeRefused}, Record{Item: "lost, then done", Outcome: OutcomeDone},
	))
	must(t, j.Close())
	pending, errs := pendingItemsOf(t, path)
	if want := []string{run + "/lost", run + "/none"}; !slices.Equal(pending, want) || len(errs) > 0 {
		t.Errorf("pending %v, %v; want %v", pending, errs, want)
	}

	// Another process settles them, under a run of its own.
	j = mustOpen(t, path)
	mustBegin(t, j)
	must(t, j.Settle(Record{Run: run, Item: "lost", Outcome: OutcomeDone}, Record{Run: run, Item: "none", Outcome: OutcomeFailed}))
	must(t, j.End(run))
	must(t, j.Close())
	if pending, errs = pendingItemsOf(t, path); len(pending) > 0 || len(errs) > 0 {
		t.Errorf("after resuming: %v, %v", pending, errs)
	}
	last := readWhole(t, path)
	if r := last[len(last)-1]; r.Kind != KindEnd || r.Run != run || r.Operator != "ann" {
		t.Errorf("the old run was ended by %+v", r)
	}
}

func TestPendingKeepsItemsOfTwoRunsApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := mustOpen(t, path)
	for _, run := range []string{"a", "ab"} {
		_, err := j.Begin(Run{ID: run})
		must(t, err)
		must(t, j.Intend(intent("bc", 1), intent("c", 1)))
		if run == "ab" {
			must(t, j.Settle(Record{Item: "c", Outcome: OutcomeDone}))
		}
		must(t, j.End(run))
	}
	pending, errs := pendingItemsOf(t, path)
	if want := []string{"a/bc", "a/c", "ab/bc"}; !slices.Equal(pending, want) || len(errs) > 0 {
		t.Errorf("pending %v, %v; want %v", pending, errs, want)
	}
}

func TestPendingSaysWhatIsWrongFirst(t *testing.T) {
	path, lines := written(t)
	lines[2][9] ^= 1
	rewrite(t, path, append(lines, []byte("{torn"))...)
	b, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, bytes.TrimSuffix(b, []byte("\n")), 0o600))
	pending, errs := pendingItemsOf(t, path)
	var damaged *DamagedError
	var torn *TornError
	if len(errs) != 2 || !errors.As(errs[0], &damaged) || !errors.As(errs[1], &torn) {
		t.Errorf("errors %v, want a damaged and a torn line", errs)
	}
	if len(pending) != 4 {
		t.Errorf("pending %v, want 1 3 4 5", pending)
	}
}

// The model keeps everything in plain maps.
func TestPendingAndRunsAgreeWithAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(t.TempDir(), "journal.jsonl")
		j := mustOpen(t, path)
		_, err := j.Begin(Run{ID: "r"})
		must(t, err)
		outcomes := map[string]string{} // "" is an intent without a result
		var order []string
		for step := range rapid.IntRange(0, 30).Draw(rt, "steps") {
			if len(order) == 0 || rapid.Bool().Draw(rt, "intend") {
				item := fmt.Sprint(step)
				must(t, j.Intend(intent(item, 5)))
				outcomes[item] = ""
				order = append(order, item)
				continue
			}
			item := rapid.SampledFrom(order).Draw(rt, "item")
			if now := outcomes[item]; now != "" && now != "unknown" {
				continue
			}
			outcome := Outcome(rapid.IntRange(0, 3).Draw(rt, "outcome"))
			must(t, j.Settle(Record{Item: item, Outcome: outcome}))
			outcomes[item] = outcome.String()
		}
		must(t, j.Close())
		checkModel(rt, t, path, order, outcomes)
	})
}

func checkModel(rt *rapid.T, t *testing.T, path string, order []string, outcomes map[string]string) {
	t.Helper()
	counts := map[string]int{}
	var want []string
	for _, item := range order {
		counts[outcomes[item]]++
		if outcomes[item] == "" || outcomes[item] == "unknown" {
			want = append(want, "r/"+item)
		}
	}
	pending, errs := pendingItemsOf(t, path)
	if diff := cmp.Diff(want, pending); diff != "" || len(errs) > 0 {
		rt.Fatalf("pending (-want +got): %v\n%s", errs, diff)
	}
	for s, err := range Runs(path) {
		must(t, err)
		got := map[string]int{"": s.Pending, "done": s.Done, "refused": s.Refused, "failed": s.Failed, "unknown": s.Unknown}
		for outcome, n := range got {
			if n != counts[outcome] {
				rt.Fatalf("%d items with outcome %q, want %d", n, outcome, counts[outcome])
			}
		}
		if s.Intents != len(order) || s.Strays != 0 {
			rt.Fatalf("%d intents and %d strays, want %d and none", s.Intents, s.Strays, len(order))
		}
	}
}
