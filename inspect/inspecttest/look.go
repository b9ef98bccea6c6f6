package inspecttest

import (
	"slices"
	"strings"

	"github.com/idemctl/idemctl/inspect"
)

// Snapshot is everything that the database holds: each key with its value as
// DUMP writes it, and whether it expires. Two snapshots differ if a byte does.
func (s *Server) Snapshot() map[string]string {
	s.t.Helper()
	names, err := s.Client().Keys(s.ctx(), "*").Result()
	s.must(err)
	all := make(map[string]string, len(names))
	for _, name := range names {
		value, err := s.Client().Dump(s.ctx(), name).Result()
		s.must(err)
		ttl, err := s.Client().TTL(s.ctx(), name).Result()
		s.must(err)
		if ttl > 0 {
			value += " expires"
		}
		all[name] = value
	}
	return all
}

// Holders names the lists and sets of the task's queue that hold its ID, without
// the queue's prefix and sorted. A list that holds it twice is there twice.
func (s *Server) Holders(r inspect.Ref) []string {
	s.t.Helper()
	names, err := s.Client().Keys(s.ctx(), "asynq:{*}:*").Result()
	s.must(err)
	var holders []string
	for _, name := range names {
		place, ok := strings.CutPrefix(name, prefix(r.Queue))
		if !ok {
			continue
		}
		kind, err := s.Client().Type(s.ctx(), name).Result()
		s.must(err)
		switch kind {
		case "list":
			ids, err := s.Client().LRange(s.ctx(), name, 0, -1).Result()
			s.must(err)
			for _, id := range ids {
				if id == r.ID {
					holders = append(holders, place)
				}
			}
		case "zset":
			if s.Client().ZScore(s.ctx(), name, r.ID).Err() == nil {
				holders = append(holders, place)
			}
		}
	}
	slices.Sort(holders)
	return holders
}

// Ungroup removes a task's ID from its group and leaves the hash, and the group
// registered.
func (s *Server) Ungroup(r inspect.Ref, group string) {
	s.t.Helper()
	s.must(s.Client().ZRem(s.ctx(), key(r.Queue, "g:"+group), r.ID).Err())
}
