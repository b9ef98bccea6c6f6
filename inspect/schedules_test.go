package inspect_test

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

func TestSchedulesShowsWhatTheInspectorLoses(t *testing.T) {
	t.Parallel() // schedulers write their entries every five seconds
	ctx := context.Background()
	s := inspecttest.Start(t)
	for range 2 { // as when a deployment runs two replicas
		scheduler := asynq.NewScheduler(s.AsynqOpt(), &asynq.SchedulerOpts{LogLevel: asynq.FatalLevel})
		if _, err := scheduler.Register("@every 1h", asynq.NewTask("report:daily", []byte("p")), asynq.TaskID("daily"), asynq.Queue("low"), asynq.Group("g")); err != nil {
			t.Fatal(err)
		}
		if err := scheduler.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(scheduler.Shutdown)
	}
	c := open(t, s)
	var got []inspect.Schedule
	var entries []*asynq.SchedulerEntry
	// Entries last for two heartbeats, and are gone for a while if one is late.
	for inspector := s.Inspector(); len(got) != 2 || len(entries) != 2; {
		time.Sleep(20 * time.Millisecond)
		var err error
		if got, err = c.Schedules(ctx); err != nil {
			t.Fatal(err)
		}
		if entries, err = inspector.SchedulerEntries(); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range got {
		i := slices.IndexFunc(entries, func(e *asynq.SchedulerEntry) bool { return e.ID == g.ID })
		if i < 0 || g.Spec != entries[i].Spec || g.Type != entries[i].Task.Type() || !bytes.Equal(g.Payload, entries[i].Task.Payload()) || !g.Next.Equal(entries[i].Next) {
			t.Errorf("schedule %+v is none of the Inspector's", g)
		}
		if !slices.Contains(g.Options, `TaskID("daily")`) || !slices.Contains(g.Options, `Group("g")`) || !g.Prev.IsZero() {
			t.Errorf("schedule %+v lacks options", g)
		}
	}
	if got[0].Scheduler == got[1].Scheduler || got[0].Scheduler == "" {
		t.Errorf("both schedules are of scheduler %q", got[0].Scheduler)
	}
}

func TestSchedulesPassesOverWhatItCannotDecode(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	s.Client().Do(ctx, "zadd", "asynq:schedulers", "1e12", "asynq:schedulers:{x}", 1, "asynq:schedulers:{old}", "1e12", "asynq:schedulers:{string}")
	s.Client().RPush(ctx, "asynq:schedulers:{x}", "\xff", "\x12\x05@once")
	s.Client().Set(ctx, "asynq:schedulers:{string}", "no list", 0)
	got, err := open(t, s).Schedules(ctx)
	if err != nil || len(got) != 1 || got[0].Spec != "@once" || got[0].Scheduler != "x" {
		t.Errorf("schedules %+v, error %v", got, err)
	}
}
