package reconcile

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect"
)

// codeState is a state in which the code is given, where it is not archived.
var codeState = map[Code]inspect.State{
	CodeAppliedActive: inspect.StateActive, CodeAppliedOrphaned: inspect.StateActive, CodeOrphaned: inspect.StateActive,
	CodeAppliedWaiting: inspect.StateScheduled, CodeStaleMark: inspect.StatePending,
	CodeAppliedRetry: inspect.StateRetry, CodeUnmarked: inspect.StateCompleted,
}

// plainFinding is a finding of that code with all its evidence.
func plainFinding(c Code) Finding {
	state, ok := codeState[c]
	if !ok {
		state = inspect.StateArchived
	}
	f := Finding{
		Code: c, Severity: c.Severity(), Task: inState(state), Key: "evt_1", TaskCount: 2,
		Cause: CauseHandler, Settle: 2 * time.Minute, AppliedAt: ago(5 * time.Minute), ConfirmedAt: noon,
		Detail: "said in words",
		Readings: []Reading{
			{Source: SourceFacts{Source: markSource, Table: "public.processed_tasks"}, Row: doneAt(ago(5 * time.Minute))},
			{Source: SourceFacts{Source: effectSource, Table: "public.payments"}, Row: claimedAt(ago(time.Hour))},
		},
	}
	if c.Family() == "lock" {
		f.Lock = &Lock{Key: "asynq:{default}:unique:payment:charge:", Owner: "t-1", TTL: 90 * time.Minute, State: LockHeld, Needed: 3 * time.Hour}
		f.Queues = []string{"default", "low"}
	}
	switch c {
	case CodeStaleLease:
		f.Task.LeaseExpiresAt = ago(time.Hour)
	case CodeStateMismatch:
		f.Task.Listed = inspect.StateRetry
	case CodeDeadlinePassed:
		f.Task.Deadline = ago(time.Hour)
	case CodeGroupUnregistered:
		f.Task.Group = "g"
	}
	if c.Family() == "coverage" {
		f.Task = inspect.Task{Ref: inspect.Ref{Queue: "default"}, Type: "payment:charge"}
	}
	if c == CodeUnsettled {
		f.Reason, f.SettlesAt = ReasonSettling, noon.Add(time.Minute)
	}
	if c == CodeUnknown {
		f.Reason = ReasonReplica
	}
	return f
}

func TestEveryCodeSaysWhatIsWrongAndWhatWillHappen(t *testing.T) {
	messages := map[string]Code{}
	for _, c := range Codes() {
		f := plainFinding(c)
		message, consequence := f.Message(), f.Consequence()
		if message == "" || message == string(c) {
			t.Errorf("%s has no message", c)
		}
		if consequence == "" {
			t.Errorf("%s has no consequence", c)
		}
		if before, ok := messages[message]; ok {
			t.Errorf("%s and %s say the same: %q", before, c, message)
		}
		messages[message] = c
		for _, text := range []string{message, consequence} {
			switch {
			case strings.Contains(text, "%!"):
				t.Errorf("%s: a value is missing in %q", c, text)
			case strings.ContainsAny(text, "\n\t"):
				t.Errorf("%s: more than one line: %q", c, text)
			case strings.HasSuffix(text, ".") || strings.TrimSpace(text) != text:
				t.Errorf("%s: not a clause: %q", c, text)
			case strings.Contains(text, "unknown time"):
				t.Errorf("%s: a time is called unknown that the evidence has: %q", c, text)
			}
		}
		if action := f.Action(); !strings.HasPrefix(action, "idemctl ") && c != CodeResidue { // of a queue that nothing can be asked about
			t.Errorf("%s: action %q", c, action)
		}
	}
}

// Codes, severities and their names are what scripts depend on.
func TestCodesAndSeveritiesAreThoseOfTheContract(t *testing.T) {
	want := map[Code]string{
		"effect/applied-active": "info", "effect/applied-orphaned": "high", "effect/applied-waiting": "warning",
		"effect/applied-retry": "warning", "effect/applied-archived": "high", "effect/orphaned": "warning",
		"effect/lost": "high", "effect/unsettled": "info", "effect/unmarked": "critical", "effect/in-doubt": "high",
		"effect/partial": "critical", "effect/rerunnable": "info", "effect/unknown": "warning", "effect/parked": "info",
		"effect/stale-claim": "high", "effect/duplicated": "critical", "effect/mismatch": "critical",
		"identity/key-missing": "high", "identity/key-collision": "high", "identity/id-shared": "high",
		"identity/stale-mark": "high", "identity/id-blocked": "warning", "identity/grouped-task-id": "warning",
		"lock/blocks": "warning", "lock/expires-early": "warning", "lock/lost": "high", "lock/taken": "high",
		"lock/twin": "high", "lock/orphaned": "warning", "lock/phantom": "warning", "lock/drift": "warning",
		"lock/ticking-while-paused": "warning", "lock/cross-queue": "info",
		"retry/duplicate-effect": "high", "retry/uncounted": "warning", "retry/policy-drift": "warning",
		"retry/deadline-passed": "warning",
		"integrity/ghost":       "high", "integrity/result-only": "warning", "integrity/dangling": "high",
		"integrity/undecodable": "high", "integrity/no-lease": "high", "integrity/stale-lease": "warning",
		"integrity/group-unregistered": "high", "integrity/residue": "info", "integrity/state-mismatch": "high",
		"integrity/archive-full": "warning", "integrity/archive-expiring": "warning",
		"integrity/queue-unserved": "warning", "integrity/clock-skew": "warning",
		"coverage/scheduler-duplicate": "high",
		"coverage/unprotected":         "critical", "coverage/unclassified": "warning", "coverage/no-unique-index": "critical",
		"coverage/entry-only": "high", "coverage/exit-only": "info",

		"payload/not-json": "warning", "payload/bom": "high", "payload/invalid-utf8": "high", "payload/lone-surrogate": "high",
		"payload/duplicate-key": "high", "payload/whitespace": "high", "payload/trailing-newline": "high",
		"payload/key-order": "info", "payload/html-escape": "warning", "payload/string-escape": "warning",
		"payload/number-format": "high", "payload/negative-zero": "high", "payload/number-precision-loss": "high",
		"payload/number-out-of-range": "high", "payload/empty-payload": "info", "payload/number-unsafe-integer": "warning",
		"payload/float-number": "warning", "payload/timestamp-subsecond": "warning", "payload/timestamp-epoch": "warning",
		"payload/timestamp-second": "info", "payload/random-id": "info", "payload/volatile-name": "warning",
		"payload/null-member": "info", "payload/unicode-not-nfc": "warning", "payload/embedded-json": "warning",
		"payload/double-encoded": "warning", "payload/volatile-field": "high", "payload/suspect-field": "warning",
		"payload/canonical-collision": "high", "payload/key-order-varies": "high", "payload/array-order-varies": "warning",
		"payload/null-absent-mix": "warning", "payload/type-mix": "warning", "payload/float-jitter": "warning",
		"payload/unicode-variant": "warning", "payload/encoding-mix": "high",
	}
	for c, severity := range want {
		if !c.Known() || c.Severity().String() != severity {
			t.Errorf("%s: known %t, severity %s, want %s", c, c.Known(), c.Severity(), severity)
		}
	}
	for _, c := range Codes() {
		if c.Severity() == SeverityNone || !strings.Contains(string(c), "/") {
			t.Errorf("%s has severity %s", c, c.Severity())
		}
	}
	if !slices.IsSorted(Codes()) {
		t.Error("codes are not sorted")
	}
	if !(SeverityInfo < SeverityWarning && SeverityWarning < SeverityHigh && SeverityHigh < SeverityCritical) {
		t.Error("severities are out of order")
	}
	for _, s := range Severities() {
		if got, err := ParseSeverity(s.String()); err != nil || got != s {
			t.Errorf("ParseSeverity(%q) = %v, %v", s, got, err)
		}
	}
	var statuses []string
	for _, s := range Statuses() {
		statuses = append(statuses, s.String())
	}
	if got := strings.Join(statuses, " "); got != "applied not-applied in-progress partial natural unknown" {
		t.Errorf("statuses = %s", got)
	}
}

func TestMessagesBearTheTwoFactsWithTheirTimes(t *testing.T) {
	at := func(d time.Duration) string { return ago(d).Format(time.RFC3339) }
	tests := []struct {
		code   Code
		change func(*Finding)
		want   []string // in message and consequence together
	}{
		{CodeLost, nil, []string{"not applied as of " + at(0), "if no attempt outlives 2m0s", "handler-error"}},
		{CodeAppliedArchived, nil, []string{at(5 * time.Minute), "handler-error"}},
		{CodeAppliedOrphaned, nil, []string{at(5 * time.Minute), noon.Add(20 * time.Second).Format(time.RFC3339)}},
		{CodeOrphaned, nil, []string{noon.Add(20 * time.Second).Format(time.RFC3339), "not applied"}},
		{CodeAppliedRetry, nil, []string{at(5 * time.Minute), noon.Add(time.Minute).Format(time.RFC3339)}},
		{CodeAppliedWaiting, nil, []string{at(5 * time.Minute), "scheduled", noon.Add(time.Hour).Format(time.RFC3339)}},
		{CodeUnmarked, nil, []string{at(time.Hour)}},
		{CodeUnsettled, nil, []string{noon.Add(time.Minute).Format(time.RFC3339), "may still be writing"}},
		{CodeUnsettled, func(f *Finding) { f.Reason, f.SettlesAt = ReasonTwin, time.Time{} }, []string{"another task of the same key"}},
		{CodePartial, nil, []string{"half applied: public.processed_tasks has it, public.payments has an unfinished row\n"}},
		{CodePartial, func(f *Finding) { f.Readings[1].Row = Row{} }, []string{
			"public.processed_tasks has it, public.payments has not; mark and effect are not one transaction",
		}},
		{CodeStaleClaim, nil, []string{at(time.Hour)}},
		{CodeStaleMark, nil, []string{at(5 * time.Minute)}},
		{CodeUnknown, nil, []string{"replica", "handler-error"}},
		{CodeMismatch, nil, []string{"said in words"}},
		{CodeKeyMissing, nil, []string{"said in words"}},
		{CodeKeyCollision, nil, []string{"2", "evt_1"}},
		{CodeIDShared, nil, []string{"evt_1"}},
		{CodeNoUniqueIndex, nil, []string{"payment:charge", "said in words"}},
		{CodeUnprotected, func(f *Finding) { f.TaskCount = 1 }, []string{"1 task of", "payment:charge"}},
		{CodeUnclassified, nil, []string{"2 tasks of", "payment:charge"}},
		{CodeDuplicated, func(f *Finding) { f.Readings[1].Row.Passing = 4 }, []string{"4 effect rows"}},
	}
	for _, tt := range tests {
		t.Run(string(tt.code), func(t *testing.T) {
			f := plainFinding(tt.code)
			if tt.change != nil {
				tt.change(&f)
			}
			text := f.Message() + "\n" + f.Consequence()
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not said in:\n%s", want, text)
				}
			}
		})
	}
}

func TestEveryReasonHasWords(t *testing.T) {
	reasons := []Reason{
		ReasonNoRule, ReasonKeyMissing, ReasonLedger, ReasonReplica, ReasonRetention, ReasonNotAtomic,
		ReasonEmptySource, ReasonNoSource, ReasonUndecodable, ReasonStateUnknown,
		ReasonSettling, ReasonTwin, ReasonWriter, ReasonChanging,
	}
	seen := map[string]bool{}
	for _, r := range reasons {
		words := r.Words()
		if words == "" || seen[words] {
			t.Errorf("%s: words %q", r, words)
		}
		seen[words] = true
	}
	if ReasonNone.Words() != "" {
		t.Errorf("no reason has words %q", ReasonNone.Words())
	}
}

// What nobody waits for is not named: a task without an end settles only by the
// operator's word, and one that moves has to be looked at again.
func TestUnsettledSaysWhatItWaitsFor(t *testing.T) {
	seen := map[string]Reason{}
	for _, r := range []Reason{ReasonSettling, ReasonTwin, ReasonWriter, ReasonChanging} {
		f := plainFinding(CodeUnsettled)
		f.Reason, f.SettlesAt = r, time.Time{}
		consequence := f.Consequence()
		if before, ok := seen[consequence]; ok {
			t.Errorf("%s and %s both say %q", before, r, consequence)
		}
		seen[consequence] = r
	}
}

func TestEveryStateSaysWhatComesNext(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range inspect.States() {
		words := stateWords(inState(s))
		if words == "" || words == "unknown" || seen[words] {
			t.Errorf("%s: words %q", s, words)
		}
		seen[words] = true
	}
}

// bashWords has a real bash read the command lines, each as `idemctl WORDS…`,
// and returns the words that idemctl would be given for each. Nothing else may
// happen meanwhile: the folder stays empty.
func bashWords(t failer, locale string, lines []string) [][]string {
	t.Helper()
	dir, err := os.MkdirTemp("", "words")
	if err != nil {
		t.Fatalf("making a folder: %v", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	script := "idemctl() { printf '%s\\0' \"$#\" \"$@\"; }\n" + strings.Join(lines, "\n") + "\n"
	cmd := exec.Command("bash", "--norc", "--noprofile")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(script)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=" + locale, "HOME=/nowhere"}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("bash: %v: %s\n%s", err, errs.String(), script)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Fatalf("the commands left %v behind (%v):\n%s", left, err, script)
	}
	return counted0(t, string(out))
}

// counted0 reads groups of NUL-ended words, each led by its count.
func counted0(t failer, out string) [][]string {
	t.Helper()
	words := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	var groups [][]string
	for len(words) > 0 && words[0] != "" {
		n, err := strconv.Atoi(words[0])
		if err != nil || n+1 > len(words) {
			t.Fatalf("bash wrote %q", out)
		}
		groups = append(groups, words[1:n+1])
		words = words[n+1:]
	}
	return groups
}

// hostile are names of tasks and queues that a shell would like to run.
var hostile = []string{
	"plain", "7b0b5f0e-93f1-4ef1-9d4e-0d6a0a4d7d1e", "tenant/7:evt_1@x.y", "", " ", "two words",
	"$(touch owned)", "`touch owned`", "; touch owned", "& touch owned &", "| tee owned", "> owned", "\ntouch owned\n",
	"'; touch owned; '", `"; touch owned; "`, `\'; touch owned; \'`, `$'\x27; touch owned`, "a'b", `a\b`, `a"b`, `\`, "'", `'\''`,
	"~", "~root", "*", "?", "[a]", "{a,b}", "#comment", "!!", "!touch", "a!b", "it's!x", "x\t'!y", "$HOME", "${HOME}", "$1", "%1", "=ls", "@(a|b)",
	"\x01\x02", "\x7f", "a\rb", "tab\there", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "line\nline", "a\n", "\n",
	"é", "日本語", "\u202ecba", "\u00a0", "\u2028", "\xff\xfe", "a\xffb'c", "\xe6\x97", "�",
	"\x01f", "\x0aB", "\x1b0", "é1", "\xffA",
	"-", "--", "-rf", "--config=/tmp/evil.yaml", "--help", "-q",
}

func TestActionsAreReadByBashAsTheOneTaskTheyName(t *testing.T) {
	var lines []string
	var want [][2]string
	for i, id := range hostile {
		if id == "" {
			continue // a finding on no task
		}
		queue := hostile[(i*7+3)%len(hostile)]
		f := Finding{Code: CodeInDoubt, Task: inspect.Task{Ref: inspect.Ref{Queue: queue, ID: id}}}
		lines = append(lines, f.Action())
		want = append(want, [2]string{queue, id})
	}
	for _, locale := range []string{"C", "C.UTF-8"} {
		got := bashWords(t, locale, lines)
		if len(got) != len(want) {
			t.Fatalf("%s: bash read %d commands of %d", locale, len(got), len(want))
		}
		for i, words := range got {
			n := len(words)
			if n < 3 || words[0] != "explain" || words[n-2] != want[i][0] || words[n-1] != want[i][1] {
				t.Errorf("%s: %s\nis read as %q, want explain %q", locale, lines[i], words, want[i])
			}
		}
	}
}

// The flags of a move name one queue and one ID, whatever they are called. Queues
// are given as a list in CSV.
func TestMovesAreReadByBashAsTheOneTaskTheyName(t *testing.T) {
	var lines []string
	var want [][2]string
	for i, id := range hostile {
		if id == "" {
			continue
		}
		queue := hostile[(i*5+2)%len(hostile)] + ",x"
		f := Finding{Code: CodeLost, Task: inspect.Task{Ref: inspect.Ref{Queue: queue, ID: id}}}
		lines = append(lines, f.Action())
		want = append(want, [2]string{queue, id})
	}
	for i, words := range bashWords(t, "C.UTF-8", lines) {
		if len(words) != 3 || words[0] != "requeue" {
			t.Fatalf("%s\nis read as %q", lines[i], words)
		}
		queues, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(words[1], "--queue="))).Read()
		if err != nil || len(queues) != 1 || !MatchGlob(queues[0], want[i][0]) || words[2] != "--id="+want[i][1] {
			t.Errorf("%s\nis read as %q (%q, %v), want %q", lines[i], words, queues, err, want[i])
		}
	}
}

// An ID that begins with a dash would be read as a flag of idemctl's own, such
// as another configuration.
func TestActionsNeverOfferAQueuesTextAsAFlag(t *testing.T) {
	for _, ref := range []inspect.Ref{
		{Queue: "default", ID: "--config=/tmp/evil.yaml"},
		{Queue: "default", ID: "-h"},
		{Queue: "-u", ID: "127.0.0.1:1"},
		{Queue: "--", ID: "x"},
		{Queue: "q", ID: "-"},
	} {
		f := Finding{Code: CodeInDoubt, Task: inspect.Task{Ref: ref}}
		words := bashWords(t, "C", []string{f.Action()})[0]
		end := slices.Index(words, "--")
		if end != len(words)-3 {
			t.Errorf("%s: the words %q are not behind a -- that ends the flags", f.Action(), words)
		}
	}
}

// No command line can hold a NUL: what a shell would pass on names another task.
func TestActionsNameNoOtherTaskThanTheirs(t *testing.T) {
	for _, id := range []string{"a\x00b", "\x00", "a\x00"} {
		f := Finding{Code: CodeLost, Task: inspect.Task{Ref: inspect.Ref{Queue: "default", ID: id}}}
		if action := f.Action(); action != "" {
			t.Errorf("ID %q: action %s runs for %q", id, action, bashWords(t, "C", []string{action}))
		}
	}
}

func TestShellQuoteGivesBackAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.String(),
			rapid.StringOf(rapid.RuneFrom([]rune("ab '\"\\$`!\n\t\x01\x7fé#~*{}()[]<>|&;%=-"))),
			rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.ByteRange(1, 255)).Draw(t, "bytes")) }),
		)
		texts := rapid.SliceOfN(text, 1, 40).Draw(t, "texts")
		line := "idemctl"
		for i, s := range texts {
			texts[i] = strings.ReplaceAll(s, "\x00", "0")
			line += " " + ShellQuote(texts[i])
		}
		got := bashWords(t, rapid.SampledFrom([]string{"C", "C.UTF-8"}).Draw(t, "locale"), []string{line})
		if len(got) != 1 || !slices.Equal(got[0], texts) {
			t.Fatalf("bash reads %q\nof %q\nfrom %s", got, texts, line)
		}
	})
}

// A person pastes the command into a shell that expands history.
func TestShellQuoteHidesHistoryFromAnInteractiveShell(t *testing.T) {
	for _, text := range []string{"!!", "a!b", "!echo", "it's!x", "x\t'!y", "'\n!!", "\\'\x01!!", "é'!e", "^a^b"} {
		cmd := exec.Command("bash", "--norc", "--noprofile", "-i")
		cmd.Stdin = strings.NewReader("set -H\necho earlier\nprintf '<%s>' " + ShellQuote(text) + "\n")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "PS1=", "HOME=/nowhere", "HISTFILE="}
		cmd.Dir = t.TempDir()
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("bash -i: %v", err)
		}
		if want := fmt.Sprintf("<%s>", text); !strings.Contains(string(out), want) {
			t.Errorf("%s is read as %q, want %q", ShellQuote(text), out, want)
		}
	}
}

func TestShellQuoteLeavesPlainNamesReadable(t *testing.T) {
	for _, name := range []string{"default", "7b0b5f0e-93f1-4ef1-9d4e-0d6a0a4d7d1e", "tenant:7/evt_1"} {
		if got := ShellQuote(name); got != name {
			t.Errorf("ShellQuote(%q) = %s", name, got)
		}
	}
}

// What a shell shows of a quoted text must not move the cursor or turn the line.
func TestActionsHoldNoControlCharacters(t *testing.T) {
	for _, id := range hostile {
		f := Finding{Code: CodeLost, Task: inspect.Task{Ref: inspect.Ref{Queue: id, ID: id + "x"}}}
		for _, b := range []byte(f.Action()) {
			if b < 0x20 || b >= 0x7f {
				t.Errorf("action of %q holds the byte %#x", id, b)
				break
			}
		}
	}
}

func TestFindingsOnTypesActOnTheConfiguration(t *testing.T) {
	for _, c := range Codes() {
		if c.Family() != "coverage" {
			continue
		}
		f := plainFinding(c)
		if words := strings.Fields(f.Action()); slices.Contains(words, "explain") {
			t.Errorf("%s: %q names a task that there is not", c, f.Action())
		}
	}
	if f := (Finding{Code: CodeLost}); f.Action() != "" {
		t.Errorf("a finding without a task: action %q", f.Action())
	}
}
