package inspect

import (
	"context"
	"math"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// A list or set moves while it is read. The walk goes in the direction in which
// a move repeats an ID and does not skip one that stood still:
//
//   - Lists are read from the head, where asynq pushes (rdb.go: LPUSH,
//     RPOPLPUSH): what is pushed shifts the rest towards the part not yet read, and
//     workers take from the other end.
//   - Sorted sets are read from the high end by score, not by rank: the place of
//     an ID does not depend on its neighbours. Equal scores, which are common since
//     asynq writes whole seconds, are told apart by rank among themselves, with an
//     overlap.
//
// What a removal in the middle of a long list or of many equal scores makes the
// walk skip, the next pass finds.

// place is one list or sorted set that holds task IDs.
type place struct {
	queue string
	state State
	key   string
}

// list says whether the key is a list.
func (p place) list() bool {
	return p.state == StatePending || p.state == StateActive
}

// member is one ID of a place; lists have no scores.
type member struct {
	id    string
	score float64
}

const (
	// idStep is how many IDs one command reads: about a millisecond of Redis's time, most of it for the scores.
	idStep = 1000
	// activeStep is more, so that the active list, from whose middle workers
	// remove, is nearly always read by one command.
	activeStep = 4000
)

// walk reads the IDs of a place, a step at a time.
type walk struct {
	place place
	step  int
	done  bool

	offset int     // lists: the next index; sets: the next rank among ids of score top
	top    float64 // sets: the highest score not yet read whole
}

func newWalk(p place) *walk {
	step := idStep
	if p.state == StateActive {
		step = activeStep
	}
	return &walk{place: p, step: step, top: math.Inf(1)}
}

// next reads the following IDs; none once done.
func (w *walk) next(ctx context.Context, rdb redis.Cmdable) ([]member, error) {
	var members []member
	var err error
	if w.place.list() {
		members, err = w.nextOfList(ctx, rdb)
	} else {
		members, err = w.nextOfSet(ctx, rdb)
	}
	if failure(err) {
		return nil, err
	}
	w.done = len(members) < w.step
	return members, nil
}

func (w *walk) nextOfList(ctx context.Context, rdb redis.Cmdable) ([]member, error) {
	ids, err := rdb.LRange(ctx, w.place.key, int64(w.offset), int64(w.offset+w.step-1)).Result()
	if err != nil {
		return nil, err
	}
	members := make([]member, len(ids))
	for i, id := range ids {
		members[i].id = id
	}
	w.offset += len(ids)
	return members, nil
}

func (w *walk) nextOfSet(ctx context.Context, rdb redis.Cmdable) ([]member, error) {
	entries, err := rdb.ZRangeArgsWithScores(ctx, redis.ZRangeArgs{
		Key: w.place.key, ByScore: true, Rev: true,
		Start: strconv.FormatFloat(w.top, 'f', -1, 64), Stop: "-inf",
		Offset: int64(w.offset), Count: int64(w.step),
	}).Result()
	if err != nil {
		return nil, err
	}
	members := membersOf(entries)
	w.advance(members)
	return members, nil
}

func membersOf(entries []redis.Z) []member {
	members := make([]member, len(entries))
	for i, z := range entries {
		members[i].id, _ = z.Member.(string)
		members[i].score = z.Score
	}
	return members
}

// advance moves the cursor behind the members that were read.
func (w *walk) advance(members []member) {
	if len(members) == 0 {
		return
	}
	last := members[len(members)-1].score
	tied := 0
	for i := len(members) - 1; i >= 0 && members[i].score == last; i-- {
		tied++
	}
	if last == w.top {
		tied += w.offset
	}
	w.top, w.offset = last, max(0, tied-w.step/8)
}

// window is where in its list the last step was read, with room for what was
// pushed since, which shifts it on.
func (w *walk) window() window {
	return window{from: max(0, w.offset-2*w.step), to: w.offset + w.step}
}

// window is a part of a list, counted as LRANGE does; sets need none.
type window struct{ from, to int }

// still returns which of the IDs the place still holds.
func (p place) still(ctx context.Context, rdb redis.Cmdable, near window, ids []string) (map[string]bool, error) {
	held := make(map[string]bool)
	if p.list() {
		around, err := rdb.LRange(ctx, p.key, int64(near.from), int64(near.to)).Result()
		if failure(err) {
			return nil, err
		}
		for _, id := range around {
			held[id] = true
		}
		return held, nil
	}
	pipe := rdb.Pipeline()
	scores := make([]*redis.FloatCmd, len(ids))
	for i, id := range ids {
		scores[i] = pipe.ZScore(ctx, p.key, id)
	}
	if err := exec(ctx, pipe); err != nil {
		return nil, err
	}
	for i, id := range ids {
		held[id] = scores[i].Err() == nil
	}
	return held, nil
}
