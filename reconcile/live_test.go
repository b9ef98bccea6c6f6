package reconcile_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// liveTasks is how many tasks the live-traffic test runs; IDEMCTL_LIVE_TASKS
// replaces it.
func liveTasks(t *testing.T) int {
	text := os.Getenv("IDEMCTL_LIVE_TASKS")
	if text == "" {
		return 20_000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("IDEMCTL_LIVE_TASKS=%q: %v", text, err)
	}
	return n
}

// Producers and workers run with every fault while audits run beside them. A
// recorder knows the truth: no verdict may contradict it, and once the traffic
// has ended the last audit must find exactly the true set.
func TestAuditBesideLiveWorkersGivesNoWrongVerdict(t *testing.T) {
	w := newWorld(t)
	w.db.Exec(`CREATE TABLE effects (key text PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT clock_timestamp())`)
	w.db.Exec(`INSERT INTO effects VALUES ('long-ago', now() - interval '300 days')`)
	traffic := newTraffic(t, w, liveTasks(t))
	options := reconcile.Options{
		Settle: zombieLimit, ConfirmAfter: 200 * time.Millisecond, Rules: liveRules(),
	}

	trafficDone := make(chan struct{})
	var auditing sync.WaitGroup
	var verdicts, audits int
	auditing.Go(func() {
		for {
			sink := &truthful{traffic: traffic}
			report, err := w.auditor(options).Run(t.Context(), sink)
			if err != nil || !report.Complete {
				t.Errorf("audit %d: %v (complete %t, %v)", audits, err, report.Complete, report.Problem)
				return
			}
			audits++
			verdicts += sink.judged
			traffic.note(sink.findings)
			select {
			case <-trafficDone:
				return
			default:
			}
		}
	})
	traffic.run()
	close(trafficDone)
	auditing.Wait()
	traffic.drain()
	settleDown()
	time.Sleep(zombieLimit)

	traffic.checkNoted()
	var sink collector
	if _, err := w.auditor(options).Run(t.Context(), &sink); err != nil {
		t.Fatal(err)
	}
	got := map[string]reconcile.Code{}
	for _, f := range sink.findings {
		if f.Code.Family() == "effect" {
			got[f.Task.ID] = f.Code
		}
	}
	want := traffic.trueSet()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the last audit differs from the truth (-true +found):\n%s", clip(diff, 4000))
	}
	counts := map[reconcile.Code]int{}
	for _, c := range want {
		counts[c]++
	}
	t.Logf("%d audits beside %d tasks, %d findings checked; at the end %v", audits, traffic.total, verdicts, counts)
	for _, c := range []reconcile.Code{reconcile.CodeLost, reconcile.CodeAppliedArchived, reconcile.CodeUnmarked} {
		if counts[c] == 0 {
			t.Errorf("the traffic made no case of %s: the test shows nothing about it", c)
		}
	}
	if audits < 3 || verdicts == 0 {
		t.Errorf("%d audits with %d verdicts ran beside the traffic: too few to show anything", audits, verdicts)
	}
}

func liveRules() []reconcile.Rule {
	return []reconcile.Rule{{
		Type: "live:*", Class: reconcile.ClassCreate, Key: "payload.key",
		Sources: []reconcile.Source{
			{Role: reconcile.RoleMark, Table: "processed_tasks", Column: "task_id", At: "processed_at"},
			{Role: reconcile.RoleEffect, Table: "effects", Column: "key", At: "created_at"},
		},
	}}
}

// clockGrain is how closely instants of Redis and of this process are compared;
// they run on one machine.
const clockGrain = time.Millisecond

// truthful holds every finding against what is known at once, and keeps the
// rest for later.
type truthful struct {
	collector
	traffic *traffic
	judged  int
}

func (s *truthful) Finding(f reconcile.Finding) {
	s.judged++
	if wrong := s.traffic.wrongNow(f); wrong != "" {
		s.traffic.t.Errorf("wrong verdict: %s on %s (key %s) at %s: %s",
			f.Code, f.Task.ID, f.Key, f.ConfirmedAt.Format(time.RFC3339Nano), wrong)
	}
	s.collector.Finding(f)
}

// wrongNow says why a finding contradicts what had happened when it was
// confirmed.
func (tr *traffic) wrongNow(f reconcile.Finding) string {
	switch f.Code {
	case reconcile.CodeAppliedArchived, reconcile.CodeAppliedRetry, reconcile.CodeAppliedWaiting,
		reconcile.CodeAppliedActive, reconcile.CodeAppliedOrphaned:
		at, began := tr.began(f.Key)
		if !began {
			return "its key was never committed"
		}
		if at.After(f.ConfirmedAt.Add(clockGrain)) {
			return "its key began to commit only at " + at.Format(time.RFC3339Nano)
		}
	case reconcile.CodeLost, reconcile.CodeUnmarked, reconcile.CodeOrphaned:
		if ended, ok := tr.ended(f.Key); ok && !ended.IsZero() && ended.Before(f.ConfirmedAt.Add(-clockGrain)) {
			return "its key had been committed by " + ended.Format(time.RFC3339Nano)
		}
	case reconcile.CodePartial:
		return "mark and effect are written in one transaction"
	case reconcile.CodeInDoubt, reconcile.CodeStaleClaim:
		return "no row is ever in progress"
	case reconcile.CodeDuplicated, reconcile.CodeMismatch:
		return "no key has two effects"
	case reconcile.CodeUnknown, reconcile.CodeKeyMissing:
		return "every task has a rule and a key: " + f.Message()
	}
	return ""
}

// note keeps the findings that only the end of the traffic can refute.
func (tr *traffic) note(findings []reconcile.Finding) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, f := range findings {
		switch f.Code {
		case reconcile.CodeLost, reconcile.CodeUnmarked, reconcile.CodeAppliedArchived,
			reconcile.CodeAppliedRetry, reconcile.CodeAppliedWaiting:
			tr.noted = append(tr.noted, f)
		}
	}
}

// checkNoted refutes what was said to be absent and came after all: nobody
// re-runs an archived task here, and no attempt outlives the settle time but where
// the machine stood still.
func (tr *traffic) checkNoted() {
	final := tr.finalStates()
	for _, f := range tr.noted {
		committed, ok := tr.began(f.Key)
		switch f.Code {
		case reconcile.CodeLost, reconcile.CodeUnmarked:
			if ok && !tr.cameLate(f.Key) {
				tr.t.Errorf("wrong verdict: %s on %s at %s, and its key was committed at %s",
					f.Code, f.Task.ID, f.ConfirmedAt.Format(time.RFC3339Nano), committed.Format(time.RFC3339Nano))
			}
		case reconcile.CodeAppliedRetry, reconcile.CodeAppliedWaiting:
			if waited, known := tr.waited(f.Task.ID, f.ConfirmedAt); known && !waited {
				tr.t.Errorf("wrong verdict: %s on %s at %s, and the task was not waiting then",
					f.Code, f.Task.ID, f.ConfirmedAt.Format(time.RFC3339Nano))
			}
		case reconcile.CodeAppliedArchived:
			if final[f.Task.ID] != inspect.StateArchived {
				tr.t.Errorf("wrong verdict: %s on %s, which is %s in the end", f.Code, f.Task.ID, final[f.Task.ID])
			}
		}
	}
}

// trueSet is what an audit of the quiet end must find.
func (tr *traffic) trueSet() map[string]reconcile.Code {
	set := map[string]reconcile.Code{}
	for id, state := range tr.finalStates() {
		_, applied := tr.began(tr.keyOf(id))
		switch {
		case state == inspect.StateArchived && applied:
			set[id] = reconcile.CodeAppliedArchived
		case state == inspect.StateArchived:
			set[id] = reconcile.CodeLost
		case state == inspect.StateCompleted && !applied:
			set[id] = reconcile.CodeUnmarked
		}
	}
	return set
}

// finalStates reads where every task is by asynq's own structures.
func (tr *traffic) finalStates() map[string]inspect.State {
	states := map[string]inspect.State{}
	rdb := tr.w.redis.Client()
	ctx := context.Background()
	for _, q := range liveQueues {
		for _, s := range []inspect.State{inspect.StateArchived, inspect.StateCompleted, inspect.StateRetry, inspect.StateScheduled} {
			ids, err := rdb.ZRange(ctx, fmt.Sprintf("asynq:{%s}:%s", q, s), 0, -1).Result()
			if err != nil {
				tr.t.Fatal(err)
			}
			for _, id := range ids {
				states[id] = s
			}
		}
	}
	return states
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}
