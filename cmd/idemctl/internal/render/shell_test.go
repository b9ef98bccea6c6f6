package render

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/internal/visible"
	"github.com/idemctl/idemctl/reconcile"
)

// typed is what a shell makes of a command: its words.
func typed(t *testing.T, script string) []string {
	t.Helper()
	cmd := exec.Command("bash", "-c", `idemctl() { for word in "$@"; do printf '%s\0' "$word"; done; }`+"\n"+script)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out, script)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

func TestFoldedCommandIsTheSameCommand(t *testing.T) {
	for _, cells := range []int{24, 33, 40, 76} {
		var script strings.Builder
		var want []string
		for _, text := range tricks {
			if strings.ContainsRune(text, 0) || text == "" {
				continue // no shell passes a NUL byte on, and the split above drops empty words
			}
			cmd := "idemctl explain " + reconcile.ShellQuote(text) + " " + reconcile.ShellQuote("b"+text)
			lines := visible.FoldCommand(cmd, cells-4, cells)
			for i, line := range lines {
				if room := cells - 4*(1-min(i, 1)); width(line) > room {
					t.Errorf("%d cells, not %d: %q", width(line), room, line)
				}
				if Visible(line) != line {
					t.Errorf("unseen characters in %q", line)
				}
			}
			script.WriteString(strings.Join(lines, "\n") + "\n")
			want = append(want, "explain", text, "b"+text)
		}
		if got := typed(t, script.String()); !slices.Equal(got, want) {
			t.Errorf("at %d cells a shell reads\n%q, not\n%q", cells, got, want)
		}
	}
}

func TestCommandThatShowsLessThanItDoesIsWithheld(t *testing.T) {
	var b strings.Builder
	p := newPage(&b, sampleOptions(FormatTable, 80, true).filled())
	p.command("  ", "idemctl explain default 'a\u202eb'")
	if err := p.flush(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "idemctl explain") {
		t.Errorf("shown: %q", b.String())
	}
}

func TestNameIsOneWordToEveryShell(t *testing.T) {
	var script strings.Builder
	var want []string
	for _, f := range hostileFindings() {
		if f.Task.ID == "" {
			continue
		}
		name := Name(f.Task.Ref)
		script.WriteString("idemctl " + name + "\n")
		want = append(want, name)
		ref, err := ParseName(name)
		if err != nil || ref != f.Task.Ref {
			t.Errorf("%q was %q, and is read as %q: %v", name, f.Task.Ref, ref, err)
		}
	}
	if got := typed(t, script.String()); !slices.Equal(got, want) {
		t.Errorf("a shell reads %q, not %q", got, want)
	}
}

func TestParseNameRefusesOtherWords(t *testing.T) {
	for _, name := range []string{"", "default", "default/%zz", "%/x"} {
		if ref, err := ParseName(name); err == nil {
			t.Errorf("%q is read as %v", name, ref)
		}
	}
}

func TestNamesComeOnce(t *testing.T) {
	findings := append(sampleFindings(), sampleFindings()...)
	out := audited(t, sampleOptions(FormatName, 0, false), sampleReport(t), findings...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if !slices.IsSorted(lines) || len(slices.Compact(slices.Clone(lines))) != len(lines) || len(lines) != 9 {
		t.Errorf("%q", lines)
	}
}
