package inspect_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

var absent = inspect.Release{Why: inspect.OwnerAbsent}

// elsewhere is the reason for a lock whose owner was read just now.
func elsewhere(t testing.TB, c *inspect.Client, owner inspect.Ref) inspect.Release {
	t.Helper()
	return inspect.Release{Why: inspect.OwnerElsewhere, Fingerprint: raw(t, c, owner).Fingerprint()}
}

// enqueue hands a task to asynq's own client.
func enqueue(s *inspecttest.Server, taskType string, opts ...asynq.Option) error {
	client := asynq.NewClient(s.AsynqOpt())
	defer client.Close()
	_, err := client.Enqueue(asynq.NewTask(taskType, nil), opts...)
	return err
}

// orphanLock deletes a unique task in a way that leaves its lock.
func orphanLock(t testing.TB, s *inspecttest.Server, owner string) (key string) {
	t.Helper()
	s.Make(inspecttest.Spec{ID: owner, Type: "mail:send", Options: []asynq.Option{asynq.Unique(time.Hour)}})
	if n, err := s.Inspector().DeleteAllPendingTasks("default"); err != nil || n != 1 {
		t.Fatalf("%d deleted, error %v", n, err)
	}
	return inspect.UniqueKey("default", "mail:send", nil)
}

func TestReleaseLockFreesOneWithoutAnOwner(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	key := orphanLock(t, s, "owner")
	c := open(t, s)
	if err := enqueue(s, "mail:send", asynq.Unique(time.Hour)); !errors.Is(err, asynq.ErrDuplicateTask) {
		t.Fatalf("the lock blocks nothing: %v", err)
	}
	refuses(t, s, `belongs to "owner" now`, func() (inspect.Change, error) { return c.ReleaseLock(ctx, key, "another", absent) })
	done(t)(c.ReleaseLock(ctx, key, "owner", absent))
	if err := enqueue(s, "mail:send", asynq.Unique(time.Hour)); err != nil {
		t.Errorf("the lock still blocks: %v", err)
	}
	refuses(t, s, "belongs to", func() (inspect.Change, error) { return c.ReleaseLock(ctx, key, "owner", absent) })
	refuses(t, s, "nobody holds", func() (inspect.Change, error) { return c.ReleaseLock(ctx, key[:len(key)-1]+"x:", "owner", absent) })
}

func TestReleaseLockKeepsALockWhoseOwnerMayExist(t *testing.T) {
	ctx := context.Background()
	for name, w := range map[string]twin{
		"exists":          twinOf("", "exists", "hset", "KEY", "msg", "x"),
		"has a result":    twinOf("", "exists", "hset", "KEY", "result", "x"),
		"is running":      leasedTwin("a worker may be running"),
		"another's":       twinOf("", `belongs to "another" now`, "set", "Q:unique:mail:send:", "another"),
		"free":            twinOf("", "nobody holds", "del", "Q:unique:mail:send:"),
		"of another type": twinOf("", "another type", "hset", "Q:unique:mail:send:", "x", "y"),
	} {
		t.Run(name, func(t *testing.T) {
			s := inspecttest.Start(t)
			key := orphanLock(t, s, "owner")
			if name == "of another type" {
				s.Client().Del(ctx, key)
			}
			w.make(s, inspect.Ref{Queue: "default", ID: "owner"})
			c := open(t, s)
			refuses(t, s, w.found, func() (inspect.Change, error) { return c.ReleaseLock(ctx, key, "owner", absent) })
		})
	}
}

// phantom has a producer take a lock for a task whose ID is in use already.
func phantom(t testing.TB, s *inspecttest.Server, group bool) (key string, owner inspect.Ref) {
	t.Helper()
	opts := []asynq.Option{asynq.Unique(time.Hour)}
	if group {
		opts = append(opts, asynq.Group("g"))
	}
	owner = s.Make(inspecttest.Spec{ID: "owner", Type: "first", Options: opts})[0]
	if err := enqueue(s, "second", append(opts, asynq.TaskID("owner"))...); !errors.Is(err, asynq.ErrTaskIDConflict) {
		t.Fatalf("no conflict: %v", err)
	}
	return inspect.UniqueKey("default", "second", nil), owner
}

func TestReleaseLockFreesAPhantomAndKeepsTheOwnersOwn(t *testing.T) {
	ctx := context.Background()
	for _, group := range []bool{false, true} {
		s := inspecttest.Start(t)
		key, owner := phantom(t, s, group)
		c := open(t, s)
		own := inspect.UniqueKey("default", "first", nil)
		refuses(t, s, "this very lock", func() (inspect.Change, error) {
			return c.ReleaseLock(ctx, own, "owner", elsewhere(t, c, owner))
		})
		refuses(t, s, "exists", func() (inspect.Change, error) { return c.ReleaseLock(ctx, key, "owner", absent) })
		done(t)(c.ReleaseLock(ctx, key, "owner", elsewhere(t, c, owner)))
		if err := enqueue(s, "second", asynq.Unique(time.Hour)); err != nil {
			t.Errorf("group %v: the lock still blocks: %v", group, err)
		}
		if err := enqueue(s, "first", asynq.Unique(time.Hour)); !errors.Is(err, asynq.ErrDuplicateTask) {
			t.Errorf("group %v: the owner's own lock no longer holds: %v", group, err)
		}
	}
}

// The hash names the lock as well, whatever the message says.
func TestReleaseLockGoesByTheHashOfAnUndecodableOwner(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	_, owner := phantom(t, s, false)
	s.Corrupt(owner)
	c := open(t, s)
	refuses(t, s, "this very lock", func() (inspect.Change, error) {
		return c.ReleaseLock(ctx, inspect.UniqueKey("default", "first", nil), "owner", elsewhere(t, c, owner))
	})
}

func TestReleaseLockKeepsAPhantomWhoseOwnerChanged(t *testing.T) {
	ctx := context.Background()
	for _, w := range hashTwins() {
		if w.found == "another type" {
			continue // that is no task, and the next test's
		}
		t.Run(w.name, func(t *testing.T) {
			s := inspecttest.Start(t)
			key, owner := phantom(t, s, false)
			c := open(t, s)
			because := elsewhere(t, c, owner)
			w.make(s, owner)
			refuses(t, s, `its owner "owner" has changed`, func() (inspect.Change, error) { return c.ReleaseLock(ctx, key, "owner", because) })
		})
	}
}

func TestReleaseLockTouchesNothingButLocks(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	s.Make(inspecttest.Spec{ID: "x"})
	for _, key := range []string{
		"asynq:{default}:pending", "asynq:{default}:t:x", "asynq:{default}:unique:x", "asynq:queues", "session", "",
		"asynq:{default}:g:x", "asynq:{default}:paused",
	} {
		s.Client().SetNX(ctx, key, "owner", 0)
		before := s.Snapshot()
		if got, err := open(t, s).ReleaseLock(ctx, key, "owner", absent); err == nil {
			t.Errorf("%q: %+v", key, got)
		}
		wantSnapshot(t, s, before)
	}
}

func TestReleaseLockAsksForAReason(t *testing.T) {
	s := inspecttest.Start(t)
	key := orphanLock(t, s, "owner")
	before := s.Snapshot()
	if got, err := open(t, s).ReleaseLock(context.Background(), key, "owner", inspect.Release{}); err == nil {
		t.Errorf("without a reason: %+v", got)
	}
	wantSnapshot(t, s, before)
}

// In the wrong queue the owner would seem to be gone.
func TestReleaseLockLooksForTheOwnerInTheRightQueue(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	queue := "a}:unique:b"
	s.Make(inspecttest.Spec{ID: "owner", Queue: queue, Type: "t", Options: []asynq.Option{asynq.Unique(time.Hour)}})
	key := inspect.UniqueKey(queue, "t", nil)
	c := open(t, s)
	refuses(t, s, "exists", func() (inspect.Change, error) { return c.ReleaseLock(ctx, key, "owner", absent) })
	s.Make(inspecttest.Spec{Queue: "a"}) // now it may be either's
	before := s.Snapshot()
	if got, err := c.ReleaseLock(ctx, key, "owner", absent); err == nil {
		t.Errorf("a lock of one of two queues: %+v", got)
	}
	wantSnapshot(t, s, before)
}

// printable says whether a terminal may be shown the text.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

func TestChangesQuoteHostileNames(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	key := orphanLock(t, s, "owner")
	c := open(t, s)
	for _, name := range hostileNames() {
		s.Client().Set(ctx, key, name, 0)
		got, err := c.ReleaseLock(ctx, key, "owner", absent)
		if err != nil || got.Done || len(got.Found) > 1000 || !printable(got.Found) {
			t.Errorf("%.40q: %.200q, error %v", name, got.Found, err)
		}
		s.Client().Set(ctx, key, "owner", 0)
		if _, err := c.ReleaseLock(ctx, name, "owner", absent); err == nil || len(err.Error()) > 1000 || !printable(err.Error()) {
			t.Errorf("%.40q: error %.200q", name, err)
		}
		r := inspect.Ref{Queue: "q" + name, ID: "id" + name}
		s.Fill(r.Queue, inspect.StatePending, 1, func(_ int, m *inspecttest.Message) { m.ID = r.ID })
		s.Ghost(r)
		done(t)(c.PutBack(ctx, raw(t, c, r).Expect(), time.Now()))
		wantHolders(t, s, r, "pending")
	}
}
