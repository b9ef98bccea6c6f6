package inspect

import (
	"context"
	"fmt"
	"iter"
	"slices"
)

// Listing says which tasks to read. The zero value reads all tasks of all
// queues.
type Listing struct {
	// Queues must exist, or the listing ends with an error that wraps
	// ErrQueueNotFound. nil: all queues that asynq knows of.
	Queues []string
	// Lenient lets queues be gone by now: they hold nothing.
	Lenient bool
	States  []State // nil: all seven

	PageSize int // tasks a page; 0: what keeps scripts short, at most 500
	InFlight int // pages read ahead of the caller; 0: 1

	Index  *Index // what was seen already; nil: a fresh one
	Passes int    // most passes; 0: 4. 1: exactly one

	// Want is asked for each listed ID before its message is fetched, where IDs
	// are read apart from messages: in a plain first pass and in every later
	// one. It is called from another goroutine than the caller's, one call at a
	// time. nil: a task that the Index has not seen in this state.
	Want func(Ref, State) bool

	// Plain reads by plain commands alone. Without it the first pass goes
	// through asynq.Inspector, where scripts are allowed.
	Plain bool

	// OnPage is told of every page before its tasks are yielded; nil: nobody.
	OnPage func(Page)
}

// Page is the progress of a listing.
type Page struct {
	Queue string
	State State
	Pass  int // from 1 on
	IDs   int // read for this page
	Tasks int // that the page yields
	Card  int // IDs in this list or set when its reading began
}

const (
	defaultPageSize = 500
	defaultPasses   = 4
)

// flow is the order in which states are read: upstream first, so that a task on
// its way is met again, not missed. Retry comes twice in a pass, since active
// tasks go there. A second look reads IDs only.
var flow = []State{
	StateAggregating, StateScheduled, StateRetry, StatePending, StateActive,
	StateRetry, StateCompleted, StateArchived,
}

// Tasks streams every task of the listing: state by state across all queues,
// upstream first, lists from the head and sorted sets from the high end, so that
// the newest archived come first. A task that is met again in another state is
// yielded again: the last one counts. Later passes read IDs only, and fetch the
// tasks that are new or have moved; the stream ends after a pass without any.
//
// An error ends the stream; once ctx is done it is ctx.Err().
func (c *Client) Tasks(ctx context.Context, l Listing) iter.Seq2[Task, error] {
	return func(yield func(Task, error) bool) {
		for tasks, err := range c.Pages(ctx, l) {
			if err != nil {
				yield(Task{}, err)
				return
			}
			for i := range tasks {
				if !yield(tasks[i], nil) {
					return
				}
			}
		}
	}
}

// Pages is Tasks in pages. A page is the caller's to keep; none is empty.
func (c *Client) Pages(ctx context.Context, l Listing) iter.Seq2[[]Task, error] {
	return func(yield func([]Task, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		r := newReader(c, l)
		go r.run(ctx)
		defer func() {
			cancel()
			for range r.pages { // until run has ended
			}
		}()
		for p := range r.pages {
			if p.err != nil {
				yield(nil, c.fault(ctx, "listing tasks", p.err))
				return
			}
			if l.OnPage != nil {
				l.OnPage(p.page)
			}
			if len(p.tasks) > 0 && !yield(p.tasks, nil) {
				return
			}
		}
	}
}

// loaded is a page on its way from the reader to the caller.
type loaded struct {
	page  Page
	tasks []Task
	err   error
}

// reader reads the pages of one listing, one after the other: pages that are
// asked for at the same time could be answered in the wrong order, and then a task
// could slip from one to the other unseen.
type reader struct {
	client *Client
	listing
	pages chan loaded
	plain *plainReader

	scripts *scriptReader // nil: plain from the start
	pass    int
	fresh   int           // tasks that this pass has yielded
	before  map[Ref]State // where tasks of the page under way were met before
}

// listing is Listing with its defaults filled in.
type listing = Listing

func newReader(c *Client, l Listing) *reader {
	if l.Index == nil {
		l.Index = NewIndex()
	}
	if l.Passes == 0 {
		l.Passes = defaultPasses
	}
	size := l.PageSize
	if size <= 0 {
		size = defaultPageSize
	}
	r := &reader{client: c, listing: l, pages: make(chan loaded, max(0, l.InFlight-1)), before: make(map[Ref]State)}
	r.plain = &plainReader{client: c, size: newSizer(size), lost: r.lost}
	if !l.Plain {
		r.scripts = &scriptReader{client: c, size: newSizer(size), plain: r.plain}
	}
	return r
}

// run reads until the listing is complete, fails or ctx is done. The caller takes
// pages until there are no more, whatever happens.
func (r *reader) run(ctx context.Context) {
	defer close(r.pages)
	if err := r.list(ctx); err != nil {
		r.pages <- loaded{err: err}
	}
}

func (r *reader) list(ctx context.Context) error {
	queues, err := r.queues(ctx)
	if err != nil {
		return err
	}
	for r.pass = 1; r.pass <= r.Passes; r.pass++ {
		r.fresh = 0
		if err := r.onePass(ctx, queues); err != nil {
			return err
		}
		if r.fresh == 0 {
			return nil
		}
	}
	return nil
}

func (r *reader) queues(ctx context.Context) ([]string, error) {
	if r.Queues == nil {
		return r.client.Queues(ctx)
	}
	if r.Lenient {
		return r.Queues, nil
	}
	return r.Queues, r.client.mustExist(ctx, r.Queues...)
}

func (r *reader) onePass(ctx context.Context, queues []string) error {
	looked := make(map[State]bool)
	for _, s := range flow {
		if len(r.States) > 0 && !slices.Contains(r.States, s) {
			continue
		}
		first := r.pass == 1 && !looked[s]
		looked[s] = true
		for _, q := range queues {
			err := r.client.places(ctx, q, s, func(p place) error { return r.look(ctx, p, first) })
			if err != nil {
				return fmt.Errorf("%s tasks of queue %q: %w", s, q, err)
			}
		}
	}
	return nil
}

// look reads one list or set, for the first time or again.
func (r *reader) look(ctx context.Context, p place, first bool) error {
	card, err := r.client.card(ctx, p)
	if err != nil || card == 0 {
		return err
	}
	emit := func(ids int, tasks []Task) error {
		return r.emit(ctx, Page{Queue: p.queue, State: p.state, Pass: r.pass, IDs: ids, Tasks: len(tasks), Card: card}, tasks)
	}
	if first && r.scripts != nil && p.state != StateAggregating {
		done, err := r.scripts.read(ctx, p, card, r.news, emit)
		if done || err != nil {
			return err
		}
	}
	return r.plain.read(ctx, p, r.wanted, emit)
}

// wanted decides whether a listed task is fetched.
func (r *reader) wanted(ref Ref, s State) bool {
	prev, seen := r.observe(ref, s)
	if r.Want != nil {
		return r.Want(ref, s)
	}
	return !seen || prev != s
}

// news says whether a task that was fetched without asking is to be yielded:
// pages of scripts overlap.
func (r *reader) news(t Task) bool {
	prev, seen := r.observe(t.Ref, t.Listed)
	return !seen || prev != t.Listed
}

// observe notes where a task was met, and, for emit, where it was before.
func (r *reader) observe(ref Ref, s State) (prev State, seen bool) {
	prev, seen = r.Index.Observe(ref, s)
	if prev != StateUnknown && prev != s {
		r.before[ref] = prev
	}
	return prev, seen
}

// lost forgets the state of a task that was listed and then gone, so that a task
// of the same ID is fetched when it is listed next.
func (r *reader) lost(ref Ref) {
	if _, seen := r.Index.Seen(ref); seen {
		r.Index.Observe(ref, StateUnknown)
	}
}

// emit hands a page over. It returns ctx.Err() once ctx is done.
func (r *reader) emit(ctx context.Context, p Page, tasks []Task) error {
	r.fresh += len(tasks)
	for i := range tasks {
		tasks[i].Prev = r.before[tasks[i].Ref]
	}
	clear(r.before)
	select {
	case r.pages <- loaded{page: p, tasks: tasks}:
		return r.client.pace.wait(ctx, p.IDs)
	case <-ctx.Done():
		return ctx.Err()
	}
}
