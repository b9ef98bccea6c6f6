package main

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/tui"
)

// onlyThese is a Redis that holds a few tasks and no others: an auditor of it
// judges a page of a list without reading the rest.
type onlyThese struct {
	*inspect.Client
	browser *browser
	tasks   []inspect.Task
}

func (o *onlyThese) Pages(context.Context, inspect.Listing) iter.Seq2[[]inspect.Task, error] {
	return func(yield func([]inspect.Task, error) bool) { yield(o.tasks, nil) }
}

func (o *onlyThese) Queues(context.Context) ([]string, error) { return queuesOf(o.tasks), nil }

func (o *onlyThese) Schedules(context.Context) ([]inspect.Schedule, error) { return nil, nil }

// Queue and Servers were read a few seconds ago, for the frame of the screen.
func (o *onlyThese) Queue(ctx context.Context, name string) (inspect.Queue, error) {
	if c, ok := o.browser.recent(); ok {
		for _, q := range c.Queues {
			if q.Name == name {
				return q, nil
			}
		}
	}
	return o.Client.Queue(ctx, name)
}

func (o *onlyThese) Servers(ctx context.Context) ([]inspect.Server, error) {
	if c, ok := o.browser.recent(); ok {
		return c.Servers, nil
	}
	return o.Client.Servers(ctx)
}

// steadyLedger remembers for a while what does not change from one page to the
// next: where the sources are, how far back they go, and what the clock says.
type steadyLedger struct {
	reconcile.Ledger
	now func() time.Time

	mu       sync.Mutex
	prepared map[string]*steadyLookup
	facts    reconcile.LedgerFacts
	factsAt  time.Time
}

// steadyFor is how long that is remembered.
const steadyFor = time.Minute

func (l *steadyLedger) Prepare(ctx context.Context, sources []reconcile.Source) (reconcile.Lookup, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := ""
	for _, s := range sources {
		name += s.Role.String() + "\x00" + s.Table + "\x00" + s.Column + "\x00" + s.At + "\x00" + s.ClaimedAt + "\x00" + s.When + "\x00" + s.Fingerprint + "\x01"
	}
	if p := l.prepared[name]; p != nil && l.now().Sub(p.at) < steadyFor {
		return p, nil
	}
	lookup, err := l.Ledger.Prepare(ctx, sources)
	if err != nil {
		return nil, err
	}
	p := &steadyLookup{Lookup: lookup, at: l.now()}
	l.prepared[name] = p
	return p, nil
}

func (l *steadyLedger) Facts(ctx context.Context) (reconcile.LedgerFacts, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if age := l.now().Sub(l.factsAt); age < steadyFor {
		f := l.facts
		f.Now = f.Now.Add(age)
		return f, nil
	}
	f, err := l.Ledger.Facts(ctx)
	if err == nil {
		l.facts, l.factsAt = f, l.now()
	}
	return f, err
}

type steadyLookup struct {
	reconcile.Lookup
	at time.Time

	mu   sync.Mutex
	ages []reconcile.SourceAge
}

func (l *steadyLookup) Oldest(ctx context.Context) ([]reconcile.SourceAge, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ages != nil {
		return l.ages, nil
	}
	ages, err := l.Lookup.Oldest(ctx)
	if err == nil {
		l.ages = ages
	}
	return ages, err
}

// taskListing reads a list page by page, as it is asked for.
type taskListing struct {
	*browser
	q      tui.Query
	ctx    context.Context
	cancel context.CancelFunc
	seen   *inspect.Index

	mu    sync.Mutex // a Next under way
	ids   func() ([]inspect.Listed, error, bool)
	pages func() ([]inspect.Task, error, bool)
	stop  func()
}

func (l *taskListing) Close() {
	l.cancel()
	go func() { // a Next under way ends soon
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.stop != nil {
			l.stop()
			l.stop = nil
		}
	}()
}

func (l *taskListing) Next(ctx context.Context) (tui.Page, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ctx.Err(); err != nil {
		return tui.Page{}, err
	}
	defer context.AfterFunc(ctx, l.cancel)()
	if l.q.Where != nil || l.q.Whole {
		return l.nextTasks()
	}
	return l.nextIDs()
}

func (l *taskListing) nextIDs() (tui.Page, error) {
	if l.ids == nil {
		l.ids, l.stop = iter.Pull2(l.s.queue.IDs(l.ctx, l.q.Queues, l.q.States))
	}
	listed, err, more := l.ids()
	if err != nil || !more {
		return tui.Page{Done: true}, err
	}
	page := tui.Page{Read: len(listed)}
	for _, id := range listed {
		if _, before := l.seen.Observe(id.Ref, id.State); !before {
			page.Refs = append(page.Refs, id.Ref)
		}
	}
	return page, nil
}

// listPage is how many tasks are read for a page of a filtered list: few enough to
// show matches as they come.
const listPage = 500

func (l *taskListing) nextTasks() (tui.Page, error) {
	if l.pages == nil {
		l.pages, l.stop = iter.Pull2(l.s.queue.Pages(l.ctx, inspect.Listing{
			Queues: l.q.Queues, States: l.q.States, PageSize: listPage, Lenient: true, Plain: true, Passes: 1, Index: l.seen,
		}))
	}
	tasks, err, more := l.pages()
	if err != nil || !more {
		return tui.Page{Done: true}, err
	}
	page := tui.Page{Read: len(tasks)}
	rows := make(map[inspect.Ref]tui.Row, len(tasks))
	err = l.judge(l.ctx, tasks, func(j *reconcile.Judged) {
		if l.q.Where == nil || l.q.Where(j) {
			rows[j.Task.Ref] = tui.RowOf(j)
		}
	})
	if err != nil {
		return tui.Page{}, err
	}
	for i := range tasks { // in the order of the list
		if row, ok := rows[tasks[i].Ref]; ok {
			page.Refs, page.Rows = append(page.Refs, row.Ref), append(page.Rows, row)
			delete(rows, row.Ref)
		}
	}
	return page, nil
}
