package inspect_test

import (
	"context"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

func TestServersShowsWhatTheInspectorShows(t *testing.T) {
	t.Parallel() // the heartbeat that names the workers comes after five seconds
	ctx := context.Background()
	s := inspecttest.Start(t)
	refs := s.Make(
		inspecttest.Spec{Outcome: inspecttest.Active, Type: "slow:task"},
		inspecttest.Spec{Outcome: inspecttest.Active, Queue: "other", Options: []asynq.Option{asynq.Timeout(time.Hour)}},
	)
	c := open(t, s)
	var got []inspect.Server
	var infos []*asynq.ServerInfo
	var asked time.Time
	// What a server says of itself lasts ten seconds: one that was kept from saying it
	// again is not shown for a while.
	for inspector := s.Inspector(); len(got) != 1 || len(infos) != 1 || len(got[0].Workers) < len(refs); {
		time.Sleep(50 * time.Millisecond)
		var err error
		asked = time.Now()
		if got, err = c.Servers(ctx); err != nil {
			t.Fatal(err)
		}
		if infos, err = inspector.Servers(); err != nil {
			t.Fatal(err)
		}
	}
	g, w := got[0], infos[0]
	if g.ID != w.ID || g.Host != w.Host || g.PID != w.PID || g.Concurrency != w.Concurrency || g.Status != w.Status ||
		!g.StartedAt.Equal(w.Started) || len(g.Queues) != 2 || g.Queues["other"] != w.Queues["other"] || g.StrictPriority != w.StrictPriority {
		t.Errorf("server\n%+v, the Inspector shows\n%+v", g, w)
	}
	if !g.ExpiresAt.After(asked) || g.ActiveWorkers != 2 {
		t.Errorf("expires at %v with %d workers", g.ExpiresAt, g.ActiveWorkers)
	}
	for i, ref := range refs {
		worker := g.Workers[i]
		if worker.Ref != ref || worker.Server != g.ID || worker.Type == "" || worker.Deadline.Before(worker.StartedAt) {
			t.Errorf("worker %+v; want one on %v", worker, ref)
		}
	}
}

func TestServersLeavesExpiredEntriesAlone(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	rdb := s.Client()
	rdb.Do(ctx, "zadd", "asynq:servers", 1, "asynq:servers:{h:1:old}", time.Now().Add(time.Hour).Unix(), "asynq:servers:{h:1:broken}", "1e12", "elsewhere")
	rdb.Set(ctx, "asynq:servers:{h:1:broken}", "\xff\xff", 0)
	rdb.Set(ctx, "elsewhere", "secret", 0)
	servers, err := open(t, s).Servers(ctx)
	if err != nil || len(servers) != 0 {
		t.Errorf("servers %+v, error %v; want none", servers, err)
	}
	if n := rdb.ZCard(ctx, "asynq:servers").Val(); n != 3 {
		t.Errorf("%d entries are left of 3", n)
	}
}
