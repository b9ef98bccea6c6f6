package reconcile

import (
	"crypto/sha256"
	"hash/maphash"
	"sync"

	"github.com/idemctl/idemctl/inspect"
)

// content is what makes two tasks twins: SHA-256 over type and payload, cut to
// 16 bytes. Headers and options play no part, as in asynq's own uniqueness
// (internal/base/base.go: UniqueKey).
type content [16]byte

func contentOf(t inspect.Task) content {
	h := sha256.New()
	h.Write([]byte(t.Type))
	h.Write([]byte{0})
	h.Write(t.Payload)
	return content(h.Sum(nil)[:16])
}

// contentTable finds live tasks of equal content, in 4 bytes an entry (5 to 6
// with the room to grow) and 40 bits of a seeded hash: among a million tasks two
// are taken for twins about once in two audits, which costs a look at them.
type contentTable struct {
	seed   maphash.Seed
	shards [keyShards]contentShard
}

type contentShard struct {
	mu    sync.Mutex
	slots []uint32 // 0: free
	used  int
}

func newContentTable() *contentTable { return &contentTable{seed: maphash.MakeSeed()} }

// hash is the table's name for the content of a task, in any queue.
func (c *contentTable) hash(t inspect.Task) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	h.WriteString(t.Type)
	h.WriteByte(0)
	h.Write(t.Payload)
	return h.Sum64()
}

// hashName is the table's name for a key.
func (c *contentTable) hashName(name string) uint64 { return maphash.String(c.seed, name) }

// has says whether the hash was added.
func (c *contentTable) has(hash uint64) bool {
	s := &c.shards[hash>>56]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used > 0 && *s.find(uint32(hash) | 1) != 0
}

// add says whether the content was there before.
func (c *contentTable) add(hash uint64) (again bool) {
	s := &c.shards[hash>>56]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used+1 > len(s.slots)*7/8 {
		s.grow()
	}
	slot := s.find(uint32(hash) | 1)
	if *slot != 0 {
		return true
	}
	*slot = uint32(hash) | 1
	s.used++
	return false
}

// find is the slot of the value: its own, or the free one where it belongs.
func (s *contentShard) find(want uint32) *uint32 {
	i := int(uint64(want) * uint64(len(s.slots)) >> 32)
	for s.slots[i] != 0 && s.slots[i] != want {
		if i++; i == len(s.slots) {
			i = 0
		}
	}
	return &s.slots[i]
}

func (s *contentShard) grow() {
	old := s.slots
	s.slots = make([]uint32, max(minShard, len(old)*5/4))
	for _, v := range old {
		if v != 0 {
			*s.find(v) = v
		}
	}
}
