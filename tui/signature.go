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
	// Filter is the expression that narrows it further; "" for none.
	Filter string
}

// signature is the group's own, where a plan can be asked for by it: of archived
// tasks with findings on their effect. Other findings are no property of such a
// task alone, and words typed as a filter are no expression.
func (g *Group) signature(narrowed *filter) (*Signature, bool) {
	archived := len(g.Examples) > 0 && g.Examples[0].Task.State == inspect.StateArchived
	if !archived || !strings.HasPrefix(string(g.Code), "effect/") || !narrowed.empty() && narrowed.where == nil {
		return nil, false
	}
	return &Signature{Code: g.Code, Type: g.Type, Cause: g.Cause, Text: g.Text, Filter: narrowed.expression()}, true
}

// Where is the signature, without its code, as --where takes it.
func (s *Signature) Where() string {
	parts := []string{
		"type == " + strconv.Quote(s.Type), "cause == " + strconv.Quote(string(s.Cause)), "error_shape == " + strconv.Quote(s.Text),
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
