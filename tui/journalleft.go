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
	var parts []string
	if r.Planned > 0 {
		parts = append(parts, count(r.Planned))
	}
	for _, c := range []struct {
		n    int
		name string
	}{{r.Done, "done"}, {r.Refused, "refused"}, {r.Failed, "failed"}, {r.Pending + r.Unknown, "open"}} {
		if c.n > 0 {
			parts = append(parts, count(c.n)+" "+c.name)
		}
	}
	if r.Ended.IsZero() {
		return strings.Join(append(parts, count(r.NotBegun)+" not begun (it was killed, or goes on)"), "; ")
	}
	words := strings.Join(append(parts, count(r.NotBegun)+" never begun"), "; ")
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
	again := reconcile.Again{Command: r.Command, Context: r.Context, Left: r.NotBegun}
	if p := h.backend.Place(); r.Context == p.Context {
		again.Context, again.Flags = "", p.Flags
	}
	line, words := again.String(), "they are as they were"
	switch {
	case reconcile.Resumes(r.Command):
		words = "they stay pending"
	case r.Ended.IsZero():
		words = "if it was killed, they are as they were"
	}
	switch {
	case line == "":
		return words + ": make a new plan"
	case strings.Contains(line, " tui --write"):
		return words + ": choose the same tasks and plan them again"
	case reconcile.Resumes(r.Command):
		return words + "; this takes them up: " + safe(line)
	}
	return words + "; this plans them, and what was archived since: " + safe(line)
}
