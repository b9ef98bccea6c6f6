package reconcile

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// The flags that name a queue or a type take globs. A queue that is called * must
// not become every queue there is.
func TestFlagsThatTakeGlobsMeanTheOneNameTheyWereGiven(t *testing.T) {
	names := append([]string{"a,b", `a"b`, "a,*", "[!a]", `\a*`, "**", "a\rb", "\r"}, hostile...)
	var lines []string
	var want []string
	for _, name := range names {
		if name == "" {
			continue
		}
		lines = append(lines, Command("idemctl requeue").Only("queue", name).String())
		want = append(want, name)
	}
	for i, words := range bashWords(t, "C", lines) {
		value, ok := strings.CutPrefix(words[1], "--queue=")
		if !ok || len(words) != 2 {
			t.Fatalf("%s\nis read as %q", lines[i], words)
		}
		patterns, err := csv.NewReader(strings.NewReader(value)).Read()
		if err != nil || len(patterns) != 1 {
			t.Fatalf("%s: the list %q is read as %q: %v", lines[i], value, patterns, err)
		}
		for _, name := range want { // as run.chooseQueues has it
			if means := name == patterns[0] || MatchGlob(patterns[0], name); means != (name == want[i]) {
				t.Errorf("%s means %q: %t", lines[i], name, means)
			}
		}
	}
}

// What cannot be said is not said wrongly: of a NUL a program sees what is before
// it, the reader of a list turns \r\n into \n, and takes "" for all.
func TestLinesThatNoShellCanPassOnAreNone(t *testing.T) {
	for what, line := range map[string]CommandLine{
		"an operand":      Command("idemctl explain").Operands("q", "a\x00b"),
		"a flag":          Command("idemctl resolve").Flag("id", "a\x00"),
		"a queue":         Command("idemctl resolve").Only("queue", "\x00"),
		"a line's end":    Command("idemctl resolve").Only("queue", "a\r\nb"),
		"no queue":        Command("idemctl resolve").Only("queue", "").Flag("id", "a"),
		"what was before": Command("idemctl resolve").Flag("id", "a\x00").Flag("reason", "b"),
	} {
		if s := line.String(); s != "" {
			t.Errorf("%s: %s", what, s)
		}
	}
}

// Flags that are added late still stand before what is told by its place.
func TestOperandsStandBehindAllFlags(t *testing.T) {
	line := Command("idemctl explain").Operands("-q", "--help").Words("--context prod").Words("").Flag("output", "json")
	words := bashWords(t, "C", []string{line.String()})[0]
	if want := []string{"explain", "--context", "prod", "--output=json", "--", "-q", "--help"}; !slices.Equal(words, want) {
		t.Errorf("%s\nis read as %q, want %q", line, words, want)
	}
	if plain := Command("idemctl explain").Operands("default", "evt_1").String(); plain != "idemctl explain default evt_1" {
		t.Errorf("plain names: %s", plain)
	}
}

// Whatever its queue, task or lock is called, a line that a finding, a refusal or a
// resumption gives shows all of itself, and no shell has to pass a NUL on.
func TestEveryLineOfAFindingShowsHostileNamesWhole(t *testing.T) {
	ids := append(slices.Clone(hostile), "a\x00b", "a\r\nb")
	for _, c := range Codes() {
		for i, id := range ids {
			if id == "" {
				continue
			}
			f := plainFinding(c)
			queue := ids[(i+5)%len(ids)]
			f.Task.Queue, f.Task.Type = queue, "t "+id
			if f.Task.ID != "" {
				f.Task.ID = id
			}
			if f.Lock != nil {
				f.Lock.Key = "asynq:{" + queue + "}:unique:" + id
			}
			line := f.Action()
			if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%s of %q: characters that do not show in %q", c, id, line)
			}
			if strings.Contains(line, `\x00`) {
				t.Errorf("%s of %q: no shell passes a NUL on: %s", c, id, line)
			}
		}
	}
	for _, id := range []string{"a\x00b", "\x00"} {
		r := Refusal{Finding: Finding{Code: CodeIDBlocked, Task: inspect.Task{Ref: inspect.Ref{Queue: "default", ID: id}, Defect: inspect.DefectResultOnly}, ConfirmedAt: time.Now()}}
		if r.tellID(queueFacts{}); r.Command != "" {
			t.Errorf("a refusal by %q: %s", id, r.Command)
		}
		if line := repairCommand(inspect.Ref{Queue: "default", ID: id}); line != "" {
			t.Errorf("a repair of %q: %s", id, line)
		}
		d := Dossier{Verdict: Verdict{}, Findings: []Finding{{Code: CodeNoLease, Task: r.Task}}}
		d.Task = r.Task
		if c, ok := repairChoice(&d); ok && strings.Contains(c.Outcome, "()") {
			t.Errorf("a choice without its command: %q", c.Outcome)
		}
	}
}
