package tui

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/observed"
	"github.com/idemctl/idemctl/reconcile"
)

// Audit is what one audit found, in bounded memory: groups of findings with
// examples, and what the charts draw.
type Audit struct {
	At       time.Time // when it ended, by Redis's clock
	Took     time.Duration
	Complete bool
	Problem  error
	Tasks    int
	Totals   reconcile.Totals
	Groups   []*Group // worst first
	// Archived counts archived tasks by hours before At, the last hour first; Due the
	// tasks whose retry comes due by minutes after At; Ending the locks that run out
	// by minutes after At: those that tasks hold, and those that were left behind.
	// ArchivedBefore and the like count what is further off.
	Archived, Due, Ending                 []int
	ArchivedBefore, DueAfter, EndingAfter int
	Overdue                               int // retries that were due before At
	Kinds                                 []*observed.Facts
	KindsDropped                          int
}

// Group is findings of one signature.
type Group struct {
	Code     reconcile.Code
	Severity reconcile.Severity
	Type     string
	Cause    reconcile.Cause
	Text     string // the last error with its variable parts replaced; "" for none
	Count    int
	// FirstAt and LastAt span the failures.
	FirstAt, LastAt time.Time
	// Examples are some of them, without payloads.
	Examples []reconcile.Finding
}

// key names the group from one audit to the next.
func (g *Group) key() string {
	return string(g.Code) + "\x00" + g.Type + "\x00" + string(g.Cause) + "\x00" + g.Text
}

const (
	archivedHours = 24
	dueMinutes    = 60
	endingMinutes = 60

	maxGroups   = 500
	maxExamples = 200  // of one group
	maxKept     = 5000 // of all groups
)

// Book gathers what an audit tells. It is not safe for concurrent use.
type Book struct {
	now    time.Time
	groups map[string]*Group
	kept   int
	audit  Audit
	kinds  *observed.Collector
	worst  *Group // stands for the groups that there was no room for
}

// NewBook begins a book at a moment, by Redis's clock. kinds gathers what is seen
// of types; nil: nobody wants to know.
func NewBook(now time.Time, kinds *observed.Collector) *Book {
	return &Book{
		now: now, groups: map[string]*Group{}, kinds: kinds,
		audit: Audit{
			Archived: make([]int, archivedHours), Due: make([]int, dueMinutes), Ending: make([]int, endingMinutes),
		},
	}
}

// Finding notes a finding.
func (b *Book) Finding(f reconcile.Finding) {
	g := &Group{Code: f.Code, Severity: f.Severity, Type: f.Task.Type, Cause: f.Cause}
	if f.Task.LastErr != "" && f.OfEffect() {
		g.Text = reconcile.Shape(f.Task.LastErr)
	}
	key := g.key()
	if old, ok := b.groups[key]; ok {
		g = old
	} else if len(b.groups) < maxGroups {
		b.groups[key] = g
	} else {
		g = b.beyond()
	}
	if l := f.Lock; l != nil && (f.Code == reconcile.CodeLockOrphaned || f.Code == reconcile.CodeLockPhantom) {
		b.ends(l) // no task that was judged holds it
	}
	g.Count++
	g.Severity = max(g.Severity, f.Severity)
	g.span(f.Task.LastFailedAt)
	if len(g.Examples) < maxExamples && b.kept < maxKept {
		b.kept++
		f.Task.Payload, f.Task.Headers, f.Marked = nil, nil, nil
		g.Examples = append(g.Examples, f)
	}
}

// beyond is the group of what there is no room for.
func (b *Book) beyond() *Group {
	if b.worst == nil {
		b.worst = &Group{Text: "more signatures than are kept"}
		b.groups[b.worst.key()] = b.worst
	}
	return b.worst
}

func (g *Group) span(at time.Time) {
	if at.IsZero() {
		return
	}
	if g.FirstAt.IsZero() || at.Before(g.FirstAt) {
		g.FirstAt = at
	}
	if at.After(g.LastAt) {
		g.LastAt = at
	}
}

// Judged notes a task for the charts.
func (b *Book) Judged(j *reconcile.Judged) {
	t := &j.Task
	a := &b.audit
	switch t.State {
	case inspect.StateArchived:
		a.ArchivedBefore += tallied(a.Archived, b.now.Sub(t.ArchivedAt), time.Hour)
	case inspect.StateRetry:
		switch d := t.NextProcessAt.Sub(b.now); {
		case d < 0:
			a.Overdue++
		default:
			a.DueAfter += tallied(a.Due, d, time.Minute)
		}
	}
	var lock *inspect.Lock
	if l := j.Lock; l != nil {
		lock = &inspect.Lock{Key: l.Key, Held: l.State != reconcile.LockFree, Owner: l.Owner, TTL: l.TTL}
		b.ends(l)
	}
	if b.kinds != nil {
		b.kinds.Task(*t, lock, b.now)
	}
}

// ends notes when a lock runs out that is held.
func (b *Book) ends(l *reconcile.Lock) {
	if l.State == reconcile.LockHeld && l.TTL > 0 {
		b.audit.EndingAfter += tallied(b.audit.Ending, l.TTL, time.Minute)
	}
}

// tallied counts a time in its place, and says 1 where it has none.
func tallied(counts []int, d, unit time.Duration) int {
	i := int(max(0, d) / unit)
	if i >= len(counts) {
		return 1
	}
	counts[i]++
	return 0
}

// Close makes an audit of the book.
func (b *Book) Close(r *reconcile.Report, took time.Duration) *Audit {
	a := b.audit
	a.At, a.Took, a.Complete, a.Problem = r.FinishedAt, took, r.Complete, r.Problem
	a.Tasks, a.Totals = r.Totals.Tasks, r.Totals
	a.Groups = slices.Collect(maps.Values(b.groups))
	slices.SortFunc(a.Groups, func(x, y *Group) int {
		return cmp.Or(
			cmp.Compare(y.Severity, x.Severity), cmp.Compare(y.Count, x.Count),
			cmp.Compare(x.Code, y.Code), cmp.Compare(x.Type, y.Type), cmp.Compare(x.Text, y.Text), cmp.Compare(x.Cause, y.Cause),
		)
	})
	if b.kinds != nil {
		a.Kinds, a.KindsDropped = b.kinds.Facts(), b.kinds.Dropped
	}
	return &a
}
