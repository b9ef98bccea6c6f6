package reconcile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

const day = 24 * time.Hour

func TestAuditFindsQueuesThatNobodyServes(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "a1", Queue: "archived-only", Payload: []byte("1")},
		inspecttest.Spec{Outcome: inspecttest.Completed, ID: "a2", Queue: "archived-only", Payload: []byte("2")},
		inspecttest.Spec{Outcome: inspecttest.Retry, ID: "n1", Queue: "nobody", Payload: []byte("3")},
		hog("served"),
		inspecttest.Spec{ID: "s1", Queue: "served", Payload: []byte("4")},
		inspecttest.Spec{ID: "n2", Queue: "nobody", Payload: []byte("5")},
		inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "n3", Queue: "nobody", Payload: []byte("6")},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "n4", Queue: "nobody", Payload: []byte("7")},
	)
	f := w.find(reconcile.Options{}).only(t, reconcile.CodeQueueUnserved, reconcile.SeverityWarning, "nobody")["nobody"]
	if f.TaskCount != 4 {
		t.Errorf("%d tasks wait, want 4", f.TaskCount)
	}
}

// A server that was stopped lives on until its tasks are done, and takes no
// others.
func TestAuditCallsAQueueUnservedWhoseServerIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	srv := asynq.NewServer(w.redis.AsynqOpt(), asynq.Config{Queues: map[string]int{"q": 1}, Concurrency: 1, Logger: mute{}})
	if err := srv.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { return nil })); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Shutdown)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: "waits", Queue: "q"})
	status := func() string {
		servers, err := w.queue.Servers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(servers) != 1 {
			return ""
		}
		return servers[0].Status
	}
	w.await("the server to be known", func() bool { return status() == "active" })
	w.find(reconcile.Options{}).none(t, reconcile.CodeQueueUnserved)
	srv.Stop()
	w.await("the server to say that it is stopped", func() bool { return status() == "stopped" })
	w.find(reconcile.Options{}).only(t, reconcile.CodeQueueUnserved, reconcile.SeverityWarning, "q")
}

func TestAuditFindsArchivedTasksThatWillSoonBeDeleted(t *testing.T) {
	w := newWorld(t)
	ages := map[string]time.Duration{"old": 84 * day, "older": 89 * day, "overdue": 95 * day, "young": 82 * day, "today": 0}
	for id := range ages {
		w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: id, Queue: "a", Payload: []byte(id)})
	}
	for id, age := range ages { // none is archived after this, which would delete the overdue one
		w.setScore("a", "archived", id, time.Now().Add(-age))
	}
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "b1", Queue: "b"})
	w.setScore("b", "archived", "b1", time.Now().Add(-82*day))
	f := w.find(reconcile.Options{Rules: natural}).only(t, reconcile.CodeArchiveExpiring, reconcile.SeverityWarning, "a")["a"]
	if f.TaskCount != 3 {
		t.Errorf("%d tasks are in their last days, want 3", f.TaskCount)
	}
	if oldest := time.Now().Add(-95 * day); f.Task.ArchivedAt.Sub(oldest).Abs() > time.Minute {
		t.Errorf("the oldest was archived at %v, want %v", f.Task.ArchivedAt, oldest)
	}
}

// shifted is Redis with a clock that goes wrong by a fixed time.
type shifted struct {
	*inspect.Client
	by time.Duration
}

func (s shifted) Now(ctx context.Context) (time.Time, error) {
	now, err := s.Client.Now(ctx)
	return now.Add(s.by), err
}

func TestAuditFindsClocksThatDiffer(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		by       time.Duration
		severity reconcile.Severity // SeverityNone: no finding
		words    string
	}{
		{0, reconcile.SeverityNone, ""},
		{4 * time.Second, reconcile.SeverityNone, ""},
		{-4 * time.Second, reconcile.SeverityNone, ""},
		{8 * time.Second, reconcile.SeverityWarning, "Redis's is "},
		{-8 * time.Second, reconcile.SeverityWarning, " ahead of Redis's"},
		{29 * time.Second, reconcile.SeverityWarning, "Redis's is "},
		{40 * time.Second, reconcile.SeverityHigh, "Redis's is "},
		{-time.Hour, reconcile.SeverityHigh, " ahead of Redis's"},
	} {
		got := w.findThrough(shifted{w.queue, c.by}, reconcile.Options{}).of(reconcile.CodeClockSkew)
		for range 10 { // while an answer takes seconds, nothing is sure
			if len(got) > 0 || c.severity == reconcile.SeverityNone {
				break
			}
			got = w.findThrough(shifted{w.queue, c.by}, reconcile.Options{}).of(reconcile.CodeClockSkew)
		}
		switch {
		case c.severity == reconcile.SeverityNone && len(got) == 0:
		case c.severity == reconcile.SeverityNone || len(got) != 1:
			t.Errorf("shifted by %v: %d findings, want severity %s", c.by, len(got), c.severity)
		case got[0].Severity != c.severity || !strings.Contains(got[0].Detail, c.words):
			t.Errorf("shifted by %v: %s, %q; want %s and %q", c.by, got[0].Severity, got[0].Detail, c.severity, c.words)
		}
	}
}

// The findings of a whole queue or of the clocks are about none of its tasks.
func TestAuditOfAnEmptyKnownQueueIsClean(t *testing.T) {
	w := newWorld(t)
	w.redis.Make(inspecttest.Spec{ID: "gone", Queue: "empty"})
	if err := w.redis.Inspector().DeleteTask("empty", "gone"); err != nil {
		t.Fatal(err)
	}
	if fs := w.find(reconcile.Options{}); len(fs) != 0 {
		t.Errorf("findings %v, want none", fs)
	}
}
