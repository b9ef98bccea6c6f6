package render

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// sampleMoves is a plan with tasks to run and tasks that are held.
func sampleMoves() *reconcile.Plan {
	at := sampleNow.Add(-3 * time.Hour)
	step := func(id, key string, status reconcile.Status, cause reconcile.Cause) reconcile.Step {
		return reconcile.Step{Change: journal.ChangeRequeue, Evidence: "sha256:00", Finding: reconcile.Finding{
			Code: reconcile.CodeLost, Key: key, Status: status, Cause: cause, ConfirmedAt: sampleNow,
			Task: inspect.Task{Ref: inspect.Ref{Queue: "payments", ID: id}, Type: "payment:charge", State: inspect.StateArchived, LastFailedAt: at},
		}}
	}
	hold := func(s reconcile.Step, reason reconcile.HoldReason, words string) reconcile.Step {
		s.Reason, s.Hold = reason, words
		return s
	}
	return &reconcile.Plan{
		MadeAt: sampleNow,
		Moves: &reconcile.Moves{Action: reconcile.ActionRun, Queues: []reconcile.PlannedQueue{
			{Name: "idle\x1b[2J", Paused: true, Pending: 7}, {Name: "payments", Served: true, Pending: 12_000, Run: 2},
		}},
		Steps: []reconcile.Step{
			step("3f0c2a6e-51f5-4c68-9a0b-6a9d2c1f7e10", "evt_1", reconcile.StatusNotApplied, reconcile.CauseTimeout),
			step("8b1d", "evt_2\u202e", reconcile.StatusNatural, reconcile.CausePanic),
			hold(step("done", "evt_3", reconcile.StatusApplied, reconcile.CauseTimeout), reconcile.HoldApplied, "its work was done at 2026-11-30T00:12:07Z (idemctl resolve)"),
			hold(step("young", "evt_4", reconcile.StatusNotApplied, reconcile.CauseTimeout), reconcile.HoldUnsettled, "its last attempt may still be writing: it can be judged after 2026-11-30T03:40:00Z"),
			hold(step("evil\r\x1b]0;x\a", "", reconcile.StatusUnknown, reconcile.CauseUnknown), reconcile.HoldUnknown, "nobody can say"),
		},
	}
}

// moved writes a plan, carries it out with one task moved and one refused, and
// writes that.
func moved(t *testing.T, o Options, plan *reconcile.Plan, done *Carried) string {
	t.Helper()
	var b bytes.Buffer
	c, err := NewChanges(&b, o, plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Plan(); err != nil {
		t.Fatal(err)
	}
	if done != nil && plan.Moves != nil && len(plan.Steps) > 1 {
		c.Watched(reconcile.Watched{Ref: plan.Steps[0].Ref(), Canary: true, Fate: reconcile.FateWaiting})
		c.Watched(reconcile.Watched{Ref: plan.Steps[0].Ref(), Canary: true, Fate: reconcile.FateFailed, Task: inspect.Task{LastErr: "no\x1b[1mmoney"}})
		c.Applied(reconcile.Applied{Step: plan.Steps[0], Item: "1", Outcome: journal.OutcomeDone})
		c.Applied(reconcile.Applied{Step: plan.Steps[1], Item: "2", Outcome: journal.OutcomeUnknown, Found: "unknown; now: pending", Err: errors.New("connection reset")})
	}
	if err := c.Close(done); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var carried = &Carried{Journal: "/state/journal.jsonl", Run: "20261130T031207Z-0011223344", Problem: errors.New("connection reset")}

func TestMovesKeepTheirFaces(t *testing.T) {
	for _, face := range faces {
		switch face.format {
		case FormatTable, FormatJSON, FormatNDJSON:
			t.Run(face.name, func(t *testing.T) {
				o := sampleOptions(face.format, face.width, face.tty)
				o.Color = face.color
				golden(t, "moves-"+face.name, moved(t, o, sampleMoves(), carried))
			})
		}
	}
}

func TestMovesFitTheTerminalAndHideNoControls(t *testing.T) {
	for _, w := range []int{40, 60, 80, 100, 160, 250} {
		got := moved(t, sampleOptions(FormatTable, w, true), sampleMoves(), carried)
		for line := range strings.Lines(got) {
			if line = strings.TrimSuffix(line, "\n"); width(line) > w {
				t.Errorf("at %d: %q is %d wide", w, line, width(line))
			}
			if strings.ContainsAny(line, "\x1b\r\a\u202e") {
				t.Errorf("at %d: %q holds a control", w, line)
			}
		}
	}
}

func TestChangesKeepToTheirSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	compile := func(fragment string) *jsonschema.Schema {
		s, err := c.Compile("../../../../docs/schema/changes.v1.json" + fragment)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	document, step, summary := compile(""), compile("#/$defs/step"), compile("#/$defs/summary")
	repairs := &reconcile.Plan{Steps: []reconcile.Step{
		{Change: journal.ChangeReleaseLock, Target: "k", Finding: reconcile.Finding{Code: reconcile.CodeLockOrphaned}},
		{Hold: "no change mends it", Finding: reconcile.Finding{Code: reconcile.CodeUndecodable, Task: inspect.Task{Ref: inspect.Ref{Queue: "q", ID: "\xff"}}}},
	}}
	empty := &reconcile.Plan{Moves: &reconcile.Moves{Action: reconcile.ActionResolve}}
	for name, plan := range map[string]*reconcile.Plan{"moves": sampleMoves(), "repairs": repairs, "empty": empty} {
		for _, done := range []*Carried{nil, carried, {Journal: "j", Run: "r"}} {
			validate(t, document, moved(t, sampleOptions(FormatJSON, 0, false), plan, done))
			lines := strings.Split(strings.TrimSpace(moved(t, sampleOptions(FormatNDJSON, 0, false), plan, done)), "\n")
			for i, line := range lines {
				if s := step; i == len(lines)-1 {
					validate(t, summary, line)
				} else {
					validate(t, s, line)
				}
			}
			if len(lines) != len(plan.Steps)+1 {
				t.Errorf("%s: %d lines for %d steps", name, len(lines), len(plan.Steps))
			}
		}
	}
}

// What is offered for copying finds the same place, and nothing is said of flags where
// nothing is offered.
func TestOfferedCommandsHaveTheFlagsOfTheCall(t *testing.T) {
	o := sampleOptions(FormatTable, 200, true)
	o.Connection, o.Same, o.Unsaid = []string{"--journal", "--uri"}, "--journal=j.jsonl", []string{"--uri"}
	text := moved(t, o, sampleMoves(), &Carried{Journal: "j.jsonl", Run: sampleRun})
	if want := "→ idemctl journal verify " + sampleRun + " --journal=j.jsonl\nwith the same --uri\n"; !strings.Contains(text, want) {
		t.Errorf("%q is not in\n%s", want, text)
	}
	repairs := sampleMoves()
	repairs.Moves = nil
	if text := moved(t, o, repairs, &Carried{Journal: "j.jsonl", Run: sampleRun}); strings.Contains(text, "with the same") {
		t.Errorf("flags of no command:\n%s", text)
	}
}
