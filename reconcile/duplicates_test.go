package reconcile

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect"
)

// Whatever was added is found again, through every growth of the table: a twin
// that the table forgets is a twin that no audit reports.
func TestContentTableMissesNoEqualContent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Few letters, so that equal contents and shared borders are common.
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab\x00")), 0, 4, -1)
		table := newContentTable()
		seen := map[content]bool{}
		for range rapid.IntRange(1, 400).Draw(t, "tasks") {
			task := inspect.Task{Type: text.Draw(t, "type"), Payload: []byte(text.Draw(t, "payload"))}
			again := table.add(table.hash(task))
			if c := contentOf(task); seen[c] && !again {
				t.Fatalf("type %q with payload %q was there, and the table says it is new", task.Type, task.Payload)
			} else {
				seen[c] = true
			}
		}
	})
}

// Every hash must be found again, whichever shard and slot it falls to, and the
// table must not call all of them old.
func TestContentTableKeepsEveryHashThroughItsGrowth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hashes := rapid.SliceOfN(rapid.Uint64(), 1, 3000).Draw(t, "hashes")
		if rapid.Bool().Draw(t, "in one shard") {
			for i := range hashes {
				hashes[i] &= 1<<56 - 1
			}
		}
		table := newContentTable()
		added := map[uint64]bool{}
		for _, h := range hashes {
			// What a slot keeps: 8 bits choose the shard, and of the rest the low 32.
			kept := h>>56<<32 | uint64(uint32(h)|1)
			if again := table.add(h); again != added[kept] {
				t.Fatalf("hash %x: again %t, want %t", h, again, added[kept])
			}
			added[kept] = true
		}
		for _, h := range hashes {
			if !table.add(h) {
				t.Fatalf("hash %x was forgotten", h)
			}
		}
	})
}

// Distinct contents are hardly ever taken for equal: each of them costs a look.
func TestContentTableTellsDistinctContentsApart(t *testing.T) {
	table := newContentTable()
	const n = 200_000
	again := 0
	numbered := func(i int) inspect.Task {
		return inspect.Task{Type: "t", Payload: []byte{byte(i), byte(i >> 8), byte(i >> 16)}}
	}
	for i := range n {
		if table.add(table.hash(numbered(i))) {
			again++
		}
	}
	for i := range n {
		if !table.add(table.hash(numbered(i))) {
			t.Fatalf("content %d was forgotten as the table grew", i)
		}
	}
	// 40 bits, one of them lost to the mark of a slot in use: n²/2 / 2^39 is 0.04.
	if again > 5 {
		t.Errorf("%d of %d distinct contents are taken for equal", again, n)
	}
	slots := 0
	for i := range table.shards {
		slots += len(table.shards[i].slots)
	}
	if perTask := float64(4*slots) / n; perTask > 8 {
		t.Errorf("%.1f bytes a task, want at most 8", perTask)
	}
	for i := range table.shards {
		if s := &table.shards[i]; s.used > len(s.slots)*7/8 {
			t.Errorf("shard %d holds %d in %d slots, and looking up in it is slow", i, s.used, len(s.slots))
		}
	}
}

func TestWidestDifferenceTakesTheErrorsOfBothClocksOff(t *testing.T) {
	c := clocks{readings: []clockReading{
		{name: "this machine's"},
		{name: "Redis's", offset: 6e9, margin: 2e9},
		{name: "ledger main's", offset: -3e9, margin: 1e9},
	}}
	difference, words := c.widest()
	if difference != 6e9 || words != "Redis's is 9s ahead of ledger main's" {
		t.Errorf("%v, %q; want 6 s that are sure of 9 s", difference, words)
	}
	c.readings[2].margin = 20e9
	if difference, words = c.widest(); difference != 4e9 || words != "Redis's is 6s ahead of this machine's" {
		t.Errorf("%v, %q; want 4 s of 6 s, since the ledger's clock could not be read closely", difference, words)
	}
	if difference, words = (clocks{readings: c.readings[:1]}).widest(); difference != 0 || words != "" {
		t.Errorf("one clock alone differs by %v, %q", difference, words)
	}
}
