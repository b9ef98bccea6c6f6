package reconcile_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// A replica takes over in the middle of an application: because its master died,
// or because it was told to while the master went on answering. What the master
// acknowledged and never sent on is archived again; nothing is lost, or in two
// places, and a new plan moves the rest.
func TestApplyThroughAFailoverLosesNothing(t *testing.T) {
	const (
		tasks  = 12
		slowly = 200 * time.Millisecond // so that a replica is promoted meanwhile
	)
	for name, tt := range map[string]struct {
		dies bool
		step string
	}{
		"the master dies before a move":   {true, "move"},
		"the master dies after a move":    {true, "moved"},
		"the replica is promoted by hand": {false, "move"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait most of the time
			w, s := newSentinelWorkshop(t)
			f := w.newMishap(t, "q", tasks, w.queue, w.ledger)
			s.caughtUp()
			f.through.before = func(step string) {
				if len(f.through.moved) == tasks/2 && step == tt.step {
					s.caughtUp()
					s.failOver(tt.dies)
					f.through.before = func(string) { time.Sleep(slowly) }
				}
			}
			err := f.apply()
			s.promoted()
			f.stock.redis, f.through.before = s.Replica, nil
			places := f.places()
			unknown, back := 0, 0
			for id, a := range f.out {
				switch {
				case a.Outcome == journal.OutcomeUnknown:
					unknown++
				case a.Outcome == journal.OutcomeDone && places[id] == "archived":
					back++
				case a.Outcome != journal.OutcomeDone && places[id] != "archived":
					t.Errorf("%s is told as %s, and is %s", id, a.Outcome, places[id])
				}
			}
			moved := count(places, "pending")
			t.Logf("%d of %d moved, %d unknown, %d moved and archived again; %v", moved, tasks, unknown, back, err)
			// The death of a master ends the run, but for one whose next request finds
			// the new master in time: that one has to have moved all.
			if tt.dies && (back > 0 || err == nil && moved != tasks) {
				t.Errorf("the master is dead (%v), and %d moves that its replica had are lost", err, back)
			}
			for ref, n := range f.through.moved {
				if n != 1 {
					t.Errorf("%s was moved %d times", ref.ID, n)
				}
			}
			f.foreseen(f.path)
			f.resume()
			complete(t, f.path)
			f.finish()
			if got := count(f.places(), "pending"); got != tasks {
				t.Errorf("%d of %d are pending in the end", got, tasks)
			}
			complete(t, f.path)
		})
	}
}

// failing is a master with a replica and a sentinel.
type failing struct {
	*inspecttest.Sentinel
	t *testing.T
}

func newSentinelWorkshop(t *testing.T) (*workshop, failing) {
	t.Helper()
	w, s := newWorkshop(t), failing{inspecttest.StartSentinel(t), t}
	w.redis = s.Master
	queue, err := inspect.Open(t.Context(), s.Options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { queue.Close() })
	w.queue = queue
	return w, s
}

// caughtUp waits until the replica has what the master has.
func (s failing) caughtUp() {
	s.t.Helper()
	if n, err := s.Master.Client().Wait(s.t.Context(), 1, time.Minute).Result(); err != nil || n != 1 {
		s.t.Fatalf("%d replicas have caught up: %v", n, err)
	}
}

// failOver has the replica take over; with dies, the master is gone first.
func (s failing) failOver(dies bool) {
	s.t.Helper()
	if dies {
		_ = s.Master.Client().ShutdownNoSave(s.t.Context()).Err()
	}
	c := redis.NewSentinelClient(&redis.Options{Addr: s.Addr, Password: s.Password})
	defer c.Close()
	// After a while in which nothing moved, the sentinel first has to hear of the
	// replica again.
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := c.Failover(s.t.Context(), inspecttest.MasterName).Err()
		switch {
		case err == nil:
			return
		case !redis.HasErrorPrefix(err, "NOGOODSLAVE") || time.Now().After(end):
			s.t.Fatal(err)
		}
	}
}

// promoted waits until the sentinel leads to the replica.
func (s failing) promoted() {
	s.t.Helper()
	c := redis.NewSentinelClient(&redis.Options{Addr: s.Addr, Password: s.Password})
	defer c.Close()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		at, err := c.GetMasterAddrByName(s.t.Context(), inspecttest.MasterName).Result()
		if err == nil && len(at) == 2 && at[0]+":"+at[1] == s.Replica.Addr && s.Replica.Client().Set(s.t.Context(), "writable", 1, 0).Err() == nil {
			return
		}
		if time.Now().After(end) {
			s.t.Fatal("the replica does not take over:", at, err)
		}
	}
}
