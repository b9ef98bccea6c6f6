package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
	"github.com/idemctl/idemctl/reconcile/pgledger"
)

// cutting is a mishap that ends a run at a certain change.
type cutting struct {
	*mishap
	ctx     context.Context
	auditor *reconcile.Auditor // nil: one that asks the mishap's client and ledger
	how     reconcile.Application
	opt     journal.Options
	err     error
}

// newCutting plans to run n tasks, of which some took effect since the plan and will
// be refused.
func newCutting(t *testing.T, n, refused int) *cutting {
	t.Helper()
	w := newWorkshop(t)
	c := &cutting{mishap: w.newMishap(t, "q", n, w.queue, w.ledger), ctx: t.Context(), opt: journal.Options{Operator: "tester"}}
	for i := range refused {
		w.apply(c.refs[n-1-i*n/refused].ID)
	}
	return c
}

// at has something happen at a step of the nth change: "move" is before it, "moved"
// after it.
func (c *cutting) at(step string, nth int, do func()) {
	n := 0
	c.through.before = func(at string) {
		if at != step {
			return
		}
		if n++; n == nth {
			do()
		}
	}
}

func (c *cutting) run() {
	c.t.Helper()
	j, err := journal.Open(c.t.Context(), c.path, c.opt)
	if err != nil {
		c.t.Fatal(err)
	}
	c.how.Tell = func(a reconcile.Applied) { c.out[a.Step.Ref().ID] = a }
	a := c.auditor
	if a == nil {
		a = c.auditorOn(c.through.Client, c.ledger)
	}
	c.err = a.Apply(c.ctx, c.through, j, journal.Run{Command: "requeue --queue=q"}, c.plan, c.how)
	_ = j.Close() // which fails where the journal has
}

// wantEarly fails unless the run ended early for the reason, and everybody agrees on
// the numbers: the error, what was told, the journal, verify, and the archive.
func (c *cutting) wantEarly(why string, notBegun int) {
	c.t.Helper()
	var early *reconcile.EndedEarlyError
	if !errors.As(c.err, &early) {
		c.t.Fatalf("the error is no EndedEarlyError: %v", c.err)
	}
	s := onlyRun(c.t, c.path)
	addsUp(c.t, s)
	if s.Planned != len(c.refs) || s.NotBegun != notBegun || early.Planned != s.Planned || early.NotBegun != notBegun {
		c.t.Errorf("%d planned, %d never begun by the journal, and %d, %d by the error: want %d, %d",
			s.Planned, s.NotBegun, early.Planned, early.NotBegun, len(c.refs), notBegun)
	}
	if !strings.HasPrefix(s.EndedBy, why) || early.Why != s.EndedBy || c.err.Error() != early.Why {
		c.t.Errorf("it ended by %q in the journal, %q by the error, want %q…", s.EndedBy, early.Why, why)
	}
	for _, words := range []string{"context canceled", "deadline exceeded"} {
		if strings.Contains(s.EndedBy+c.err.Error(), words) {
			c.t.Errorf("no operator understands %q", s.EndedBy)
		}
	}
	if s.Complete() != (notBegun == 0 && s.Pending+s.Unknown == 0) {
		c.t.Errorf("complete: %t, with %d never begun", s.Complete(), notBegun)
	}
	begun := 0
	for id, a := range c.out {
		if !a.Unbegun {
			begun++
		} else if a.Outcome != journal.OutcomeRefused || a.Found != "not begun: "+s.EndedBy {
			c.t.Errorf("%s was not begun, and is told as %s (%s)", id, a.Outcome, a.Found)
		}
	}
	if begun != s.Begun() {
		c.t.Errorf("%d were told as begun, and the journal has %d", begun, s.Begun())
	}
	c.verified(s)
}

// verified fails unless verify counts what the journal does.
func (c *cutting) verified(s journal.Summary) {
	c.t.Helper()
	items := 0
	sum, err := c.auditorOn(c.workshop.queue, c.workshop.ledger).Verify(c.t.Context(), journal.Read(c.path), s.ID,
		func(reconcile.Verified) { items++ }, func(err error) { c.t.Error(err) })
	if err != nil {
		c.t.Fatal(err)
	}
	if items != s.Begun() || sum.Items != items || sum.NotBegun != s.NotBegun || sum.Planned != s.Planned || sum.EndedBy != s.EndedBy {
		c.t.Errorf("verify has %d items of %d, %d never begun (%q); the journal has %d of %d, %d (%q)",
			items, sum.Planned, sum.NotBegun, sum.EndedBy, s.Begun(), s.Planned, s.NotBegun, s.EndedBy)
	}
}

func onlyRun(t *testing.T, path string) journal.Summary {
	t.Helper()
	all := summaries(t, path)
	if len(all) != 1 {
		t.Fatalf("%d runs are in the journal", len(all))
	}
	return all[0]
}

// However a run is interrupted, and wherever, the journal says how much of the plan
// was never begun, and who ended it.
func TestInterruptedRunsAccountForAllThatWasPlanned(t *testing.T) {
	t.Parallel()
	const tasks, refused = 130, 3 // more than one group of them
	interrupts := map[string]func(context.Context) (context.Context, func()){
		"stopped by the operator": func(ctx context.Context) (context.Context, func()) {
			return context.WithCancel(ctx)
		},
		"interrupted (SIGTERM)": func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(ctx)
			return ctx, func() { cancel(errors.New("interrupted (SIGTERM)")) }
		},
		"its time ran out (--timeout)": func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithTimeoutCause(ctx, time.Hour, nil)
			_ = cancel // the test's end ends it
			late, expire := context.WithCancelCause(ctx)
			return late, func() { expire(context.DeadlineExceeded) }
		},
	}
	for why, interrupt := range interrupts {
		for _, nth := range []int{1, 60, 97, 98, 126} {
			t.Run(fmt.Sprintf("%s after change %d", why, nth), func(t *testing.T) {
				t.Parallel()
				c := newCutting(t, tasks, refused)
				var end func()
				c.ctx, end = interrupt(t.Context())
				defer end()
				c.at("moved", nth, end)
				c.run()
				s := onlyRun(t, c.path)
				if s.Done != nth {
					t.Fatalf("%d are done, want %d", s.Done, nth)
				}
				c.wantEarly(why, tasks-nth-s.Refused)
				if left := count(c.places(), "archived"); left != tasks-nth {
					t.Errorf("%d are archived, want %d", left, tasks-nth)
				}
			})
		}
	}
}

// A run that is interrupted while nothing of it has begun has no run in the journal.
func TestRunThatIsInterruptedBeforeItBeginsSaysSo(t *testing.T) {
	t.Parallel()
	c := newCutting(t, 3, 0)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	c.ctx = ctx
	c.run()
	var early *reconcile.EndedEarlyError
	if !errors.As(c.err, &early) || early.NotBegun != 3 || c.err.Error() != "stopped by the operator" || !errors.Is(c.err, context.Canceled) {
		t.Errorf("%v (%+v)", c.err, early)
	}
	if all := summaries(t, c.path); len(all) != 0 {
		t.Errorf("%+v is in the journal", all)
	}
}

// A change whose answer is lost is neither done nor never begun.
func TestLostServersAccountForAllThatWasPlanned(t *testing.T) {
	t.Parallel()
	const tasks, refused = 130, 2
	t.Run("Redis", func(t *testing.T) {
		t.Parallel()
		c := newCutting(t, tasks, refused)
		proxy := c.redis.Proxy()
		far, err := inspect.Open(t.Context(), proxy.Options())
		c.must(err)
		defer far.Close()
		c.through.Client = far
		c.at("move", 40, func() { proxy.Break(inspecttest.Fault{At: 1, Answer: true, Lasting: true}) })
		c.run()
		proxy.Break(inspecttest.Fault{})
		s := onlyRun(t, c.path)
		if s.Unknown != 1 || s.Done != 39 {
			t.Errorf("%d unknown and %d done, want 1 and 39", s.Unknown, s.Done)
		}
		c.wantEarly("Redis was lost: ", tasks-40-s.Refused)
	})
	t.Run("the ledger", func(t *testing.T) {
		t.Parallel()
		c := newCutting(t, tasks, refused)
		proxy := inspecttest.NewProxy(t, "tcp", fmt.Sprintf("%s:%d", c.db.Host, c.db.Port))
		dsn := strings.Replace(c.db.DSN, fmt.Sprintf(":%d/", c.db.Port), proxy.Addr()[strings.LastIndex(proxy.Addr(), ":"):]+"/", 1)
		ledger, err := pgledger.Open(t.Context(), pgledger.Options{Name: "main", DSN: dsn})
		c.must(err)
		defer ledger.Close()
		c.mishap.ledger = ledger
		c.at("moved", 50, func() { proxy.Break(inspecttest.Fault{At: 1, Lasting: true}) })
		c.run()
		proxy.Break(inspecttest.Fault{})
		s := onlyRun(t, c.path)
		if s.Done < 50 || s.NotBegun == 0 {
			t.Errorf("%d done, %d never begun", s.Done, s.NotBegun)
		}
		c.wantEarly("the ledger was lost: ", tasks-s.Done-s.Refused)
	})
}

// lostCopy is a copy that takes so many writes.
type lostCopy struct{ writes int }

func (c *lostCopy) Has(context.Context, string, uint64) (bool, error) { return false, nil }
func (c *lostCopy) String() string                                    { return "table idemctl_journal" }

func (c *lostCopy) Write(context.Context, []journal.Entry) error {
	if c.writes--; c.writes < 0 {
		return errors.New("connection reset by peer")
	}
	return nil
}

// Items that the journal refuses, since its copy is gone, were never begun.
func TestLostCopyOfTheJournalAccountsForAllThatWasPlanned(t *testing.T) {
	t.Parallel()
	const tasks, refused = 130, 3
	for writes, begun := range map[int]int{1: 0, 2: 100} {
		t.Run(fmt.Sprint("after ", writes), func(t *testing.T) {
			t.Parallel()
			c := newCutting(t, tasks, refused)
			c.opt.Copy = &lostCopy{writes: writes}
			c.run()
			s := onlyRun(t, c.path)
			if s.Done+s.Refused < begun || s.Done > begun {
				t.Errorf("%d are done, %d refused, of %d", s.Done, s.Refused, begun)
			}
			c.wantEarly("the copy of journal ", tasks-s.Done-s.Refused)
		})
	}
}

// A journal whose copy does not even take the beginning says that all is as it was.
func TestRunThatTheCopyRefusesNeverBegan(t *testing.T) {
	t.Parallel()
	c := newCutting(t, 3, 0)
	c.opt.Copy = &lostCopy{}
	c.run()
	s := onlyRun(t, c.path)
	addsUp(t, s)
	if c.err == nil || s.Planned != 3 || s.NotBegun != 3 || !strings.Contains(s.EndedBy, "connection reset") {
		t.Errorf("%v; %+v", c.err, s)
	}
}

// failingWorker is a workshop whose worker fails every task.
func failingWorker(t *testing.T, n int) *cutting {
	t.Helper()
	w := newWorkshop(t)
	w.archivedTasks(n)
	t.Cleanup(w.redis.Serve(map[string]int{"default": 1}, 4, func(context.Context, *asynq.Task) error {
		return fmt.Errorf("the bank says no: %w", asynq.SkipRetry)
	}))
	c := &cutting{ctx: t.Context(), auditor: w.auditor(reconcile.Options{}), mishap: &mishap{
		workshop: w, t: t, stock: &stock{refs: make([]inspect.Ref, n)}, out: map[string]reconcile.Applied{}, path: w.path, ledger: w.ledger,
		through: &counted{Client: w.queue, moved: map[inspect.Ref]int{}},
	}}
	if c.plan = w.requeue(reconcile.Options{}, reconcile.Moves{}); c.plan.Runnable() < n {
		t.Fatalf("%d of %d are to run: %s", c.plan.Runnable(), n, c.plan.Steps[0].Hold)
	}
	return c
}

func TestFailedCanaryLeavesTheRestNeverBegun(t *testing.T) {
	t.Parallel()
	c := failingWorker(t, 20)
	c.how = reconcile.Application{Canary: 3, CanaryWait: time.Minute}
	c.run()
	var canary *reconcile.CanaryError
	if s := onlyRun(t, c.path); !errors.As(c.err, &canary) || s.Done != 3 {
		t.Fatalf("%d are done: %v", s.Done, c.err)
	}
	c.wantEarly("the canary failed: ", 17)
}

func TestStopAfterFailuresLeavesTheRestNeverBegun(t *testing.T) {
	t.Parallel()
	c := failingWorker(t, 60)
	c.how = reconcile.Application{StopAfterFailures: 3}
	c.run()
	s := onlyRun(t, c.path)
	if s.NotBegun == 0 || s.Done < 3 || s.NotBegun != 60-s.Done {
		t.Errorf("%d never begun, %d done", s.NotBegun, s.Done)
	}
	c.wantEarly("stopped after ", s.NotBegun)
	if !strings.Contains(s.EndedBy, "failures: ") {
		t.Errorf("%q", s.EndedBy)
	}
	// All were run, and it is the last look that finds the failures.
	few := failingWorker(t, 5)
	few.how = reconcile.Application{StopAfterFailures: 3}
	few.run()
	few.wantEarly("stopped after ", 0)
}

// A killed run has no end. Planned less begun is what it left, before a resumption
// and after it.
func TestKilledRunsAccountForAllThatWasPlanned(t *testing.T) {
	t.Parallel()
	const tasks = 130
	w := newWorkshop(t)
	for n, at := range []int{2, 30, 201, 205, 260} {
		k := &killing{w: w, path: fmt.Sprintf("%s-%d", w.path, n), moves: reconcile.Moves{Action: reconcile.ActionRun}}
		queue := fmt.Sprint("k", n)
		k.stock, k.moves.Idle = stocked(t, w.redis, queue, tasks, nil), []string{queue}
		p := w.start(t, operator{Moves: k.moves, Journal: k.path, Queue: queue, KillAt: at})
		if dead, _ := p.end(); !dead {
			t.Fatal("it was not killed")
		}
		before := summaries(t, k.path)
		for _, s := range before {
			addsUp(t, s)
			if s.Planned != tasks || s.Complete() || s.EndedBy != "" {
				t.Errorf("killed at step %d: %d planned, complete %t, ended by %q", at, s.Planned, s.Complete(), s.EndedBy)
			}
		}
		if err := resume(t.Context(), k.path, k.auditor(), w.queue, journal.Options{Operator: "second"}, nil); err != nil {
			t.Fatal(err)
		}
		complete(t, k.path)
		for i, s := range summaries(t, k.path)[:len(before)] {
			if s.NotBegun != before[i].NotBegun || (s.NotBegun > 0) != strings.HasPrefix(s.EndedBy, "killed") {
				t.Errorf("killed at step %d: %d were never begun before the resumption, and %d after it (%q)", at, before[i].NotBegun, s.NotBegun, s.EndedBy)
			}
		}
		k.drop()
	}
}

// A resumption that is cut short has planned what it was to make again.
func TestResumptionThatIsCutShortSaysWhatItNeverBegan(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.redis.Make(archivedSpecs("first", "second", "third")...)
	settleDown()
	w.cutOff(reconcile.Options{}, w.requeue(reconcile.Options{}, idle(reconcile.Moves{})), false, "first", "second", "third")
	r := w.planResume(reconcile.Options{})
	if r.Runnable() != 3 {
		t.Fatalf("%d are to be made again", r.Runnable())
	}
	j := w.journal()
	_, err := w.auditor(reconcile.Options{}).Resume(t.Context(), away{w.queue, false}, j, journal.Run{ID: "again"}, r, reconcile.Application{})
	j.Close()
	all := summaries(t, w.path)
	at := slices.IndexFunc(all, func(s journal.Summary) bool { return s.ID == "again" })
	if err == nil || at < 0 {
		t.Fatal(err, at)
	}
	addsUp(t, all[at])
	if s := all[at]; s.Planned != 3 || s.NotBegun != 2 || s.Unknown != 1 || !strings.HasPrefix(s.EndedBy, "Redis was lost: ") {
		t.Errorf("%+v", s)
	}
}
