package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/tui"
)

// browser is the browser's backend: one session, looked at in many ways.
type browser struct {
	*tuiOptions
	cmd      *cobra.Command
	s        *session
	place    tui.Place
	page     render.Options
	steady   map[string]reconcile.Ledger // the ledgers, for what is repeated every few seconds
	judging  sync.Mutex                  // rows are judged one page at a time
	mu       sync.Mutex
	counts   tui.Counts
	countsAt time.Time
	lost     error // of a ledger that did not answer when all were asked last
	applying sync.WaitGroup
}

// openBrowser opens what the browser looks at.
func (o *tuiOptions) openBrowser(ctx context.Context, cmd *cobra.Command) (*browser, error) {
	s, err := o.openBare(ctx, cmd)
	if err != nil {
		return nil, err
	}
	b := &browser{tuiOptions: o, cmd: cmd, s: s, steady: map[string]reconcile.Ledger{}}
	for name, l := range s.ledgers {
		b.steady[name] = &steadyLedger{Ledger: l, now: o.now, prepared: map[string]*steadyLookup{}}
	}
	if b.page, err = (&outputFlags{format: string(render.FormatTable), payload: true}).options(o.program, s.settings); err != nil {
		s.close()
		return nil, err
	}
	facts, err := s.queue.Redis(ctx)
	if err != nil {
		s.close()
		return nil, err
	}
	if err := refuseReplica(facts); err != nil {
		s.close()
		return nil, err
	}
	b.place = o.placeOf(cmd, s, facts)
	return b, nil
}

// results is where the program writes its results, which here is the terminal.
func (o *tuiOptions) results() io.Writer {
	w := o.out
	for {
		sticky, ok := w.(*stickyWriter)
		if !ok {
			return w // the terminal itself, whose size the browser asks for
		}
		w = sticky.w
	}
}

func (o *tuiOptions) placeOf(cmd *cobra.Command, s *session, facts inspect.RedisFacts) tui.Place {
	c := s.settings.Context
	p := tui.Place{
		Context: c.Name.Value, Redis: facts.Addr, Protected: c.Protected.Value, ReadOnly: c.ReadOnly.Value,
		Writable: o.write && !c.ReadOnly.Value, Command: "idemctl",
	}
	switch {
	case c.ReadOnly.Value:
		p.Because = fmt.Sprintf("context %q is read-only (%s)", c.Name.Value, c.ReadOnly.Source)
	case !o.write:
		p.Because = "nothing is changed without --write: idemctl tui --write"
	}
	for _, l := range c.Ledgers {
		p.Ledgers = append(p.Ledgers, l.Name.Value)
	}
	if s.settings.File != "" {
		if file, err := config.Load(o.env, config.Location{Path: s.settings.File}); err == nil {
			for _, summary := range file.Summaries() {
				p.Contexts = append(p.Contexts, summary.Name)
				if summary.Name == p.Context && !summary.Current {
					p.Flags = "--context " + reconcile.ShellQuote(p.Context)
				}
			}
		}
	}
	p.Flags = strings.TrimSpace(p.Flags + " " + sameFlags(cmd, o.connection))
	return p
}

func (b *browser) Place() tui.Place { return b.place }

// endLimit is how long the end of an application is waited for: what has been done
// is then in the journal.
const endLimit = 10 * time.Second

func (b *browser) Close() {
	ended := make(chan struct{})
	go func() {
		b.applying.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(endLimit):
	}
	b.s.close()
}

func (b *browser) Counts(ctx context.Context) (tui.Counts, error) {
	begun := time.Now()
	now, err := b.s.queue.Now(ctx)
	if err != nil {
		return tui.Counts{}, err
	}
	c := tui.Counts{At: now, Latency: time.Since(begun)}
	names, err := b.s.queue.Queues(ctx)
	if err != nil {
		return tui.Counts{}, err
	}
	for _, name := range names {
		q, err := b.s.queue.Queue(ctx, name)
		if errors.Is(err, inspect.ErrQueueNotFound) {
			continue // it was removed just now
		}
		if err != nil {
			return tui.Counts{}, err
		}
		c.Queues = append(c.Queues, q)
	}
	if c.Servers, err = b.s.queue.Servers(ctx); err != nil {
		return tui.Counts{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts, b.countsAt = c, time.Now()
	return c, nil
}

// Ping asks the ledgers themselves: what is remembered of them says nothing.
func (b *browser) Ping(ctx context.Context) map[string]error {
	type said struct {
		name string
		err  error
	}
	answers := make(chan said, len(b.s.ledgers))
	for name, l := range b.s.ledgers {
		go func() {
			_, err := l.Facts(ctx)
			answers <- said{name, err}
		}()
	}
	out := make(map[string]error, len(b.s.ledgers))
	for range b.s.ledgers {
		a := <-answers
		out[a.name] = a.err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost = nil
	for _, err := range out {
		b.lost = cmp.Or(b.lost, err)
	}
	return out
}

// unanswered is why a ledger was lost when all were asked last; nil: none was.
func (b *browser) unanswered() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lost
}

// recent are the counts if they are of the last seconds.
func (b *browser) recent() (tui.Counts, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts, time.Since(b.countsAt) < 3*tui.DefaultRefresh
}

// Params are the declared ones; binds says that somebody declared how often or how
// long tasks are tried.
func (b *browser) Params(taskType, queue string) (p retry.Params, binds bool) {
	d, err := (&lifeFlags{}).declare(b.s.settings, taskType, queue)
	if err != nil || checkParams(d.params) != nil {
		return retry.DefaultParams(), false
	}
	return d.params, d.binds()
}

// Use opens another context by the flag that names it.
func (b *browser) Use(ctx context.Context, name string) (tui.Backend, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.cmd.Flags().Lookup("context")
	before := f.Value.String()
	// By the set of flags: only what it was told of is among those that were given.
	if err := b.cmd.Flags().Set(f.Name, name); err != nil {
		return nil, err
	}
	other, err := b.openBrowser(ctx, b.cmd)
	if err != nil {
		return nil, errors.Join(err, f.Value.Set(before))
	}
	return other, nil
}

// List lists IDs alone where nothing has to be known of the tasks.
func (b *browser) List(q tui.Query) tui.Listing {
	ctx, cancel := context.WithCancel(context.Background())
	l := &taskListing{browser: b, q: q, ctx: ctx, cancel: cancel, seen: inspect.NewIndex()}
	return l
}

// Rows reads and judges tasks. Where a ledger cannot be read the rows say what
// Redis does, and the error comes with them.
func (b *browser) Rows(ctx context.Context, refs []inspect.Ref) ([]tui.Row, error) {
	tasks, err := b.s.queue.Read(ctx, refs)
	if err != nil {
		return nil, err
	}
	rows := make([]tui.Row, len(refs))
	place := make(map[inspect.Ref]int, len(refs))
	var there []inspect.Task
	for i, t := range tasks {
		place[t.Ref] = i
		j := reconcile.Judged{Task: t}
		j.Verdict.Reason = reconcile.ReasonLedger
		rows[i] = tui.RowOf(&j)
		if t.State != inspect.StateUnknown {
			there = append(there, t)
		}
	}
	err = b.judge(ctx, there, func(j *reconcile.Judged) {
		if i, ok := place[j.Task.Ref]; ok {
			rows[i] = tui.RowOf(j)
		}
	})
	return rows, err
}

// judge gives tasks that were read their first verdicts, as `tasks` does. It looks
// at them alone: no verdict of a list rests on others.
func (b *browser) judge(ctx context.Context, tasks []inspect.Task, each func(*reconcile.Judged)) error {
	if len(tasks) == 0 {
		return nil
	}
	b.judging.Lock()
	defer b.judging.Unlock()
	c := b.s.settings.Context
	hidden, err := b.s.hidden()
	if err != nil {
		return err
	}
	a, err := reconcile.NewAuditor(&onlyThese{Client: b.s.queue, browser: b, tasks: tasks}, reconcile.Options{
		Rules: b.s.rules, Ledgers: b.steady, DefaultLedger: b.s.fallback,
		Settle: c.Settle.Value, ConfirmAfter: c.ConfirmAfter.Value,
		Hidden:   hidden,
		OnJudged: func(j reconcile.Judged) { each(&j) },
	})
	if err != nil {
		return b.s.place(err)
	}
	report, err := a.List(ctx, noObserver{})
	if err == nil {
		err = report.Problem
	}
	return err
}

// noObserver minds nothing.
type noObserver struct{}

func (noObserver) Finding(reconcile.Finding)   {}
func (noObserver) Progress(reconcile.Progress) {}

// queuesOf are the queues of tasks, sorted.
func queuesOf(tasks []inspect.Task) []string {
	var names []string
	for i := range tasks {
		names = append(names, tasks[i].Queue)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
