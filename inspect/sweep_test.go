package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// sweep reads a sweep to its end; a key that comes twice is there once.
func sweep(t testing.TB, c *inspect.Client, s inspect.Sweep) map[string]inspect.Key {
	t.Helper()
	keys := make(map[string]inspect.Key)
	for page, err := range c.Keys(context.Background(), s) {
		if err != nil {
			t.Fatalf("sweeping: %v", err)
		}
		for _, k := range page {
			keys[k.Name] = k
		}
	}
	return keys
}

// sweepable makes tasks in all states, and keys that are no queue's.
func sweepable(s *inspecttest.Server) {
	unique := []asynq.Option{asynq.Unique(3600e9)}
	s.Make(
		inspecttest.Spec{Outcome: inspecttest.Active, Queue: "work", Type: "mail:send", Options: unique},
		inspecttest.Spec{Outcome: inspecttest.Retry, Queue: "other"}, inspecttest.Spec{Outcome: inspecttest.Archived, Queue: "other"},
		inspecttest.Spec{Outcome: inspecttest.Completed, Queue: "other"},
	)
	s.Make(
		inspecttest.Spec{Outcome: inspecttest.Pending, Queue: "work", Payload: []byte("p"), Options: unique},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, Queue: "work"},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, Queue: "work"},
	)
	ctx := context.Background()
	s.Client().Set(ctx, "session:1", "x", 0)
	s.Client().Set(ctx, "asynq:{broken", "x", 0)
}

func TestKeysFindsEveryKeyOfTheQueues(t *testing.T) {
	s := inspecttest.Start(t)
	sweepable(s)
	got := sweep(t, open(t, s), inspect.Sweep{})
	var want []string
	for _, name := range s.Client().Keys(context.Background(), "*").Val() {
		if strings.HasPrefix(name, "asynq:{") && strings.Contains(name, "}:") {
			want = append(want, name)
		}
	}
	kinds := make(map[inspect.KeyKind]int)
	for _, name := range want {
		k, ok := got[name]
		if !ok {
			t.Errorf("missed %q", name)
		}
		kinds[k.Kind]++
	}
	if len(got) != len(want) {
		t.Errorf("%d keys, want %d", len(got), len(want))
	}
	if kinds[inspect.KeyTask] != 7 || kinds[inspect.KeyLock] != 2 || kinds[inspect.KeyGroup] != 1 || kinds[inspect.KeyUnknown] != 0 {
		t.Errorf("kinds %v", kinds)
	}
}

func TestKeysKeepsToTheQueuesAsked(t *testing.T) {
	s := inspecttest.Start(t)
	hostile := []string{"w*", "wxyz", "w?rk", "w[o]rk", `w\ork`, "work", "wo\nrk\x00", "w}:t:x", "{w}"}
	for _, q := range hostile {
		s.Make(inspecttest.Spec{Queue: q, ID: "x}:y"}, inspecttest.Spec{Queue: q, ID: strings.Repeat("long", 1<<18)})
	}
	c := open(t, s)
	for _, q := range hostile {
		for _, s := range []inspect.Sweep{{Queues: []string{q}}, {Queues: []string{q, "no such queue"}, Known: hostile}} {
			keys := sweep(t, c, s)
			tasks := 0
			for name, k := range keys {
				if k.Queue != q || !strings.HasPrefix(name, "asynq:{"+q+"}:") {
					t.Errorf("queue %q: key %.80q of %q", q, name, k.Queue)
				}
				if k.Kind == inspect.KeyTask {
					tasks++
				}
			}
			if tasks != 2 {
				t.Errorf("queue %q: %d tasks, want 2", q, tasks)
			}
		}
	}
}

func TestKeysStopsWhenTheCallerLeavesOrIsCancelled(t *testing.T) {
	s := inspecttest.Start(t)
	s.Fill("default", inspect.StatePending, 5000, nil)
	c := open(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pages := 0
	for _, err := range c.Keys(ctx, inspect.Sweep{}) {
		if err != nil {
			t.Fatal(err)
		}
		pages++
		break
	}
	var last error
	for _, err := range c.Keys(ctx, inspect.Sweep{}) {
		if last = err; err == nil {
			pages++
			cancel()
		}
	}
	if pages != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d pages, then error %v", pages, last)
	}
}

// A cursor means nothing to another server: the sweep has to begin again.
func TestKeysBeginsAgainWhenTheConnectionBreaks(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	s.Fill("default", inspect.StatePending, 5000, nil)
	o := s.Options()
	o.ClientName = "sweeper"
	c := openWith(t, o)
	seen := make(map[string]int)
	pages := 0
	for page, err := range c.Keys(ctx, inspect.Sweep{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range page {
			seen[k.Name]++
		}
		if pages++; pages == 3 {
			killClients(t, s, "sweeper")
		}
	}
	twice := 0
	for _, n := range seen {
		if n > 1 {
			twice++
		}
	}
	if len(seen) != 5001 || twice < 1000 {
		t.Errorf("%d keys, %d of them more than once", len(seen), twice)
	}
}

// killClients ends the connections of a name.
func killClients(t *testing.T, s *inspecttest.Server, name string) {
	t.Helper()
	ctx := context.Background()
	killed := 0
	for line := range strings.Lines(s.Client().ClientList(ctx).Val()) {
		if !strings.Contains(line, " name="+name+" ") {
			continue
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(line, "id="), " ")
		if err := s.Client().Do(ctx, "client", "kill", "id", id).Err(); err != nil {
			t.Fatal(err)
		}
		killed++
	}
	if killed == 0 {
		t.Fatalf("no connection is called %q", name)
	}
}

func TestKeysSweepsEveryMasterOfACluster(t *testing.T) {
	cluster := inspecttest.StartCluster(t)
	client := asynq.NewClient(cluster.AsynqOpt())
	defer client.Close()
	var queues []string
	for i := range 12 {
		q := fmt.Sprintf("q%d", i)
		queues = append(queues, q)
		if _, err := client.Enqueue(asynq.NewTask("t", nil), asynq.Queue(q), asynq.TaskID("id")); err != nil {
			t.Fatal(err)
		}
	}
	c := openWith(t, cluster.Options())
	keys := sweep(t, c, inspect.Sweep{})
	for _, q := range queues {
		if keys["asynq:{"+q+"}:t:id"].Kind != inspect.KeyTask || keys["asynq:{"+q+"}:pending"].Kind != inspect.KeyPlace {
			t.Errorf("queue %q is missed", q)
		}
		if one := sweep(t, c, inspect.Sweep{Queues: []string{q}}); len(one) != 2 {
			t.Errorf("queue %q alone: %d keys, want 2", q, len(one))
		}
	}
	if len(keys) != 2*len(queues) {
		t.Errorf("%d keys, want %d", len(keys), 2*len(queues))
	}
}

// BenchmarkKeys compares a sweep with the bare commands that it sends.
func BenchmarkKeys(b *testing.B) {
	const tasks = 100_000
	ctx := context.Background()
	s := inspecttest.StartServer(b)
	s.Fill("default", inspect.StateArchived, tasks, nil)
	c := open(b, s)
	b.Run("sweep", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			for page, err := range c.Keys(ctx, inspect.Sweep{}) {
				if err != nil {
					b.Fatal(err)
				}
				n += len(page)
			}
			wantKeys(b, n, tasks)
		}
	})
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			for cursor := uint64(0); ; {
				names, next, err := s.Client().Scan(ctx, cursor, "asynq:{*}:*", 1000).Result()
				if err != nil {
					b.Fatal(err)
				}
				n += len(names)
				if cursor = next; next == 0 {
					break
				}
			}
			wantKeys(b, n, tasks)
		}
	})
}

func wantKeys(b *testing.B, n, tasks int) {
	b.Helper()
	if n < tasks {
		b.Fatalf("%d keys, want %d at least", n, tasks)
	}
}
