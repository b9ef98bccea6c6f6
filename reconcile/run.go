package reconcile

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// run is one audit under way.
type run struct {
	*Auditor
	out     Observer
	aim     aim
	decided func(Archived) // aimArchived only

	started  time.Time // Redis clock
	clocks   clocks
	queues   []string // in scope, sorted
	others   []string // known queues out of scope
	states   []inspect.State
	facts    map[string]queueFacts
	index    *inspect.Index
	keys     *keyTable // nil: no two tasks in scope can share a key
	contents *contentTable
	ownLocks *contentTable // locks in the hands of their own tasks
	cases    *typeTable
	payloads *payloadTable // nil: the run does not mind them
	ledgers  ledgerHealth

	mu         sync.Mutex // guards what follows, and calls of out
	totals     Totals
	signatures signatureTable
	colliding  collisions // by key
	equal      collisions // by content
	rechecks   []suspect
	held       map[*Bound][]suspect // seen once, waiting for their second look
	expected   int
	findings   int
	problem    error

	// What follows belongs to the goroutine that lists, and later to the
	// structure pass.
	strays       strays         // met out of place, to be looked at again
	misplaced    []inspect.Task // and still out of place
	suspects     []inspect.Task // hashes that the listing has not seen
	suspectBytes int
	hashes       hashCounts
	lonely       []heldLock // locks that seem to have been left behind
	toldLocks    *inspect.Index
	archives     map[string]*archiveAge
	ticking      map[string]*tick
	periodic     []Periodic
}

// item is one task in scope with its key.
type item struct {
	task       inspect.Task
	key        string
	keyProblem string
	hash       uint64 // of the key; 0 without a key table
}

// suspect is an item whose first verdict would be a finding.
type suspect struct {
	item
	verdict Verdict
	rows    []Row
	lagging bool
	unread  string
	seen    time.Time // this machine's clock at the first look
	// persisted says that the pair still stood, unmoved, after the confirmation
	// time.
	persisted bool
	held      bool  // a live worker names it
	twin      bool  // another task of its key is alive
	shared    bool  // another queue has a task of its ID, in the same source
	lock      *Lock // nil: the task has none, or it was not read
}

// batch is what one rule's lookups read together.
type batch struct {
	rule  *Bound // nil: no rule matches
	items []item
	bytes int
}

// open reads what must be known before the first task.
func (r *run) open(ctx context.Context) error {
	if err := r.Prepare(ctx); err != nil {
		return err
	}
	c, err := r.measureClocks(ctx)
	if err != nil {
		return err
	}
	r.clocks = c
	r.started = r.now()
	if err := r.chooseQueues(ctx); err != nil {
		return err
	}
	r.states = r.opt.Scope.States
	if len(r.states) == 0 {
		r.states = inspect.States()
	}
	r.index = inspect.NewIndex()
	r.cases = newTypeTable(r.Auditor)
	r.colliding, r.equal = collisions{}, collisions{}
	r.contents, r.ownLocks = newContentTable(), newContentTable()
	r.strays = strays{}
	r.archives, r.ticking = map[string]*archiveAge{}, map[string]*tick{}
	r.held = map[*Bound][]suspect{}
	r.totals = Totals{
		ByState: map[inspect.State]int{}, ByStatus: map[Status]int{},
		ByCode: map[Code]int{}, BySeverity: map[Severity]int{},
	}
	if r.mindsPayloads() {
		r.payloads = newPayloadTable()
	}
	if r.keysCanMeet() {
		r.keys = newKeyTable()
	}
	if err := r.readSchedules(ctx); err != nil {
		return err
	}
	return r.readQueues(ctx)
}

// now is Redis TIME, estimated from the offset measured at the start.
func (r *run) now() time.Time { return time.Now().Add(r.clocks.offset) }

// chooseQueues matches the scope's patterns against the queues there are.
func (r *run) chooseQueues(ctx context.Context) error {
	all, err := r.queue.Queues(ctx)
	if err != nil {
		return err
	}
	slices.Sort(all)
	if len(r.opt.Scope.Queues) == 0 {
		r.queues = all
		return nil
	}
	for _, pattern := range r.opt.Scope.Queues {
		found := false
		for _, q := range all {
			if q == pattern || MatchGlob(pattern, q) {
				found = true
				r.queues = append(r.queues, q)
			}
		}
		if !found {
			return &QueueError{Pattern: pattern, Known: all}
		}
	}
	slices.Sort(r.queues)
	r.queues = slices.Compact(r.queues)
	for _, q := range all {
		if !slices.Contains(r.queues, q) {
			r.others = append(r.others, q)
		}
	}
	return nil
}

// keyed says whether a rule takes its key from more than the task ID, so that
// two tasks of one queue can share it.
func (r *run) keyed() bool {
	return r.twinsMatter() && slices.ContainsFunc(r.rules, func(b *Bound) bool {
		return len(b.witnesses()) > 0 && !b.key.TaskID()
	})
}

// keysCanMeet says whether two tasks can share a key at all. Task IDs are
// unique within a queue.
func (r *run) keysCanMeet() bool {
	return r.keyed() || r.twinsMatter() && len(r.queues) > 1
}

// twinsMatter says whether other tasks of the same key are to be known.
func (r *run) twinsMatter() bool {
	return r.aim == aimAudit || r.aim == aimList || r.aim == aimArchived
}

// reach is what has to be listed so that twins are seen. A key that is made of
// the payload can be anywhere, so a narrowed audit still reads every live task
// for its key; task IDs are probed one by one instead.
func (r *run) reach() (queues []string, states []inspect.State) {
	queues, states = r.queues, r.states
	if !r.keyed() {
		return queues, states
	}
	queues = append(slices.Clone(queues), r.others...)
	states = slices.Clone(states)
	for _, s := range inspect.States() {
		if s.Live() && !slices.Contains(states, s) {
			states = append(states, s)
		}
	}
	return queues, states
}

// inScope says whether the task is to be judged, not only read for its key.
func (r *run) inScope(t inspect.Task) bool {
	s := r.opt.Scope
	if len(s.IDs) > 0 && !slices.Contains(s.IDs, t.ID) {
		return false
	}
	if !slices.Contains(r.states, t.State) {
		return false
	}
	if _, ok := slices.BinarySearch(r.queues, t.Queue); !ok {
		return false
	}
	return len(s.Types) == 0 || slices.ContainsFunc(s.Types, func(glob string) bool {
		return glob == t.Type || MatchGlob(glob, t.Type)
	})
}

// list streams every task through the lookups. Listing and lookups overlap; the
// channel between them holds one batch, so that memory stays bounded.
func (r *run) list(ctx context.Context) error {
	work := make(chan batch, 1)
	var workers sync.WaitGroup
	for range r.opt.Concurrency {
		workers.Go(func() {
			for b := range work {
				r.judge(ctx, b)
			}
		})
	}
	err := r.produce(ctx, work)
	close(work)
	workers.Wait()
	r.release(ctx)
	return errors.Join(err, ctx.Err())
}

// produce lists, matches, builds keys, and fills batches.
func (r *run) produce(ctx context.Context, work chan<- batch) error {
	s := newSorter(work)
	for page, err := range r.pages(ctx) {
		if err != nil {
			return err
		}
		for _, t := range page {
			if before, ok := r.strays[t.Ref]; ok {
				t.Prev = before.Prev // as a stray it was not counted
			}
			if stray(t) {
				if r.strays[t.Ref] = t; len(r.strays) >= maxStrays {
					if err := r.resolve(ctx, s); err != nil {
						return err
					}
				}
				continue
			}
			if t.State == inspect.StateUnknown && t.Defect != inspect.DefectResultOnly {
				continue // gone between its list and its hash
			}
			r.strays.count(t)
			rule, it := r.sort(t)
			if r.inScope(t) {
				r.cases.see(rule, t)
				r.age(t)
				switch {
				case r.aim == aimArchived:
					r.putOff(t)
				case r.aim.judges(t):
					s.put(ctx, rule, it)
				default:
					r.tally(t)
				}
			}
		}
		r.progress("listing", page)
		if time.Since(s.flushed) >= flushInterval {
			s.flush(ctx) // slow listings are judged as they go, too
		}
	}
	if err := r.resolve(ctx, s); err != nil {
		return err
	}
	s.flush(ctx)
	return nil
}

// flushInterval is how long a task that was listed waits for company at most.
const flushInterval = time.Second

// pages is the listing, or, for a few tasks named by ID whose keys nobody else
// can bear, those tasks alone.
func (r *run) pages(ctx context.Context) func(func([]inspect.Task, error) bool) {
	if ids := r.opt.Scope.IDs; len(ids) > 0 && !r.keyed() {
		return func(yield func([]inspect.Task, error) bool) {
			var refs []inspect.Ref
			for _, q := range r.queues {
				for _, id := range ids {
					refs = append(refs, inspect.Ref{Queue: q, ID: id})
				}
			}
			yield(r.queue.Read(ctx, refs))
		}
	}
	queues, states := r.reach()
	// Plain commands read each hash whole in one step, run no scripts, and cost
	// about half of what the Inspector's pages cost; the two are held equal by
	// inspect's own tests.
	return r.queue.Pages(ctx, inspect.Listing{
		Lenient: true,
		Queues:  queues, States: states, PageSize: r.opt.PageSize, Index: r.index, Plain: true, InFlight: 2,
	})
}

// sort finds a task's rule and key, and counts the key.
func (r *run) sort(t inspect.Task) (*Bound, item) {
	rule := r.cases.match(t.Type, t.Queue)
	it := item{task: t}
	if rule == nil || len(rule.witnesses()) == 0 || t.Defect != inspect.DefectNone {
		r.alike(rule, it)
		return rule, it
	}
	if !r.aim.judges(t) {
		return rule, it
	}
	it.key, it.keyProblem = rule.keyFor(t)
	if r.keys == nil || it.keyProblem != "" {
		r.alike(rule, it)
		return rule, it
	}
	it.hash = r.keys.hash(r.space(rule), rule.canonical(it.key))
	first, unfinished, alive := counted(t, r.young(rule, t))
	c := r.keys.add(it.hash, first, unfinished, alive)
	if unfinished && c.Unfinished > 1 || first && c.Any > 1 {
		r.collided(rule, it)
	}
	r.alike(rule, it)
	return rule, it
}

// young says whether a task that is not live is too young to be settled.
func (r *run) young(b *Bound, t inspect.Task) bool {
	if t.State != inspect.StateArchived && t.State != inspect.StateCompleted {
		return false
	}
	now := r.now()
	settle := settleOf(Evidence{Task: t, Rule: b}, Moment{Now: now, Settle: r.opt.Settle})
	return now.Sub(lastSign(t)) < sum(settle, time.Second, r.clocks.skew)
}

// fail notes the first reason why the audit is not complete.
func (r *run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.problem == nil {
		r.problem = err
	}
}

func (r *run) judgedAny() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.totals.Tasks > 0
}

func (r *run) progress(phase string, page []inspect.Task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := Progress{
		Phase: phase, Tasks: r.totals.Tasks, Expected: r.expected, Findings: r.findings,
	}
	if len(page) > 0 {
		p.Queue, p.State = page[0].Queue, page[0].State
	}
	r.out.Progress(p)
}

// report closes the books.
func (r *run) report(ctx context.Context) Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.problem == nil {
		r.problem = r.ledgers.first()
	}
	finished := r.now()
	if at, err := r.queue.Now(context.WithoutCancel(ctx)); err == nil {
		finished = at
	}
	rep := Report{
		Complete: r.problem == nil, Problem: r.problem,
		StartedAt: r.started, FinishedAt: finished,
		Scope: r.opt.Scope, Filter: r.opt.Where.String(), Queues: r.queues, States: r.states,
		Totals: r.totals, Rules: r.cases.uses(), Skew: r.clocks.skew, Hashes: r.hashes.sorted(),
	}
	rep.Signatures, rep.SignaturesCut = r.signatures.sorted()
	return rep
}
