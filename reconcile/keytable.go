package reconcile

import (
	"hash/maphash"
	"sync"

	"github.com/idemctl/idemctl/inspect"
)

// keyTable counts, for every key of the tasks that were listed, how many tasks
// bear it: in any state, unfinished, and alive (live, or too young to be
// settled). It is what finds twins and collisions without holding the tasks: 8
// bytes an entry and 64 bits of the key's hash (8 of them say which shard), so
// that among a million keys two are taken for one about once in 10^7 audits;
// whoever acts on a count looks at the tasks themselves first, or takes the
// careful side.
type keyTable struct {
	seed   maphash.Seed
	shards [keyShards]keyShard
}

const (
	keyShards  = 256
	countBits  = 2 // each counter saturates at 3
	countMask  = 1<<countBits - 1
	countsBits = 3 * countBits
	minShard   = 8
)

type keyShard struct {
	mu    sync.Mutex
	slots []uint64 // 0: free; else hash bits above countsBits, counters below
	used  int
}

// keyCounts is what the table knows of one key. Counts saturate at 3.
type keyCounts struct{ Any, Unfinished, Alive int }

func newKeyTable() *keyTable { return &keyTable{seed: maphash.MakeSeed()} }

// hash is the table's name for a key in a key space.
func (k *keyTable) hash(space int, key string) uint64 {
	var h maphash.Hash
	h.SetSeed(k.seed)
	h.WriteByte(byte(space))
	h.WriteByte(byte(space >> 8))
	h.WriteString(key)
	return h.Sum64()
}

// add counts a task under its key and returns the counts with it.
func (k *keyTable) add(hash uint64, first, unfinished, alive bool) keyCounts {
	s := &k.shards[hash>>56]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used+1 > len(s.slots)*7/8 {
		s.grow()
	}
	i := s.find(hash)
	if s.slots[i] == 0 {
		s.slots[i] = fingerprintBits(hash)
		s.used++
	}
	s.slots[i] = bump(s.slots[i], 0, first)
	s.slots[i] = bump(s.slots[i], 1, unfinished)
	s.slots[i] = bump(s.slots[i], 2, alive)
	return counts(s.slots[i])
}

// of returns the counts of a key; all zero when it was never added.
func (k *keyTable) of(hash uint64) keyCounts {
	s := &k.shards[hash>>56]
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.slots) == 0 {
		return keyCounts{}
	}
	return counts(s.slots[s.find(hash)])
}

// fingerprintBits are the hash bits a slot keeps. They are never all zero, so
// that a slot in use is told from a free one.
func fingerprintBits(hash uint64) uint64 {
	if f := hash << 8 >> 8 << countsBits; f != 0 {
		return f
	}
	return 1 << countsBits
}

// find is the slot of the hash: its own, or the free one where it belongs.
func (s *keyShard) find(hash uint64) int {
	want := fingerprintBits(hash)
	i := int(want>>countsBits) % len(s.slots)
	for s.slots[i] != 0 && s.slots[i]&^(1<<countsBits-1) != want {
		i++
		if i == len(s.slots) {
			i = 0
		}
	}
	return i
}

// grow makes a shard a third larger. Shards fill at different times, so the
// table as a whole grows in small steps.
func (s *keyShard) grow() {
	old := s.slots
	s.slots = make([]uint64, max(minShard, len(old)*4/3))
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		want := slot &^ (1<<countsBits - 1)
		i := int(want>>countsBits) % len(s.slots)
		for s.slots[i] != 0 {
			i++
			if i == len(s.slots) {
				i = 0
			}
		}
		s.slots[i] = slot
	}
}

func bump(slot uint64, counter int, by bool) uint64 {
	shift := counter * countBits
	if !by || slot>>shift&countMask == countMask {
		return slot
	}
	return slot + 1<<shift
}

func counts(slot uint64) keyCounts {
	return keyCounts{
		Any:        int(slot & countMask),
		Unfinished: int(slot >> countBits & countMask),
		Alive:      int(slot >> (2 * countBits) & countMask),
	}
}

// counted says which counters a listed task raises, given the state in which the
// same listing saw it before: each task counts once in each.
func counted(t inspect.Task, unsettled bool) (first, unfinished, alive bool) {
	first = t.Prev == inspect.StateUnknown
	unfinished = t.State.Unfinished() && !t.Prev.Unfinished()
	alive = (t.State.Live() || unsettled) && !t.Prev.Live()
	return first, unfinished, alive
}
