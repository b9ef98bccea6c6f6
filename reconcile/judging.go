package reconcile

import (
	"context"
	"sync"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// noteStatus is how the index's caller bits hold a task's status: 0 is "not
// judged". noteDeferred marks a task whose absence is looked at again when
// every twin is known.
const (
	noteStatus   = 0b0111
	noteDeferred = 0b1000
)

// judge looks a batch up, judges it, and passes on what would be a finding.
func (r *run) judge(ctx context.Context, b batch) {
	if ctx.Err() != nil {
		return
	}
	r.seePayloads(b.items)
	found := r.lookUp(ctx, b.rule, b.items)
	if ctx.Err() != nil {
		return // a lookup cut short says nothing
	}
	locks := r.locks(ctx, b.items)
	if ctx.Err() != nil {
		return
	}
	r.owned(b.items, locks)
	m := Moment{Now: r.now(), Skew: r.clocks.skew, Settle: r.opt.Settle}
	var suspects []suspect
	for i, it := range b.items {
		s := suspect{
			item: it, rows: found.rows[i], lagging: found.lagging, unread: found.unread,
			seen: time.Now(), lock: locks[i],
		}
		s.verdict = Judge(r.evidence(b.rule, &s, m), r.around(m, s.task))
		r.ticks(s)
		if next, ok := r.first(b.rule, s); ok {
			suspects = append(suspects, next)
		}
	}
	r.hold(ctx, b.rule, suspects)
}

// hold keeps suspects until there are enough of one rule to be worth the round
// trips of a second look, and then gives them that look.
func (r *run) hold(ctx context.Context, b *Bound, suspects []suspect) {
	if len(suspects) == 0 {
		return
	}
	r.mu.Lock()
	r.held[b] = append(r.held[b], suspects...)
	var due []suspect
	if len(r.held[b]) >= confirmSize {
		due = r.held[b]
		delete(r.held, b)
	}
	r.mu.Unlock()
	r.confirmAll(ctx, b, due)
}

// release gives the suspects that are held their second look.
func (r *run) release(ctx context.Context) {
	for b, suspects := range r.held {
		r.confirmAll(ctx, b, suspects)
	}
	clear(r.held)
}

func (r *run) confirmAll(ctx context.Context, b *Bound, suspects []suspect) {
	for len(suspects) > 0 && ctx.Err() == nil {
		n := min(confirmSize, len(suspects))
		r.confirm(ctx, b, suspects[:n], false)
		suspects = suspects[n:]
	}
}

// evidence is what the judge is told of a suspect. It works out how long the
// suspect's lock would have to live.
func (r *run) evidence(b *Bound, s *suspect, m Moment) Evidence {
	if s.lock != nil && s.lock.State == LockHeld {
		s.lock.Needed = longestLife(s.task, b, r.around(m, s.task))
	}
	return Evidence{
		Task: s.task, Rule: b, Key: s.key, KeyProblem: s.keyProblem,
		Rows: s.rows, Unread: s.unread, Lagging: s.lagging, Lock: s.lock,
	}
}

// first books a task's first verdict. It returns the suspect when it has to be
// confirmed now.
func (r *run) first(b *Bound, s suspect) (suspect, bool) {
	v := s.verdict
	absent := v.Has(CodeLost) || v.Has(CodeUnmarked)
	r.book(s.task, v.Status, absent)
	if r.opt.OnJudged != nil {
		r.mu.Lock()
		j := Judged{Task: s.task, Rule: b, Key: s.key, Verdict: v, Readings: readings(b, s.rows), Lock: s.lock, At: r.now()}
		if r.opt.Where.Passes(Subject{Judged: &j}) {
			r.opt.OnJudged(j)
		}
		r.mu.Unlock()
	}
	if r.aim == aimList {
		return s, false
	}
	if v.Recheck {
		r.mu.Lock()
		r.rechecks = append(r.rechecks, s)
		r.mu.Unlock()
		return s, false
	}
	if absent && r.aim == aimAudit {
		return s, false // judged again when every twin is known
	}
	if worst(v, s.task.State) >= SeverityWarning {
		return s, true
	}
	r.tell(b, s, r.now())
	return s, false
}

// worst is the highest severity among a verdict's codes.
func worst(v Verdict, state inspect.State) Severity {
	var highest Severity
	for _, c := range v.Codes {
		highest = max(highest, v.Severity(c, state))
	}
	return highest
}

// book counts a task once, under its last state and status.
func (r *run) book(t inspect.Task, status Status, deferred bool) {
	bits := uint8(status+1) & noteStatus
	if deferred {
		bits |= noteDeferred
	}
	old := r.index.Note(t.Ref, bits)
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := old & noteStatus; before != 0 {
		dec(r.totals.ByStatus, Status(before-1))
		if t.Prev != inspect.StateUnknown {
			dec(r.totals.ByState, t.Prev)
		} else {
			dec(r.totals.ByState, t.State)
		}
	} else {
		r.totals.Tasks++
	}
	r.totals.ByState[t.State]++
	r.totals.ByStatus[status]++
}

// restate counts a task that was booked before under another status.
func (r *run) restate(t inspect.Task, status Status) {
	old := r.index.Noted(t.Ref)
	before := old & noteStatus
	if before == 0 || Status(before-1) == status {
		return
	}
	r.index.Note(t.Ref, uint8(status+1)&noteStatus|old&noteDeferred)
	r.mu.Lock()
	defer r.mu.Unlock()
	dec(r.totals.ByStatus, Status(before-1))
	r.totals.ByStatus[status]++
}

func dec[K comparable](counts map[K]int, k K) {
	if counts[k]--; counts[k] <= 0 {
		delete(counts, k)
	}
}

// found is what the ledgers say of a batch.
type found struct {
	rows    [][]Row // one for each item; nil entries were not read
	lagging bool
	unread  string
}

// lookUp reads every source of the rule for every item that has a key: one
// statement for each ledger. A ledger that fails leaves its items unread.
func (r *run) lookUp(ctx context.Context, b *Bound, items []item) found {
	return r.lookUpFenced(ctx, b, items, false)
}

func (r *run) lookUpFenced(ctx context.Context, b *Bound, items []item, fence bool) found {
	f := found{rows: make([][]Row, len(items))}
	if b == nil || len(b.witnesses()) == 0 {
		return f
	}
	if len(b.parts) == 0 {
		f.unread = "its sources were never resolved" // an absence would be made up
		return f
	}
	keys := make([]string, 0, len(items))
	at := make([]int, 0, len(items))
	for i, it := range items {
		if it.keyProblem == "" && it.task.Defect == inspect.DefectNone {
			keys = append(keys, it.key)
			at = append(at, i)
		}
	}
	if len(keys) == 0 {
		return f
	}
	rows := make([][]Row, len(keys))
	for k := range rows {
		rows[k] = make([]Row, len(b.Sources))
	}
	lagging, err := r.readParts(ctx, b, keys, rows, fence)
	if err != nil {
		f.unread = err.Error()
		return f
	}
	f.lagging = lagging
	for k, i := range at {
		f.rows[i] = rows[k]
	}
	return f
}

// readParts fills rows from every ledger of the rule. Where one ledger had no
// row and a later one had, the first is read again: what was absent has to be
// read after what was present.
func (r *run) readParts(ctx context.Context, b *Bound, keys []string, rows [][]Row, fence bool) (lagging bool, err error) {
	for n := range b.parts {
		l, err := r.readPart(ctx, &b.parts[n], keys, rows, nil, fence)
		if err != nil {
			return false, err
		}
		lagging = lagging || l
	}
	for n := range len(b.parts) - 1 {
		var late []int
		for k := range keys {
			if absentIn(&b.parts[n], rows[k]) && presentAfter(b.parts[n+1:], rows[k]) {
				late = append(late, k)
			}
		}
		if len(late) == 0 {
			continue
		}
		if _, err := r.readPart(ctx, &b.parts[n], keys, rows, late, fence); err != nil {
			return false, err
		}
	}
	return lagging, nil
}

// readPart reads one ledger's share, for all keys or only those at the given
// indices.
func (r *run) readPart(ctx context.Context, p *part, keys []string, rows [][]Row, only []int, fence bool) (lagging bool, err error) {
	if err := r.ledgers.problem(p.ledger); err != nil {
		return false, err
	}
	asked := keys
	if only != nil {
		asked = make([]string, len(only))
		for i, k := range only {
			asked[i] = keys[k]
		}
	}
	got, err := p.lookup.Read(ctx, asked, fence)
	if unreachable(err) && ctx.Err() == nil {
		// One connection may have been cut; another look is a look like any other.
		got, err = p.lookup.Read(ctx, asked, fence)
	}
	if err != nil {
		r.ledgers.note(ctx, p.ledger, err)
		return false, err
	}
	for i, sourceRows := range got.Keys {
		k := i
		if only != nil {
			k = only[i]
		}
		for j, row := range sourceRows {
			rows[k][p.sources[j]] = row
		}
	}
	return got.Lagging, nil
}

func absentIn(p *part, row []Row) bool {
	for _, s := range p.sources {
		if row[s].Passing == 0 {
			return true
		}
	}
	return false
}

func presentAfter(parts []part, row []Row) bool {
	for n := range parts {
		for _, s := range parts[n].sources {
			if row[s].Count > 0 {
				return true
			}
		}
	}
	return false
}

// ledgerHealth remembers which ledgers were lost, so that the rest of an audit
// does not wait for them again and again. The zero value: all are well.
type ledgerHealth struct {
	mu   sync.Mutex
	lost map[string]error
	err  error
}

func (h *ledgerHealth) problem(name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost[name]
}

// note records a failure, unless it only says that we were told to stop.
func (h *ledgerHealth) note(ctx context.Context, name string, err error) {
	if ctx.Err() != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost == nil {
		h.lost = map[string]error{}
	}
	h.lost[name] = err
	if h.err == nil {
		h.err = err
	}
}

func (h *ledgerHealth) first() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// readings pairs a rule's sources with their rows.
func readings(b *Bound, rows []Row) []Reading {
	if b == nil || rows == nil {
		return nil
	}
	out := make([]Reading, len(rows))
	for i, row := range rows {
		out[i] = Reading{Source: b.facts[i], Row: row}
	}
	return out
}
