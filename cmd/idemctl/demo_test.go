package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/reconcile"
)

// inProcess runs one command line without a terminal and gives what it printed.
func inProcess(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return onTerminal(t, 0, args...)
}

// onTerminal is inProcess on a terminal of so many columns; 0 is no terminal.
func onTerminal(t *testing.T, columns int, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	s := &streams{
		in: strings.NewReader(""), out: &out, err: &errs, outTerminal: columns > 0,
		width: func() int { return columns }, now: time.Now,
	}
	env := config.Environment{
		LookupEnv: func(string) (string, bool) { return "", false },
		Home:      t.TempDir(), ReadFile: os.ReadFile,
	}
	code = execute(t.Context(), args, s, env)
	return code, out.String(), errs.String()
}

// notInDemo are the codes that the laboratory cannot show.
var notInDemo = map[reconcile.Code]string{
	reconcile.CodeClockSkew: "with clocks that differ no attempt can be told to be the one that wrote a row, " +
		"and the other incidents would lose their attributions",
}

// moreInDemo are the codes that the laboratory shows more than once.
var moreInDemo = map[reconcile.Code]int{
	reconcile.CodeAppliedArchived: 4,
	reconcile.CodeLost:            3,
	reconcile.CodeUnknown:         2,
	reconcile.CodeGhost:           2,
	reconcile.CodeExitOnly:        5,
}

// The laboratory needs nothing, shows a case of every finding and none that no
// story is about, its JSON keeps the published contract, and it leaves nothing
// behind.
func TestDemoShowsEveryFindingAndLeavesNothingBehind(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	code, out, errs := inProcess(t, "demo", "--full-archive", "audit", "-o", "json")
	if code != exitFindings {
		t.Fatalf("exit code %d, want %d; stderr:\n%s", code, exitFindings, errs)
	}
	checkSchema(t, out)
	var audit struct {
		Complete bool
		Findings []struct{ Code reconcile.Code }
	}
	if err := json.Unmarshal([]byte(out), &audit); err != nil {
		t.Fatal(err)
	}
	if !audit.Complete {
		t.Error("the audit is not complete")
	}
	seen := map[reconcile.Code]int{}
	for _, f := range audit.Findings {
		seen[f.Code]++
	}
	for _, c := range reconcile.Codes() {
		want := max(1, moreInDemo[c])
		if notInDemo[c] != "" || !c.Told() {
			want = 0
		}
		if seen[c] != want {
			t.Errorf("%d findings %s, want %d", seen[c], c, want)
		}
	}
	left, err := filepath.Glob(filepath.Join(temporary, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func checkSchema(t *testing.T, document string) {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	schema, err := compiler.Compile("../../docs/schema/audit.v1.json")
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("the document breaks its published schema: %v", err)
	}
}

func TestDemoRunsAnyCommandOnTheLaboratory(t *testing.T) {
	code, out, errs := inProcess(t, "demo", "tasks", "-s", "archived", "-o", "name")
	if code != exitDone {
		t.Fatalf("exit code %d; stderr:\n%s", code, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 16 || slices.Contains(lines, "") {
		t.Errorf("%d archived tasks are listed, want 16:\n%s", len(lines), out)
	}
	if code, _, errs := inProcess(t, "demo", "demo"); code != exitUsage {
		t.Errorf("a demo of the demo: exit code %d, want %d; stderr %q", code, exitUsage, errs)
	}
}

// A terminal gets a report that opens with the answer and fits its columns,
// whatever texts the night has left in the queues.
func TestDemoFitsTheTerminal(t *testing.T) {
	for _, columns := range []int{80, 160} {
		_, out, errs := onTerminal(t, columns, "demo", "--no-color", "audit")
		lines := strings.Split(out, "\n")
		if !strings.Contains(lines[0], "Of 16 archived tasks: 4 took effect, 3 lost, 2 unknown.") {
			t.Errorf("at %d columns the report opens with %q; stderr:\n%s", columns, lines[0], errs)
		}
		for _, line := range lines {
			if n := displaywidth.String(line); n > columns {
				t.Errorf("%d of %d columns: %q", n, columns, line)
			}
		}
		if !strings.Contains(out, "idemctl explain ") {
			t.Error("no command to type next")
		}
	}
}
