package tui

import (
	"fmt"
	"strings"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// manyOfOne gives the fake more archived tasks of one signature than an audit keeps.
func manyOfOne(n int) func(*fake) {
	return func(f *fake) {
		j := fakeTask(0, "payments", inspect.StateArchived)
		j.Task.Type, j.Task.LastErr = "ledger:sync", "upstream 503"
		for i := range n {
			j.Task.ID = fmt.Sprintf("many-%04d", i)
			f.add(j)
		}
	}
}

// planCases are those of what is found, and of what is planned for it.
var planCases = []keyCase{
	{"findings R on a signature plans for the signature, not for what is kept", manyOfOne(201), ":f<enter>R", func(d *driver) {
		got := d.fake.changer.planned
		if len(got) != 1 || got[0].Signature == nil || got[0].Signature.Type != "ledger:sync" || len(got[0].Refs) > 0 {
			d.t.Fatalf("planned %+v", got)
		}
	}},
	{"findings R on a signature that is too large says so, and @ is the command", manyOfOne(201), ":f<enter>R", func(d *driver) {
		d.sees("no plan: 201 tasks are too many")
		d.keys("@").sees("» idemctl requeue --where=WHERE")
	}},
	{"findings R on a signature is narrowed by an expression", nil, ":f<enter>/retried == 2<enter>R", func(d *driver) {
		got := d.fake.changer.planned
		if len(got) != 1 || got[0].Signature == nil || got[0].Signature.Filter != "retried == 2" {
			d.t.Fatalf("planned %+v", got)
		}
	}},
	{"findings R under a filter of words plans for those that pass it", nil, ":f<enter>/task-0001<enter>R", func(d *driver) {
		wantSignature(d, `text contains "task-0001"`)
		d.sees("payments/task-0001", "Requeue 1, hold 0")
	}},
	{"findings R under words plans for all that pass them, not for what is kept", manyOfOne(201), ":f<enter>/\"many-\" 503<enter>", func(d *driver) {
		d.sees("≥200", "of those kept")
		d.keys("R")
		wantSignature(d, `text contains "many-" && text contains "503"`)
		d.sees("no plan: 201 tasks are too many")
	}},
	{"findings @ keeps words as an expression", nil, ":f<enter>/charge<enter>@", func(d *driver) { d.sees(`» idemctl audit --where='text contains "charge"'`) }},
	{"tasks @ keeps words as an expression", nil, ":archived<enter>/charge<enter>@", func(d *driver) { d.sees(`» idemctl tasks -s archived --where='text contains "charge"'`) }},
	{"locks @ under words is none", nil, ":locks<enter>/weekly<enter>@", func(d *driver) { d.sees("no command does this") }},
	{"findings R on a signature of no effect that is not kept whole", func(f *fake) {
		manyOfOne(201)(f)
		for i := range f.findings {
			if f.findings[i].Task.Type == "ledger:sync" {
				f.findings[i].Code = reconcile.CodeIDBlocked
			}
		}
	}, ":f<enter>/blocked<enter>R", func(d *driver) { wantSignature(d, `text contains "blocked"`) }},
	{"findings space under a filter marks what passes it", nil, ":f<enter>/task-0001<enter> ", func(d *driver) { d.sees("● 1 marked") }},
	{"findings marks of a signature that is not whole are halves", manyOfOne(201), ":f<enter>*", func(d *driver) {
		d.sees("212 tasks are marked, all that are kept here")
		if line := d.line("ledger:sync"); !strings.Contains(line, "◐") {
			d.t.Errorf("marked as whole: %q", line)
		}
		if line := d.line("payment:refund"); !strings.Contains(line, "●") {
			d.t.Errorf("not marked as whole: %q", line)
		}
	}},
	{"findings R on findings of no archived tasks plans for those tasks", func(f *fake) {
		j := fakeTask(20, "default", inspect.StateRetry)
		j.Verdict.Codes = []reconcile.Code{reconcile.CodeAppliedRetry}
		j.Task.ID = "retry-1"
		f.add(j)
	}, ":f<enter>/applied-retry<enter>R", func(d *driver) {
		wantPlanned(d, Ask{Verb: VerbRequeue, Refs: []inspect.Ref{{Queue: "default", ID: "retry-1"}}})
	}},

	{"plan @ with a canary says so", nil, ":archived<enter>Rc@", func(d *driver) { d.sees("» idemctl requeue --canary=1") }},
	{"plan with a canary that succeeds goes on", nil, ":archived<enter>*RcArequeue 6<enter>", func(d *driver) {
		d.sees("Applied 6 of 6: ✓ 6 done", "✓ applied", "EFFECT WAS").lacks("waiting for", "never begun")
	}},
	{"plan with a canary that fails says so, and what was not begun", func(f *fake) { f.changer.canaryFails = true }, ":archived<enter>*RcArequeue 6<enter>", func(d *driver) {
		d.sees("Applied 1 of 6: 5 never begun", "✗ 1 task was run and its work is not done", "✗ failed again", "It ended early: the canary failed", "not begun       payments/task-0002")
		d.lacks("waiting for", "✓ done", "run             payments")
	}},
	{"plan again after it was applied begins anew", func(f *fake) { f.changer.canaryFails = true }, ":archived<enter>*RcArequeue 6<enter><ctrl+r>", func(d *driver) {
		d.sees("Requeue 6, hold 6").lacks("failed again", "never begun")
		d.keys("cArequeue 6<enter>").sees("✓ 6 done").lacks("✗")
	}},
	{"plan f of a resolve does not speak of running", nil, ":archived<enter>*Xf", func(d *driver) { d.sees("those not held").lacks("those that run") }},
	{"plan z after a resolve plans to undo that run", nil, ":archived<enter>*XAresolve 6<enter>", func(d *driver) {
		d.sees("Journal run 20261130T120000Z-aa: z plans to undo it.")
		d.keys("z")
		wantPlanned(d, Ask{Verb: VerbResolve, Refs: d.fake.changer.planned[0].Refs}, Ask{Verb: VerbRestore, Run: "20261130T120000Z-aa"})
		d.keys("Arestore 1<enter>").sees("Applied 1 of 1")
		d.keys("<esc>").sees("undone by run 20261130T120000Z-aa").lacks("z plans to undo")
	}},
	{"plan of which nothing was done offers no undo", func(f *fake) { f.fail["apply"] = errFull }, ":archived<enter>XAresolve 1<enter>", func(d *driver) {
		d.sees("It ended early").lacks("z plans")
	}},
}

// wantSignature fails unless a plan was asked for by a signature under the filter.
func wantSignature(d *driver, filter string) {
	d.t.Helper()
	got := d.fake.changer.planned
	if len(got) != 1 || got[0].Signature == nil || got[0].Signature.Filter != filter {
		d.t.Fatalf("planned %+v", got)
	}
}
