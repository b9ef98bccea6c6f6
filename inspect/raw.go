package inspect

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// Raw is all that Redis holds of one task, as bytes: what is needed to put it
// back, and to change it only if it is still the same.
type Raw struct {
	Ref
	// Fields is the whole hash; nil: there is none, or the key is no hash.
	Fields map[string][]byte
	// State is what the hash says; StateUnknown when it says nothing, or nothing
	// known.
	State State
	// Place is the sorted set that the state names: scheduled, retry, archived,
	// completed, the lease of an active task, the group of an aggregating one or
	// the set in which it is being aggregated. It is zero for a pending task,
	// and for one that its set does not hold.
	Place Place
	// Lock is the lock that the task was enqueued with (see Task.UniqueKey), and
	// whoever holds it now. It is zero when the task has none.
	Lock Lock
}

// Place is where a sorted set holds a task.
type Place struct {
	Key   string  // of the sorted set
	Score float64 // seconds since 1970, as asynq writes it
}

// fingerprintFields are what a fingerprint is made of, in its order. The
// scripts know the same list (lua/common.lua).
var fingerprintFields = [...]string{"msg", "state", "unique_key", "group", "pending_since", "result"}

// Fingerprint is a digest of the hash: SHA-1 in hex over the fields that asynq
// writes, each with its length in front of it. Two hashes that differ in one of them
// have different fingerprints. It is "" when there is no hash, which no change
// accepts.
func (r Raw) Fingerprint() string {
	if r.Fields == nil {
		return ""
	}
	sum := sha1.New() // what Redis offers to scripts: it tells a change, not a forgery
	for _, name := range fingerprintFields {
		value, ok := r.Fields[name]
		if !ok {
			sum.Write([]byte{'-'})
			continue
		}
		sum.Write(strconv.AppendInt(nil, int64(len(value)), 10))
		sum.Write([]byte{':'})
		sum.Write(value)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Expect is what a change is to find: the task as it was read.
func (r Raw) Expect() Expect {
	e := Expect{Ref: r.Ref, State: r.State, Fingerprint: r.Fingerprint()}
	if isLockOf(r.Lock.Key, r.Queue) {
		e.Lock = r.Lock.Key
	}
	if r.State == StateArchived {
		e.Score = r.Place.Score
	}
	return e
}

// Raw reads the tasks whole; result i belongs to refs[i]. A hash is read in one
// command and so is of one instant. Its score and lock follow, and if the state
// changed meanwhile the task is read again, a few times.
func (c *Client) Raw(ctx context.Context, refs []Ref) ([]Raw, error) {
	raws := make([]Raw, len(refs))
	size := newSizer(chunk)
	for from := 0; from < len(refs); {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		to := min(from+size.next(), len(refs))
		if err := c.readRaw(ctx, raws[from:to], refs[from:to]); err != nil {
			return nil, c.fault(ctx, "reading tasks whole", err)
		}
		size.noteRaw(raws[from:to])
		from = to
	}
	return raws, nil
}

// noteRaw is note for hashes that were read by plain commands.
func (s *sizer) noteRaw(raws []Raw) {
	total := 0
	for _, r := range raws {
		for _, value := range r.Fields {
			total += len(value)
		}
	}
	s.perTask = total / len(raws)
	s.note(nil, 0)
}

// readRaw fills raws, and again those of them that were moving.
func (c *Client) readRaw(ctx context.Context, raws []Raw, refs []Ref) error {
	todo := make([]int, len(refs))
	for i := range refs {
		todo[i] = i
	}
	for range rereads {
		if err := c.readFields(ctx, raws, refs, todo); err != nil {
			return err
		}
		moved, err := c.readPlaces(ctx, raws, todo)
		if err != nil {
			return err
		}
		if len(moved) == 0 {
			break
		}
		todo = moved
	}
	return c.readOwnLocks(ctx, raws)
}

func (c *Client) readFields(ctx context.Context, raws []Raw, refs []Ref, todo []int) error {
	pipe := c.redis.Pipeline()
	hashes := make([]*redis.MapStringStringCmd, len(todo))
	for i, at := range todo {
		hashes[i] = pipe.HGetAll(ctx, keysOf(refs[at].Queue).task(refs[at].ID))
	}
	if err := exec(ctx, pipe); err != nil {
		return err
	}
	for i, at := range todo {
		raws[at] = c.rawOf(refs[at], hashes[i].Val())
	}
	return nil
}

func (c *Client) rawOf(ref Ref, hash map[string]string) Raw {
	r := Raw{Ref: ref}
	if len(hash) == 0 {
		return r
	}
	r.Fields = make(map[string][]byte, len(hash))
	for name, value := range hash {
		r.Fields[name] = []byte(value)
	}
	r.State = stateOf(hash["state"])
	r.Lock.Key = c.task(r).UniqueKey
	return r
}

// task is what the hash says of the task, without its times outside the hash.
func (c *Client) task(r Raw) Task {
	t := Task{Ref: r.Ref, State: r.State}
	if msg := r.Fields["msg"]; len(msg) > 0 {
		c.names.fill(&t, msg)
	}
	if key := r.Fields["unique_key"]; len(key) > 0 {
		t.UniqueKey = string(key)
	}
	if group := r.Fields["group"]; len(group) > 0 {
		t.Group = string(group)
	}
	t.State = r.State
	return t
}

// readPlaces adds the scores, and returns the tasks whose state is no longer the
// one that the score was read for.
func (c *Client) readPlaces(ctx context.Context, raws []Raw, todo []int) (moved []int, err error) {
	pipe := c.redis.Pipeline()
	places := make([]string, len(todo))
	scores := make([]*redis.FloatCmd, len(todo))
	states := make([]*redis.StringCmd, len(todo))
	for i, at := range todo {
		t := c.task(raws[at])
		if places[i] = t.scoreKey(); places[i] != "" {
			scores[i] = pipe.ZScore(ctx, places[i], t.ID)
			states[i] = pipe.HGet(ctx, keysOf(t.Queue).task(t.ID), "state")
		}
	}
	if err := exec(ctx, pipe); err != nil {
		return nil, err
	}
	for i, at := range todo {
		if scores[i] == nil {
			continue
		}
		r := &raws[at]
		switch {
		case stateOf(states[i].Val()) != r.State:
			moved = append(moved, at)
		case scores[i].Err() == nil:
			r.Place = Place{Key: places[i], Score: scores[i].Val()}
		case r.State == StateAggregating:
			if r.Place, err = c.aggregationPlace(ctx, r.Ref); err != nil {
				return nil, err
			}
		}
	}
	return moved, nil
}

// aggregationPlace looks for the task in the sets that are being aggregated.
func (c *Client) aggregationPlace(ctx context.Context, r Ref) (Place, error) {
	sets, err := c.aggregationSets(ctx, r.Queue)
	if err != nil {
		return Place{}, err
	}
	for _, set := range sets {
		score, err := c.redis.ZScore(ctx, set, r.ID).Result()
		if failure(err) {
			return Place{}, err
		}
		if err == nil {
			return Place{Key: set, Score: score}, nil
		}
	}
	return Place{}, nil
}

func (c *Client) readOwnLocks(ctx context.Context, raws []Raw) error {
	names := make([]string, len(raws))
	for i, r := range raws {
		names[i] = r.Lock.Key
	}
	locks, err := c.readLocks(ctx, names)
	for i := range locks {
		raws[i].Lock = locks[i]
	}
	return err
}
