package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// sourceID names a source across rules: where a key is unique.
type sourceID struct{ ledger, table, column string }

// Prepare resolves every rule's sources. It fails with the first *LedgerError.
func (a *Auditor) Prepare(ctx context.Context) error {
	for _, b := range a.rules {
		b.parts = nil
		for i, s := range b.Sources {
			n := slices.IndexFunc(b.parts, func(p part) bool { return p.ledger == s.Ledger })
			if n < 0 {
				b.parts = append(b.parts, part{ledger: s.Ledger})
				n = len(b.parts) - 1
			}
			b.parts[n].sources = append(b.parts[n].sources, i)
		}
		for n := range b.parts {
			if err := a.preparePart(ctx, b, &b.parts[n]); err != nil {
				return err
			}
		}
	}
	a.spaces = keySpaces(a.rules)
	return nil
}

func (a *Auditor) preparePart(ctx context.Context, b *Bound, p *part) error {
	sources := make([]Source, len(p.sources))
	for i, s := range p.sources {
		sources[i] = b.Sources[s]
	}
	lookup, err := a.opt.Ledgers[p.ledger].Prepare(ctx, sources)
	if err != nil {
		return ruleError(b, err)
	}
	p.lookup = lookup
	for i, f := range lookup.Sources() {
		b.facts[p.sources[i]] = f
	}
	ages, err := lookup.Oldest(ctx)
	if err != nil {
		return ruleError(b, err)
	}
	b.remember(p, ages)
	return nil
}

// remember notes how far back a part's sources go.
func (b *Bound) remember(p *part, ages []SourceAge) {
	for {
		old := b.ages.Load()
		fresh := slices.Clone(*old)
		for i, age := range ages {
			fresh[p.sources[i]] = age
		}
		if b.ages.CompareAndSwap(old, &fresh) {
			return
		}
	}
}

// ruleError says which rule a ledger's error concerns, where there is more than
// the implicit one.
func ruleError(b *Bound, err error) error {
	if err == nil || b.Implicit {
		return err
	}
	return fmt.Errorf("rule %d: %w", b.Number, err)
}

// keySpaces numbers the sources so that two rules which share any source give
// all of theirs the same number: only within one number can two tasks mean the
// same row.
func keySpaces(rules []*Bound) map[sourceID]int {
	spaces := map[sourceID]int{}
	for n, b := range rules {
		number := n + 1
		for _, i := range b.witnesses() {
			old, ok := spaces[b.sourceID(i)]
			if !ok || old == number {
				continue
			}
			for id, s := range spaces { // join the two
				if s == number {
					spaces[id] = old
				}
			}
			number = old
		}
		for _, i := range b.witnesses() {
			if old, ok := spaces[b.sourceID(i)]; ok && old != number {
				for id, s := range spaces {
					if s == old {
						spaces[id] = number
					}
				}
			}
			spaces[b.sourceID(i)] = number
		}
	}
	return spaces
}

// sourceID names the rule's i-th source as its ledger resolved it.
func (b *Bound) sourceID(i int) sourceID {
	f := b.facts[i]
	return sourceID{b.Sources[i].Ledger, f.Table, f.Column}
}

// space is the key space of a rule: 0 when it has no source that decides.
func (a *Auditor) space(b *Bound) int {
	for _, i := range b.witnesses() {
		return a.spaces[b.sourceID(i)]
	}
	return 0
}

// share says whether two rules look for their keys in one source.
func share(a, b *Bound) bool {
	for _, i := range a.witnesses() {
		for _, j := range b.witnesses() {
			if a.sourceID(i) == b.sourceID(j) {
				return true
			}
		}
	}
	return false
}

// clocks is what was measured of the clocks at the start of a run.
type clocks struct {
	offset time.Duration // Redis TIME less this machine's clock
	skew   time.Duration // largest difference between any two, with its error
	// readings are this machine's clock and those it was compared with.
	readings []clockReading
}

// clockReading is one clock against this machine's.
type clockReading struct {
	name           string
	offset, margin time.Duration
}

// measureClocks compares Redis and the ledgers with this machine's clock. Half
// of a round trip is the error of each.
func (a *Auditor) measureClocks(ctx context.Context) (clocks, error) {
	c := clocks{readings: []clockReading{{name: "this machine's"}}}
	lo, hi := time.Duration(0), time.Duration(0)
	note := func(name string, read func() (time.Time, error)) (time.Duration, error) {
		before := time.Now()
		there, err := read()
		if err != nil {
			return 0, err
		}
		trip := time.Since(before)
		offset := there.Sub(before.Add(trip / 2))
		lo, hi = min(lo, offset-trip/2), max(hi, offset+trip/2)
		c.readings = append(c.readings, clockReading{name, offset, trip / 2})
		return offset, nil
	}
	offset, err := note("Redis's", func() (time.Time, error) { return a.queue.Now(ctx) })
	if err != nil {
		return c, err
	}
	c.offset = offset
	for name, l := range a.opt.Ledgers {
		_, err := note("ledger "+name+"'s", func() (time.Time, error) {
			f, err := l.Facts(ctx)
			return f.Now, err
		})
		if err != nil {
			return c, err
		}
	}
	c.skew = hi - lo
	return c, nil
}

// unreachable says whether an error means that a ledger's connection is gone.
func unreachable(err error) bool {
	var le *LedgerError
	return errors.As(err, &le) && le.Kind == LedgerUnreachable
}
