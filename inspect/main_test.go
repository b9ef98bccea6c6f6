package inspect_test

import (
	"context"
	"testing"

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
