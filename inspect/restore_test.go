package inspect_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// resolved deletes a unique archived task and returns what it was.
func resolved(t testing.TB, s *inspecttest.Server, c *inspect.Client) (image inspect.Restore, lock string) {
	t.Helper()
	r, lock := archived(s)
	was := raw(t, c, r)
	image = was.Restore(time.Now())
	if image.Lock != lock || image.LockUntil.Before(time.Now().Add(59*time.Minute)) {
		t.Fatalf("image %+v, want lock %q", image, lock)
	}
	done(t)(c.Resolve(context.Background(), was.Expect()))
	return image, lock
}

func TestRestoreRefusesAnIDThatIsInUse(t *testing.T) {
	ctx := context.Background()
	for _, w := range append(placeTwins(),
		twinOf("pending again", `has the ID, in state "pending"`, "hset", "KEY", "state", "pending", "msg", "x"),
		twinOf("a late result", `has the ID, in state ""`, "hset", "KEY", "result", "x"),
		twinOf("a key of another type", "another type", "set", "KEY", "x"),
		twinOf("a lock of another type", "another type", "hset", "LOCK", "x", "y"),
	) {
		switch w.name {
		case "pending", "active", "pending of another type":
			continue // not looked at
		}
		t.Run(w.name, func(t *testing.T) {
			s := inspecttest.Start(t)
			c := open(t, s)
			image, lock := resolved(t, s, c)
			w.make(s, image.Ref)
			if n := s.Client().Exists(ctx, "LOCK").Val(); n == 1 {
				s.Client().Rename(ctx, "LOCK", lock)
			}
			refuses(t, s, w.found, func() (inspect.Change, error) { return c.Restore(ctx, image) })
		})
	}
}

// The journal may be read twice.
func TestRestoreRefusesATaskThatIsRestoredAlready(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	c := open(t, s)
	image, _ := resolved(t, s, c)
	done(t)(c.Restore(ctx, image))
	refuses(t, s, `has the ID, in state "archived"`, func() (inspect.Change, error) { return c.Restore(ctx, image) })
	wantHolders(t, s, image.Ref, "archived")
}

func TestRestoreTakesTheLockOnlyWhileItIsFree(t *testing.T) {
	ctx := context.Background()
	for _, w := range []struct {
		name, owner string
		left        time.Duration // of the owner's lock; 0: it never runs out
		until       time.Duration // of the image's; 0: it never runs out
		note        string
		want        time.Duration // the lock's time to live afterwards
		wantOwner   string        // "own": the task's
	}{
		{name: "free", until: time.Hour, want: time.Hour, wantOwner: "own"},
		{name: "free for ever", want: -1, wantOwner: "own"},
		{name: "run out", until: -time.Second, note: "it has run out", want: -2},
		{name: "run out long ago", until: -time.Since(time.Unix(0, 0)), note: "it has run out", want: -2},
		{name: "running out", until: 1, note: "it has run out", want: -2},
		{name: "another's", owner: "another", left: time.Minute, until: time.Hour, note: `belongs to "another" now`, want: time.Minute, wantOwner: "another"},
		{name: "another's, and run out", owner: "another", left: time.Minute, until: -time.Hour, note: `belongs to "another" now`, want: time.Minute, wantOwner: "another"},
		{name: "own, shorter", owner: "own", left: time.Minute, until: time.Hour, want: time.Hour, wantOwner: "own"},
		{name: "own, longer", owner: "own", left: 2 * time.Hour, until: time.Hour, want: 2 * time.Hour, wantOwner: "own"},
		{name: "own, for ever", owner: "own", until: time.Hour, want: -1, wantOwner: "own"},
		{name: "own, shorter than for ever", owner: "own", left: time.Hour, want: -1, wantOwner: "own"},
	} {
		t.Run(w.name, func(t *testing.T) {
			s := inspecttest.Start(t)
			c := open(t, s)
			image, lock := resolved(t, s, c)
			own := func(owner string) string { return strings.Replace(owner, "own", image.ID, 1) }
			if w.owner != "" {
				s.Client().Set(ctx, lock, own(w.owner), w.left)
			}
			if image.LockUntil = (time.Time{}); w.until != 0 {
				image.LockUntil = time.Now().Add(w.until)
			}
			got, err := c.Restore(ctx, image)
			if err != nil || !got.Done || got.Found != "" || !strings.Contains(got.Note, w.note) || (got.Note == "") != (w.note == "") {
				t.Errorf("%+v, error %v, want %q", got, err, w.note)
			}
			wantHolders(t, s, image.Ref, "archived")
			left := s.Client().PTTL(ctx, lock).Val()
			if w.want > 0 && (left > w.want || left < w.want-30*time.Second) || w.want <= 0 && left != w.want {
				t.Errorf("%v left, want %v", left, w.want)
			}
			if owner := s.Client().Get(ctx, lock).Val(); owner != own(w.wantOwner) {
				t.Errorf("the lock belongs to %q, want %q", owner, own(w.wantOwner))
			}
		})
	}
}

func TestRawRestoreLeavesOutALockThatWasAnothers(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	c := open(t, s)
	r, lock := archived(s)
	s.Client().Persist(ctx, lock)
	if image := raw(t, c, r).Restore(time.Now()); image.Lock != lock || !image.LockUntil.IsZero() {
		t.Errorf("image %+v, want %q for ever", image, lock)
	}
	s.Client().Set(ctx, lock, "another", time.Hour)
	if image := raw(t, c, r).Restore(time.Now()); image.Lock != "" || !image.LockUntil.IsZero() {
		t.Errorf("image %+v", image)
	}
	s.Client().Del(ctx, lock)
	if image := raw(t, c, r).Restore(time.Now()); image.Lock != "" || image.Score == 0 || len(image.Fields) != 3 {
		t.Errorf("image %+v", image)
	}
}

func TestRestoreBringsTheQueueBack(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	c := open(t, s)
	image, _ := resolved(t, s, c)
	if err := s.Inspector().DeleteQueue("default", false); err != nil {
		t.Fatal(err)
	}
	done(t)(c.Restore(ctx, image))
	if queues, err := c.Queues(ctx); err != nil || len(queues) != 1 || queues[0] != "default" {
		t.Errorf("queues %q, error %v", queues, err)
	}
	info, err := s.Inspector().GetTaskInfo("default", image.ID)
	if err != nil || info.State.String() != "archived" {
		t.Errorf("%+v, error %v", info, err)
	}
}

func TestRestoreTakesOnlyTheImageOfAnArchivedTask(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	c := open(t, s)
	good, _ := resolved(t, s, c)
	before := s.Snapshot()
	for name, spoil := range map[string]func(*inspect.Restore){
		"no fields":     func(r *inspect.Restore) { r.Fields = nil },
		"pending":       func(r *inspect.Restore) { r.Fields = map[string][]byte{"state": []byte("pending")} },
		"no score":      func(r *inspect.Restore) { r.Score = 0 },
		"not a number":  func(r *inspect.Restore) { r.Score = math.NaN() },
		"a foreign key": func(r *inspect.Restore) { r.Lock = "session" },
		"another queue": func(r *inspect.Restore) { r.Lock = inspect.UniqueKey("other", "pay", nil) },
	} {
		image := good
		spoil(&image)
		if got, err := c.Restore(ctx, image); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if got, err := c.Restore(cancelled, good); err == nil {
		t.Errorf("cancelled: %+v", got)
	}
	wantSnapshot(t, s, before)
}

// Anything may be in a hash, and any score in a sorted set.
func TestRestoreKeepsHostileBytes(t *testing.T) {
	ctx := context.Background()
	s := ordered(t)
	c := open(t, s)
	for _, name := range hostileNames() {
		for _, score := range []float64{0.1, -1, math.Inf(1), math.Inf(-1), math.MaxFloat64, 1e-300, 1_700_000_000.123} {
			s.Client().FlushDB(ctx)
			r := inspect.Ref{Queue: "q" + name, ID: "id" + name}
			prefix := "asynq:{" + r.Queue + "}:"
			s.Client().SAdd(ctx, "asynq:queues", r.Queue)
			s.Client().HSet(ctx, prefix+"t:"+r.ID, "msg", name, "state", "archived", "zz"+name, name)
			s.Client().ZAdd(ctx, prefix+"archived", redis.Z{Score: score, Member: r.ID})
			was := raw(t, c, r)
			before := s.Snapshot()
			done(t)(c.Resolve(ctx, was.Expect()))
			if s.Client().DBSize(ctx).Val() != 1 {
				t.Fatalf("%.40q is not gone", name)
			}
			done(t)(c.Restore(ctx, was.Restore(time.Now())))
			wantSnapshot(t, s, before)
			done(t)(c.Requeue(ctx, was.Expect(), inspect.Requeue{}))
			wantHolders(t, s, r, "pending")
		}
		got, err := c.Restore(ctx, inspect.Restore{
			Ref: inspect.Ref{Queue: "q", ID: "id" + name}, Fields: map[string][]byte{"state": []byte(name)}, Score: 1,
		})
		if err == nil || got.Done || len(err.Error()) > 1000 || !printable(err.Error()) {
			t.Errorf("%.40q: %+v, error %.200q", name, got, err)
		}
	}
}
