package tui

import (
	"strings"

	"github.com/idemctl/idemctl/reconcile"
)

// done is how many items were done, of how many where some were never begun.
func (r *Run) done() string {
	if r.NotBegun == 0 || r.Planned == 0 {
		return count(r.Done)
	}
	return count(r.Done) + " of " + count(r.Planned)
}

// left says what of a run was never begun; "" where nothing was, or nobody says.
func (r *Run) left() string {
	if r.NotBegun == 0 {
		if r.EndedBy != "" {
			return "all were begun, and then " + safe(r.EndedBy)
		}
		return ""
	}
	words := count(r.Planned)
	for _, c := range []struct {
		n    int
		name string
	}{{r.Done, "done"}, {r.Refused, "refused"}, {r.Failed, "failed"}, {r.Pending + r.Unknown, "open"}} {
		if c.n > 0 {
			words += "; " + count(c.n) + " " + c.name
		}
	}
	if r.Ended.IsZero() {
		return words + "; " + count(r.NotBegun) + " not begun (it was killed, or goes on)"
	}
	words += "; " + count(r.NotBegun) + " never begun"
	if r.EndedBy != "" {
		words += " (" + safe(r.EndedBy) + ")"
	}
	return words
}

// planAgain says what plans the items that a run never began; "" where there are
// none.
func (h *hub) planAgain(r *Run) string {
	if r.NotBegun == 0 {
		return ""
	}
	again := reconcile.CommandAgain(r.Command, r.Context)
	switch {
	case again == "":
		return "they are as they were: make a new plan"
	case strings.HasSuffix(again, " tui --write"):
		return "they are as they were: choose the same tasks and plan them again"
	case r.Context == h.backend.Place().Context:
		again = h.commandLine(strings.TrimPrefix(reconcile.CommandAgain(r.Command, ""), "idemctl "))
	}
	return "they are as they were; this plans them: " + safe(again)
}
