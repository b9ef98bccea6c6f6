package reconcile_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

// found are the findings of one audit, none left out.
type found []reconcile.Finding

// find runs a whole audit that has to be complete.
func (w *world) find(o reconcile.Options) found {
	w.t.Helper()
	var sink collector
	report, err := w.auditor(o).Run(w.t.Context(), &sink)
	if err != nil {
		w.t.Fatal(err)
	}
	if !report.Complete {
		w.t.Errorf("the audit is not complete: %v", report.Problem)
	}
	return sink.findings
}

// findThrough is find with something between the auditor and Redis.
func (w *world) findThrough(queue reconcile.Tasks, o reconcile.Options) found {
	w.t.Helper()
	o.Ledgers = map[string]reconcile.Ledger{"main": w.ledger}
	o.DefaultLedger = "main"
	o.Settle, o.ConfirmAfter = time.Millisecond, 50*time.Millisecond
	a, err := reconcile.NewAuditor(queue, o)
	if err != nil {
		w.t.Fatal(err)
	}
	var sink collector
	report, err := a.Run(w.t.Context(), &sink)
	if err != nil {
		w.t.Fatal(err)
	}
	if !report.Complete {
		w.t.Errorf("the audit is not complete: %v", report.Problem)
	}
	return sink.findings
}

// of are the findings of a code, in the order of their tasks' IDs.
func (fs found) of(code reconcile.Code) found {
	var out found
	for _, f := range fs {
		if f.Code == code {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b reconcile.Finding) int {
		switch {
		case a.Less(&b):
			return -1
		case b.Less(&a):
			return 1
		}
		return 0
	})
	return out
}

// names are the IDs of the tasks, or the queues where there is no ID.
func (fs found) names() []string {
	names := []string{}
	for _, f := range fs {
		if f.Task.ID == "" {
			names = append(names, f.Task.Queue)
			continue
		}
		names = append(names, f.Task.ID)
	}
	slices.Sort(names)
	return names
}

// only checks that the code is found on the named tasks or queues, and on no
// other, and returns the finding of each.
func (fs found) only(t *testing.T, code reconcile.Code, severity reconcile.Severity, names ...string) map[string]reconcile.Finding {
	t.Helper()
	got := fs.of(code)
	slices.Sort(names)
	if !slices.Equal(got.names(), names) {
		t.Fatalf("%s on %q, want it on %q", code, got.names(), names)
	}
	byName := map[string]reconcile.Finding{}
	for _, name := range got.names() {
		for _, f := range got {
			if f.Task.ID == name || f.Task.ID == "" && f.Task.Queue == name {
				byName[name] = f
			}
		}
		f := byName[name]
		if f.Severity != severity {
			t.Errorf("%s on %q is %s, want %s", code, name, f.Severity, severity)
		}
		if f.ConfirmedAt.IsZero() {
			t.Errorf("%s on %q names no instant", code, name)
		}
	}
	return byName
}

// none checks that none of the codes is found.
func (fs found) none(t *testing.T, codes ...reconcile.Code) {
	t.Helper()
	for _, f := range fs {
		if slices.Contains(codes, f.Code) {
			t.Errorf("%s on %s/%s: %s", f.Code, f.Task.Queue, f.Task.ID, f.Message())
		}
	}
}

// noneOn checks that nothing of a family is said of the tasks.
func (fs found) noneOn(t *testing.T, family string, ids ...string) {
	t.Helper()
	for _, f := range fs {
		if f.Code.Family() == family && slices.Contains(ids, f.Task.ID) {
			t.Errorf("%s on %s/%s: %s", f.Code, f.Task.Queue, f.Task.ID, f.Message())
		}
	}
}

// enqueue uses asynq's client, and returns what it says.
func (w *world) enqueue(kind string, payload []byte, opts ...asynq.Option) error {
	w.t.Helper()
	c := asynq.NewClient(w.redis.AsynqOpt())
	defer c.Close()
	_, err := c.Enqueue(asynq.NewTask(kind, payload), opts...)
	return err
}

// mustEnqueue is enqueue where nothing may refuse.
func (w *world) mustEnqueue(kind string, payload []byte, opts ...asynq.Option) {
	w.t.Helper()
	if err := w.enqueue(kind, payload, opts...); err != nil {
		w.t.Fatal(err)
	}
}

// refused checks that asynq refuses an enqueue for the reason given: it is what
// a finding warns of.
func (w *world) refused(want error, kind string, payload []byte, opts ...asynq.Option) {
	w.t.Helper()
	if err := w.enqueue(kind, payload, opts...); !errors.Is(err, want) {
		w.t.Errorf("enqueueing %s: %v, want %v", kind, err, want)
	}
}

// hog is a task whose handler runs until the test ends, in the only place of a
// server: the queue is served, and what is enqueued later stays pending.
func hog(queue string) inspecttest.Spec {
	return inspecttest.Spec{Outcome: inspecttest.Active, ID: "hog-" + queue, Queue: queue, Type: "test:hog"}
}

// setScore moves a member of a queue's sorted set.
func (w *world) setScore(queue, set, id string, at time.Time) {
	w.t.Helper()
	err := w.redis.Client().ZAdd(context.Background(), "asynq:{"+queue+"}:"+set, redis.Z{Score: float64(at.Unix()), Member: id}).Err()
	if err != nil {
		w.t.Fatal(err)
	}
}

// await waits for what asynq does on its own.
func (w *world) await(what string, ready func() bool) {
	w.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ready(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("two minutes were not enough for %s", what)
		}
	}
}

// natural is a rule for tasks whose repeating harms nobody, so that nothing is
// said of their effects.
var natural = []reconcile.Rule{{Class: reconcile.ClassOverwrite}}

// within checks a duration against its bounds, both included.
func within(t *testing.T, what string, got, low, high time.Duration) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s is %v, want %v to %v", what, got, low, high)
	}
}

func taskRef(queue, id string) inspect.Ref { return inspect.Ref{Queue: queue, ID: id} }
