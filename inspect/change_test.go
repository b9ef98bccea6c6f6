package inspect_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// done fails the test unless the change was made.
func done(t testing.TB) func(inspect.Change, error) {
	t.Helper()
	return func(got inspect.Change, err error) {
		t.Helper()
		if err != nil || !got.Done || got.Found != "" {
			t.Errorf("change %+v, error %v", got, err)
		}
	}
}

// refuses fails the test unless the change is refused for a reason that holds
// the text, and leaves everything as it is.
func refuses(t testing.TB, s *inspecttest.Server, found string, change func() (inspect.Change, error)) {
	t.Helper()
	before := s.Snapshot()
	got, err := change()
	if err != nil || got.Done || !strings.Contains(got.Found, found) || got.Found == "" {
		t.Errorf("change %+v, error %v, want %q", got, err, found)
	}
	wantSnapshot(t, s, before)
}

func wantSnapshot(t testing.TB, s *inspecttest.Server, want map[string]string) {
	t.Helper()
	got := s.Snapshot()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%q is not what it was (there: %v)", name, got[name] != "")
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%q is new", name)
		}
	}
}

func wantHolders(t testing.TB, s *inspecttest.Server, r inspect.Ref, want ...string) {
	t.Helper()
	if got := s.Holders(r); !slices.Equal(got, want) {
		t.Errorf("task %.40q is held by %q, want %q", r.ID, got, want)
	}
}

// twin is a way in which the world may have changed since a task was read.
type twin struct {
	name  string
	make  func(s *inspecttest.Server, r inspect.Ref)
	found string // what the refusal says
}

func twinOf(name, found string, args ...any) twin {
	return twin{name: name, found: found, make: func(s *inspecttest.Server, r inspect.Ref) {
		fill := strings.NewReplacer("KEY", "asynq:{"+r.Queue+"}:t:"+r.ID, "Q", "asynq:{"+r.Queue+"}", "ID", r.ID)
		filled := make([]any, len(args))
		for i, arg := range args {
			filled[i] = arg
			if text, ok := arg.(string); ok {
				filled[i] = fill.Replace(text)
			}
		}
		if err := s.Client().Do(context.Background(), filled...).Err(); err != nil {
			panic(err)
		}
	}}
}

// leasedTwin has a worker hold a lease from the moment in which it is made.
func leasedTwin(found string) twin {
	return twin{name: "leased", found: found, make: func(s *inspecttest.Server, r inspect.Ref) {
		twinOf("", "", "zadd", "Q:lease", time.Now().Unix(), "ID").make(s, r)
	}}
}

// hashTwins are those in which the task's hash is another.
func hashTwins() []twin {
	return []twin{
		twinOf("gone", "gone", "del", "KEY"),
		twinOf("in another state", `in state "running" now`, "hset", "KEY", "state", "running"),
		twinOf("without a state", `in state "" now`, "hdel", "KEY", "state"),
		twinOf("another message", "fields have changed", "hset", "KEY", "msg", "other"),
		twinOf("without a message", "fields have changed", "hdel", "KEY", "msg"),
		twinOf("a result", "fields have changed", "hset", "KEY", "result", ""),
		twinOf("another lock", "fields have changed", "hset", "KEY", "unique_key", "x"),
		twinOf("pending since", "fields have changed", "hset", "KEY", "pending_since", "1"),
		twinOf("another type", "another type", "set", "KEY", "x"),
	}
}

// placeTwins are those in which a list or set holds the task.
func placeTwins() []twin {
	return []twin{
		twinOf("scheduled", "the scheduled set", "zadd", "Q:scheduled", 1, "ID"),
		twinOf("retry", "the retry set", "zadd", "Q:retry", 1, "ID"),
		twinOf("archived", "the archived set", "zadd", "Q:archived", 1, "ID"),
		twinOf("completed", "the completed set", "zadd", "Q:completed", 1, "ID"),
		twinOf("pending", "the pending list", "lpush", "Q:pending", "ID", "another"),
		twinOf("active", "the active list", "lpush", "Q:active", "ID", "another"),
		{name: "being aggregated", found: "being aggregated", make: func(s *inspecttest.Server, r inspect.Ref) {
			set := "asynq:{" + r.Queue + "}:g:some:0191e0b4"
			s.Client().ZAdd(context.Background(), set, redis.Z{Score: 1, Member: r.ID})
			s.Client().ZAdd(context.Background(), "asynq:{"+r.Queue+"}:aggregation_sets", redis.Z{Score: 1, Member: set}, redis.Z{Score: 2, Member: "asynq:queues"})
		}},
		leasedTwin("lease"),
		twinOf("pending of another type", "another type", "set", "Q:pending", "x"),
		twinOf("archive of another type", "another type", "set", "Q:archived", "x"),
	}
}

// ghosts makes a ghost in each state, by asynq and a lost index entry.
func ghosts(s *inspecttest.Server) map[inspect.State]inspect.Ref {
	ctx := context.Background()
	refs := s.Make(
		inspecttest.Spec{Outcome: inspecttest.Retry}, inspecttest.Spec{Outcome: inspecttest.Archived},
		inspecttest.Spec{Outcome: inspecttest.Completed, Result: []byte("r")},
		inspecttest.Spec{Outcome: inspecttest.Scheduled}, inspecttest.Spec{Outcome: inspecttest.Aggregating},
		inspecttest.Spec{Outcome: inspecttest.Pending}, inspecttest.Spec{Outcome: inspecttest.Pending},
	)
	s.Orphan(refs[6], time.Now().Add(-time.Hour))
	byState := make(map[inspect.State]inspect.Ref)
	for _, r := range refs {
		name := s.Client().HGet(ctx, "asynq:{default}:t:"+r.ID, "state").Val()
		state, err := inspect.ParseState(name)
		if err != nil {
			panic(err)
		}
		byState[state] = r
	}
	return byState
}

// vanish makes a ghost of a task.
func vanish(s *inspecttest.Server, r inspect.Ref) {
	s.Ghost(r)
	s.Ungroup(r, "g")
}

// A ghost that is put back is where asynq had put it, byte for byte.
func TestPutBackRestoresWhatAsynqWrote(t *testing.T) {
	s := inspecttest.Start(t)
	before := ghosts(s)
	// A member that is no aggregation set is not looked into.
	s.Client().ZAdd(context.Background(), "asynq:{default}:aggregation_sets", redis.Z{Score: 1, Member: "asynq:queues"})
	if len(before) != 7 {
		t.Fatalf("states %v", before)
	}
	c := open(t, s)
	for state, r := range before {
		t.Run(state.String(), func(t *testing.T) {
			whole := s.Snapshot()
			was := raw(t, c, r)
			vanish(s, r)
			if state == inspect.StateAggregating {
				s.Unregister("default", "g")
			}
			if maps.Equal(whole, s.Snapshot()) {
				t.Fatal("the ghost is none")
			}
			ghost := raw(t, c, r)
			if ghost.Place != (inspect.Place{}) {
				t.Errorf("the ghost is in %+v", ghost.Place)
			}
			at := time.Unix(int64(was.Place.Score), 0)
			done(t)(c.PutBack(context.Background(), ghost.Expect(), at))
			wantSnapshot(t, s, whole)
			refuses(t, s, "holds the task", func() (inspect.Change, error) { return c.PutBack(context.Background(), ghost.Expect(), at) })
		})
	}
}

// The recoverer's own script has to find the task.
func TestPutBackOfAnActiveTaskIsRecovered(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r := s.Make(inspecttest.Spec{})[0]
	s.Orphan(r, time.Now())
	s.Ghost(r)
	c := open(t, s)
	now, err := c.Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	done(t)(c.PutBack(ctx, raw(t, c, r).Expect(), now.Add(-31*time.Second)))
	wantHolders(t, s, r, "active", "lease")
	recovered(t, s, r)
}

// recovered starts a server, whose recoverer looks at once, and waits until it
// has put the task into retry.
func recovered(t *testing.T, s *inspecttest.Server, r inspect.Ref) {
	t.Helper()
	s.Serve(map[string]int{r.Queue: 1}, 1, nil)
	inspector := s.Inspector()
	var info *asynq.TaskInfo
	eventually(t, "the recoverer to take the task", func() bool {
		var err error
		if info, err = inspector.GetTaskInfo(r.Queue, r.ID); err != nil {
			t.Fatal(err)
		}
		return info.State == asynq.TaskStateRetry
	})
	if info.LastErr != "asynq: task lease expired" {
		t.Errorf("last error %q", info.LastErr)
	}
	wantHolders(t, s, r, "retry")
}

// An active list that was lost, as by eviction, leaves leases behind: one that
// has run out is kept, one that has not may have a worker behind it.
func TestPutBackOfAnActiveTaskGoesByItsLease(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r := s.Make(inspecttest.Spec{})[0]
	s.Orphan(r, time.Now())
	s.Client().Del(ctx, "asynq:{default}:active")
	c := open(t, s)
	e := raw(t, c, r).Expect()
	for _, ends := range []time.Duration{time.Minute, 0, -10 * time.Second} {
		s.Client().ZAdd(ctx, "asynq:{default}:lease", redis.Z{Score: float64(time.Now().Add(ends).Unix()), Member: r.ID})
		refuses(t, s, "a worker may be running", func() (inspect.Change, error) { return c.PutBack(ctx, e, time.Now().Add(-time.Hour)) })
		refuses(t, s, "a worker may be running", func() (inspect.Change, error) { return c.Archive(ctx, e, time.Now()) })
	}
	s.Client().ZAdd(ctx, "asynq:{default}:lease", redis.Z{Score: 1_700_000_000, Member: r.ID})
	done(t)(c.PutBack(ctx, e, time.Now().Add(-time.Hour)))
	wantHolders(t, s, r, "active", "lease")
	if got := s.Client().ZScore(ctx, "asynq:{default}:lease", r.ID).Val(); got != 1_700_000_000 {
		t.Errorf("lease ends at %v", got)
	}
}

// A lease that was left would have the recoverer fail on the task every minute.
func TestArchiveTakesTheExpiredLeaseAway(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r := s.Make(inspecttest.Spec{})[0]
	s.Orphan(r, time.Now().Add(-time.Hour))
	s.Client().Del(ctx, "asynq:{default}:active")
	c := open(t, s)
	done(t)(c.Archive(ctx, raw(t, c, r).Expect(), time.Now()))
	wantHolders(t, s, r, "archived")
}

// ghostChanges are the changes that take a ghost.
func ghostChanges(c *inspect.Client) map[string]func(inspect.Expect) (inspect.Change, error) {
	ctx := context.Background()
	now := time.Now()
	return map[string]func(inspect.Expect) (inspect.Change, error){
		"PutBack":   func(e inspect.Expect) (inspect.Change, error) { return c.PutBack(ctx, e, now.Add(-time.Hour)) },
		"Archive":   func(e inspect.Expect) (inspect.Change, error) { return c.Archive(ctx, e, now) },
		"CloseTask": func(e inspect.Expect) (inspect.Change, error) { return c.CloseTask(ctx, e) },
	}
}

func TestGhostChangesRefuseATaskThatIsNone(t *testing.T) {
	for _, outcome := range []inspecttest.Outcome{inspecttest.Pending, inspecttest.Archived, inspecttest.Aggregating} {
		for _, w := range append(hashTwins(), placeTwins()...) {
			s := inspecttest.Start(t)
			r := s.Make(inspecttest.Spec{Outcome: outcome})[0]
			vanish(s, r)
			c := open(t, s)
			e := raw(t, c, r).Expect()
			w.make(s, r)
			for name, change := range ghostChanges(c) {
				t.Run(e.State.String()+"/"+w.name+"/"+name, func(t *testing.T) {
					refuses(t, s, w.found, func() (inspect.Change, error) { return change(e) })
				})
			}
		}
	}
}

func TestGhostChangesRefuseATaskOfAGroup(t *testing.T) {
	s := inspecttest.Start(t)
	r := s.Make(inspecttest.Spec{Outcome: inspecttest.Aggregating})[0]
	c := open(t, s)
	e := raw(t, c, r).Expect()
	for _, change := range ghostChanges(c) {
		refuses(t, s, `its group "g" holds`, func() (inspect.Change, error) { return change(e) })
	}
	s.Stage("default", "g")
	for _, change := range ghostChanges(c) {
		refuses(t, s, "being aggregated, holds", func() (inspect.Change, error) { return change(e) })
	}
}

func TestChangesRefuseATaskThatWasNotRead(t *testing.T) {
	s := inspecttest.Start(t)
	r := s.Make(inspecttest.Spec{})[0]
	s.Ghost(r)
	c := open(t, s)
	for _, change := range ghostChanges(c) {
		refuses(t, s, "gone when it was read", func() (inspect.Change, error) { return change(inspect.Expect{Ref: r, State: inspect.StatePending}) })
		refuses(t, s, "no known state", func() (inspect.Change, error) { return change(inspect.Expect{Ref: r, Fingerprint: "x"}) })
		refuses(t, s, "fields have changed", func() (inspect.Change, error) {
			return change(inspect.Expect{Ref: r, State: inspect.StatePending, Fingerprint: "x"})
		})
	}
	before := s.Snapshot()
	e := raw(t, c, r).Expect()
	e.State = inspect.StateRetry
	if _, err := c.PutBack(context.Background(), e, time.Time{}); err == nil {
		t.Error("a score is made up")
	}
	if _, err := c.Archive(context.Background(), e, time.Time{}); err == nil {
		t.Error("a score is made up")
	}
	if _, err := c.SetState(context.Background(), e, inspect.StatePending); err == nil {
		t.Error("pending is taken for a sorted set")
	}
	if _, err := c.ExpireLease(context.Background(), e, time.Now()); err == nil {
		t.Error("a task in retry is given a lease")
	}
	if _, err := c.DropDangling(context.Background(), r, inspect.StateAggregating, ""); err == nil {
		t.Error("no group is taken for one")
	}
	wantSnapshot(t, s, before)
}

// What the Inspector leaves of an archived task is what Archive leaves.
func TestArchiveLeavesWhatTheInspectorLeaves(t *testing.T) {
	ctx := context.Background()
	var hashes []map[string]string
	for _, ghost := range []bool{false, true} {
		s := inspecttest.Start(t)
		r := s.Make(inspecttest.Spec{ID: "same"})[0]
		s.Client().HSet(ctx, "asynq:{default}:t:same", "pending_since", "1") // not of two instants
		at := time.Now()
		if ghost {
			s.Ghost(r)
			c := open(t, s)
			done(t)(c.Archive(ctx, raw(t, c, r).Expect(), at))
			if got := s.Client().ZScore(ctx, "asynq:{default}:archived", "same").Val(); got != float64(at.Unix()) {
				t.Errorf("score %v", got)
			}
		} else if err := s.Inspector().ArchiveTask("default", "same"); err != nil {
			t.Fatal(err)
		}
		wantHolders(t, s, r, "archived")
		hashes = append(hashes, s.Client().HGetAll(ctx, "asynq:{default}:t:same").Val())
	}
	if !maps.Equal(hashes[0], hashes[1]) {
		t.Errorf("hash %q, want %q", hashes[1], hashes[0])
	}
}

func TestArchiveTakesGhostsOfEveryState(t *testing.T) {
	s := inspecttest.Start(t)
	c := open(t, s)
	for state, r := range ghosts(s) {
		vanish(s, r)
		done(t)(c.Archive(context.Background(), raw(t, c, r).Expect(), time.Now()))
		wantHolders(t, s, r, "archived")
		info, err := s.Inspector().GetTaskInfo("default", r.ID)
		if err != nil || info.State.String() != "archived" {
			t.Errorf("ghost of %v: %+v, error %v", state, info, err)
		}
	}
}
