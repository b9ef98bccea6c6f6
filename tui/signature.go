package tui

import (
	"strconv"
	"strings"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// Signature says which tasks a line of the findings stands for, be they kept as
// its examples or not. A plan of it takes all archived tasks that have it when the
// plan is made.
type Signature struct {
	Code  reconcile.Code
	Type  string
	Cause reconcile.Cause
	Text  string // shape of the last error; "" for none
	// OfEffect says that Cause and Text count.
	OfEffect bool
	// Filter is the expression that narrows it further; "" for none.
	Filter string
}

// signature is the group's own, narrowed by a filter, where a plan can be asked for
// by it: of archived tasks. Findings on effects are grouped by cause and error, too,
// others by their type alone.
func (g *Group) signature(narrowed *filter) (*Signature, bool) {
	if g.Code == "" || len(g.Examples) == 0 || g.Examples[0].Task.State != inspect.StateArchived {
		return nil, false
	}
	return &Signature{
		Code: g.Code, Type: g.Type, Cause: g.Cause, Text: g.Text, OfEffect: strings.HasPrefix(string(g.Code), "effect/"), Filter: narrowed.expression(),
	}, true
}

// Where is the signature, without its code, as --where takes it.
func (s *Signature) Where() string {
	parts := []string{"type == " + strconv.Quote(s.Type)}
	if s.OfEffect {
		parts = append(parts, "cause == "+strconv.Quote(string(s.Cause)), "error_shape == "+strconv.Quote(s.Text))
	}
	if s.Filter != "" {
		end := ")"
		if strings.Contains(s.Filter, "//") || strings.Contains(s.Filter, "#") {
			end = "\n)" // it may end in a comment
		}
		parts = append(parts, "("+s.Filter+end)
	}
	return strings.Join(parts, " && ")
}
