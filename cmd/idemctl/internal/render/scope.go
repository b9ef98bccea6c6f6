package render

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// scopeFact is one line of what was looked at.
type scopeFact struct{ name, text string }

// scopeOf says which servers were asked, which tasks were judged, and what they
// came to.
func scopeOf(r *reconcile.Report, h *Header) []scopeFact {
	facts := []scopeFact{{"redis", redisLine(h.Redis)}}
	for _, l := range h.Ledgers {
		facts = append(facts, scopeFact{"ledger", ledgerLine(l)})
	}
	if len(h.Ledgers) == 0 {
		facts = append(facts, scopeFact{"ledger", "none: no effect can be looked up"})
	}
	facts = append(facts, scopeFact{"queues", queuesLine(r)})
	if narrowed := narrowedLine(r, h); narrowed != "" {
		facts = append(facts, scopeFact{"only", narrowed})
	}
	facts = append(facts, scopeFact{"tasks", tasksLine(r)})
	if hashes := hashesLine(r); hashes != "" {
		facts = append(facts, scopeFact{"hashes", hashes})
	}
	if status := statusLine(r); status != "" {
		facts = append(facts, scopeFact{"effects", status})
	}
	if r.Skew >= skewWorthSaying {
		facts = append(facts, scopeFact{"clocks", "differ by " + took(r.Skew) + ": time order closer than that is not known"})
	}
	return facts
}

// hashesLine counts the hashes of all queues, where any is not as it should be
// or the structure was what was asked for.
func hashesLine(r *reconcile.Report) string {
	var all reconcile.HashCount
	for _, h := range r.Hashes {
		all.Total += h.Total
		all.Indexed += h.Indexed
		all.Ghosts += h.Ghosts
		all.ResultOnly += h.ResultOnly
	}
	if all.Ghosts+all.ResultOnly == 0 && len(r.Totals.ByStatus) > 0 || all.Total == 0 {
		return ""
	}
	line := count(all.Total) + " = indexed " + count(all.Indexed) + " + ghosts " + count(all.Ghosts)
	if all.ResultOnly > 0 {
		line += " + results alone " + count(all.ResultOnly)
	}
	return line
}

// skewWorthSaying is where clocks that differ begin to matter to a reader.
const skewWorthSaying = 5 * time.Second

func redisLine(f inspect.RedisFacts) string {
	server := "Redis"
	if f.Valkey {
		server = "Valkey"
	}
	return joined(Visible(f.Addr), server+" "+Visible(f.Version), Visible(f.Mode))
}

func ledgerLine(l Ledger) string {
	kind := map[string]string{"postgres": "PostgreSQL", "sqlite": "SQLite"}[l.Facts.Kind]
	replica := ""
	if l.Facts.Replica {
		replica = "a replica: absence needs proof"
	}
	return joined(Visible(l.Name), cmp.Or(kind, Visible(l.Facts.Kind))+" "+Visible(l.Facts.Version), Visible(l.Facts.Server), replica)
}

// joined joins what there is with dots.
func joined(facts ...string) string {
	var some []string
	for _, f := range facts {
		if f = strings.TrimSpace(f); f != "" {
			some = append(some, f)
		}
	}
	return strings.Join(some, " · ")
}

// maxNamed is how many queues or types a line names.
const maxNamed = 8

func queuesLine(r *reconcile.Report) string {
	if len(r.Queues) == 0 {
		return "none"
	}
	return named(r.Queues)
}

func named(names []string) string {
	var shown []string
	for i, n := range names {
		if i == maxNamed {
			shown = append(shown, fmt.Sprintf("and %d more", len(names)-i))
			break
		}
		shown = append(shown, Visible(n))
	}
	return strings.Join(shown, ", ")
}

// narrowedLine says what was left out; "" when nothing was.
func narrowedLine(r *reconcile.Report, h *Header) string {
	var parts []string
	add := func(what string, names []string) {
		if len(names) > 0 {
			parts = append(parts, what+" "+named(names))
		}
	}
	add("queues", r.Scope.Queues)
	add("types", r.Scope.Types)
	var states []string
	for _, s := range r.Scope.States {
		states = append(states, s.String())
	}
	add("states", states)
	add("IDs", r.Scope.IDs)
	if h.Where != "" {
		parts = append(parts, "where "+Visible(h.Where))
	}
	return strings.Join(parts, " · ")
}

func tasksLine(r *reconcile.Report) string {
	var states []string
	for _, s := range append(inspect.States(), inspect.StateUnknown) {
		if n := r.Totals.ByState[s]; n > 0 {
			states = append(states, count(n)+" "+s.String())
		}
	}
	line := count(r.Totals.Tasks)
	if len(states) > 0 {
		line += ": " + strings.Join(states, ", ")
	}
	if r.FinishedAt.After(r.StartedAt) && !r.StartedAt.IsZero() {
		line += " · in " + took(r.FinishedAt.Sub(r.StartedAt))
	}
	return line
}

func statusLine(r *reconcile.Report) string {
	var parts []string
	for _, s := range reconcile.Statuses() {
		if n := r.Totals.ByStatus[s]; n > 0 {
			parts = append(parts, count(n)+" "+strings.ReplaceAll(s.String(), "-", " "))
		}
	}
	return strings.Join(parts, ", ")
}
