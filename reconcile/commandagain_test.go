package reconcile_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/reconcile"
)

func TestCommandAgainIsTheRunsOwnAndAsksAgain(t *testing.T) {
	for _, c := range []struct{ command, context, want string }{
		{"requeue --queue=a --max=500", "", "idemctl requeue --queue=a --max=7"},
		{"journal restore --yes -- -x --yes --max=9", "", "idemctl journal restore -- -x --yes --max=9"},
		{"", "", ""},
		{"requeue --queue=payments --yes", "", "idemctl requeue --queue=payments"},
		{"requeue --all --count=12 --yes", "prod", "idemctl --context=prod requeue --all"},
		{"requeue --where='a --yes b' --yes", "", "idemctl requeue --where='a --yes b'"},
		{`requeue --force-reason='it'\''s --yes' --yes`, "", `idemctl requeue --force-reason='it'\''s --yes'`},
		{`requeue --id=$'it\'s --yes' --yes`, "", `idemctl requeue --id=$'it\'s --yes'`},
		{"apply --yes lost.json", "two words", "idemctl --context='two words' apply lost.json"},
		{"tui: requeue --queue=q --id=a", "", "idemctl requeue --queue=q --id=a"},
		{"tui: restore --run=r1", "", "idemctl journal restore --all --run=r1"},
		{"tui: requeue of 6 tasks", "prod", "idemctl --context=prod tui --write"},
		{"integrity repair ghost, no-lease", "", "idemctl integrity repair --all --dry-run"},
		{"integrity repair --all --yes", "", "idemctl integrity repair --all"},
		{"locks release q1 t1", "prod", "idemctl --context=prod locks release --all --dry-run"},
		{"journal resume --yes", "", "idemctl journal resume"},
	} {
		if got := (reconcile.Again{Command: c.command, Context: c.context, Left: 7}).String(); got != c.want {
			t.Errorf("%q in %q again is %q, want %q", c.command, c.context, got, c.want)
		}
	}
}

// passable says that a shell can pass a value on.
func passable(value string) bool { return !strings.ContainsRune(value, 0) }

// Whatever a value holds, it stays what it was.
func TestCommandAgainLeavesValuesAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{" --yes ", "' --yes '", `\' --yes`, "\n --yes", "$'x' --yes"})).Filter(passable).Draw(t, "value")
		line := "requeue --where=" + reconcile.ShellQuote(value)
		if got := (reconcile.Again{Command: line + " --yes"}).String(); got != "idemctl "+line {
			t.Errorf("%q became %q", line, got)
		}
	})
}

func TestCommandAgainPutsFlagsBeforeOperands(t *testing.T) {
	for command, want := range map[string]string{
		"journal restore -- -x":     "idemctl journal restore --db=3 -- -x",
		"requeue --queue=a":         "idemctl requeue --queue=a --db=3",
		"tui: restore --run=r1":     "idemctl journal restore --all --run=r1 --db=3",
		"tui: requeue of 6 tasks":   "idemctl tui --write --db=3",
		"integrity repair ghost":    "idemctl integrity repair --all --dry-run --db=3",
		"requeue --where='a -- b'":  "idemctl requeue --where='a -- b' --db=3",
		"requeue --force-reason=--": "idemctl requeue --force-reason=-- --db=3",
	} {
		if got := (reconcile.Again{Command: command, Flags: "--db=3"}).String(); got != want {
			t.Errorf("%q again is %q, want %q", command, got, want)
		}
	}
}

func TestOnlyResumptionsTakeUpWhatTheyLeft(t *testing.T) {
	for command, want := range map[string]bool{"journal resume": true, "journal resume --yes": true, "journal resumes": false, "requeue --where='journal resume'": false, "": false} {
		if got := reconcile.Resumes(command); got != want {
			t.Errorf("%q: %t", command, got)
		}
	}
}
