package reconcile_test

import (
	"testing"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

// A queue's name is a name, whatever it would mean as a pattern: what is wrong with
// tasks of other queues is not said of its own.
func TestExplainOfAQueueThatLooksLikeAPatternIsOfItAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, queue := range []string{"*", "a*", "ab"} {
		w.redis.Fill(queue, inspect.StateArchived, 1, func(_ int, m *inspecttest.Message) {
			m.ID, m.Type, m.LastErr, m.MaxRetry, m.Retried = "id1", "t", "boom", 1, 1
		})
	}
	w.redis.Corrupt(inspect.Ref{Queue: "ab", ID: "id1"})
	for _, queue := range []string{"*", "a*"} {
		d, err := w.auditor(reconcile.Options{}).Explain(t.Context(), inspect.Ref{Queue: queue, ID: "id1"})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Findings {
			if f.Task.Queue != queue || f.Code == reconcile.CodeUndecodable {
				t.Errorf("explaining %s/id1 tells %s of queue %q", queue, f.Code, f.Task.Queue)
			}
		}
		if d.Task.Queue != queue {
			t.Errorf("it is about queue %q, want %q", d.Task.Queue, queue)
		}
	}
}
