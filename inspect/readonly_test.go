package inspect_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// readAll calls everything that the package can read.
func readAll(t *testing.T, c *inspect.Client) {
	t.Helper()
	ctx := context.Background()
	queues, err := c.Queues(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Active(ctx, queues); err != nil {
		t.Error(err)
	}
	for _, q := range queues {
		if _, err := c.Queue(ctx, q); err != nil {
			t.Error(err)
		}
	}
	var refs []inspect.Ref
	var locks []string
	for _, plain := range []bool{true, false} {
		for ref, task := range list(t, c, inspect.Listing{Plain: plain}) {
			refs = append(refs, ref)
			locks = append(locks, task.UniqueKey)
		}
	}
	if _, err := c.Read(ctx, refs); err != nil {
		t.Error(err)
	}
	if _, err := c.Locks(ctx, locks); err != nil {
		t.Error(err)
	}
	if _, err := c.Servers(ctx); err != nil {
		t.Error(err)
	}
	if _, err := c.Schedules(ctx); err != nil {
		t.Error(err)
	}
	if _, err := c.Redis(ctx); err != nil {
		t.Error(err)
	}
	if _, err := c.Now(ctx); err != nil {
		t.Error(err)
	}
}

// reads are the commands that this package may send, as INFO commandstats names
// them. evalsha and eval are asynq's listing scripts, whose own commands are
// counted as well.
var reads = strings.Fields(`ping hello select time info auth client|setname acl|whoami
	smembers sismember llen lrange zcard zrange zrangebyscore zscore get pttl exists hget hmget hvals hstrlen evalsha eval`)

func TestReadingSendsReadCommandsOnly(t *testing.T) {
	s := inspecttest.StartServer(t)
	everyState(s)
	refs := s.Make(inspecttest.Spec{Outcome: inspecttest.Pending, Queue: "broken"}, inspecttest.Spec{Outcome: inspecttest.Retry, Queue: "broken"})
	s.Dangle(refs[0])
	s.Corrupt(refs[1])
	c := open(t, s.AddUser("reader", "pw", "~* &* +@all"))

	// The worker that holds the active task writes as well: only what the user
	// does is to be counted, so its commands are watched.
	before := queueKeys(t, s)
	watched := watch(t, s, "reader", func() { readAll(t, c) })
	if len(watched) == 0 {
		t.Fatal("no command was seen")
	}
	allowed := make(map[string]bool)
	for _, name := range reads {
		allowed[name] = true
	}
	for name := range watched {
		if !allowed[name] {
			t.Errorf("sent %s", name)
		}
	}
	if after := queueKeys(t, s); !slices.Equal(after, before) {
		t.Errorf("database went from keys %q to %q", before, after)
	}
}

// queueKeys are all keys but those in which workers say that they live.
func queueKeys(t *testing.T, s *inspecttest.Server) []string {
	t.Helper()
	keys, err := s.Client().Keys(context.Background(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	keys = slices.DeleteFunc(keys, func(key string) bool {
		return strings.HasPrefix(key, "asynq:servers") || strings.HasPrefix(key, "asynq:workers")
	})
	slices.Sort(keys)
	return keys
}

func TestReadOnlyUserMayReadEverything(t *testing.T) {
	s := inspecttest.StartServer(t)
	want := everyState(s)
	c := open(t, s.AddUser("reader", "pass word", inspecttest.ReadOnly))
	readAll(t, c)
	if got := list(t, c, inspect.Listing{}); len(got) != len(want) {
		t.Errorf("without scripts %d tasks are listed, want %d", len(got), len(want))
	}
}

// A user may have nothing but @read: not even PING, INFO, TIME or CLIENT.
func TestBareReaderListsAndIsToldOfTheTime(t *testing.T) {
	s := inspecttest.StartServer(t)
	want := everyState(s)
	c := open(t, s.AddUser("bare", "pw", "~asynq:* -@all +@read"))
	if got := list(t, c, inspect.Listing{}); len(got) != len(want) {
		t.Errorf("%d tasks are listed, want %d", len(got), len(want))
	}
	if _, err := c.Servers(context.Background()); err != nil {
		t.Error(err)
	}
	facts, err := c.Redis(context.Background())
	if err != nil || facts.Version != "" {
		t.Errorf("facts %+v, error %v", facts, err)
	}
	_, err = c.Now(context.Background())
	wantKind(t, err, inspect.KindDenied)
}

func TestOpenIsDeniedWithoutReadCommands(t *testing.T) {
	s := inspecttest.StartServer(t)
	c := open(t, s.AddUser("nobody", "pw", "~* -@all +ping"))
	_, err := c.Queues(context.Background())
	if text := wantKind(t, err, inspect.KindDenied); !strings.Contains(text, "ACL SETUSER") {
		t.Errorf("error %q does not say what to grant", text)
	}
}
