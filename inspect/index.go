package inspect

import (
	"hash/maphash"
	"math/bits"
	"sync"
)

// The index remembers every task of a listing in 8 bytes, so that a second pass
// over a million tasks fetches only what is new or has moved.
//
// It is an open-addressing table in 256 shards. The low 8 bits of a task's
// 64-bit hash choose the shard; an entry keeps the other bits, and 7 bits of
// notes in place of the lowest. Two of n tasks share a whole hash with a chance
// of about n²/2^65, one in 37 million for a million tasks, and are then
// taken for one; the hash is seeded anew for each index, so that nobody can
// prepare IDs that do. A shard grows by a quarter when four fifths are used, one
// shard at a time: a task costs 10 to 12.5 bytes and growth never doubles the whole.
const (
	shardCount = 256

	noteMask    = 1<<7 - 1
	stateMask   = 1<<3 - 1
	callerShift = 3
	callerMask  = 1<<4 - 1

	firstSlots = 16
)

// Index remembers in which state each task of a listing was seen last, and four
// bits of the caller's about it. It is safe for concurrent use.
type Index struct {
	seed   maphash.Seed
	shards [shardCount]shard
}

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{seed: maphash.MakeSeed()}
}

// Observe notes that the task was seen in the state, and returns the state it
// had been seen in before; seen is false for a task that is new.
func (x *Index) Observe(r Ref, s State) (prev State, seen bool) {
	sh, hash := x.place(r)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	slot, seen := sh.insert(hash)
	prev = State(*slot & stateMask)
	*slot = *slot&^stateMask | uint64(s)&stateMask
	return prev, seen
}

// Seen returns the state that a task was seen in last.
func (x *Index) Seen(r Ref) (s State, seen bool) {
	entry := x.entry(r)
	return State(entry & stateMask), entry != 0
}

// Note sets the caller's four bits of a task and returns what they were. A task
// that is not in the index is put there with StateUnknown.
func (x *Index) Note(r Ref, bits uint8) (old uint8) {
	sh, hash := x.place(r)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	slot, _ := sh.insert(hash)
	old = uint8(*slot >> callerShift & callerMask)
	*slot = *slot&^(callerMask<<callerShift) | uint64(bits&callerMask)<<callerShift
	return old
}

// Noted returns the caller's bits of a task; 0 for one that is not in the index.
func (x *Index) Noted(r Ref) uint8 {
	return uint8(x.entry(r) >> callerShift & callerMask)
}

// Len is the number of tasks in the index.
func (x *Index) Len() int {
	n := 0
	for i := range x.shards {
		x.shards[i].mu.Lock()
		n += x.shards[i].used
		x.shards[i].mu.Unlock()
	}
	return n
}

// entry is 0 for a task that is not in the index.
func (x *Index) entry(r Ref) uint64 {
	sh, hash := x.place(r)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.used == 0 {
		return 0
	}
	return *sh.probe(hash)
}

func (x *Index) place(r Ref) (*shard, uint64) {
	sum := maphash.String(x.seed, r.ID) ^ bits.RotateLeft64(maphash.String(x.seed, r.Queue), 32)
	hash := sum &^ noteMask
	if hash == 0 {
		hash = noteMask + 1 // an entry of 0 is a free slot
	}
	return &x.shards[sum%shardCount], hash
}

type shard struct {
	mu    sync.Mutex
	slots []uint64 // 0: free
	used  int
}

// insert returns the slot of the hash, new if it was not there. The pointer
// holds until the next insert.
func (s *shard) insert(hash uint64) (slot *uint64, seen bool) {
	if s.used+1 > len(s.slots)*4/5 {
		s.grow()
	}
	slot = s.probe(hash)
	if *slot != 0 {
		return slot, true
	}
	*slot = hash
	s.used++
	return slot, false
}

// probe returns the slot that holds the hash, or the free one where it belongs.
// There is always a free slot.
func (s *shard) probe(hash uint64) *uint64 {
	i, _ := bits.Mul64(hash, uint64(len(s.slots)))
	for {
		slot := &s.slots[i]
		if *slot == 0 || *slot&^noteMask == hash {
			return slot
		}
		if i++; i == uint64(len(s.slots)) {
			i = 0
		}
	}
}

func (s *shard) grow() {
	old := s.slots
	s.slots = make([]uint64, max(firstSlots, len(old)*5/4))
	for _, entry := range old {
		if entry != 0 {
			*s.probe(entry &^ noteMask) = entry
		}
	}
}
