package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// In the tests below a change and somebody else act on the same task at the same
// instant, again and again, each through a connection of its own. Whoever is
// first, the task must be in one place afterwards, with its lock.
const (
	raceTasks = 500 // in one queue, so that looking through its lists stays short
	// racesEnv is the number of rounds of each race; 2,000 if it is not set.
	racesEnv = "IDEMCTL_RACE_ROUNDS"
)

func raceQueues(t *testing.T) int {
	t.Helper()
	text := os.Getenv(racesEnv)
	if text == "" {
		return 4
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < raceTasks {
		t.Fatalf("%s=%q: want a number from %d on", racesEnv, text, raceTasks)
	}
	return n / raceTasks
}

// contest is one task, or whatever is changed, and what came of it.
type contest struct {
	ref    inspect.Ref
	expect inspect.Expect
	change inspect.Change
	rival  bool // the other one did what it wanted
}

// races has change and rival act on each of a queue's contests at the same
// instant. before makes the contests, after judges each of them.
type races struct {
	before func(queue string) []contest
	change func(*contest) (inspect.Change, error)
	rival  func(*contest) bool
	after  func(*contest)
}

// run also makes sure that both sides were first often enough for the test to
// mean something.
func (r races) run(t *testing.T) {
	t.Helper()
	start, end := make(chan *contest), make(chan struct{})
	go func() {
		for c := range start {
			pause()
			c.rival = r.rival(c)
			end <- struct{}{}
		}
	}()
	defer close(start)
	changed, rivals, n := 0, 0, 0
	for q := range raceQueues(t) {
		contests := r.before(fmt.Sprintf("q%d", q))
		for i := range contests {
			c := &contests[i]
			start <- c
			pause()
			var err error
			if c.change, err = r.change(c); err != nil {
				t.Errorf("change of %v: %v", c.ref, err)
			}
			<-end
			n++
			if c.change.Done {
				changed++
			}
			if c.rival {
				rivals++
			}
		}
		for i := range contests {
			if r.after(&contests[i]); t.Failed() {
				t.Fatalf("change %+v, rival %v", contests[i].change, contests[i].rival)
			}
		}
	}
	t.Logf("%d rounds: %d changes made, %d by the other", n, changed, rivals)
	if n == 0 || changed < n/20 || rivals < n/20 {
		t.Errorf("of %d rounds, %d changes were made and the other acted in %d: that is no race", n, changed, rivals)
	}
}

// pause lets either side come first.
func pause() {
	if n := rand.IntN(4); n > 0 {
		time.Sleep(time.Duration(n) * 20 * time.Microsecond)
	}
}

// raced is a server with tasks, and the clients that race.
type raced struct {
	t    *testing.T
	s    *inspecttest.Server
	ctx  context.Context
	c    *inspect.Client
	peer *inspect.Client // another operator's
}

func newRaced(t *testing.T) raced {
	t.Parallel()
	s := inspecttest.Start(t)
	return raced{t: t, s: s, ctx: context.Background(), c: open(t, s), peer: open(t, s)}
}

// fill makes the queue's tasks, has spoil break them by a pipeline, and reads
// what is left.
func (r raced) fill(queue string, state inspect.State, edit func(i int, m *inspecttest.Message), spoil func(redis.Pipeliner, inspect.Ref, string)) []contest {
	r.t.Helper()
	refs := r.s.Fill(queue, state, raceTasks, edit)
	r.pipe(func(pipe redis.Pipeliner) {
		for _, ref := range refs {
			spoil(pipe, ref, "asynq:{"+ref.Queue+"}:")
		}
	})
	all, err := r.c.Raw(r.ctx, refs)
	if err != nil {
		r.t.Fatal(err)
	}
	contests := make([]contest, len(refs))
	for i := range refs {
		contests[i] = contest{ref: refs[i], expect: all[i].Expect()}
	}
	return contests
}

func (r raced) pipe(f func(redis.Pipeliner)) {
	r.t.Helper()
	if _, err := r.s.Client().Pipelined(r.ctx, func(pipe redis.Pipeliner) error { f(pipe); return nil }); err != nil {
		r.t.Fatal(err)
	}
}

// at is where the task is: the lists and sets that hold it, each as often as it
// does, and "hash" with the state that the hash says.
func (r raced) at(ref inspect.Ref) (places []string) {
	r.t.Helper()
	prefix := "asynq:{" + ref.Queue + "}:"
	pipe := r.s.Client().Pipeline()
	state := pipe.HGet(r.ctx, prefix+"t:"+ref.ID, "state")
	exists := pipe.Exists(r.ctx, prefix+"t:"+ref.ID)
	var lists []*redis.IntSliceCmd
	var sets []*redis.FloatCmd
	listNames, setNames := []string{"pending", "active"}, []string{"lease", "scheduled", "retry", "archived", "completed", "g:g"}
	for _, name := range listNames {
		lists = append(lists, pipe.LPosCount(r.ctx, prefix+name, ref.ID, 0, redis.LPosArgs{}))
	}
	for _, name := range setNames {
		sets = append(sets, pipe.ZScore(r.ctx, prefix+name, ref.ID))
	}
	_, _ = pipe.Exec(r.ctx)
	if exists.Val() == 1 {
		places = append(places, "hash "+state.Val())
	}
	for i, l := range lists {
		for range l.Val() {
			places = append(places, listNames[i])
		}
	}
	for i, z := range sets {
		if z.Err() == nil {
			places = append(places, setNames[i])
		}
	}
	return places
}

// want fails unless the task is at one of the given sets of places.
func (r raced) want(c *contest, wanted ...[]string) {
	r.t.Helper()
	got := r.at(c.ref)
	if !slices.ContainsFunc(wanted, func(want []string) bool { return slices.Equal(got, want) }) {
		r.t.Errorf("task %v is at %q, want one of %q", c.ref, got, wanted)
	}
}

func at(places ...string) []string { return places }

// When two operators act at once, one of them does.
func TestRaceOfTwoOperatorsOverAGhost(t *testing.T) {
	r := newRaced(t)
	races{
		before: func(q string) []contest {
			return r.fill(q, inspect.StatePending, nil, func(p redis.Pipeliner, _ inspect.Ref, prefix string) { p.Del(r.ctx, prefix+"pending") })
		},
		change: func(c *contest) (inspect.Change, error) { return r.c.PutBack(r.ctx, c.expect, time.Now()) },
		rival: func(c *contest) bool {
			var got inspect.Change
			switch c.ref.ID[0] % 3 {
			case 0:
				got, _ = r.peer.PutBack(r.ctx, c.expect, time.Now())
			case 1:
				got, _ = r.peer.Archive(r.ctx, c.expect, time.Now())
			default:
				got, _ = r.peer.CloseTask(r.ctx, c.expect)
			}
			return got.Done
		},
		after: func(c *contest) {
			if c.change.Done == c.rival {
				t.Errorf("both or neither")
			}
			switch {
			case c.change.Done || c.ref.ID[0]%3 == 0:
				r.want(c, at("hash pending", "pending"))
			case c.ref.ID[0]%3 == 1:
				r.want(c, at("hash archived", "archived"))
			default:
				r.want(c, nil)
			}
		},
	}.run(t)
}

// The worker does what asynq's does: it takes the task as soon as it is back.
func TestRaceOfPutBackAndAWorker(t *testing.T) {
	r := newRaced(t)
	races{
		before: func(q string) []contest {
			return r.fill(q, inspect.StatePending, nil, func(p redis.Pipeliner, _ inspect.Ref, prefix string) { p.Del(r.ctx, prefix+"pending") })
		},
		change: func(c *contest) (inspect.Change, error) { return r.c.PutBack(r.ctx, c.expect, time.Now()) },
		rival:  func(c *contest) bool { return r.dequeue(c.ref.Queue) != "" }, // this task, or one that it missed before
		after: func(c *contest) {
			if !c.change.Done {
				t.Error("the ghost was not put back")
			}
			r.want(c, at("hash active", "active", "lease"), at("hash pending", "pending"))
			refusal, err := r.c.PutBack(r.ctx, c.expect, time.Now())
			if err != nil || refusal.Done {
				t.Errorf("put back twice: %+v, error %v", refusal, err)
			}
		},
	}.run(t)
}

// dequeueScript takes the task that is next in line to active, with a lease, as
// asynq's worker does (rdb.go: dequeueCmd).
var dequeueScript = redis.NewScript(`
local id = redis.call("RPOPLPUSH", KEYS[1], KEYS[2])
if not id then return false end
redis.call("HSET", ARGV[1] .. id, "state", "active")
redis.call("HDEL", ARGV[1] .. id, "pending_since")
redis.call("ZADD", KEYS[3], ARGV[2], id)
return id`)

func (r raced) dequeue(queue string) (id string) {
	prefix := "asynq:{" + queue + "}:"
	id, _ = dequeueScript.Run(r.ctx, r.s.Client(), []string{prefix + "pending", prefix + "active", prefix + "lease"},
		prefix+"t:", time.Now().Add(30*time.Second).Unix()).Text()
	return id
}

// finishScript ends an active task as asynq's worker does, and like it breaks
// off half-way if something is missing (rdb.go: doneCmd).
var finishScript = redis.NewScript(`
for i, command in ipairs({{"LREM", KEYS[1], 0, ARGV[1]}, {"ZREM", KEYS[2], ARGV[1]}, {"DEL", KEYS[3]}}) do
	if redis.call(unpack(command)) == 0 then return 0 end
end
return 1`)

func (r raced) finish(ref inspect.Ref) bool {
	prefix := "asynq:{" + ref.Queue + "}:"
	n, _ := finishScript.Run(r.ctx, r.s.Client(), []string{prefix + "active", prefix + "lease", prefix + "t:" + ref.ID}, ref.ID).Int()
	return n == 1
}

func unleased(r raced) func(string) []contest {
	return func(q string) []contest {
		return r.fill(q, inspect.StateActive, nil, func(p redis.Pipeliner, _ inspect.Ref, prefix string) { p.Del(r.ctx, prefix+"lease") })
	}
}

// A worker that finishes a task without a lease makes a ghost of it. It must
// not leave a lease or a list entry without a hash.
func TestRaceOfExpireLeaseAndTheWorker(t *testing.T) {
	r := newRaced(t)
	races{
		before: unleased(r),
		change: func(c *contest) (inspect.Change, error) {
			return r.c.ExpireLease(r.ctx, c.expect, time.Now().Add(-time.Minute))
		},
		rival: func(c *contest) bool { return r.finish(c.ref) },
		after: func(c *contest) {
			if c.change.Done != c.rival {
				t.Error("the lease was given and the worker failed, or the reverse")
			}
			if c.rival {
				r.want(c, nil)
			} else {
				r.want(c, at("hash active"))
			}
		},
	}.run(t)
}

func TestRaceOfCloseTaskAndExpireLease(t *testing.T) {
	r := newRaced(t)
	races{
		before: unleased(r),
		change: func(c *contest) (inspect.Change, error) { return r.c.CloseTask(r.ctx, c.expect) },
		rival: func(c *contest) bool {
			got, _ := r.peer.ExpireLease(r.ctx, c.expect, time.Now().Add(-time.Minute))
			return got.Done
		},
		after: func(c *contest) {
			switch {
			case c.change.Done == c.rival:
				t.Error("both or neither")
			case c.rival:
				r.want(c, at("hash active", "active", "lease"))
			default:
				r.want(c, nil)
			}
		},
	}.run(t)
}

// A ghost is archived; the other side runs it, by asynq's own call, as soon as
// it is in the archive.
func TestRaceOfArchiveAndTheInspector(t *testing.T) {
	r := newRaced(t)
	inspector := r.s.Inspector()
	races{
		before: func(q string) []contest {
			return r.fill(q, inspect.StateRetry, nil, func(p redis.Pipeliner, _ inspect.Ref, prefix string) { p.Del(r.ctx, prefix+"retry") })
		},
		change: func(c *contest) (inspect.Change, error) { return r.c.Archive(r.ctx, c.expect, time.Now()) },
		rival:  func(c *contest) bool { return inspector.RunTask(c.ref.Queue, c.ref.ID) == nil },
		after: func(c *contest) {
			switch {
			case !c.change.Done:
				t.Error("the ghost was not archived")
			case c.rival:
				r.want(c, at("hash pending", "pending"))
			default:
				r.want(c, at("hash archived", "archived"))
			}
		},
	}.run(t)
}

// The Inspector refuses a task whose hash says that it is active, and runs it
// once that is corrected.
func TestRaceOfSetStateAndTheInspector(t *testing.T) {
	r := newRaced(t)
	inspector := r.s.Inspector()
	races{
		before: func(q string) []contest {
			return r.fill(q, inspect.StateArchived, nil, func(p redis.Pipeliner, ref inspect.Ref, prefix string) {
				p.HSet(r.ctx, prefix+"t:"+ref.ID, "state", "active")
			})
		},
		change: func(c *contest) (inspect.Change, error) {
			return r.c.SetState(r.ctx, c.expect, inspect.StateArchived)
		},
		rival: func(c *contest) bool { return inspector.RunTask(c.ref.Queue, c.ref.ID) == nil },
		after: func(c *contest) {
			switch {
			case !c.change.Done:
				t.Error("the state was not corrected")
			case c.rival:
				r.want(c, at("hash pending", "pending"))
			default:
				r.want(c, at("hash archived", "archived"))
			}
		},
	}.run(t)
}

// A stale lease of a pending task is dropped while a worker takes the task: what
// is active then must have a lease.
func TestRaceOfDropLeaseAndAWorker(t *testing.T) {
	r := newRaced(t)
	stale := time.Unix(1_700_000_000, 0)
	races{
		before: func(q string) []contest {
			contests := r.fill(q, inspect.StatePending, nil, func(p redis.Pipeliner, ref inspect.Ref, prefix string) {
				p.ZAdd(r.ctx, prefix+"lease", redis.Z{Score: float64(stale.Unix()), Member: ref.ID})
			})
			return contests
		},
		change: func(c *contest) (inspect.Change, error) { return r.c.DropLease(r.ctx, c.ref, stale) },
		rival:  func(c *contest) bool { return r.dequeue(c.ref.Queue) == c.ref.ID },
		after: func(c *contest) {
			if !c.rival {
				t.Error("the worker took another task")
			}
			r.want(c, at("hash active", "active", "lease"))
		},
	}.run(t)
}

// A producer enqueues an ID that dangles.
func TestRaceOfDropDanglingAndAProducer(t *testing.T) {
	r := newRaced(t)
	client := asynq.NewClient(r.s.AsynqOpt())
	t.Cleanup(func() { _ = client.Close() })
	races{
		before: func(q string) []contest {
			return r.fill(q, inspect.StatePending, nil, func(p redis.Pipeliner, ref inspect.Ref, prefix string) { p.Del(r.ctx, prefix+"t:"+ref.ID) })
		},
		change: func(c *contest) (inspect.Change, error) {
			return r.c.DropDangling(r.ctx, c.ref, inspect.StatePending, "")
		},
		rival: func(c *contest) bool {
			_, err := client.Enqueue(asynq.NewTask("t", nil), asynq.Queue(c.ref.Queue), asynq.TaskID(c.ref.ID))
			return err == nil
		},
		after: func(c *contest) {
			switch {
			case !c.rival:
				t.Error("the producer was refused")
			case c.change.Done:
				r.want(c, at("hash pending", "pending"))
			default: // the dangling ID, and the task's own
				r.want(c, at("hash pending", "pending", "pending"))
			}
		},
	}.run(t)
}

// A late result blocks an ID that a producer wants.
func TestRaceOfDeleteResultAndAProducer(t *testing.T) {
	r := newRaced(t)
	client := asynq.NewClient(r.s.AsynqOpt())
	t.Cleanup(func() { _ = client.Close() })
	races{
		before: func(q string) []contest {
			return r.fill(q, inspect.StatePending, nil, func(p redis.Pipeliner, ref inspect.Ref, prefix string) {
				p.Del(r.ctx, prefix+"t:"+ref.ID, prefix+"pending")
				p.HSet(r.ctx, prefix+"t:"+ref.ID, "result", "late")
			})
		},
		change: func(c *contest) (inspect.Change, error) {
			return r.c.DeleteResult(r.ctx, c.ref, c.expect.Fingerprint)
		},
		rival: func(c *contest) bool {
			_, err := client.Enqueue(asynq.NewTask("t", nil), asynq.Queue(c.ref.Queue), asynq.TaskID(c.ref.ID))
			return err == nil
		},
		after: func(c *contest) {
			switch {
			case !c.change.Done:
				t.Error("the result was not deleted")
			case c.rival:
				r.want(c, at("hash pending", "pending"))
			default:
				r.want(c, nil)
			}
		},
	}.run(t)
}

// The only task of an unregistered group is run by hand: the group must be
// registered exactly if it still holds a task.
func TestRaceOfRegisterGroupAndTheInspector(t *testing.T) {
	r := newRaced(t)
	inspector := r.s.Inspector()
	group := func(c *contest) string { return "g" + c.ref.ID }
	races{
		before: func(q string) []contest {
			return r.fill(q, inspect.StateAggregating, func(_ int, m *inspecttest.Message) { m.Group = "g" + m.ID },
				func(p redis.Pipeliner, ref inspect.Ref, prefix string) { p.Del(r.ctx, prefix+"groups") })
		},
		change: func(c *contest) (inspect.Change, error) { return r.c.RegisterGroup(r.ctx, c.ref.Queue, group(c)) },
		rival: func(c *contest) bool {
			if c.ref.ID[0]%2 == 0 {
				got, _ := r.peer.RegisterGroup(r.ctx, c.ref.Queue, group(c))
				return got.Done
			}
			return inspector.RunTask(c.ref.Queue, c.ref.ID) == nil
		},
		after: func(c *contest) {
			prefix := "asynq:{" + c.ref.Queue + "}:"
			holds := r.s.Client().ZCard(r.ctx, prefix+"g:"+group(c)).Val() > 0
			registered := r.s.Client().SIsMember(r.ctx, prefix+"groups", group(c)).Val()
			if holds != registered || holds != (c.ref.ID[0]%2 == 0) {
				t.Errorf("the group holds a task: %v; it is registered: %v", holds, registered)
			}
		},
	}.run(t)
}

// A lock whose owner is gone is released while a producer tries to enqueue the
// same work: if it could, the lock must be its own.
func TestRaceOfReleaseLockAndAProducer(t *testing.T) {
	r := newRaced(t)
	client := asynq.NewClient(r.s.AsynqOpt())
	t.Cleanup(func() { _ = client.Close() })
	lock := func(c *contest) string { return inspect.UniqueKey(c.ref.Queue, "t", []byte(c.ref.ID)) }
	races{
		before: func(q string) []contest {
			contests := make([]contest, raceTasks)
			r.pipe(func(p redis.Pipeliner) {
				for i := range contests {
					contests[i].ref = inspect.Ref{Queue: q, ID: fmt.Sprint(i)}
					p.Set(r.ctx, lock(&contests[i]), contests[i].ref.ID, time.Hour)
				}
			})
			return contests
		},
		change: func(c *contest) (inspect.Change, error) { return r.c.ReleaseLock(r.ctx, lock(c), c.ref.ID, absent) },
		rival: func(c *contest) bool {
			// Half of the producers reuse the owner's ID.
			opts := []asynq.Option{asynq.Queue(c.ref.Queue), asynq.Unique(time.Hour)}
			if c.ref.ID[len(c.ref.ID)-1]%2 == 0 {
				opts = append(opts, asynq.TaskID(c.ref.ID))
			}
			info, err := client.Enqueue(asynq.NewTask("t", []byte(c.ref.ID)), opts...)
			if err != nil && !errors.Is(err, asynq.ErrDuplicateTask) {
				t.Error(err)
			}
			if err == nil {
				c.expect.ID = info.ID
			}
			return err == nil
		},
		after: func(c *contest) {
			owner := r.s.Client().Get(r.ctx, lock(c)).Val()
			switch {
			case !c.change.Done:
				t.Error("the lock was not released")
			case owner != c.expect.ID:
				t.Errorf("the lock belongs to %q, want %q", owner, c.expect.ID)
			}
		},
	}.run(t)
}

// The owner of a phantom lock changes, and the lock is taken by its own task,
// while it is released.
func TestRaceOfReleaseLockAndTheOwner(t *testing.T) {
	r := newRaced(t)
	lock := func(c *contest) string { return inspect.UniqueKey(c.ref.Queue, "t", []byte(c.ref.ID)) }
	inspector := r.s.Inspector()
	races{
		before: func(q string) []contest {
			contests := r.fill(q, inspect.StateArchived, nil, func(redis.Pipeliner, inspect.Ref, string) {})
			r.pipe(func(p redis.Pipeliner) {
				for i := range contests {
					p.Set(r.ctx, lock(&contests[i]), contests[i].ref.ID, time.Hour)
				}
			})
			return contests
		},
		change: func(c *contest) (inspect.Change, error) {
			return r.c.ReleaseLock(r.ctx, lock(c), c.ref.ID, inspect.Release{Why: inspect.OwnerElsewhere, Fingerprint: c.expect.Fingerprint})
		},
		rival: func(c *contest) bool {
			if c.ref.ID[0]%2 == 0 {
				return inspector.RunTask(c.ref.Queue, c.ref.ID) == nil
			}
			r.s.Client().Set(r.ctx, lock(c), "new owner", time.Hour)
			return true
		},
		after: func(c *contest) {
			owner := r.s.Client().Get(r.ctx, lock(c)).Val()
			if c.ref.ID[0]%2 == 0 {
				r.want(c, at("hash pending", "pending"))
				if (owner == "") != c.change.Done || owner != "" && owner != c.ref.ID {
					t.Errorf("the lock belongs to %q", owner)
				}
			} else if owner != "new owner" {
				t.Errorf("the new owner's lock belongs to %q", owner)
			}
		},
	}.run(t)
}
