package reconcile_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

func (w *workshop) restores(want reconcile.DeletionFilter, because string) reconcile.Plan {
	w.t.Helper()
	found, err := reconcile.FindDeletions(journal.Read(w.path), want, func(err error) { w.t.Error(err) })
	if err != nil {
		w.t.Fatal(err)
	}
	plan, err := w.auditor(reconcile.Options{}).PlanUndo(w.t.Context(), w.queue, found, because)
	if err != nil {
		w.t.Fatal(err)
	}
	return plan
}

// stored is all that Redis keeps of a task, but for the lock's remaining time.
func (w *workshop) stored(id string) (hash, score, owner string) {
	w.t.Helper()
	c, ctx := w.redis.Client(), w.t.Context()
	key := "asynq:{default}:t:" + id
	hash = c.Dump(ctx, key).Val()
	score = fmt.Sprint(math.Float64bits(c.ZScore(ctx, "asynq:{default}:archived", id).Val()))
	owner = c.Get(ctx, c.HGet(ctx, key, "unique_key").Val()).Val()
	return hash, score, owner
}

const undone = "6f1c0d6e-3d0e-4d0c-9f57-1f9d5a1f2b3c"

func TestRestoreUndoesResolveByteForByteAgainAndAgain(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(inspecttest.Spec{
		Outcome: inspecttest.Archived, ID: undone, Type: "t", Payload: []byte("\x00\xff not text"), Result: []byte("half"),
		Headers: map[string]string{"trace": "1"}, Options: hourly,
	})
	w.apply(undone)
	w.must(w.redis.Client().HSet(t.Context(), "asynq:{default}:t:"+undone, "of-a-later-asynq", "\x01\xfe").Err())
	settleDown()
	hash, score, owner := w.stored(undone)
	lock := inspect.UniqueKey("default", "t", []byte("\x00\xff not text"))
	ends := w.redis.Client().PExpireTime(t.Context(), lock).Val() // since 1970
	for round := range 2 {
		began := time.Now()
		out, err := w.perform(reconcile.Options{}, w.resolve(reconcile.Options{}, reconcile.Moves{}), reconcile.Application{})
		if err != nil || out[undone].Outcome != done || w.state(undone).State != inspect.StateUnknown {
			t.Fatal(round, err, out)
		}
		took := time.Since(began) // its looks at the lock's time and at the clock are so far apart at the most
		if n := w.redis.Client().Exists(t.Context(), lock).Val(); n != 0 {
			t.Fatal("resolve leaves the lock")
		}
		time.Sleep(1200 * time.Millisecond)
		plan := w.restores(reconcile.DeletionFilter{IDs: []string{undone}}, "")
		if out, err = w.perform(reconcile.Options{}, plan, reconcile.Application{}); err != nil || out[undone].Outcome != done || out[undone].Found != "" {
			t.Fatal(round, err, out)
		}
		h, s, o := w.stored(undone)
		if h != hash || s != score || o != owner || o != undone {
			t.Errorf("round %d: hash the same: %t, score %s, want %s, lock owned by %q", round, h == hash, s, score, o)
		}
		if d := (w.redis.Client().PExpireTime(t.Context(), lock).Val() - ends).Abs(); d > max(time.Second, took) {
			t.Errorf("round %d: the lock ends %v from when it ended", round, d)
		}
	}
	if last := w.state(undone); last.State != inspect.StateArchived {
		t.Error("it is", last.State)
	}
}

func TestRestoreSaysWhatCannotBePutBack(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	id := func(n int) string { return fmt.Sprintf("6f1c0d6e-3d0e-4d0c-9f57-1f9d5a1f2b0%d", n) }
	var ids []string
	for n := range 6 {
		ids = append(ids, id(n))
	}
	w.redis.Make(archivedSpecs(ids...)...)
	w.redis.Make(archivedSpecs("requeued")...)
	w.apply(ids...)
	settleDown()
	w.must(w.redis.Client().ZAdd(t.Context(), "asynq:{default}:archived", redis.Z{Score: float64(time.Now().Add(-91 * 24 * time.Hour).Unix()), Member: id(4)}).Err())
	resolved := w.resolve(reconcile.Options{}, reconcile.Moves{})
	w.cutOff(reconcile.Options{}, resolved, true, id(5))
	resolved.Steps = slices.DeleteFunc(resolved.Steps, func(s reconcile.Step) bool { return s.Ref().ID == id(5) })
	if _, err := w.perform(reconcile.Options{}, resolved, reconcile.Application{}); err != nil {
		t.Fatal(err)
	}
	again := w.requeue(reconcile.Options{}, idle(reconcile.Moves{}))
	if _, err := w.perform(reconcile.Options{}, again, reconcile.Application{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.perform(reconcile.Options{}, w.restores(reconcile.DeletionFilter{IDs: []string{id(1), id(2)}}, ""), reconcile.Application{}); err != nil {
		t.Fatal(err)
	}
	w.must(w.redis.Inspector().DeleteTask("default", id(2))) // put back, and deleted by other means
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: id(3), Payload: []byte("other")})

	plan := w.restores(reconcile.DeletionFilter{IDs: append(ids, "requeued", "never")}, "")
	for _, tt := range []struct{ id, words string }{
		{id(0), ""},
		{id(1), "it is there already: archived"},
		{id(2), "after that came restore"},
		{id(3), "another task has its ID, which is scheduled"},
		{id(4), "older than 90 days"},
		{id(5), "idemctl journal resume"},
		{"requeued", "its last change is requeue, at"},
		{"never", "knows of no change to it"},
	} {
		s := stepOn(t, plan, tt.id)
		if (s.Hold == "") != (tt.words == "") || !strings.Contains(s.Hold, tt.words) {
			t.Errorf("%s is held: %q, want %q", tt.id, s.Hold, tt.words)
		}
	}
	if s := stepOn(t, plan, "requeued"); !strings.Contains(s.Hold, "it is pending now") {
		t.Errorf("nothing says where the task is: %q", s.Hold)
	}
	// What asynq may delete again is put back by name and with a reason; a taken ID is not.
	for name, want := range map[string]int{id(4): 1, id(2): 1, id(3): 0, "never": 0} {
		if n := func() int {
			p := w.restores(reconcile.DeletionFilter{IDs: []string{name}}, "it is evidence")
			return p.Runnable()
		}(); n != want {
			t.Errorf("%s with a reason: %d changes, want %d", name, n, want)
		}
	}
	forced := w.restores(reconcile.DeletionFilter{IDs: []string{id(4)}}, "it is evidence")
	if out, err := w.perform(reconcile.Options{}, forced, reconcile.Application{}); err != nil || out[id(4)].Outcome != done {
		t.Error(err, out)
	}
}

func TestRestoreOfRedactedTasksIsHeld(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(archivedSpecs(undone)...)
	w.apply(undone)
	settleDown()
	j, err := journal.Open(t.Context(), w.path, journal.Options{Redact: func(image *journal.TaskImage) {
		for i := range image.Fields {
			if image.Fields[i].Name == "msg" {
				image.Fields[i].Value = "hidden"
			}
		}
	}})
	w.must(err)
	w.must(w.auditor(reconcile.Options{}).Apply(t.Context(), w.queue, j, journal.Run{}, w.resolve(reconcile.Options{}, reconcile.Moves{}), reconcile.Application{}))
	j.Close()
	for _, because := range []string{"", "I know"} {
		plan := w.restores(reconcile.DeletionFilter{IDs: []string{undone}}, because)
		if s := stepOn(t, plan, undone); !strings.Contains(s.Hold, "redacted") {
			t.Errorf("with the reason %q it is held: %q", because, s.Hold)
		}
	}
}

func TestRestoreStopsBeforeAnArchiveThatIsTrimmed(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	ids := []string{"6f1c0d6e-3d0e-4d0c-9f57-1f9d5a1f2b31", "6f1c0d6e-3d0e-4d0c-9f57-1f9d5a1f2b32"}
	w.redis.Make(archivedSpecs(ids...)...)
	w.apply(ids...)
	settleDown()
	if _, err := w.perform(reconcile.Options{}, w.resolve(reconcile.Options{}, reconcile.Moves{}), reconcile.Application{}); err != nil {
		t.Fatal(err)
	}
	w.redis.Fill("default", inspect.StateArchived, 9998, nil)
	plan := w.restores(reconcile.DeletionFilter{IDs: ids}, "")
	if plan.Runnable() != 1 || !strings.Contains(plan.Steps[1].Hold, "9999 tasks") {
		t.Errorf("%d are put back, the second is held: %q", plan.Runnable(), plan.Steps[1].Hold)
	}
}

// A ghost that was closed was in no archive: it comes back there, since nothing
// runs from it.
func TestRestorePutsAClosedTaskIntoTheArchive(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Retry, ID: undone, Type: "t", Payload: []byte("1"), Options: hourly})
	w.apply(undone)
	settleDown()
	w.redis.Ghost(ref(undone))
	w.carryOut(w.repairs(reconcile.Scope{}, reconcile.Selection{}))
	if w.state(undone).State != inspect.StateUnknown {
		t.Fatal("it was not closed")
	}
	plan := w.restores(reconcile.DeletionFilter{IDs: []string{undone}}, "")
	if s := stepOn(t, plan, undone); s.Hold != "" || !strings.Contains(s.Words(), "when it was retry") {
		t.Errorf("%s; held: %q", s.Words(), s.Hold)
	}
	out, err := w.perform(reconcile.Options{}, plan, reconcile.Application{})
	task := w.state(undone)
	if err != nil || out[undone].Outcome != done || task.State != inspect.StateArchived || time.Since(task.ArchivedAt) > time.Minute || string(task.Payload) != "1" {
		t.Errorf("%v %+v; %+v", err, out, task)
	}
	w.clean()
}

func TestRestoreByRunTakesItsTasksAndNoOthers(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	ids := []string{"6f1c0d6e-3d0e-4d0c-9f57-1f9d5a1f2b31", "6f1c0d6e-3d0e-4d0c-9f57-1f9d5a1f2b32"}
	w.redis.Make(archivedSpecs(ids...)...)
	w.apply(ids...)
	settleDown()
	plan := w.resolve(reconcile.Options{}, reconcile.Moves{})
	for _, id := range ids {
		one := plan
		one.Steps = []reconcile.Step{stepOn(t, plan, id)}
		if _, err := w.perform(reconcile.Options{}, one, reconcile.Application{}); err != nil {
			t.Fatal(err)
		}
	}
	run := w.journalled()[0].Run
	if p := w.restores(reconcile.DeletionFilter{Run: run}, ""); len(p.Steps) != 1 || p.Steps[0].Ref().ID != ids[0] || p.Runnable() != 1 {
		t.Errorf("run %s: %+v", run, p.Steps)
	}
	if p := w.restores(reconcile.DeletionFilter{Run: run, IDs: ids[1:]}, ""); p.Runnable() != 0 {
		t.Errorf("another run's task is put back: %+v", p.Steps)
	}
	if p := w.restores(reconcile.DeletionFilter{IDs: ids, Context: "another"}, ""); p.Runnable() != 0 {
		t.Errorf("another context's tasks are put back: %+v", p.Steps)
	}
}

func TestTwoRestoresAtOncePutATaskBackOnce(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	var ids []string
	for n := range 20 {
		ids = append(ids, fmt.Sprintf("6f1c0d6e-3d0e-4d0c-9f57-1f9d5a1f2b%02d", n))
	}
	w.redis.Make(archivedSpecs(ids...)...)
	w.apply(ids...)
	settleDown()
	if _, err := w.perform(reconcile.Options{}, w.resolve(reconcile.Options{}, reconcile.Moves{}), reconcile.Application{}); err != nil {
		t.Fatal(err)
	}
	plan := w.restores(reconcile.DeletionFilter{IDs: ids}, "")
	var wait sync.WaitGroup
	outs := make([]map[string]reconcile.Applied, 2)
	for i := range outs {
		other := &workshop{world: w.world, path: fmt.Sprint(w.path, i)} // on another host
		wait.Go(func() {
			var err error
			if outs[i], err = other.perform(reconcile.Options{}, plan, reconcile.Application{}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for _, id := range ids {
		a, b := outs[0][id], outs[1][id]
		if a.Outcome != done {
			a, b = b, a
		}
		if a.Outcome != done || b.Outcome != refused || !strings.Contains(b.Found, "a task has the ID") {
			t.Errorf("%s: %s (%s) and %s (%s)", id, a.Outcome, a.Found, b.Outcome, b.Found)
		}
	}
	if n := w.redis.Client().ZCard(t.Context(), "asynq:{default}:archived").Val(); n != 20 {
		t.Errorf("%d are archived", n)
	}
}

func TestRestoreLeavesALockThatIsAnothersNow(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: undone, Type: "t", Payload: []byte("1"), Options: hourly})
	w.apply(undone)
	settleDown()
	if _, err := w.perform(reconcile.Options{}, w.resolve(reconcile.Options{}, reconcile.Moves{}), reconcile.Application{}); err != nil {
		t.Fatal(err)
	}
	w.must(w.tryEnqueue("default", "t", []byte("1"), asynq.TaskID("twin"), asynq.Unique(time.Hour)))
	out, err := w.perform(reconcile.Options{}, w.restores(reconcile.DeletionFilter{IDs: []string{undone}}, ""), reconcile.Application{})
	if err != nil || out[undone].Outcome != done || !strings.Contains(out[undone].Found, `belongs to "twin" now`) {
		t.Errorf("%v %+v", err, out)
	}
	if _, _, owner := w.stored(undone); owner != "twin" {
		t.Errorf("the lock belongs to %q", owner)
	}
}
