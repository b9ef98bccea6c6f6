package main

import (
	"fmt"
	"strings"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// moveProgress shows on a terminal how far a plan is, with counts by outcome.
type moveProgress struct {
	*progress
	total, tried int
	counts       [journal.OutcomeFailed + 1]int
	waiting      string
}

func (p *program) newMoveProgress(total int) *moveProgress {
	return &moveProgress{progress: p.newProgress(), total: total}
}

func (g *moveProgress) applied(a reconcile.Applied) {
	if a.Unbegun {
		return // it stays among what is left
	}
	g.tried++
	g.counts[a.Outcome]++
	g.draw()
}

func (g *moveProgress) waits(words string) {
	g.waiting = words
	g.draw()
}

func (g *moveProgress) draw() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.bar == nil {
		return
	}
	var words []string
	for _, o := range []journal.Outcome{journal.OutcomeDone, journal.OutcomeRefused, journal.OutcomeFailed, journal.OutcomeUnknown} {
		if n := g.counts[o]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, o))
		}
	}
	if g.waiting != "" {
		words = append(words, g.waiting)
	}
	if g.bar.GetMax() != g.total {
		g.bar.ChangeMax(g.total)
	}
	g.bar.Describe(strings.Join(words, ", "))
	_ = g.bar.Set(g.tried)
}
