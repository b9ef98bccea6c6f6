package inspect_test

import (
	"context"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

func TestMain(m *testing.M) { inspecttest.Main(m) }

// open connects to the test's own database.
func open(t testing.TB, s *inspecttest.Server) *inspect.Client {
	t.Helper()
	return openWith(t, s.Options())
}

func openWith(t testing.TB, o inspect.Options) *inspect.Client {
	t.Helper()
	c, err := inspect.Open(context.Background(), o)
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// eventually waits for what asynq does on its own, however slow the machine is.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("two minutes were not enough for %s", what)
		}
	}
}

// list reads a listing to its end; the last look at a task counts.
func list(t testing.TB, c *inspect.Client, l inspect.Listing) map[inspect.Ref]inspect.Task {
	t.Helper()
	tasks := make(map[inspect.Ref]inspect.Task)
	for task, err := range c.Tasks(context.Background(), l) {
		if err != nil {
			t.Fatalf("listing: %v", err)
		}
		tasks[task.Ref] = task
	}
	return tasks
}
