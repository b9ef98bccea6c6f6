package reconcile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// Tasks is what the auditor asks of Redis. *inspect.Client is one.
type Tasks interface {
	Queues(ctx context.Context) ([]string, error)
	Queue(ctx context.Context, name string) (inspect.Queue, error)
	Pages(ctx context.Context, l inspect.Listing) iter.Seq2[[]inspect.Task, error]
	Read(ctx context.Context, refs []inspect.Ref) ([]inspect.Task, error)
	Active(ctx context.Context, queues []string) ([]inspect.Task, error)
	Locks(ctx context.Context, keys []string) ([]inspect.Lock, error)
	Servers(ctx context.Context) ([]inspect.Server, error)
	Schedules(ctx context.Context) ([]inspect.Schedule, error)
	Keys(ctx context.Context, s inspect.Sweep) iter.Seq2[[]inspect.Key, error]
	IDs(ctx context.Context, queues []string, states []inspect.State) iter.Seq2[[]inspect.Listed, error]
	Placements(ctx context.Context, refs []inspect.Ref, groups []string) ([]inspect.Placement, error)
	Leases(ctx context.Context, queue string) ([]inspect.Lease, error)
	Groups(ctx context.Context, queue string) ([]string, error)
	GroupSizes(ctx context.Context, queue string, groups []string) ([]int, error)
	AggregationSets(ctx context.Context, queue string) ([]string, error)
	Now(ctx context.Context) (time.Time, error)
}

// Options says what to audit, by which rules, against which ledgers.
type Options struct {
	Scope Scope
	// Rules, first match wins. Nil means the one implicit rule: every type, key
	// id, mark processed_tasks in the default ledger.
	Rules []Rule
	// Ledgers by name. The auditor does not close them.
	Ledgers map[string]Ledger
	// DefaultLedger serves sources that name none.
	DefaultLedger string
	// Settle replaces the default settle time; 0 keeps it.
	Settle time.Duration
	// ConfirmAfter is how long applied and active must persist to be reported;
	// 0 means DefaultConfirmAfter.
	ConfirmAfter time.Duration
	// PageSize, 0: adapted. Concurrency: lookups in flight, 0: 4, which hides
	// the round trips of a ledger that is not on this machine.
	PageSize    int
	Concurrency int
	// Where filters what is reported; nil: all of it.
	Where *Filter
	// Hidden says of a field that no output may show it: nor a key that is made of
	// it. Nil hides none.
	Hidden func(Field) bool
	// OnJudged, when set, is told every task with its first verdict, from one
	// goroutine at a time.
	OnJudged func(Judged)
}

// DefaultConfirmAfter is how long the moment between a handler's commit and
// asynq's acknowledgement is given to pass.
const DefaultConfirmAfter = 3 * time.Second

const (
	// batchKeys bounds one lookup: larger arrays tempt PostgreSQL into a
	// sequential scan.
	batchKeys = 1000
	// batchBytes bounds the payloads one batch holds in memory.
	batchBytes = 4 << 20
	// pendingTasks bounds what the batches of all rules hold together.
	pendingTasks = 4 * batchKeys
	// confirmSize is how many suspects are looked at again together.
	confirmSize = 500
	// confirmRounds is how often a pair that moves is judged afresh.
	confirmRounds = 3
)

// Auditor joins tasks with ledgers. It holds no connection of its own and is
// safe to run again, one run at a time.
type Auditor struct {
	queue  Tasks
	opt    Options
	rules  []*Bound
	spaces map[sourceID]int // which sources may share keys
}

// ErrUnknownQueue says that a queue pattern of the scope matches no queue.
var ErrUnknownQueue = errors.New("unknown queue")

// QueueError is an ErrUnknownQueue with what there is instead.
type QueueError struct {
	Pattern string
	Known   []string // sorted
}

func (e *QueueError) Error() string {
	return fmt.Sprintf("%v %q", ErrUnknownQueue, e.Pattern)
}

func (e *QueueError) Unwrap() error { return ErrUnknownQueue }

// NewAuditor compiles the rules. Nothing is read yet.
func NewAuditor(queue Tasks, opt Options) (*Auditor, error) {
	if opt.Concurrency <= 0 {
		opt.Concurrency = 4
	}
	if opt.ConfirmAfter <= 0 {
		opt.ConfirmAfter = DefaultConfirmAfter
	}
	rules := opt.Rules
	if rules == nil {
		rules = []Rule{ImplicitRule(opt.DefaultLedger)}
	}
	a := &Auditor{queue: queue, opt: opt}
	for i, r := range rules {
		r.Sources = append([]Source(nil), r.Sources...)
		for s := range r.Sources {
			if r.Sources[s].Ledger == "" {
				r.Sources[s].Ledger = opt.DefaultLedger
			}
			if _, ok := opt.Ledgers[r.Sources[s].Ledger]; !ok {
				return nil, &RuleError{i + 1, "ledger", fmt.Errorf("unknown ledger %q", r.Sources[s].Ledger)}
			}
		}
		b, err := Bind(i+1, r)
		if err != nil {
			return nil, err
		}
		b.hidden = opt.Hidden != nil && b.KeyReads(opt.Hidden)
		a.rules = append(a.rules, b)
	}
	return a, nil
}

// ImplicitRule is the rule that applies when none is configured: every type and
// queue, key id, mark processed_tasks.
func ImplicitRule(ledger string) Rule {
	return Rule{
		Implicit: true,
		Class:    ClassCreate,
		Sources:  []Source{{Role: RoleMark, Ledger: ledger, Table: "processed_tasks"}},
	}
}

// Rules are the auditor's rules, in order. Their sources are resolved once Run
// or Prepare has succeeded.
func (a *Auditor) Rules() []*Bound { return a.rules }

// Filter is the auditor's own; nil when it has none.
func (a *Auditor) Filter() *Filter { return a.opt.Where }

// match is the first rule that speaks of the type and queue; nil when none does.
func (a *Auditor) match(taskType, queue string) *Bound {
	for _, b := range a.rules {
		if b.Matches(taskType, queue) {
			return b
		}
	}
	return nil
}

// Run audits. An error means that nothing was concluded. Otherwise the report
// says whether the audit is complete, and if not, why; the findings that were
// told before then stand.
func (a *Auditor) Run(ctx context.Context, o Observer) (Report, error) {
	r := &run{Auditor: a, out: o}
	cover := func(context.Context) error { r.cover(); return nil }
	return r.all(ctx, r.list, r.recheck, r.settle, r.collide, r.tellPayloads, r.structure, cover)
}

// Integrity looks at the queues' structure alone: its findings are those of the
// integrity family. Tasks that are where they should be are counted, and no
// ledger is asked about them.
func (a *Auditor) Integrity(ctx context.Context, o Observer) (Report, error) {
	r := &run{Auditor: a, out: o, aim: aimStructure}
	report, err := r.all(ctx, r.list, r.recheck, r.structure)
	clear(report.Totals.ByStatus) // of the few that were asked for
	report.Rules = nil
	return report, err
}

// Blocked tells what refuses new work now and will not do it: locks of archived
// tasks, locks left behind, explicit IDs of archived or retained tasks, and the
// hashes that no list holds.
func (a *Auditor) Blocked(ctx context.Context, o Observer) (Report, error) {
	r := &run{Auditor: a, out: o, aim: aimBlocked}
	report, err := r.all(ctx, r.list, r.recheck, r.sweep)
	clear(report.Totals.ByStatus) // of those that were asked for
	report.Rules = nil            // a part of the tasks says nothing of coverage
	return report, err
}

// all opens the run and goes through its phases. An error means that nothing was
// concluded.
func (r *run) all(ctx context.Context, phases ...func(context.Context) error) (Report, error) {
	if err := r.open(ctx); err != nil {
		return Report{}, err
	}
	for _, phase := range phases {
		if err := phase(ctx); err != nil {
			if !r.judgedAny() {
				return Report{}, err
			}
			r.fail(err)
			break
		}
	}
	return r.report(ctx), nil
}

// List tells Options.OnJudged of every task in scope with its first verdict.
// Nothing is confirmed, and no finding is told.
func (a *Auditor) List(ctx context.Context, o Observer) (Report, error) {
	r := &run{Auditor: a, out: o, aim: aimList}
	return r.all(ctx, r.list)
}
