package reconcile

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect"
)

// plainTable is what keyTable must be like: a map without limits of its own but
// for the counters' end.
type plainTable map[uint64]keyCounts

func (p plainTable) add(hash uint64, first, unfinished, alive bool) keyCounts {
	c := p[hash]
	raise := func(n *int, by bool) {
		if by && *n < 3 {
			*n++
		}
	}
	raise(&c.Any, first)
	raise(&c.Unfinished, unfinished)
	raise(&c.Alive, alive)
	p[hash] = c
	return c
}

func TestKeyTableCountsLikeAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, plain := newKeyTable(), plainTable{}
		// Hashes that crowd into one shard and one place of it, and differ in a
		// single bit; and any others.
		crowded := rapid.Custom(func(t *rapid.T) uint64 {
			shard := rapid.SampledFrom([]uint64{0, 1, 255}).Draw(t, "shard")
			low := rapid.Uint64Range(1, 40).Draw(t, "low")
			high := rapid.SampledFrom([]uint64{0, 1 << 40, 1 << 50, 1 << 55}).Draw(t, "high")
			return shard<<56 | high | low*840 // a multiple of many table sizes
		})
		hashes := rapid.OneOf(crowded, crowded, rapid.Uint64Min(1<<20))
		for range rapid.IntRange(0, 400).Draw(t, "steps") {
			hash := hashes.Draw(t, "hash")
			if rapid.IntRange(0, 3).Draw(t, "look") == 0 {
				if got := table.of(hash); got != plain[hash] {
					t.Fatalf("of(%#x) = %+v, want %+v", hash, got, plain[hash])
				}
				continue
			}
			first, unfinished, alive := rapid.Bool().Draw(t, "first"), rapid.Bool().Draw(t, "unfinished"), rapid.Bool().Draw(t, "alive")
			got, want := table.add(hash, first, unfinished, alive), plain.add(hash, first, unfinished, alive)
			if got != want {
				t.Fatalf("add(%#x) = %+v, want %+v", hash, got, want)
			}
		}
		for hash, want := range plain {
			if got := table.of(hash); got != want {
				t.Fatalf("of(%#x) = %+v at the end, want %+v", hash, got, want)
			}
		}
	})
}

func TestKeyTableKeepsEveryKeyWhileItGrows(t *testing.T) {
	table, plain := newKeyTable(), plainTable{}
	random := rand.New(rand.NewPCG(1, 2))
	const space = 3
	for range 300_000 {
		hash := table.hash(space, "evt_"+strconv.Itoa(random.IntN(150_000)))
		first, unfinished, alive := random.IntN(2) == 0, random.IntN(3) == 0, random.IntN(4) == 0
		if got, want := table.add(hash, first, unfinished, alive), plain.add(hash, first, unfinished, alive); got != want {
			t.Fatalf("add(%#x) = %+v, want %+v", hash, got, want)
		}
	}
	for hash, want := range plain {
		if got := table.of(hash); got != want {
			t.Fatalf("of(%#x) = %+v, want %+v", hash, got, want)
		}
	}
	for i := range 50_000 {
		if got := table.of(table.hash(space, "other_"+strconv.Itoa(i))); got != (keyCounts{}) {
			t.Fatalf("a key that was never added has %+v", got)
		}
	}
}

func TestKeyTableTellsAHashWithoutBitsFromAFreeSlot(t *testing.T) {
	for _, hash := range []uint64{0, 1 << 56, 255 << 56} {
		table := newKeyTable()
		table.add(hash, true, true, false)
		for i := range uint64(100) { // the shard grows around it
			table.add(hash|(i+2)<<10, true, false, false)
		}
		if got := table.add(hash, true, true, true); got != (keyCounts{Any: 2, Unfinished: 2, Alive: 1}) {
			t.Errorf("hash %#x: %+v after a second task", hash, got)
		}
	}
}

func TestKeySpacesKeepEqualKeysApart(t *testing.T) {
	table := newKeyTable()
	for _, space := range []int{0, 1, 2, 255, 256, 257} {
		table.add(table.hash(space, "evt_1"), true, true, true)
	}
	for _, space := range []int{0, 1, 2, 255, 256, 257} {
		if got := table.of(table.hash(space, "evt_1")); got.Any != 1 {
			t.Errorf("space %d: %d tasks of one key, want 1: another source's were counted", space, got.Any)
		}
	}
}

func TestKeyTableCountsEveryConcurrentTask(t *testing.T) {
	table := newKeyTable()
	var workers sync.WaitGroup
	const keys = 20_000
	for range 3 {
		workers.Go(func() {
			for i := range keys {
				table.add(table.hash(0, strconv.Itoa(i)), true, i%2 == 0, false)
			}
		})
	}
	workers.Wait()
	for i := range keys {
		want := keyCounts{Any: 3, Unfinished: 3 * ((i + 1) % 2)}
		if got := table.of(table.hash(0, strconv.Itoa(i))); got != want {
			t.Fatalf("key %d: %+v, want %+v", i, got, want)
		}
	}
}

// bytesEach is what the table holds for each of n keys.
func bytesEach(table *keyTable, n int) float64 {
	slots := 0
	for i := range table.shards {
		slots += cap(table.shards[i].slots)
	}
	return float64(slots*8) / float64(n)
}

func TestKeyTableHoldsAMillionKeysInTwelveBytesEach(t *testing.T) {
	const n = 1_000_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools hold is gone after the second
	runtime.ReadMemStats(&before)
	table := newKeyTable()
	random := rand.New(rand.NewPCG(3, 4))
	for range n {
		table.add(random.Uint64(), true, true, true)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	heap := float64(after.HeapAlloc-before.HeapAlloc) / n
	if each := bytesEach(table, n); each >= 12 || heap >= 12 {
		t.Errorf("%.2f bytes of slots and %.2f of heap a key, want less than 12", each, heap)
	}
	runtime.KeepAlive(table)
}

// sequences of states in which one listing may see one task.
var sequences = [][]inspect.State{
	{inspect.StatePending},
	{inspect.StateArchived},
	{inspect.StateCompleted},
	{inspect.StateScheduled, inspect.StatePending, inspect.StateActive, inspect.StateRetry, inspect.StateArchived},
	{inspect.StatePending, inspect.StateActive, inspect.StateCompleted},
	{inspect.StateArchived, inspect.StatePending, inspect.StateActive},
	{inspect.StateArchived, inspect.StatePending, inspect.StateArchived},
	{inspect.StateCompleted, inspect.StatePending, inspect.StateActive, inspect.StateCompleted},
	{inspect.StatePending, inspect.StateCompleted, inspect.StatePending},
}

// A task may be counted once too often, which calls its key's absences unsettled;
// one that is missed would let them be called lost beside a living twin.
func TestATaskThatMovesIsNeverMissed(t *testing.T) {
	for _, states := range sequences {
		for _, young := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v young %t", states, young), func(t *testing.T) {
				table := newKeyTable()
				var got keyCounts
				want := keyCounts{Any: 1}
				task := inspect.Task{}
				for _, s := range states {
					task.State = s
					unsettled := young && !s.Live()
					first, unfinished, alive := counted(task, unsettled)
					got = table.add(1, first, unfinished, alive)
					if s.Unfinished() {
						want.Unfinished = 1
					}
					if s.Live() || unsettled {
						want.Alive = 1
					}
					task.Prev = s
				}
				if got.Any != want.Any || got.Unfinished < want.Unfinished || got.Alive < want.Alive {
					t.Errorf("one task counts as %+v, want at least %+v", got, want)
				}
				if want.Alive == 0 && got.Alive != 0 || want.Unfinished == 0 && got.Unfinished != 0 {
					t.Errorf("one task counts as %+v, want %+v", got, want)
				}
			})
		}
	}
}

func BenchmarkKeyTableAdd(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			random := rand.New(rand.NewPCG(5, 6))
			hashes := make([]uint64, n)
			for i := range hashes {
				hashes[i] = random.Uint64()
			}
			b.ReportAllocs()
			b.ResetTimer()
			var table *keyTable
			for range b.N {
				table = newKeyTable()
				for _, hash := range hashes {
					table.add(hash, true, true, false)
				}
			}
			b.ReportMetric(bytesEach(table, n), "B/key")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
		})
	}
}
