package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// fillArchived makes archived tasks, each with work of its own. Unique ones have
// a lock that has run out.
func (r raced) fillArchived(queue string, unique bool) []contest {
	r.t.Helper()
	var keys []string
	contests := r.fill(queue, inspect.StateArchived, func(i int, m *inspecttest.Message) {
		m.Type, m.Payload = "t", fmt.Append(nil, i)
		if unique {
			m.UniqueKey = workLock(queue, i)
			keys = append(keys, m.UniqueKey)
		}
	}, func(redis.Pipeliner, inspect.Ref, string) {})
	if unique {
		r.pipe(func(p redis.Pipeliner) { p.Del(r.ctx, keys...) })
	}
	return contests
}

func workLock(queue string, i int) string {
	return inspect.UniqueKey(queue, "t", fmt.Append(nil, i))
}

// kind tells the contests of one race apart.
func (c *contest) kind(of int) int { return int(c.ref.ID[1]) % of }

// When two operators act at once, one of them does.
func TestRaceOfTwoOperatorsOverAnArchivedTask(t *testing.T) {
	r := newRaced(t)
	races{
		before: func(q string) []contest { return r.fillArchived(q, false) },
		change: func(c *contest) (inspect.Change, error) {
			if c.kind(4) < 2 {
				return r.c.Requeue(r.ctx, c.expect, inspect.Requeue{})
			}
			return r.c.Resolve(r.ctx, c.expect)
		},
		rival: func(c *contest) bool {
			var got inspect.Change
			if c.kind(2) == 0 {
				got, _ = r.peer.Requeue(r.ctx, c.expect, inspect.Requeue{})
			} else {
				got, _ = r.peer.Resolve(r.ctx, c.expect)
			}
			return got.Done
		},
		after: func(c *contest) {
			if c.change.Done == c.rival {
				t.Error("both or neither")
			}
			if c.change.Done && c.kind(4) < 2 || c.rival && c.kind(2) == 0 {
				r.want(c, at("hash pending", "pending"))
			} else {
				r.want(c, nil)
			}
		},
	}.run(t)
}

func TestRaceOfMovesAndTheInspector(t *testing.T) {
	r := newRaced(t)
	inspector := r.s.Inspector()
	races{
		before: func(q string) []contest { return r.fillArchived(q, false) },
		change: func(c *contest) (inspect.Change, error) {
			if c.kind(4) < 2 {
				return r.c.Requeue(r.ctx, c.expect, inspect.Requeue{})
			}
			return r.c.Resolve(r.ctx, c.expect)
		},
		rival: func(c *contest) bool {
			if c.kind(2) == 0 {
				return inspector.RunTask(c.ref.Queue, c.ref.ID) == nil
			}
			return inspector.DeleteTask(c.ref.Queue, c.ref.ID) == nil
		},
		after: func(c *contest) {
			requeued, run := c.change.Done && c.kind(4) < 2, c.rival && c.kind(2) == 0
			switch {
			case c.change.Done && c.rival: // DeleteTask takes pending tasks, too
				if c.kind(4) != 1 {
					t.Error("both")
				}
				r.want(c, nil)
			case requeued || run:
				r.want(c, at("hash pending", "pending"))
			case c.change.Done || c.rival:
				r.want(c, nil)
			default:
				t.Error("neither")
			}
		},
	}.run(t)
}

// A producer enqueues the same work while a task takes its lock again, or looks
// whether it is free.
func TestRaceOfRequeueAndAUniqueTwin(t *testing.T) {
	r := newRaced(t)
	client := asynq.NewClient(r.s.AsynqOpt())
	t.Cleanup(func() { _ = client.Close() })
	var numbers sync.Map // of the works, by task
	number := func(c *contest) int {
		v, _ := numbers.Load(c.ref)
		return v.(int)
	}
	relocks := func(c *contest) bool { return c.kind(2) == 0 }
	races{
		before: func(q string) []contest {
			contests := r.fillArchived(q, true)
			for i := range contests {
				numbers.Store(contests[i].ref, i)
			}
			return contests
		},
		change: func(c *contest) (inspect.Change, error) {
			o := inspect.Requeue{HoldIfLocked: []string{c.expect.Lock}}
			if relocks(c) {
				o = inspect.Requeue{Relock: time.Hour}
			}
			return r.c.Requeue(r.ctx, c.expect, o)
		},
		rival: func(c *contest) bool {
			_, err := client.Enqueue(asynq.NewTask("t", fmt.Append(nil, number(c))), asynq.Queue(c.ref.Queue), asynq.Unique(time.Hour), asynq.TaskID("twin-"+c.ref.ID))
			if err != nil && !errors.Is(err, asynq.ErrDuplicateTask) {
				t.Error(err)
			}
			return err == nil
		},
		after: func(c *contest) {
			owner, twin := r.s.Client().Get(r.ctx, workLock(c.ref.Queue, number(c))).Val(), "twin-"+c.ref.ID
			switch {
			case !c.change.Done && !c.rival:
				t.Error("neither")
			case c.change.Done && c.rival && relocks(c):
				t.Error("both")
			case c.rival && owner != twin, !c.rival && owner != c.ref.ID:
				t.Errorf("the lock belongs to %q", owner)
			case c.change.Done:
				r.want(c, at("hash pending", "pending"))
			default:
				r.want(c, at("hash archived", "archived"))
			}
		},
	}.run(t)
}

// The ID of a task that is being restored is taken by a producer, or by another
// operator who restores it, too.
func TestRaceOfRestoreAndAProducer(t *testing.T) {
	r := newRaced(t)
	client := asynq.NewClient(r.s.AsynqOpt())
	t.Cleanup(func() { _ = client.Close() })
	var images sync.Map
	image := func(c *contest) inspect.Restore {
		v, _ := images.Load(c.ref)
		return v.(inspect.Restore)
	}
	races{
		before: func(q string) []contest {
			contests := r.fillArchived(q, true)
			for i := range contests {
				c := &contests[i]
				was := raw(t, r.c, c.ref).Restore(time.Now())
				was.Lock, was.LockUntil = c.expect.Lock, time.Now().Add(time.Hour)
				images.Store(c.ref, was)
				done(t)(r.c.Resolve(r.ctx, c.expect))
			}
			return contests
		},
		change: func(c *contest) (inspect.Change, error) { return r.c.Restore(r.ctx, image(c)) },
		rival: func(c *contest) bool {
			if c.kind(2) == 0 {
				got, _ := r.peer.Restore(r.ctx, image(c))
				return got.Done
			}
			_, err := client.Enqueue(asynq.NewTask("t", nil), asynq.Queue(c.ref.Queue), asynq.TaskID(c.ref.ID))
			return err == nil
		},
		after: func(c *contest) {
			owner := r.s.Client().Get(r.ctx, c.expect.Lock).Val()
			switch {
			case c.change.Done == c.rival:
				t.Error("both or neither")
			case c.rival && c.kind(2) == 1:
				r.want(c, at("hash pending", "pending"))
				if owner != "" {
					t.Errorf("the lock belongs to %q", owner)
				}
			default:
				r.want(c, at("hash archived", "archived"))
				if owner != c.ref.ID {
					t.Errorf("the lock belongs to %q", owner)
				}
			}
		},
	}.run(t)
}

// Two operators requeue the same archive while asynq's workers take what is
// pending: each task is requeued once, runs once, and is then nowhere.
func TestRaceOfRequeueAndAFleet(t *testing.T) {
	r := newRaced(t)
	n := raceQueues(t) * raceTasks
	refs := r.s.Fill("default", inspect.StateArchived, n, nil)
	all, err := r.c.Raw(r.ctx, refs)
	if err != nil {
		t.Fatal(err)
	}
	var left sync.WaitGroup
	left.Add(n)
	var mu sync.Mutex
	runs := make(map[string]int)
	stop := r.s.Serve(map[string]int{"default": 1}, 8, func(_ context.Context, task *asynq.Task) error {
		mu.Lock()
		defer mu.Unlock()
		id := task.ResultWriter().TaskID()
		if runs[id]++; runs[id] == 1 {
			left.Done()
		}
		return nil
	})
	requeued := make([][2]bool, n)
	var operators sync.WaitGroup
	for o, c := range []*inspect.Client{r.c, r.peer} {
		operators.Go(func() {
			for i := range all {
				got, err := c.Requeue(r.ctx, all[i].Expect(), inspect.Requeue{})
				if err != nil {
					t.Error(err)
				}
				requeued[i][o] = got.Done
			}
		})
	}
	operators.Wait()
	for i, by := range requeued {
		if by[0] == by[1] {
			t.Fatalf("task %d was requeued by both operators or neither: %v", i, by)
		}
	}
	left.Wait()
	stop()
	for _, ref := range refs {
		if runs[ref.ID] != 1 {
			t.Errorf("a task ran %d times", runs[ref.ID])
		}
	}
	if keys := r.s.Client().Keys(r.ctx, "asynq:{default}:t:*").Val(); len(keys) != 0 || r.s.Client().Exists(r.ctx,
		"asynq:{default}:pending", "asynq:{default}:archived", "asynq:{default}:active", "asynq:{default}:retry").Val() != 0 {
		t.Errorf("%d tasks are left", len(keys))
	}
}
