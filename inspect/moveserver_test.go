package inspect_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// A move whose answer is lost was made once, is not told as refused, and is
// found made when it is tried again.
func TestMoveWhoseAnswerIsLostIsMadeOnce(t *testing.T) {
	ctx := context.Background()
	for _, w := range []struct {
		name, again string
		holders     []string
		prepare     func(c *inspect.Client, e inspect.Expect) (inspect.Change, error) // nil: nothing
		move        func(c *inspect.Client, was inspect.Raw) (inspect.Change, error)
	}{
		{name: "Requeue", again: `in state "pending" now`, holders: []string{"pending"}, move: func(c *inspect.Client, was inspect.Raw) (inspect.Change, error) {
			return c.Requeue(ctx, was.Expect(), inspect.Requeue{Relock: 2 * time.Hour})
		}},
		{name: "Resolve", again: "the task is gone", move: func(c *inspect.Client, was inspect.Raw) (inspect.Change, error) {
			return c.Resolve(ctx, was.Expect())
		}},
		{name: "Restore", again: `has the ID, in state "archived"`, holders: []string{"archived"}, move: func(c *inspect.Client, was inspect.Raw) (inspect.Change, error) {
			return c.Restore(ctx, was.Restore(time.Now()))
		}, prepare: func(c *inspect.Client, e inspect.Expect) (inspect.Change, error) { return c.Resolve(ctx, e) }},
	} {
		t.Run(w.name, func(t *testing.T) {
			s := inspecttest.StartServer(t)
			r, _ := archived(s)
			proxy := s.Proxy()
			broken, whole := openWith(t, proxy.Options()), open(t, s)
			was := raw(t, whole, r)
			if w.prepare != nil {
				done(t)(w.prepare(whole, was.Expect()))
			}
			// Redis is to know the script before: for a task that it refuses.
			s.Client().HSet(ctx, "asynq:{default}:t:other", "x", "y")
			other := was
			other.ID = "other"
			refuses(t, s, "", func() (inspect.Change, error) { return w.move(whole, other) })
			before := evals(t, s)
			proxy.CutReplies("evalsha")
			got, err := w.move(broken, was)
			var known *inspect.Error
			if !errors.As(err, &known) || got != (inspect.Change{}) || inspect.Refused(err) {
				t.Errorf("%+v, error %v, refused %v", got, err, inspect.Refused(err))
			}
			if n := evals(t, s) - before; n != 1 || proxy.Cuts() != 1 {
				t.Errorf("the script ran %d times, %d answers were cut", n, proxy.Cuts())
			}
			wantHolders(t, s, r, w.holders...)
			refuses(t, s, w.again, func() (inspect.Change, error) { return w.move(whole, was) })
		})
	}
}

func TestMovesWorkInACluster(t *testing.T) {
	ctx := context.Background()
	cluster := inspecttest.StartCluster(t)
	client, inspector := asynq.NewClient(cluster.AsynqOpt()), asynq.NewInspector(cluster.AsynqOpt())
	defer client.Close()
	defer inspector.Close()
	c := openWith(t, cluster.Options())
	for _, q := range []string{"q0", "q1", "q2", "q3", "q4", "q5"} {
		ref, lock := inspect.Ref{Queue: q, ID: "id"}, inspect.UniqueKey(q, "t", nil)
		if _, err := client.Enqueue(asynq.NewTask("t", nil), asynq.Queue(q), asynq.TaskID("id"), asynq.Unique(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if err := inspector.ArchiveTask(q, "id"); err != nil {
			t.Fatal(err)
		}
		was := raw(t, c, ref)
		done(t)(c.Resolve(ctx, was.Expect()))
		if n := cluster.Client().Exists(ctx, inspect.TaskKey(ref), lock).Val(); n != 0 {
			t.Errorf("%d keys are left", n)
		}
		cluster.Client().SRem(ctx, "asynq:queues", q)
		done(t)(c.Restore(ctx, was.Restore(time.Now())))
		again := raw(t, c, ref)
		if again.Fingerprint() != was.Fingerprint() || again.Place != was.Place || again.Lock.Owner != "id" {
			t.Errorf("%+v, want %+v", again, was)
		}
		done(t)(c.Requeue(ctx, again.Expect(), inspect.Requeue{Relock: 2 * time.Hour, HoldIfLocked: []string{lock}}))
		info, err := inspector.GetTaskInfo(q, "id")
		if err != nil || info.State != asynq.TaskStatePending {
			t.Errorf("%+v, error %v", info, err)
		}
	}
}

func TestMovesQuoteHostileNames(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	r, lock := archived(s)
	c := open(t, s)
	e := raw(t, c, r).Expect()
	image := raw(t, c, r).Restore(time.Now())
	for _, name := range hostileNames() {
		s.Client().Set(ctx, lock, name, 0)
		got, err := c.Requeue(ctx, e, inspect.Requeue{Relock: time.Hour})
		if err != nil || got.Done || !strings.Contains(got.Found, "belongs to") || len(got.Found) > 1000 || !printable(got.Found) {
			t.Errorf("%.40q: %.200q, error %v", name, got.Found, err)
		}
		if _, err := c.Requeue(ctx, e, inspect.Requeue{HoldIfLocked: []string{name}}); err == nil || len(err.Error()) > 1000 || !printable(err.Error()) {
			t.Errorf("%.40q: error %.200q", name, err)
		}
		named := image
		named.ID = "id" + name
		named.Lock, named.LockUntil = lock, time.Now().Add(time.Hour)
		got, err = c.Restore(ctx, named)
		if err != nil || !got.Done || got.Note == "" || len(got.Note) > 1000 || !printable(got.Note) {
			t.Errorf("%.40q: %+v, error %.200v", name, got, err)
		}
	}
}

// A server that may not write, or has no room, leaves the world as it was and
// the task in one place.
func TestMovesAreRefusedWholeByServersThatMayNotWrite(t *testing.T) {
	ctx := context.Background()
	for name, set := range map[string]func(s *inspecttest.Server){
		"read-only replica": func(s *inspecttest.Server) { s.Client().Do(ctx, "replicaof", "127.0.0.1", "1") },
		"out of memory":     func(s *inspecttest.Server) { s.Client().ConfigSet(ctx, "maxmemory", "1") },
		"no replicas":       func(s *inspecttest.Server) { s.Client().ConfigSet(ctx, "min-replicas-to-write", "1") },
	} {
		t.Run(name, func(t *testing.T) {
			s := inspecttest.StartServer(t)
			c := open(t, s)
			image, _ := resolved(t, s, c)
			e := raw(t, c, s.Fill("default", inspect.StateArchived, 1, nil)[0]).Expect()
			before := s.Snapshot()
			set(s)
			for move, err := range map[string]error{
				"Requeue": second(c.Requeue(ctx, e, inspect.Requeue{})),
				"Restore": second(c.Restore(ctx, image)),
			} {
				if err == nil || !inspect.Refused(err) {
					t.Errorf("%s: error %v, refused %v", move, err, inspect.Refused(err))
				}
			}
			wantSnapshot(t, s, before)
			if _, err := c.Resolve(ctx, e); name != "out of memory" && !inspect.Refused(err) {
				t.Errorf("Resolve: error %v", err)
			} else if name == "out of memory" && err != nil {
				t.Errorf("Resolve needs no room: %v", err)
			}
		})
	}
}

func second(_ inspect.Change, err error) error { return err }
