package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/observed"
	"github.com/idemctl/idemctl/reconcile"
)

// noon is when every test takes place.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// fake is a Redis with a ledger that a test holds in its hands.
type fake struct {
	unserved bool // no server takes tasks from any queue
	mu       sync.Mutex
	place    Place
	tasks    []reconcile.Judged // in the order of a listing
	queues   []string
	paused   string
	servers  []inspect.Server
	findings []reconcile.Finding
	locks    []LockRow
	changer  *fakeChanger
	others   map[string]*fake
	// fail is the error of the next calls of a method; pages is how many tasks a
	// page holds.
	fail               map[string]error
	calls              map[string]int
	pages              int
	closed             int
	payload, canonical string
	unread             error // of the ledger, where a task is explained
}

func newFake() *fake {
	f := &fake{
		place: Place{
			Context: "test", Redis: "redis.test:6379", Ledgers: []string{"main"}, Contexts: []string{"test", "prod"},
			Writable: true, Command: "idemctl",
		},
		queues: []string{"default", "payments"},
		servers: []inspect.Server{{
			ID: "s1", Host: "worker-1", PID: 7, Concurrency: 10, ActiveWorkers: 3, Status: "active",
			Queues: map[string]int{"default": 1}, StartedAt: noon.Add(-3 * time.Hour),
		}},
		paused: "payments",
		fail:   map[string]error{}, calls: map[string]int{}, pages: 3,
		payload: `{"b":1,"a":1.0}`, canonical: `{"a":1,"b":1}`,
	}
	for i := range 12 {
		f.add(fakeTask(i, "payments", inspect.StateArchived))
	}
	for i := range 5 {
		f.add(fakeTask(20+i, "default", inspect.StateRetry))
	}
	f.add(fakeTask(30, "default", inspect.StateActive))
	f.add(fakeTask(40, "default", inspect.StatePending))
	f.locks = fakeLocks()
	f.changer = &fakeChanger{fake: f}
	return f
}

func (f *fake) add(j reconcile.Judged) {
	f.tasks = append(f.tasks, j)
	if len(j.Verdict.Codes) > 0 {
		c := j.Verdict.Codes[0]
		f.findings = append(f.findings, reconcile.Finding{
			Code: c, Severity: j.Verdict.Severity(c, j.Task.State), Task: j.Task, Key: j.Key,
			Status: j.Verdict.Status, Cause: j.Verdict.Cause, AppliedAt: j.Verdict.AppliedAt, ConfirmedAt: noon,
		})
	}
}

// fakeTask is a task that says by its number what is wrong with it.
func fakeTask(n int, queue string, state inspect.State) reconcile.Judged {
	t := inspect.Task{
		Ref:  inspect.Ref{Queue: queue, ID: fmt.Sprintf("task-%04d", n)},
		Type: []string{"payment:charge", "payment:refund", "invoice:send"}[n%3], State: state,
		Retried: n % 4, MaxRetry: 25, Timeout: time.Minute,
	}
	j := reconcile.Judged{Key: fmt.Sprintf("evt_%d", n)}
	switch state {
	case inspect.StateArchived:
		t.LastErr, t.LastFailedAt, t.ArchivedAt = fmt.Sprintf("bank: gateway answered %d", 500+n), noon.Add(-time.Duration(n+1)*time.Hour), noon.Add(-time.Duration(n+1)*time.Hour)
		j.Verdict.Cause = reconcile.CauseHandler
		j.Verdict.Status, j.Verdict.Codes = reconcile.StatusNotApplied, []reconcile.Code{reconcile.CodeLost}
		if n%2 == 1 {
			j.Verdict.Status, j.Verdict.Codes = reconcile.StatusApplied, []reconcile.Code{reconcile.CodeAppliedArchived}
			j.Verdict.AppliedAt = t.LastFailedAt.Add(-time.Second)
		}
	case inspect.StateRetry:
		t.NextProcessAt, t.LastFailedAt, t.LastErr = noon.Add(time.Duration(n)*time.Minute), noon.Add(-time.Minute), "timeout"
		j.Verdict.Cause, j.Verdict.Status = reconcile.CauseTimeout, reconcile.StatusNotApplied
	}
	if n%5 == 0 {
		t.UniqueKey = "asynq:{" + queue + "}:unique:" + t.Type + ":00"
		j.Lock = &reconcile.Lock{Key: t.UniqueKey, Owner: t.ID, TTL: 29 * time.Minute, State: reconcile.LockHeld}
	}
	j.Task = t
	return j
}

func fakeLocks() []LockRow {
	row := func(n int, v reconcile.LockVerdict, state inspect.State, ttl time.Duration) LockRow {
		f := reconcile.Finding{
			Code: v.Code(), Severity: v.Code().Severity(), ConfirmedAt: noon,
			Task: inspect.Task{Ref: inspect.Ref{Queue: "default", ID: fmt.Sprintf("task-%04d", n)}, Type: "report:weekly", State: state},
			Lock: &reconcile.Lock{Key: fmt.Sprintf("asynq:{default}:unique:report:weekly:%02d", n), Owner: fmt.Sprintf("task-%04d", n), TTL: ttl, State: reconcile.LockHeld},
		}
		return LockRow{Finding: f, Verdict: v, Queue: "default", Type: "report:weekly"}
	}
	return []LockRow{
		row(50, reconcile.LockOrphaned, inspect.StateUnknown, time.Hour),
		row(51, reconcile.LockBlocks, inspect.StateArchived, 2*time.Hour),
		row(20, reconcile.LockGuards, inspect.StateRetry, 3*time.Hour),
	}
}

// called notes a call, and says how it is to fail.
func (f *fake) called(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[name]++
	return f.fail[name]
}

func (f *fake) Place() Place { return f.place }
func (f *fake) Close()       { f.closed++ }

func (f *fake) Changes() Changer {
	if f.changer == nil {
		return nil
	}
	return f.changer
}

func (f *fake) Counts(context.Context) (Counts, error) {
	if err := f.called("counts"); err != nil {
		return Counts{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c := Counts{At: noon, Servers: f.servers, Latency: 2 * time.Millisecond}
	for _, name := range f.queues {
		q := inspect.Queue{Name: name, Paused: name == f.paused, OldestPending: noon.Add(-90 * time.Second)}
		for i := range f.tasks {
			if f.tasks[i].Task.Queue != name {
				continue
			}
			switch f.tasks[i].Task.State {
			case inspect.StateArchived:
				q.Archived++
			case inspect.StateRetry:
				q.Retry++
			case inspect.StateActive:
				q.Active++
			case inspect.StatePending:
				q.Pending++
			}
		}
		c.Queues = append(c.Queues, q)
	}
	return c, nil
}

func (f *fake) Rows(_ context.Context, refs []inspect.Ref) ([]Row, error) {
	if err := f.called("rows"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	rows := make([]Row, len(refs))
	for i, ref := range refs {
		rows[i] = Row{Ref: ref}
		for k := range f.tasks {
			if f.tasks[k].Task.Ref == ref {
				rows[i] = RowOf(&f.tasks[k])
			}
		}
	}
	return rows, nil
}

func (f *fake) List(q Query) Listing {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := &fakeListing{fake: f, q: q}
	for i := range f.tasks {
		t := &f.tasks[i].Task
		if (q.Queues == nil || slices.Contains(q.Queues, t.Queue)) && (q.States == nil || slices.Contains(q.States, t.State)) {
			l.tasks = append(l.tasks, f.tasks[i])
		}
	}
	return l
}

type fakeListing struct {
	*fake
	q     Query
	tasks []reconcile.Judged
	at    int
	ended bool
}

func (l *fakeListing) Close() { l.ended = true }

func (l *fakeListing) Next(context.Context) (Page, error) {
	if err := l.called("next"); err != nil {
		return Page{Done: true}, err
	}
	if l.ended {
		return Page{}, context.Canceled
	}
	var p Page
	for ; l.at < len(l.tasks) && p.Read < l.pages; l.at++ {
		j := &l.tasks[l.at]
		p.Read++
		if l.q.Where != nil && !l.q.Where(j) {
			continue
		}
		p.Refs = append(p.Refs, j.Task.Ref)
		if l.q.Where != nil || l.q.Whole {
			p.Rows = append(p.Rows, RowOf(j))
		}
	}
	p.Done = l.at >= len(l.tasks)
	return p, nil
}

func (f *fake) Audit(_ context.Context, tell func(reconcile.Progress)) (*Audit, error) {
	if err := f.called("audit"); err != nil {
		return nil, err
	}
	tell(reconcile.Progress{Phase: "listing", Tasks: 1, Expected: 2})
	f.mu.Lock()
	defer f.mu.Unlock()
	kinds := observed.NewCollector(func(observed.Kind) retry.Params { return retry.DefaultParams() })
	served := map[string]int{}
	for i := range f.tasks {
		served[f.tasks[i].Task.Queue] = 1
	}
	if !f.unserved {
		kinds.Servers([]inspect.Server{{Status: "active", Queues: served}}, noon, func(observed.Kind) bool { return false })
	}
	book := NewBook(noon, kinds)
	r := reconcile.Report{Complete: true, FinishedAt: noon, Totals: reconcile.Totals{BySeverity: map[reconcile.Severity]int{}}}
	for i := range f.tasks {
		book.Judged(&f.tasks[i])
		r.Totals.Tasks++
	}
	for _, fd := range f.findings {
		book.Finding(fd)
		r.Totals.BySeverity[fd.Severity]++
	}
	return book.Close(&r, time.Second), nil
}

func (f *fake) Explain(_ context.Context, ref inspect.Ref) (*Dossier, error) {
	if err := f.called("explain"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.tasks {
		if f.tasks[i].Task.Ref == ref {
			return f.dossierOf(&f.tasks[i]), nil
		}
	}
	return nil, &reconcile.TaskError{Ref: ref}
}

func (f *fake) dossierOf(j *reconcile.Judged) *Dossier {
	d := &Dossier{
		Payload: f.payload, Canonical: f.canonical, PayloadSize: len(f.payload), PayloadJSON: true, Spelling: "not canonical",
		Headers: `{"trace":"00-ab"}`, Result: "ok",
	}
	d.Task, d.Key, d.Verdict, d.Lock, d.ConfirmedAt = j.Task, j.Key, j.Verdict, j.Lock, noon
	if d.Unread = f.unread; f.unread != nil {
		d.Verdict, d.HeldIn = reconcile.Verdict{}, []string{j.Task.State.String()}
		return d
	}
	d.Rule = &reconcile.Bound{}
	d.HeldIn, d.Served, d.Next = []string{j.Task.State.String()}, true, "nothing runs it until someone does"
	d.Choices = []reconcile.Choice{{Verb: "leave", Outcome: d.Next, Safe: true}, {Verb: "run", Outcome: "it gets 1 attempt"}}
	source := reconcile.SourceFacts{Source: reconcile.Source{Role: reconcile.RoleMark, Ledger: "main"}, Table: "public.processed_tasks", Column: "task_id"}
	row := reconcile.Row{}
	if j.Verdict.Status == reconcile.StatusApplied {
		row = reconcile.Row{Count: 1, Passing: 1, LastAt: j.Verdict.AppliedAt}
	}
	d.Readings = []reconcile.Reading{{Source: source, Row: row}}
	for _, fd := range f.findings {
		if fd.Task.Ref == j.Task.Ref {
			d.Findings = append(d.Findings, fd)
		}
	}
	p := retry.DefaultParams()
	d.Attempts, _ = p.Attempts()
	return d
}

func (f *fake) ExplainText(_ context.Context, ref inspect.Ref, _ int) (string, error) {
	if err := f.called("text"); err != nil {
		return "", err
	}
	return "EXPLAINED " + ref.ID + "\nsecond line\n", nil
}

func (f *fake) Locks(_ context.Context, tell func(int)) (*Locks, error) {
	if err := f.called("locks"); err != nil {
		return nil, err
	}
	tell(len(f.locks))
	return &Locks{At: noon, Rows: slices.Clone(f.locks), Complete: true}, nil
}

func (f *fake) Params(string, string) (retry.Params, bool) { return retry.DefaultParams(), false }

func (f *fake) Use(_ context.Context, name string) (Backend, error) {
	if err := f.called("use"); err != nil {
		return nil, err
	}
	if o := f.others[name]; o != nil {
		return o, nil
	}
	return nil, errors.New("no such context")
}

// fakeChanger plans that even tasks run, and remembers what was applied.
type fakeChanger struct {
	*fake
	planned []Ask
	applied []*Plan
	options []ApplyOptions
	// gate, when set, holds every item back until it is read from.
	gate chan struct{}
	runs []Run
	// canaryFails has the first canary fail.
	canaryFails bool
}

func (c *fakeChanger) Plan(_ context.Context, a Ask, tell func(reconcile.Progress)) (*Plan, error) {
	if err := c.called("plan"); err != nil {
		return nil, err
	}
	tell(reconcile.Progress{Tasks: 1, Expected: 2})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.planned = append(c.planned, a)
	if a.Verb == VerbRestore {
		a.Refs = []inspect.Ref{{Queue: "payments", ID: "task-0001"}}
	}
	if a.Signature != nil {
		where, err := reconcile.CompileFilter(a.Signature.Where())
		if err != nil {
			return nil, err
		}
		for i := range c.fake.tasks {
			if j := &c.fake.tasks[i]; j.Verdict.Has(a.Signature.Code) && where.Passes(reconcile.Subject{Judged: j}) {
				a.Refs = append(a.Refs, j.Task.Ref)
			}
		}
		if len(a.Refs) > 4 {
			return &Plan{Ask: a, Command: "idemctl " + string(a.Verb) + " --where=WHERE"}, fmt.Errorf("%d tasks are too many", len(a.Refs))
		}
	}
	p := &Plan{Ask: a, MadeAt: noon, Canary: a.Verb == VerbRequeue, Command: "idemctl " + string(a.Verb), Notes: []string{"queue \"payments\" is paused"}}
	for i, r := range a.Refs {
		it := PlanItem{Ref: r, Type: "payment:charge", Status: reconcile.StatusNotApplied, Runs: i%2 == 0, Action: "run", Words: "run it again"}
		if !it.Runs {
			it.Action, it.Reason, it.Words, it.Status = "hold", "applied", "its work is done", reconcile.StatusApplied
		}
		p.Items = append(p.Items, it)
	}
	return p, nil
}

func (c *fakeChanger) Apply(ctx context.Context, p *Plan, o ApplyOptions, tell func(Event)) error {
	if err := c.called("apply"); err != nil {
		return err
	}
	c.mu.Lock()
	c.applied = append(c.applied, p)
	c.options = append(c.options, o)
	gate := c.gate
	c.mu.Unlock()
	tell(Event{Run: "20261130T120000Z-aa"})
	for _, it := range p.Items {
		if !it.Runs {
			continue
		}
		if gate != nil {
			select {
			case <-gate:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		tell(Event{Ref: it.Ref, Outcome: OutcomeDone, Words: "done"})
		if o.Canary > 0 {
			tell(Event{Words: "waiting for 1 canary task", Waiting: true})
			if c.canaryFails {
				tell(Event{Ref: it.Ref, Outcome: OutcomeDone, Words: "canary: it failed again", Fate: "failed again", FateBad: true})
				return errors.New("the canary failed")
			}
			tell(Event{Ref: it.Ref, Outcome: OutcomeDone, Words: "canary: its work is done, once", Fate: "applied"})
			o.Canary--
		}
	}
	return nil
}

func (c *fakeChanger) Runs(context.Context) ([]Run, error) {
	if err := c.called("runs"); err != nil {
		return nil, err
	}
	if c.runs != nil {
		return c.runs, nil
	}
	return []Run{
		{ID: "20261130T110000Z-bb", Began: noon.Add(-time.Hour), Ended: noon.Add(-time.Hour), Operator: "ada", Host: "h1", Context: "test", Command: "resolve -q payments", Done: 3},
		{ID: "20261130T100000Z-aa", Began: noon.Add(-2 * time.Hour), Operator: "ada", Host: "h1", Context: "test", Command: "requeue -q payments", Done: 1, Failed: 1, Pending: 2},
	}, nil
}

func (c *fakeChanger) Items(context.Context, string) ([]RunItem, error) {
	if err := c.called("items"); err != nil {
		return nil, err
	}
	return []RunItem{
		{Item: "1", Change: "resolve", Ref: inspect.Ref{Queue: "payments", ID: "task-0001"}, Outcome: OutcomeDone},
		{Item: "2", Change: "resolve", Ref: inspect.Ref{Queue: "payments", ID: "task-0003"}, Pending: true},
	}, nil
}
