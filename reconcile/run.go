package reconcile

import (
	"context"
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
			if q == pattern || !r.opt.Scope.Exact && MatchGlob(pattern, q) {
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
		Aspect:   r.aim.aspect(),
		Complete: r.problem == nil, Problem: r.problem,
		StartedAt: r.started, FinishedAt: finished,
		Scope: r.opt.Scope, Filter: r.opt.Where.String(), Queues: r.queues, States: r.states,
		Totals: r.totals, Skew: r.clocks.skew, Hashes: r.hashes.sorted(),
	}
	rep.Rules, rep.Unruled = r.cases.uses()
	rep.Signatures, rep.SignaturesCut = r.signatures.sorted()
	return rep
}
