package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// stock is a queue of archived tasks whose work was lost an hour ago. It knows
// every byte of them, and what each is to be after it was requeued.
type stock struct {
	t     testing.TB
	redis *inspecttest.Server
	queue string
	refs  []inspect.Ref
	// archived and requeued are the tasks' hashes, by ID.
	archived, requeued map[string]string
}

// stocked fills the queue with n tasks, named after it. edit may change each
// message; a task was archived when it failed last.
func stocked(t testing.TB, s *inspecttest.Server, queue string, n int, edit func(i int, m *inspecttest.Message)) *stock {
	t.Helper()
	at := time.Now().Add(-time.Hour)
	scores := make([]redis.Z, n)
	k := &stock{t: t, redis: s, queue: queue, archived: map[string]string{}, requeued: map[string]string{}}
	k.refs = s.Fill(queue, inspect.StateArchived, n, func(i int, m *inspecttest.Message) {
		m.ID, m.Type, m.Payload = fmt.Sprintf("%s-%d", queue, i), "test:task", fmt.Appendf(nil, `{"n":%d}`, i)
		m.MaxRetry, m.Retried, m.LastErr, m.LastFailedAt, m.Timeout = 3, 3, "handler failed", at.Unix(), 60
		if edit != nil {
			edit(i, m)
		}
		scores[i] = redis.Z{Score: float64(m.LastFailedAt), Member: m.ID}
	})
	k.pipe(func(p redis.Pipeliner) { p.ZAdd(context.Background(), k.key("archived"), scores...) })
	k.keep(0)
	return k
}

func (k *stock) key(name string) string { return "asynq:{" + k.queue + "}:" + name }

func (k *stock) pipe(f func(redis.Pipeliner)) []redis.Cmder {
	k.t.Helper()
	cmds, err := k.redis.Client().Pipelined(context.Background(), func(p redis.Pipeliner) error { f(p); return nil })
	if err != nil && !errors.Is(err, redis.Nil) {
		k.t.Fatal(err)
	}
	return cmds
}

// keep notes the hashes as they are, and what they become in a task that gets so
// many attempts (0: what its counters leave).
func (k *stock) keep(attempts int) {
	k.t.Helper()
	cmds := k.pipe(func(p redis.Pipeliner) {
		for _, r := range k.refs {
			p.HGetAll(context.Background(), inspect.TaskKey(r))
		}
	})
	for i, r := range k.refs {
		fields := cmds[i].(*redis.MapStringStringCmd).Val()
		k.archived[r.ID] = fieldsText(fields)
		if attempts > 0 {
			msg, _, _, err := inspect.RewriteAttempts([]byte(fields["msg"]), attempts)
			if err != nil {
				k.t.Fatal(err)
			}
			fields["msg"] = string(msg)
		}
		fields["state"] = "pending"
		k.requeued[r.ID] = fieldsText(fields)
	}
}

// fieldsText is every byte of a hash, in an order that does not hang on how Redis
// keeps it; "" for no hash.
func fieldsText(fields map[string]string) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text += fmt.Sprintf("%s=%q ", name, fields[name])
	}
	return text
}

// place is where a task is: "archived", "pending" or, after a resolve, "gone".
type place = string

// places looks where the tasks are. It fails unless each is in one place, once,
// with every byte that it is to have there, and nothing else is in the queue.
func (k *stock) places() map[string]place {
	k.t.Helper()
	ctx := context.Background()
	cmds := k.pipe(func(p redis.Pipeliner) {
		p.LRange(ctx, k.key("pending"), 0, -1)
		p.ZRange(ctx, k.key("archived"), 0, -1)
		for _, r := range k.refs {
			p.HGetAll(ctx, inspect.TaskKey(r))
		}
	})
	at := map[string][]place{}
	for i, name := range []place{"pending", "archived"} {
		for _, id := range cmds[i].(*redis.StringSliceCmd).Val() {
			at[id] = append(at[id], name)
		}
	}
	found := map[string]place{}
	for i, r := range k.refs {
		hash := fieldsText(cmds[2+i].(*redis.MapStringStringCmd).Val())
		switch where := at[r.ID]; {
		case len(where) == 0 && hash == "":
			found[r.ID] = "gone"
		case len(where) != 1:
			k.t.Errorf("task %s is at %v", r.ID, where)
		case where[0] == "archived" && hash != k.archived[r.ID], where[0] == "pending" && hash != k.requeued[r.ID]:
			k.t.Errorf("the %s task %s has other bytes than it is to have: %s", where[0], r.ID, hash)
		default:
			found[r.ID] = where[0]
		}
		delete(at, r.ID)
	}
	if len(at) > 0 {
		k.t.Errorf("in the queue's list and archive that nobody put there: %v", at)
	}
	return found
}

// count is how many tasks are in the place.
func count(places map[string]place, in place) int {
	n := 0
	for _, p := range places {
		if p == in {
			n++
		}
	}
	return n
}

// drop removes the queue, so that the next one finds a small world.
func (k *stock) drop() {
	k.t.Helper()
	ctx := context.Background()
	keys := k.redis.Client().Keys(ctx, k.key("*")).Val()
	k.pipe(func(p redis.Pipeliner) {
		if len(keys) > 0 {
			p.Del(ctx, keys...)
		}
		p.SRem(ctx, "asynq:queues", k.queue)
	})
}

// told fails unless what was told of every task is true.
func (k *stock) told(out map[string]reconcile.Applied, blind bool) {
	k.t.Helper()
	places := k.places()
	for id, a := range out {
		is := places[id]
		after := "pending"
		if a.Step.Change == journal.ChangeResolve {
			after = "gone"
		}
		switch a.Outcome {
		case journal.OutcomeDone:
			if is != after {
				k.t.Errorf("%s is told as done, and is %s", id, is)
			}
		case journal.OutcomeRefused, journal.OutcomeFailed:
			if is != "archived" {
				k.t.Errorf("%s is told as %s (%s, %v), and is %s", id, a.Outcome, a.Found, a.Err, is)
			}
		case journal.OutcomeUnknown:
			if a.Found != "unknown; now: "+is && (!blind || a.Found != "unknown; nor could it be looked at") {
				k.t.Errorf("%s is told as %q, and is %s", id, a.Found, is)
			}
		}
	}
}

// summaries are the journal's runs; what is wrong with the file is an error.
func summaries(t testing.TB, path string) []journal.Summary {
	t.Helper()
	var all []journal.Summary
	for s, err := range journal.Runs(path) {
		if err != nil {
			t.Errorf("reading the journal: %v", err)
			continue
		}
		all = append(all, s)
	}
	return all
}

// complete fails unless the journal knows the outcome of all that it intended, and
// accounts for all that was planned.
func complete(t testing.TB, path string) {
	t.Helper()
	for _, s := range summaries(t, path) {
		if !s.Settled() || s.Strays > 0 {
			t.Errorf("run %s is not settled: %+v", s.ID, s)
		}
		addsUp(t, s)
	}
}

// addsUp fails unless each planned item of the run is counted once.
func addsUp(t testing.TB, s journal.Summary) {
	t.Helper()
	if s.Planned != s.Done+s.Refused+s.Failed+s.Unknown+s.Pending+s.NotBegun {
		t.Errorf("run %s: %d planned, but %d done, %d refused, %d failed, %d unknown, %d pending, %d never begun",
			s.ID, s.Planned, s.Done, s.Refused, s.Failed, s.Unknown, s.Pending, s.NotBegun)
	}
}

// foreseen fails unless every task that left the archive has an intent with its
// bytes.
func (k *stock) foreseen(path string) {
	k.t.Helper()
	images := map[string]bool{}
	for r, err := range journal.Read(path) {
		var torn *journal.TornError
		if err != nil && !errors.As(err, &torn) {
			k.t.Errorf("reading the journal: %v", err)
		}
		if r.Kind == journal.KindIntent && r.Queue == k.queue && r.Task != nil {
			fields := map[string]string{}
			for _, f := range r.Task.Fields {
				fields[f.Name] = f.Value
			}
			images[r.TaskID] = fieldsText(fields) == k.archived[r.TaskID]
		}
	}
	for id, is := range k.places() {
		if same, known := images[id]; is != "archived" && !same {
			k.t.Errorf("%s is %s; an intent has it: %t, with its bytes: %t", id, is, known, same)
		}
	}
}

// truthful fails unless the journal says done of the tasks that were moved, and of
// no other.
func (k *stock) truthful(path string) {
	k.t.Helper()
	type item struct{ run, item string }
	tasks, done := map[item]string{}, map[item]bool{}
	for r, err := range journal.Read(path) {
		if err != nil {
			k.t.Errorf("reading the journal: %v", err)
			continue
		}
		at := item{r.Run, r.Item}
		switch {
		case r.Kind == journal.KindIntent && r.Queue == k.queue:
			tasks[at] = r.TaskID
		case r.Kind == journal.KindResult:
			done[at] = r.Outcome == journal.OutcomeDone
		}
	}
	moved := map[string]bool{}
	for at, id := range tasks {
		moved[id] = moved[id] || done[at]
	}
	for id, is := range k.places() {
		if moved[id] != (is != "archived") {
			k.t.Errorf("%s is %s; the journal says that it was moved: %t", id, is, moved[id])
		}
	}
}
