package render

import (
	"time"

	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/observed"
)

// TTLVerdict is what a kind's lock comes to. The zero value is TTLUnknown.
type TTLVerdict uint8

const (
	TTLUnknown  TTLVerdict = iota // nobody can say; Why says why
	TTLUnlocked                   // no lock is used, as far as anyone can tell
	TTLFine
	TTLTooShort // the task can outlive it
	TTLTooLong  // it outlasts the period of legal repeats
)

var ttlVerdictNames = [...]string{"unknown", "unlocked", "fine", "too-short", "too-long"}

func (v TTLVerdict) String() string {
	if int(v) < len(ttlVerdictNames) {
		return ttlVerdictNames[v]
	}
	return ttlVerdictNames[TTLUnknown]
}

// TTLKind is what Redis shows of one kind of tasks, beside what was declared.
type TTLKind struct {
	*observed.Facts
	Declared retry.Params
	// PolicyFrom is where the retry policy was written; "": nowhere, asynq's
	// default is assumed.
	PolicyFrom string

	// InUse is the TTL that the code uses and where that is known from; nil: not
	// known.
	InUse     *retry.Seconds
	InUseFrom string
	// Needed outlives every task of the kind; nil: nothing does, or nobody can say.
	Needed *retry.Seconds
	Go     string
	// Period is how soon equal work may legally come again; 0: nobody said.
	Period     retry.Seconds
	PeriodFrom string

	Verdict TTLVerdict
	By      retry.Seconds // how much too short or too long
	Why     string
}

// TTLObserved is one reading of Redis.
type TTLObserved struct {
	At       time.Time // clock of Redis
	Complete bool
	Problem  string // why not
	Tasks    int
	Dropped  int // tasks of kinds that were too many to keep
	Servers  int
	Kinds    []TTLKind
}

type ttlObservedJSON struct {
	At       *string       `json:"at"`
	Complete bool          `json:"complete"`
	Problem  *string       `json:"problem"`
	Tasks    int           `json:"tasks"`
	Dropped  int           `json:"dropped_tasks"`
	Servers  int           `json:"servers"`
	Kinds    []ttlKindJSON `json:"kinds"`
	Untold   []string      `json:"untold"`
}

type ttlKindJSON struct {
	Type    string         `json:"type"`
	Queue   string         `json:"queue"`
	Tasks   int            `json:"tasks"`
	ByState map[string]int `json:"by_state"`
	Servers int            `json:"servers"`
	Paused  bool           `json:"paused"`

	Policy     string  `json:"policy"`
	PolicyFrom *string `json:"policy_from"` // null: asynq's default is assumed

	InUse      *retry.Time `json:"ttl_in_use_s"`
	InUseFrom  *string     `json:"ttl_in_use_from"`
	Needed     *retry.Time `json:"ttl_needed_s"`
	Go         *string     `json:"go"`
	Period     *retry.Time `json:"period_s"`
	PeriodFrom *string     `json:"period_from"`
	Verdict    string      `json:"verdict"`
	By         *retry.Time `json:"by_s"`
	Why        *string     `json:"why"`

	Unique    int            `json:"unique_tasks"`
	Short     int            `json:"short_tasks"` // that can outlive their lock
	First     []ttlShortJSON `json:"first_short"`
	LocksLeft *ttlSpreadJSON `json:"locks_left"`
	Asked     *ttlSpreadJSON `json:"ttl_at_enqueue"`

	Delays    []ttlDelayJSON    `json:"delays"`
	Uncounted int               `json:"uncounted"`
	Waits     *ttlSpreadJSON    `json:"waits"`
	Runs      *ttlSpreadJSON    `json:"runs"`
	Entries   []ttlEntryJSON    `json:"periodic"`
	Estimates []ttlEstimateJSON `json:"estimates"`
}

type ttlShortJSON struct {
	ID    string     `json:"task_id"`
	State string     `json:"state"`
	Held  bool       `json:"lock_held"`
	Left  retry.Time `json:"lock_ends_in_s"`
	Life  retry.Time `json:"can_live_s"`
}

type ttlSpreadJSON struct {
	Count int        `json:"count"`
	Min   retry.Time `json:"min_s"`
	Mean  retry.Time `json:"mean_s"`
	Max   retry.Time `json:"max_s"`
}

type ttlDelayJSON struct {
	N      int        `json:"n"`
	Count  int        `json:"count"`
	Min    retry.Time `json:"min_s"`
	Max    retry.Time `json:"max_s"`
	Low    retry.Time `json:"policy_min_s"`
	High   retry.Time `json:"policy_max_s"`
	Inside int        `json:"inside"`
}

type ttlEntryJSON struct {
	Spec     string      `json:"spec"`
	Unique   *retry.Time `json:"unique_s"`
	MaxRetry *int        `json:"max_retry"`
	Timeout  *retry.Time `json:"timeout_s"`
	Interval *retry.Time `json:"interval_s"`
}

type ttlEstimateJSON struct {
	Name     string  `json:"name"`
	Value    string  `json:"value"`
	Count    int     `json:"observations"`
	Of       string  `json:"of"`
	Declared string  `json:"declared"`
	Agrees   bool    `json:"agrees"`
	Remark   *string `json:"remark"`
}

func shapeObserved(t *TTLObserved) *ttlObservedJSON {
	if t == nil {
		return nil
	}
	s := &ttlObservedJSON{
		At: instant(t.At), Complete: t.Complete, Problem: text(t.Problem), Tasks: t.Tasks, Dropped: t.Dropped,
		Servers: t.Servers, Kinds: []ttlKindJSON{}, Untold: observed.Untold(),
	}
	for i := range t.Kinds {
		s.Kinds = append(s.Kinds, shapeKind(&t.Kinds[i]))
	}
	return s
}

func shapeKind(k *TTLKind) ttlKindJSON {
	s := ttlKindJSON{
		Type: k.Type, Queue: k.Queue, Tasks: k.Tasks, ByState: map[string]int{}, Servers: k.Servers, Paused: k.Paused,
		Policy: k.Declared.Delay.String(), PolicyFrom: text(k.PolicyFrom),
		InUse: someTime(k.InUse), InUseFrom: text(k.InUseFrom), Needed: someTime(k.Needed), Go: text(k.Go),
		PeriodFrom: text(k.PeriodFrom), Verdict: k.Verdict.String(), Why: text(k.Why),
		Unique: k.Locks.Unique, Short: k.Locks.Short, First: []ttlShortJSON{},
		LocksLeft: shapeSpread(k.Locks.Left), Asked: shapeSpread(k.Locks.Asked),
		Delays: []ttlDelayJSON{}, Uncounted: k.Uncounted, Waits: shapeSpread(k.Waits), Runs: shapeSpread(k.Runs),
		Entries: []ttlEntryJSON{}, Estimates: []ttlEstimateJSON{},
	}
	for state, n := range k.ByState {
		s.ByState[state.String()] = n
	}
	s.Period, s.By = positiveTime(k.Period), positiveTime(k.By)
	for _, t := range k.Locks.First {
		s.First = append(s.First, ttlShortJSON{t.Ref.ID, t.State.String(), t.Held, fromDuration(t.Left), fromDuration(t.Life)})
	}
	for _, d := range k.Delays {
		low, high := k.Declared.Delay.Bounds(d.N)
		s.Delays = append(s.Delays, ttlDelayJSON{
			d.N, d.Count, fromDuration(d.Min), fromDuration(d.Max), fromDuration(low), fromDuration(high), d.Inside,
		})
	}
	for _, e := range k.Entries {
		shape := ttlEntryJSON{
			Spec: e.Spec, Unique: someDuration(e.Unique), Timeout: someDuration(e.Timeout), Interval: someDuration(e.Interval),
		}
		if e.MaxRetry >= 0 {
			shape.MaxRetry = &e.MaxRetry
		}
		s.Entries = append(s.Entries, shape)
	}
	for _, e := range k.Estimates(k.Declared) {
		s.Estimates = append(s.Estimates, ttlEstimateJSON{e.Name, e.Value, e.Count, e.Of, e.Declared, e.Agrees, text(e.Remark)})
	}
	return s
}

func shapeSpread(s observed.Spread) *ttlSpreadJSON {
	if s.Count == 0 {
		return nil
	}
	return &ttlSpreadJSON{s.Count, fromDuration(s.Min), fromDuration(s.Mean()), fromDuration(s.Max)}
}

func fromDuration(d time.Duration) retry.Time { return retry.Time(retry.SecondsOf(d)) }

func someTime(s *retry.Seconds) *retry.Time {
	if s == nil {
		return nil
	}
	return timeOf(*s)
}

// positiveTime is absent when it is 0.
func positiveTime(s retry.Seconds) *retry.Time {
	if s <= 0 {
		return nil
	}
	return timeOf(s)
}

func someDuration(d time.Duration) *retry.Time { return positiveTime(retry.SecondsOf(d)) }
