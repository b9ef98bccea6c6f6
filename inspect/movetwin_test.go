package inspect_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// stored is an archived task as it lies in Redis.
type stored struct {
	inspect.Ref
	fields  []string // names and values, in the order of writing
	score   float64
	lock    string // "": none
	owner   string // of the lock; "": nobody
	grouped bool
}

// storedTasks draws archived tasks of every making: any options, counters and
// times, grouped or not, locked by themselves, by another or no more, with fields
// that no asynq of today knows.
func storedTasks() *rapid.Generator[[]stored] {
	seconds := rapid.SampledFrom([]int64{0, 1, 30, 1800, 1_700_000_000, 4_000_000_000})
	one := rapid.Custom(func(t *rapid.T) stored {
		m := inspecttest.Message{
			ID: rapid.StringMatching(`[a-z0-9:{}]{1,12}`).Draw(t, "id"), Queue: rapid.SampledFrom([]string{"default", "low", "a}:t:b"}).Draw(t, "queue"),
			Type: rapid.StringMatching(`[a-z:]{0,8}`).Draw(t, "type"), Payload: rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "payload"),
			LastErr:  rapid.StringMatching(`[a-zé ]{0,20}`).Draw(t, "error"),
			MaxRetry: rapid.IntRange(0, 30).Draw(t, "retry"), Retried: rapid.IntRange(0, 30).Draw(t, "retried"),
			Timeout: seconds.Draw(t, "timeout"), Deadline: seconds.Draw(t, "deadline"), LastFailedAt: seconds.Draw(t, "failed"),
			Retention: seconds.Draw(t, "retention"), CompletedAt: seconds.Draw(t, "completed"),
			Headers: rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), rapid.StringMatching(`[a-z]{0,3}`), 0, 3).Draw(t, "headers"),
		}
		m.Type += ":" + m.ID // so that no two tasks have a lock in common
		s := stored{Ref: inspect.Ref{Queue: m.Queue, ID: m.ID}, score: float64(rapid.IntRange(1, 2_000_000_000).Draw(t, "score"))}
		if rapid.Bool().Draw(t, "fraction") {
			s.score += 0.1
		}
		if rapid.Bool().Draw(t, "grouped") {
			m.Group, s.grouped = rapid.StringMatching(`[a-z:]{1,5}`).Draw(t, "group"), true
		}
		if rapid.Bool().Draw(t, "unique") {
			m.UniqueKey = inspect.UniqueKey(m.Queue, m.Type, m.Payload)
			s.lock, s.owner = m.UniqueKey, rapid.SampledFrom([]string{"", m.ID, "another"}).Draw(t, "owner")
		}
		s.write(t, m)
		return s
	})
	return rapid.SliceOfNDistinct(one, 1, 5, func(s stored) string { return s.ID })
}

// write makes the hash as asynq's scripts would.
func (s *stored) write(t *rapid.T, m inspecttest.Message) {
	msg := m.Encode()
	if rapid.Bool().Draw(t, "unknown field") {
		msg = protowire.AppendString(protowire.AppendTag(msg, 99, protowire.BytesType), "later")
	}
	s.fields = []string{"msg", string(msg), "state", "archived"}
	optional := func(name, value string) {
		if rapid.Bool().Draw(t, name) {
			s.fields = append(s.fields, name, value)
		}
	}
	optional("pending_since", "1700000000000000000")
	if s.lock != "" && !s.grouped {
		s.fields = append(s.fields, "unique_key", s.lock)
	}
	if s.grouped {
		s.fields = append(s.fields, "group", m.Group)
	}
	optional("result", "\x00done")
	optional("z-later", "x")
}

// put writes the tasks into a database.
func put(s *inspecttest.Server, tasks []stored) {
	ctx := context.Background()
	pipe := s.Client().Pipeline()
	for _, task := range tasks {
		prefix := "asynq:{" + task.Queue + "}:"
		pipe.SAdd(ctx, "asynq:queues", task.Queue)
		pipe.HSet(ctx, prefix+"t:"+task.ID, task.fields)
		pipe.Do(ctx, "zadd", prefix+"archived", task.score, task.ID)
		pipe.LPush(ctx, prefix+"pending", "waiting")
		if task.owner != "" {
			pipe.Set(ctx, task.lock, task.owner, time.Hour)
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		panic(err)
	}
}

// sameDatabases fails unless both hold the same keys with the same bytes. The
// queues' names are in a set, in which each server has an order of its own.
func sameDatabases(t rapid.TB, got, want *inspecttest.Server) {
	t.Helper()
	a, b := got.Snapshot(), want.Snapshot()
	ctx := context.Background()
	a["asynq:queues"] = fmt.Sprint(got.Client().Sort(ctx, "asynq:queues", &redis.Sort{Alpha: true}).Val())
	b["asynq:queues"] = fmt.Sprint(want.Client().Sort(ctx, "asynq:queues", &redis.Sort{Alpha: true}).Val())
	if maps.Equal(a, b) {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(b)) {
		if a[key] != b[key] {
			t.Errorf("%q is %q, want %q", key, a[key], b[key])
		}
	}
	t.Errorf("keys %q, want %q", slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
}

func rawOf(t rapid.TB, c *inspect.Client, tasks []stored) []inspect.Raw {
	t.Helper()
	var refs []inspect.Ref
	for _, task := range tasks {
		refs = append(refs, task.Ref)
	}
	all, err := c.Raw(context.Background(), refs)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// ordered has the server keep hashes in the order of writing, however long their
// fields are. By default it has an order of its own, which DUMP shows.
func ordered(t testing.TB) *inspecttest.Server {
	return inspecttest.StartServer(t, "--hash-max-listpack-value", "4000000")
}

// Everything that Redis holds afterwards is what the Inspector would have left,
// in DUMP's bytes.
func TestMovesLeaveWhatTheInspectorLeaves(t *testing.T) {
	ctx := context.Background()
	ours, theirs := ordered(t), ordered(t)
	c, inspector := open(t, ours), theirs.Inspector()
	rapid.Check(t, func(rt *rapid.T) {
		tasks := storedTasks().Draw(rt, "tasks")
		for _, s := range []*inspecttest.Server{ours, theirs} {
			s.Client().FlushDB(ctx)
			put(s, tasks)
		}
		for i, r := range rawOf(rt, c, tasks) {
			var err error
			var change inspect.Change
			if rapid.Bool().Draw(rt, "run") {
				o := inspect.Requeue{}
				if rapid.Bool().Draw(rt, "rewrite") {
					o.Message = r.Fields["msg"]
				}
				change, err = c.Requeue(ctx, r.Expect(), o)
				if err := inspector.RunTask(r.Queue, r.ID); err != nil {
					rt.Fatal(err)
				}
			} else {
				change, err = c.Resolve(ctx, r.Expect())
				if err := inspector.DeleteTask(r.Queue, r.ID); err != nil {
					rt.Fatal(err)
				}
				if tasks[i].grouped && tasks[i].owner == r.ID {
					theirs.Client().Del(ctx, tasks[i].lock) // which the Inspector forgets
				}
			}
			if err != nil || change != (inspect.Change{Done: true}) {
				rt.Fatalf("%+v, error %v", change, err)
			}
		}
		sameDatabases(rt, ours, theirs)
	})
}

// A task that was resolved and restored is what it was, in DUMP's bytes: hash,
// score, lock and when that runs out.
func TestRestorePutsBackWhatResolveDeleted(t *testing.T) {
	ctx := context.Background()
	s := ordered(t)
	c := open(t, s)
	rapid.Check(t, func(rt *rapid.T) {
		s.Client().FlushDB(ctx)
		tasks := storedTasks().Draw(rt, "tasks")
		put(s, tasks)
		before := s.Snapshot()
		ends := make([]time.Duration, len(tasks))
		for i, r := range rawOf(rt, c, tasks) {
			image := r.Restore(time.Now())
			if ends[i] = s.Client().PExpireTime(ctx, tasks[i].lock).Val(); image.Lock != "" {
				image.LockUntil = time.UnixMilli(ends[i].Milliseconds()) // not a millisecond off
			}
			if (image.Lock != "") != (tasks[i].lock != "" && tasks[i].owner == r.ID) {
				rt.Fatalf("image %+v of %+v", image, tasks[i])
			}
			for _, change := range []func() (inspect.Change, error){
				func() (inspect.Change, error) { return c.Resolve(ctx, r.Expect()) },
				func() (inspect.Change, error) { return c.Restore(ctx, image) },
			} {
				if got, err := change(); err != nil || got != (inspect.Change{Done: true}) {
					rt.Fatalf("%+v, error %v", got, err)
				}
			}
			if now := s.Client().PExpireTime(ctx, tasks[i].lock).Val(); now != ends[i] {
				rt.Errorf("the lock runs out at %v, want %v", now, ends[i])
			}
		}
		after := s.Snapshot()
		for key, value := range before {
			if after[key] != value {
				rt.Errorf("%q is %q, want %q", key, after[key], value)
			}
		}
		if len(after) != len(before) {
			rt.Errorf("%d keys, want %d", len(after), len(before))
		}
	})
}

// A real task, by asynq's worker, on a server as it comes: what it is restored to
// runs as it would have run.
func TestRestoredTaskIsTheOneThatFailed(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r, lock := archived(s)
	c := open(t, s)
	was := raw(t, c, r)
	info, err := s.Inspector().GetTaskInfo(r.Queue, r.ID)
	if err != nil {
		t.Fatal(err)
	}
	now, err := c.Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	done(t)(c.Resolve(ctx, was.Expect()))
	done(t)(c.Restore(ctx, was.Restore(now)))
	again := raw(t, c, r)
	if again.Fingerprint() != was.Fingerprint() || again.Place != was.Place || again.State != was.State || again.Lock.Owner != r.ID {
		t.Errorf("%+v, want %+v", again, was)
	}
	if d := was.Lock.TTL - again.Lock.TTL; again.Lock.Key != lock || d < 0 {
		t.Errorf("lock %+v, want %+v", again.Lock, was.Lock)
	}
	got, err := s.Inspector().GetTaskInfo(r.Queue, r.ID)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(info) {
		t.Errorf("asynq reads %+v, want %+v; error %v", got, info, err)
	}
	done(t)(c.Requeue(ctx, again.Expect(), inspect.Requeue{}))
	ran := make(chan string)
	s.Serve(map[string]int{r.Queue: 1}, 1, func(_ context.Context, task *asynq.Task) error {
		ran <- fmt.Sprint(task.Type(), string(task.Payload()), task.Headers())
		return nil
	})
	if got, want := <-ran, fmt.Sprint(info.Type, string(info.Payload), info.Headers); got != want {
		t.Errorf("what runs is %s, want %s", got, want)
	}
}
