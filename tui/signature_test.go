package tui

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// A plan by signature takes the tasks that the line of the findings stands for, and
// no others, whatever their types and errors hold.
func TestASignatureSelectsItsOwnTasksAndNoOthers(t *testing.T) {
	texts := []string{
		"", "upstream 503", "upstream 504 for order 17", "dial tcp 10.0.0.7:5432: refused", `bad "quoted" value`, `it's`, "`back`", "tab\there",
		"line\nbreak", "nul\x00", "\u202ereversed", "invalid \xff\xfe", `back\slash`, `" || true || "`, "\x1b[31mred", strings.Repeat("long words ", 60), "日本語 404",
	}
	text := rapid.OneOf(rapid.SampledFrom(texts), rapid.String())
	kind := rapid.OneOf(rapid.SampledFrom([]string{"a", "payment:charge", `q"uote`, "b\\s", "*", "type?"}), rapid.String())
	cause := rapid.SampledFrom([]reconcile.Cause{reconcile.CauseUnknown, reconcile.CauseNone, reconcile.CauseHandler, reconcile.CauseTimeout})
	rapid.Check(t, func(r *rapid.T) {
		draw := func(name string) reconcile.Finding {
			return reconcile.Finding{
				Code: reconcile.CodeLost, Cause: cause.Draw(r, name+" cause"), Status: reconcile.StatusNotApplied,
				Task: inspect.Task{
					Ref: inspect.Ref{Queue: "q", ID: name}, State: inspect.StateArchived, Type: kind.Draw(r, name+" type"), LastErr: text.Draw(r, name+" error"),
				},
			}
		}
		book := NewBook(noon, nil)
		one, other := draw("one"), draw("other")
		book.Finding(one)
		book.Finding(other)
		for _, g := range book.Close(&reconcile.Report{}, 0).Groups {
			sig, ok := g.signature(&filter{})
			if !ok {
				r.Fatal("a finding on an effect has no signature")
			}
			where, err := reconcile.CompileFilter(sig.Where())
			if err != nil {
				r.Fatal(err)
			}
			for _, f := range []reconcile.Finding{one, other} {
				has := slices.ContainsFunc(g.Examples, func(e reconcile.Finding) bool { return e.Task.ID == f.Task.ID })
				j := &reconcile.Judged{Task: f.Task, Verdict: reconcile.Verdict{Status: f.Status, Cause: f.Cause, Codes: []reconcile.Code{f.Code}}}
				if got := where.Passes(reconcile.Subject{Judged: j}); got != has {
					r.Errorf("%s: passes %q of type %q: %v, want %v", sig.Where(), f.Task.LastErr, f.Task.Type, got, has)
				}
			}
		}
	})
}
