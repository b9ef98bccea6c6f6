package reconcile

import (
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// Scope is what an audit looks at. Nil or empty parts mean everything.
type Scope struct {
	Queues []string        // globs
	Exact  bool            // Queues are names and no globs
	Types  []string        // globs
	States []inspect.State // judged states; others are still read for twins where a key needs it
	IDs    []string
}

// Narrowed says whether anything is left out.
func (s Scope) Narrowed() bool {
	return len(s.Queues) > 0 || len(s.Types) > 0 || len(s.States) > 0 || len(s.IDs) > 0
}

// Totals counts what an audit has judged. Its maps hold no zero entries.
type Totals struct {
	Tasks      int
	ByState    map[inspect.State]int
	ByStatus   map[Status]int
	ByCode     map[Code]int
	BySeverity map[Severity]int
}

// Signature is a group of failures alike but for numbers, identifiers, quoted
// values and times.
type Signature struct {
	Type  string
	Cause Cause
	Text  string // the last error with its variable parts replaced
	// Severity is the highest of the group's findings, and Codes counts them.
	Severity Severity
	Codes    map[Code]int
	Count    int
	// FirstAt and LastAt span the failures' times; zero when none has one.
	FirstAt, LastAt time.Time
	Example         inspect.Ref
}

// Report is what an audit concluded as a whole. Its findings went to the
// observer one by one.
type Report struct {
	// Complete is false when the audit was interrupted, or a source was lost on
	// the way: then what was judged stands, and nothing else was concluded.
	Complete bool
	// Problem says why it is not complete; nil when it is.
	Problem    error
	StartedAt  time.Time // Redis clock
	FinishedAt time.Time
	Scope      Scope
	Filter     string   // the filter that findings had to pass; "" is none
	Queues     []string // the queues read, sorted
	States     []inspect.State
	Totals     Totals
	Signatures []Signature // most findings first
	// SignaturesCut says how many findings fell into groups that were not kept.
	SignaturesCut int
	// Rules are the rules that matched at least one task, with their sources as
	// they were found, in order.
	Rules []RuleUse
	// Unruled counts the tasks of types that no rule matches.
	Unruled int
	// Skew is the largest difference measured between the clocks of Redis, the
	// ledgers and this machine.
	Skew time.Duration
	// Aspect is what was looked at.
	Aspect Aspect
	// Hashes counts the task hashes of each queue, sorted; nil where they were not
	// swept, which a narrowed audit does not do.
	Hashes []HashCount
}

// Aspect is what a report speaks of. The zero value is AspectAll.
type Aspect string

const (
	AspectAll       Aspect = ""
	AspectStructure Aspect = "structure" // the queues' structure: effects only where that is at fault
	AspectBlocked   Aspect = "blocked"   // what refuses new work, with the effects of that alone
)

// RuleUse says how much of an audit fell to one rule.
type RuleUse struct {
	Rule    *Bound
	Tasks   int
	Sources []SourceFacts
}

// Judged is one task with its first, unconfirmed verdict, as `tasks` lists it.
type Judged struct {
	Task     inspect.Task
	Rule     *Bound // nil: none matches
	Key      string
	Verdict  Verdict
	Readings []Reading
	Lock     *Lock     // nil: it was enqueued without one, or it was not read
	At       time.Time // when it was judged, by Redis's clock
}

// ShownKey is the key as an output may show it.
func (j *Judged) ShownKey() string { return shownKey(j.Key, j.Rule.HidesKey()) }

// Progress says how far an audit is.
type Progress struct {
	Phase string // "listing", "confirming", "settling", "colliding"
	Queue string
	State inspect.State
	Tasks int // judged so far
	// Expected is how many tasks the lists held when the audit began; the true
	// number moves.
	Expected int
	Findings int
}

// Observer is told what an audit finds, as it finds it. Its methods are called
// from one goroutine at a time.
type Observer interface {
	// Finding is called once for every confirmed finding, in order of discovery.
	Finding(Finding)
	// Progress is called now and then.
	Progress(Progress)
}
