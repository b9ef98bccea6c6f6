package tui

import (
	"context"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// Changer plans changes, makes them, and reads the journal of those that were
// made. A plan is the only way to a change.
type Changer interface {
	// Plan plans a change of the tasks; nothing is changed. With an error, the plan may
	// still name its Command.
	Plan(ctx context.Context, a Ask, tell func(reconcile.Progress)) (*Plan, error)
	// Apply makes the steps of the plan that run. Every item is told once, when its
	// outcome is known; what is told of the canary comes between. An error says
	// why the rest was not made.
	Apply(ctx context.Context, p *Plan, o ApplyOptions, tell func(Event)) error
	// Runs lists the runs of the journal, newest first.
	Runs(ctx context.Context) ([]Run, error)
	// Items are the items of a run, in their order.
	Items(ctx context.Context, run string) ([]RunItem, error)
}

// Verb is what is asked for.
type Verb string

// The changes. The zero value is none.
const (
	VerbRequeue Verb = "requeue" // run archived tasks again
	VerbResolve Verb = "resolve" // delete archived tasks whose work is done
	VerbRestore Verb = "restore" // put back what a run of the journal has changed
)

// Ask says what a plan is for.
type Ask struct {
	Verb Verb
	// Refs are the tasks; or, instead of them, Signature says which.
	Refs      []inspect.Ref
	Signature *Signature
	Run       string // of the journal, for VerbRestore; "" is the last that can be put back
}

// Plan is what would be done, and what is held.
type Plan struct {
	Ask
	Items  []PlanItem
	MadeAt time.Time
	Until  time.Time // it can be applied until then; zero: as long as the browser runs
	// Notes are what has to be known before it is applied, such as a queue that is
	// paused.
	Notes []string
	// Command is the command line that does the same; where there is none, NoCommand
	// says why.
	Command, NoCommand string
	// Canary says that Apply knows how to run some first and watch them.
	Canary bool
	// Private is the backend's own.
	Private any
}

// PlanItem is one task of a plan.
type PlanItem struct {
	inspect.Ref
	Type   string
	Status reconcile.Status
	Runs   bool   // it would be changed; else it is held
	Action string // "run", "resolve", "restore", "hold"
	Reason string // of a hold, as the code names it
	Words  string // what would be done, or why it is held
}

// Running counts the items that would be changed.
func (p *Plan) Running() int {
	n := 0
	for i := range p.Items {
		if p.Items[i].Runs {
			n++
		}
	}
	return n
}

// ApplyOptions say how a plan is applied.
type ApplyOptions struct {
	Canary int // run so many first and watch what becomes of them; 0: none
}

// Event is what happened while a plan was applied.
type Event struct {
	// Ref is the item concerned; zero for words on the run as a whole.
	inspect.Ref
	Outcome Outcome
	Words   string
	Run     string // of the journal, once it is known
	// Waiting says that the words are what the run waits for; the next event ends
	// them.
	Waiting bool
	// Fate is what has become of the item's work since, in a word; FateBad that it is
	// not what was wanted. "" where nobody looked.
	Fate    string
	FateBad bool
}

// Outcome is what came of an item.
type Outcome string

// The outcomes; the zero value is that nothing is known yet.
const (
	OutcomeNone    Outcome = ""
	OutcomeDone    Outcome = "done"
	OutcomeRefused Outcome = "refused" // it was not as planned: nothing was changed
	OutcomeFailed  Outcome = "failed"
	OutcomeUnknown Outcome = "unknown" // the answer was lost
)

// Run is one run of the journal.
type Run struct {
	ID                                      string
	Began, Ended                            time.Time // zero: not known, not yet
	Operator, Host, Context                 string
	Command, Reason                         string
	Done, Refused, Failed, Unknown, Pending int
	// Planned is how many items it was to make, 0 where nobody says; NotBegun how many
	// of those it never began, or has not yet. EndedBy is why it ended early.
	Planned, NotBegun int
	EndedBy           string
}

// RunItem is one change of a run.
type RunItem struct {
	Item    string
	Change  string
	Ref     inspect.Ref
	Target  string // lock or group
	Outcome Outcome
	Pending bool // nobody knows what became of it
	Words   string
	At      time.Time
}
