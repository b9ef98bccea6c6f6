package inspecttest

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
)

// The states that a crash, or a bug, leaves behind cannot be asked for: they are
// made by the writes that were under way (asynq internal/rdb/rdb.go), one
// command at a time.

func taskKey(r inspect.Ref) string     { return prefix(r.Queue) + "t:" + r.ID }
func prefix(queue string) string       { return "asynq:{" + queue + "}:" }
func key(queue, name string) string    { return prefix(queue) + name }
func seconds(at time.Time) float64     { return float64(at.Unix()) }
func (s *Server) ctx() context.Context { return context.Background() }

// Orphan takes a pending task as a worker does that then dies: it is active, and
// its lease runs until leaseEnd (rdb.go: dequeueCmd).
func (s *Server) Orphan(r inspect.Ref, leaseEnd time.Time) {
	s.t.Helper()
	c := s.Client()
	s.must(c.LRem(s.ctx(), key(r.Queue, "pending"), 0, r.ID).Err())
	s.must(c.LPush(s.ctx(), key(r.Queue, "active"), r.ID).Err())
	s.must(c.HSet(s.ctx(), taskKey(r), "state", "active").Err())
	s.must(c.HDel(s.ctx(), taskKey(r), "pending_since").Err())
	s.zadd(key(r.Queue, "lease"), seconds(leaseEnd), r.ID)
}

// Unlease removes the lease of an active task: no recoverer will take it.
func (s *Server) Unlease(r inspect.Ref) {
	s.t.Helper()
	s.must(s.Client().ZRem(s.ctx(), key(r.Queue, "lease"), r.ID).Err())
}

// Ghost removes a task's ID from its list or set and leaves the hash.
func (s *Server) Ghost(r inspect.Ref) {
	s.t.Helper()
	c := s.Client()
	for _, list := range []string{"pending", "active"} {
		s.must(c.LRem(s.ctx(), key(r.Queue, list), 0, r.ID).Err())
	}
	for _, set := range []string{"scheduled", "retry", "archived", "completed", "lease"} {
		s.must(c.ZRem(s.ctx(), key(r.Queue, set), r.ID).Err())
	}
}

// Dangle removes a task's hash and leaves its ID in its list or set.
func (s *Server) Dangle(r inspect.Ref) {
	s.t.Helper()
	s.must(s.Client().Del(s.ctx(), taskKey(r)).Err())
}

// Corrupt replaces a task's message by bytes that cannot be decoded.
func (s *Server) Corrupt(r inspect.Ref) {
	s.t.Helper()
	s.SetMessage(r, []byte("\xff\xff\xff not a message"))
}

// SetMessage replaces a task's stored message.
func (s *Server) SetMessage(r inspect.Ref, msg []byte) {
	s.t.Helper()
	s.must(s.Client().HSet(s.ctx(), taskKey(r), "msg", msg).Err())
}

// SetDeadline gives a task a deadline that its worker could not have met: of two
// values of a field the last one counts.
func (s *Server) SetDeadline(r inspect.Ref, at time.Time) {
	s.t.Helper()
	msg, err := s.Client().HGet(s.ctx(), taskKey(r), "msg").Bytes()
	s.must(err)
	s.SetMessage(r, appendNumber(msg, 9, at.Unix()))
}

// SetState changes what a task's hash says of its state, and moves nothing.
func (s *Server) SetState(r inspect.Ref, state inspect.State) {
	s.t.Helper()
	s.must(s.Client().HSet(s.ctx(), taskKey(r), "state", state.String()).Err())
}

// ResultOnly makes the hash that a result leaves which was written after its
// task was gone (rdb.go: WriteResult).
func (s *Server) ResultOnly(r inspect.Ref) {
	s.t.Helper()
	s.must(s.Client().HSet(s.ctx(), taskKey(r), "result", "late").Err())
}

// Stage moves a group's tasks to a set that is being aggregated, and returns the
// set's key (rdb.go: aggregationCheckCmd).
func (s *Server) Stage(queue, group string) string {
	s.t.Helper()
	c := s.Client()
	from := key(queue, "g:"+group)
	set := fmt.Sprintf("%s:%s", from, "0191e0b4-0000-4000-8000-000000000001")
	s.must(c.Rename(s.ctx(), from, set).Err())
	s.zadd(key(queue, "aggregation_sets"), seconds(time.Now().Add(2*time.Minute)), set)
	s.must(c.SRem(s.ctx(), key(queue, "groups"), group).Err())
	return set
}

// Unregister removes a group from the queue's set of groups: no aggregator will
// see its tasks.
func (s *Server) Unregister(queue, group string) {
	s.t.Helper()
	s.must(s.Client().SRem(s.ctx(), key(queue, "groups"), group).Err())
}

func (s *Server) zadd(key string, score float64, member string) {
	s.t.Helper()
	s.must(s.Client().ZAdd(s.ctx(), key, redis.Z{Score: score, Member: member}).Err())
}

func (s *Server) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}
