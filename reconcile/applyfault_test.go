package reconcile_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
	"github.com/idemctl/idemctl/reconcile/pgledger"
)

// counted is a Structure that counts how often each task was to be moved, and
// lets something happen before a step.
type counted struct {
	*inspect.Client
	moved  map[inspect.Ref]int
	before func(step string) // nil: nothing
}

func (c *counted) at(step string) {
	if c.before != nil {
		c.before(step)
	}
}

func (c *counted) Raw(ctx context.Context, refs []inspect.Ref) ([]inspect.Raw, error) {
	c.at("raw")
	return c.Client.Raw(ctx, refs)
}

func (c *counted) Requeue(ctx context.Context, e inspect.Expect, o inspect.Requeue) (inspect.Change, error) {
	c.moved[e.Ref]++
	c.at("move")
	change, err := c.Client.Requeue(ctx, e, o)
	c.at("moved")
	return change, err
}

func (c *counted) Resolve(ctx context.Context, e inspect.Expect) (inspect.Change, error) {
	c.moved[e.Ref]++
	c.at("move")
	change, err := c.Client.Resolve(ctx, e)
	c.at("moved")
	return change, err
}

// evals is how many scripts the whole server has run.
func evals(t testing.TB, s *inspecttest.Server) int {
	t.Helper()
	n := 0
	for line := range strings.Lines(s.Client().Info(context.Background(), "commandstats").Val()) {
		name, rest, _ := strings.Cut(line, ":calls=")
		if name != "cmdstat_evalsha" && name != "cmdstat_eval" {
			continue
		}
		count, _, _ := strings.Cut(rest, ",")
		calls, err := strconv.Atoi(count)
		if err != nil {
			t.Fatal(err)
		}
		n += calls
	}
	return n
}

// mishap is one application of a plan to a stock, with something broken.
type mishap struct {
	*workshop
	*stock
	t    *testing.T
	plan reconcile.Plan
	path string
	out  map[string]reconcile.Applied
	// through is the client that applies; whole is the one that looks on.
	through *counted
	ledger  reconcile.Ledger
	// stood says that the machine stood still while the application went on, and
	// perhaps just while it looked for a task whose answer was lost: for two seconds.
	stood bool
}

// newMishap plans to run all of a new queue's tasks, with a client and a ledger
// that are whole.
func (w *workshop) newMishap(t *testing.T, queue string, n int, through *inspect.Client, ledger reconcile.Ledger) *mishap {
	t.Helper()
	f := &mishap{
		workshop: w, t: t, stock: stocked(t, w.redis, queue, n, nil), out: map[string]reconcile.Applied{},
		path: filepath.Join(t.TempDir(), "journal.jsonl"), ledger: ledger,
		through: &counted{Client: through, moved: map[inspect.Ref]int{}},
	}
	f.plan = f.freshPlan()
	if f.plan.Runnable() != n {
		t.Fatalf("%d of %d are to run: %s", f.plan.Runnable(), n, f.plan.Steps[0].Hold)
	}
	return f
}

func (f *mishap) freshPlan() reconcile.Plan {
	f.t.Helper()
	plan, report, err := f.auditorOn(f.workshop.queue, f.workshop.ledger).PlanRequeue(f.t.Context(), &collector{}, f.moves())
	if err != nil || !report.Complete {
		f.t.Fatal(err, report.Problem)
	}
	return plan
}

func (f *mishap) moves() reconcile.Moves { return reconcile.Moves{Idle: []string{f.stock.queue}} }

func (f *mishap) auditorOn(q reconcile.Tasks, l reconcile.Ledger) *reconcile.Auditor {
	f.t.Helper()
	a, err := reconcile.NewAuditor(q, reconcile.Options{
		Scope: reconcile.Scope{Queues: []string{f.stock.queue}}, Ledgers: map[string]reconcile.Ledger{"main": l}, DefaultLedger: "main",
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return a
}

// apply applies the plan by the client and ledger that may break.
func (f *mishap) apply() error {
	f.t.Helper()
	j, err := journal.Open(f.t.Context(), f.path, journal.Options{Operator: "first"})
	if err != nil {
		f.t.Fatal(err)
	}
	stood := standstill()
	err = f.auditorOn(f.through.Client, f.ledger).Apply(f.t.Context(), f.through, j, journal.Run{Command: "test"}, f.plan,
		reconcile.Application{Tell: func(a reconcile.Applied) { f.out[a.Step.Ref().ID] = a }})
	f.stood = stood() > time.Second
	_ = j.Close() // which fails where the disk does
	return err
}

// after looks at what the fault left, resumes, and then runs what is left by a
// new plan. blind says that nobody could look, either.
func (f *mishap) after(blind bool) {
	f.t.Helper()
	for ref, n := range f.through.moved {
		if n != 1 {
			f.t.Errorf("%s was moved %d times", ref.ID, n)
		}
	}
	f.told(f.out, blind || f.stood)
	before := f.places()
	f.foreseenIn(f.path)
	f.resume()
	for id, is := range f.places() {
		if was := before[id]; was == "pending" && is != was {
			f.t.Errorf("%s was pending and is %s after the resumption", id, is)
		}
	}
	complete(f.t, f.path)
	f.truthful(f.path)
	f.finish()
	if got := count(f.places(), "pending"); got != len(f.refs) {
		f.t.Errorf("%d of %d are pending in the end", got, len(f.refs))
	}
	complete(f.t, f.path)
	f.foreseen(f.path)
	f.drop()
}

// foreseenIn is foreseen where there may be no journal.
func (f *mishap) foreseenIn(path string) {
	f.t.Helper()
	if _, err := os.Stat(path); err == nil {
		f.foreseen(path)
	}
}

// resume takes up what the journal has pending, as another process would.
func (f *mishap) resume() {
	f.t.Helper()
	if err := resume(f.t.Context(), f.path, f.auditorOn(f.workshop.queue, f.workshop.ledger), f.workshop.queue, journal.Options{Operator: "second"}, nil); err != nil {
		f.t.Error("resuming:", err)
	}
}

// finish runs what is left by a plan of its own.
func (f *mishap) finish() {
	f.t.Helper()
	j, err := journal.Open(f.t.Context(), f.path, journal.Options{Operator: "third"})
	if err != nil {
		f.t.Fatal(err)
	}
	defer j.Close()
	err = f.auditorOn(f.workshop.queue, f.workshop.ledger).Apply(f.t.Context(), f.workshop.queue, j, journal.Run{}, f.freshPlan(), reconcile.Application{})
	if err != nil {
		f.t.Error("applying what is left:", err)
	}
}

// resume settles and goes on with what is pending in a journal.
func resume(ctx context.Context, path string, a *reconcile.Auditor, q reconcile.Structure, o journal.Options, planned func(reconcile.Resumption)) error {
	j, err := journal.Open(ctx, path, o)
	if err != nil {
		return err
	}
	defer j.Close()
	var pending []journal.Record
	for r, err := range journal.Pending(path) {
		if err != nil {
			return err
		}
		pending = append(pending, r)
	}
	r, err := a.PlanResume(ctx, q, pending)
	if err != nil {
		return err
	}
	if planned != nil {
		planned(r)
	}
	_, err = a.Resume(ctx, q, j, journal.Run{ID: journal.NewRunID(time.Now()), Command: "resume"}, r, reconcile.Application{})
	return err
}

// faultsAt are the requests that fail: with IDEMCTL_FAULTS=all each of them, or
// else one of so many, beginning anywhere, and the last few, which are the moves.
func faultsAt(requests, oneOf, last int) []int {
	if os.Getenv("IDEMCTL_FAULTS") == "all" {
		oneOf = 1
	}
	var at []int
	for n := 1 + rand.IntN(oneOf); n <= requests-last; n += oneOf {
		at = append(at, n)
	}
	for n := max(1, requests-last+1); n <= requests; n++ {
		at = append(at, n)
	}
	return at
}

// breaks are the ways in which a connection fails.
var breaks = map[string]inspecttest.Fault{
	"one request is lost":        {},
	"one answer is lost":         {Answer: true},
	"nobody is there any more":   {Lasting: true},
	"the server dies on the way": {Answer: true, Lasting: true},
}

// Whatever request of an application fails, and however, each task is moved once
// or not, what is told is true, and resuming knows the rest.
func TestApplyOverABrokenConnectionKnowsWhatItDid(t *testing.T) {
	const tasks = 3
	w := newWorkshop(t)
	proxy := w.redis.Proxy()
	run := func(t *testing.T, queue string, fault inspecttest.Fault) (f *mishap, requests int, err error) {
		t.Helper()
		broken, err := inspect.Open(t.Context(), proxy.Options())
		if err != nil {
			t.Fatal(err)
		}
		defer broken.Close()
		f = w.newMishap(t, queue, tasks, broken, w.ledger)
		scripts, known := evals(t, w.redis), queue != "first"
		proxy.Break(fault)
		err = f.apply()
		requests = proxy.Requests()
		proxy.Break(inspecttest.Fault{})
		if ran := evals(t, w.redis) - scripts; known && ran > len(f.through.moved) {
			t.Errorf("%d scripts ran for %d moves", ran, len(f.through.moved))
		}
		f.after(fault.Lasting)
		return f, requests, err
	}
	if _, _, err := run(t, "first", inspecttest.Fault{}); err != nil {
		t.Fatal(err) // Redis knows the script from now on
	}
	_, requests, err := run(t, "whole", inspecttest.Fault{})
	if err != nil || requests < 10 {
		t.Fatalf("%d requests: %v", requests, err)
	}
	unknown := 0
	for name, fault := range breaks {
		t.Run(name, func(t *testing.T) {
			broken, oneOf, last := 0, 3, tasks
			if fault.Lasting {
				oneOf, last = 12, tasks-1 // the client tries again for a while
			}
			for _, n := range faultsAt(requests, oneOf, last) {
				fault.At = n
				f, _, err := run(t, fmt.Sprintf("q%d", n), fault)
				if err != nil {
					broken++
				}
				for _, a := range f.out {
					if a.Outcome == journal.OutcomeUnknown {
						unknown++
					}
				}
				if t.Failed() {
					t.Fatalf("request %d of %d: %v", n, requests, err)
				}
			}
			if broken == 0 {
				t.Error("no application failed: nothing was tested")
			}
		})
	}
	if unknown == 0 {
		t.Error("no outcome was unknown: nothing was tested")
	}
}

// The ledger goes at each of its lookups: nothing is moved that was not judged, and
// no answer is no absence.
func TestApplyWithoutItsLedgerMovesNothingUnjudged(t *testing.T) {
	t.Parallel()
	const tasks = 3
	w := newWorkshop(t)
	proxy := inspecttest.NewProxy(t, "tcp", fmt.Sprintf("%s:%d", w.db.Host, w.db.Port))
	dsn := strings.Replace(w.db.DSN, fmt.Sprintf(":%d/", w.db.Port), proxy.Addr()[strings.LastIndex(proxy.Addr(), ":"):]+"/", 1)
	run := func(t *testing.T, queue string, fault inspecttest.Fault) (f *mishap, requests int, err error) {
		t.Helper()
		ledger, err := pgledger.Open(t.Context(), pgledger.Options{Name: "main", DSN: dsn})
		if err != nil {
			t.Fatal(err)
		}
		defer ledger.Close()
		f = w.newMishap(t, queue, tasks, w.queue, ledger)
		zombie := f.refs[0].ID // it took effect since the plan
		w.apply(zombie)
		proxy.Break(fault)
		err = f.apply()
		requests = proxy.Requests()
		proxy.Break(inspecttest.Fault{})
		places := f.places()
		if places[zombie] != "archived" {
			t.Errorf("%s, which took effect, is %s", zombie, places[zombie])
		}
		if err != nil && count(places, "pending") > 0 {
			t.Errorf("tasks were moved although the ledger was gone: %v", err)
		}
		w.db.Exec(`DELETE FROM processed_tasks WHERE task_id = $1`, zombie)
		f.after(false)
		return f, requests, err
	}
	_, requests, err := run(t, "whole", inspecttest.Fault{})
	if err != nil || requests < 5 {
		t.Fatalf("%d requests: %v", requests, err)
	}
	for name, fault := range breaks {
		t.Run(name, func(t *testing.T) {
			broken := 0
			for _, n := range faultsAt(requests, 8, 0) {
				fault.At = n
				_, _, err := run(t, fmt.Sprintf("q%d", n), fault)
				if err != nil {
					broken++
				}
				if t.Failed() {
					t.Fatalf("request %d of %d: %v", n, requests, err)
				}
			}
			if broken == 0 && fault.Lasting {
				t.Error("no application failed: nothing was tested")
			}
		})
	}
}

// The journal goes, at each step, from under the run that writes it.
func TestApplyWithoutItsJournalStopsBeforeTheNextChange(t *testing.T) {
	const tasks = 4
	w := newWorkshop(t)
	damage := map[string]func(path string) error{
		"it is moved away": func(path string) error { return os.Rename(path, path+".away") },
		"another writes to it": func(path string) error {
			return appendTo(path, "x")
		},
	}
	for name, spoil := range damage {
		for step, moved := range map[string]int{"raw": 0, "move": tasks, "moved": tasks} {
			t.Run(name+" at "+step, func(t *testing.T) {
				f := w.newMishap(t, "q", tasks, w.queue, w.ledger)
				f.through.before = func(at string) {
					if at == step && len(f.through.moved) < 2 {
						w.must(spoil(f.path))
						f.through.before = nil
					}
				}
				if err := f.apply(); err == nil {
					t.Error("nobody said that the journal was gone")
				}
				if got := count(f.places(), "pending"); got != moved {
					t.Errorf("%d were moved, want %d", got, moved)
				}
				if name == "it is moved away" {
					w.must(os.Rename(f.path+".away", f.path))
				}
				f.after(false)
			})
		}
	}
}

func appendTo(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(text)
	return err
}

// standstill measures until it is called how long the machine stood still at most.
func standstill() func() time.Duration {
	const tick = 50 * time.Millisecond
	done, longest := make(chan struct{}), make(chan time.Duration)
	go func() {
		worst, last := time.Duration(0), time.Now()
		for {
			select {
			case <-done:
				longest <- max(worst, time.Since(last)-tick)
				return
			case <-time.After(tick):
				worst, last = max(worst, time.Since(last)-tick), time.Now()
			}
		}
	}()
	return func() time.Duration {
		close(done)
		return <-longest
	}
}
