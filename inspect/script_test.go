package inspect_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// evals counts the scripts that the server has run.
func evals(t *testing.T, s *inspecttest.Server) int {
	t.Helper()
	n := 0
	for line := range strings.Lines(s.Client().Info(context.Background(), "commandstats").Val()) {
		name, rest, _ := strings.Cut(line, ":calls=")
		if name != "cmdstat_evalsha" && name != "cmdstat_eval" {
			continue
		}
		count, _, _ := strings.Cut(rest, ",")
		calls, err := strconv.Atoi(count)
		if err != nil {
			t.Fatal(err)
		}
		n += calls
	}
	return n
}

// A second run would be refused, and the change that was made would be told as
// one that was not.
func TestChangeWhoseAnswerIsLostIsSentOnce(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.StartServer(t)
	refs := s.Make(inspecttest.Spec{}, inspecttest.Spec{})
	s.Ghost(refs[0])
	s.Ghost(refs[1])
	proxy := s.Proxy()
	c := openWith(t, proxy.Options())
	done(t)(c.PutBack(ctx, raw(t, c, refs[0]).Expect(), time.Now())) // Redis knows the script from now on
	e := raw(t, c, refs[1]).Expect()
	before := evals(t, s)
	proxy.CutReplies("evalsha")
	got, err := c.PutBack(ctx, e, time.Now())
	var known *inspect.Error
	if !errors.As(err, &known) || got.Done || got.Found != "" || inspect.Refused(err) {
		t.Errorf("change %+v, error %v, refused %v", got, err, inspect.Refused(err))
	}
	if n := evals(t, s) - before; n != 1 || proxy.Cuts() != 1 {
		t.Errorf("the script ran %d times, %d answers were cut", n, proxy.Cuts())
	}
	wantHolders(t, s, refs[1], "pending")
	refuses(t, s, "the pending list holds", func() (inspect.Change, error) { return open(t, s).PutBack(ctx, e, time.Now()) })
}

func TestReadWhoseAnswerIsLostIsRepeated(t *testing.T) {
	s := inspecttest.Start(t)
	r := s.Make(inspecttest.Spec{})[0]
	proxy := s.Proxy()
	c := openWith(t, proxy.Options())
	proxy.CutReplies("hgetall")
	if _, err := c.Raw(context.Background(), []inspect.Ref{r}); err == nil || proxy.Cuts() < 2 {
		t.Errorf("error %v after %d attempts", err, proxy.Cuts())
	}
}

func TestChangeEndsWithItsContext(t *testing.T) {
	s := inspecttest.Start(t)
	r := s.Make(inspecttest.Spec{})[0]
	s.Ghost(r)
	c := open(t, s)
	e := raw(t, c, r).Expect()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got, err := c.PutBack(ctx, e, time.Now()); !errors.Is(err, context.Canceled) || got.Done {
		t.Errorf("change %+v, error %v", got, err)
	}
	wantHolders(t, s, r)
}

func TestChangeIsRefusedByServersThatMayNotWrite(t *testing.T) {
	ctx := context.Background()
	for name, set := range map[string]func(s *inspecttest.Server){
		"read-only replica": func(s *inspecttest.Server) { s.Client().Do(ctx, "replicaof", "127.0.0.1", "1") },
		"out of memory":     func(s *inspecttest.Server) { s.Client().ConfigSet(ctx, "maxmemory", "1") },
		"no replicas":       func(s *inspecttest.Server) { s.Client().ConfigSet(ctx, "min-replicas-to-write", "1") },
	} {
		t.Run(name, func(t *testing.T) {
			s := inspecttest.StartServer(t)
			r := s.Make(inspecttest.Spec{Outcome: inspecttest.Aggregating})[0]
			vanish(s, r)
			c := open(t, s)
			e := raw(t, c, r).Expect()
			before := s.Snapshot()
			set(s)
			got, err := c.PutBack(ctx, e, time.Now())
			if err == nil || got.Done || !inspect.Refused(err) {
				t.Errorf("change %+v, error %v, refused %v", got, err, inspect.Refused(err))
			}
			wantSnapshot(t, s, before)
		})
	}
}

// changer may do what the changes need on asynq's keys.
const changer = "~asynq:* -@all +@read +ping +info +time +select +evalsha +eval +lpush +lrem +zadd +zrem +hset +del +sadd +srem +set"

func TestChangerNeedsNoMoreThanItsCommands(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	byState := ghosts(s)
	c := open(t, s.AddUser("changer", "pw", changer))
	for _, r := range byState {
		vanish(s, r)
		done(t)(c.PutBack(ctx, raw(t, c, r).Expect(), time.Now().Add(-time.Hour)))
		vanish(s, r)
		done(t)(c.Archive(ctx, raw(t, c, r).Expect(), time.Now()))
		s.SetState(r, inspect.StateRetry)
		done(t)(c.SetState(ctx, raw(t, c, r).Expect(), inspect.StateArchived))
		s.Ghost(r)
		done(t)(c.CloseTask(ctx, raw(t, c, r).Expect()))
	}
	r := leaseless(s)
	done(t)(c.ExpireLease(ctx, raw(t, c, r).Expect(), time.Unix(1_700_000_000, 0)))
	s.Dangle(r)
	done(t)(c.DropDangling(ctx, r, inspect.StateActive, ""))
	s.Client().Do(ctx, "zadd", "asynq:{default}:lease", 1, "stale")
	done(t)(c.DropLease(ctx, inspect.Ref{Queue: "default", ID: "stale"}, time.Unix(1, 0)))
	s.ResultOnly(r)
	done(t)(c.DeleteResult(ctx, r, raw(t, c, r).Fingerprint()))
	s.Make(inspecttest.Spec{Outcome: inspecttest.Aggregating})
	s.Unregister("default", "g")
	done(t)(c.RegisterGroup(ctx, "default", "g"))
	done(t)(c.ReleaseLock(ctx, orphanLock(t, s, "owner"), "owner", absent))
}

func TestChangeTellsRefusedFromUnknown(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r := s.Make(inspecttest.Spec{})[0]
	s.Orphan(r, time.Now())
	s.Ghost(r)
	for name, wanted := range map[string]struct {
		rules   string
		refused bool
	}{
		"no scripts":  {"~asynq:* -@all +@read +ping +select", true},
		"no lpush":    {strings.ReplaceAll(changer, "+lpush", ""), false}, // it may have come after another write
		"no such key": {strings.ReplaceAll(changer, "~asynq:*", "%R~asynq:*"), true},
	} {
		t.Run(name, func(t *testing.T) {
			before := s.Snapshot()
			c := open(t, s.AddUser("user", "pw", wanted.rules))
			got, err := c.PutBack(ctx, raw(t, c, r).Expect(), time.Now().Add(-time.Hour))
			if err == nil || got.Done || inspect.Refused(err) != wanted.refused {
				t.Errorf("change %+v, error %v, refused %v", got, err, inspect.Refused(err))
			}
			if wanted.refused {
				wantSnapshot(t, s, before)
			}
			var denied *inspect.Error
			if !errors.As(err, &denied) || denied.Kind != inspect.KindDenied || !strings.Contains(denied.Hint(), "+lpush") {
				t.Errorf("error %#v does not say what to grant", err)
			}
		})
	}
	o := s.Options()
	c := openWith(t, o)
	e := raw(t, c, r).Expect()
	_ = c.Close()
	if _, err := c.PutBack(ctx, e, time.Now()); err == nil {
		t.Error("a closed client changes things")
	}
}

func TestChangesWorkInACluster(t *testing.T) {
	ctx := context.Background()
	cluster := inspecttest.StartCluster(t)
	client := asynq.NewClient(cluster.AsynqOpt())
	defer client.Close()
	c := openWith(t, cluster.Options())
	for _, q := range []string{"q0", "q1", "q2", "q3", "q4", "q5"} {
		prefix := "asynq:{" + q + "}:"
		if _, err := client.Enqueue(asynq.NewTask("t", nil), asynq.Queue(q), asynq.TaskID("id"), asynq.Unique(time.Hour)); err != nil {
			t.Fatal(err)
		}
		ref := inspect.Ref{Queue: q, ID: "id"}
		cluster.Client().LRem(ctx, prefix+"pending", 0, "id")
		e := raw(t, c, ref).Expect()
		done(t)(c.PutBack(ctx, e, time.Now()))
		if got := cluster.Client().LRange(ctx, prefix+"pending", 0, -1).Val(); len(got) != 1 || got[0] != "id" {
			t.Errorf("pending %q", got)
		}
		cluster.Client().LRem(ctx, prefix+"pending", 0, "id")
		done(t)(c.CloseTask(ctx, e))
		cluster.Client().Set(ctx, prefix+"unique:t:", "id", 0)
		done(t)(c.ReleaseLock(ctx, prefix+"unique:t:", "id", absent))
		if n := cluster.Client().Exists(ctx, prefix+"t:id", prefix+"unique:t:", prefix+"pending").Val(); n != 0 {
			t.Errorf("%d keys are left", n)
		}
	}
}
