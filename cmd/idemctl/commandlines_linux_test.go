package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// Lines that idemctl offers are run here as somebody would who pastes them: by
// bash, against the program, Redis and a ledger.

// shell runs lines in a folder of its own.
type shell struct {
	t    *testing.T
	home string
	env  []string
}

func newShell(t *testing.T, config string) *shell {
	t.Helper()
	home := t.TempDir()
	write(t, filepath.Join(home, "config.yaml"), config)
	return &shell{t, home, []string{"HOME=" + home, "XDG_STATE_HOME=" + home, "IDEMCTL_CONFIG=" + filepath.Join(home, "config.yaml"), "IDEMCTL_PAGER=cat", "TZ=UTC"}}
}

// runs runs a line and reads the JSON that it prints.
func (s *shell) runs(line string, into any) {
	s.t.Helper()
	dir := s.t.TempDir()
	cmd := exec.CommandContext(s.t.Context(), "bash", "--norc", "--noprofile", "-c", line)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "LC_ALL=C"), s.env...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if jsonErr := json.Unmarshal(out, into); jsonErr != nil {
		s.t.Errorf("%s\nprints %q: %v\n%v: %s", line, out, jsonErr, err, errs.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		s.t.Errorf("%s\nleaves %v behind: %v", line, left, err)
	}
}

// named is a task as JSON names it.
type named struct {
	Queue  string  `json:"queue"`
	ID     *string `json:"task_id"`
	Hex    *string `json:"task_id_hex"`
	Action *string `json:"action"`
}

func (n named) ref(t *testing.T) inspect.Ref {
	t.Helper()
	r := inspect.Ref{Queue: n.Queue}
	switch {
	case n.Hex != nil:
		b, err := hex.DecodeString(*n.Hex)
		if err != nil {
			t.Fatal(err)
		}
		r.ID = string(b)
	case n.ID != nil:
		r.ID = *n.ID
	}
	return r
}

// pasted are IDs that a line, a shell or a command could take for something else.
var pasted = []string{
	"-x", "--help", "-", "--", "-q", "two words", " ", `it's "said"`, "a\ntouch owned\n", "$(touch owned)", "`touch owned`", ";touch owned",
	"a\u202eb", "\xff\xfe", "a\x00b", "plain", "*", "a,b",
}

func TestLinesThatAreOfferedReachTheTaskTheyName(t *testing.T) {
	server, db := inspecttest.Start(t), reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE processed_tasks (task_id text PRIMARY KEY, processed_at timestamptz NOT NULL DEFAULT now())`)
	var refs []inspect.Ref
	ids := map[string][]string{"default": pasted, "-u": {"-x", "plain"}, "a,b": {"plain"}, "*": {"plain"}, "q\n": {"plain"}}
	for queue, ids := range ids {
		refs = append(refs, server.Fill(queue, inspect.StateArchived, len(ids), func(i int, m *inspecttest.Message) {
			m.ID, m.LastErr, m.LastFailedAt, m.Retried = ids[i], "no answer", time.Now().Add(-time.Hour).Unix(), 25
		})...)
	}
	sh := newShell(t, fmt.Sprintf(`
current_context: night
contexts:
  - name: night
    confirm_after: 200ms
    redis: {uri: %q}
    ledgers: [{name: main, dsn: %q}]
`, server.URI(), db.DSN))

	var audit struct{ Findings []named }
	sh.runs("idemctl audit -o json", &audit)
	offered := map[inspect.Ref]int{}
	for _, f := range audit.Findings {
		ref := f.ref(t)
		if f.Action == nil || !strings.HasPrefix(*f.Action, "idemctl requeue ") && !strings.HasPrefix(*f.Action, "idemctl explain ") {
			continue
		}
		offered[ref]++
		if strings.HasPrefix(*f.Action, "idemctl requeue ") {
			var plan struct{ Steps []named }
			sh.runs(*f.Action+" --dry-run -o json", &plan)
			if len(plan.Steps) != 1 || plan.Steps[0].ref(t) != ref {
				t.Errorf("%s\nof %q plans %+v", *f.Action, ref, plan.Steps)
			}
			continue
		}
		var told named
		sh.runs(strings.Replace(*f.Action, "idemctl explain", "idemctl explain -o json", 1), &told)
		if told.ref(t) != ref {
			t.Errorf("%s\nof %q tells of %q", *f.Action, ref, told.ref(t))
		}
	}
	for _, ref := range refs {
		line := reconcile.Command("idemctl explain").Operands(ref.Queue, ref.ID).Words("-o json").String()
		if sayable := !strings.Contains(ref.ID, "\x00"); sayable != (offered[ref] > 0) || sayable != (line != "") {
			t.Errorf("%q was offered %d lines, and %s", ref, offered[ref], line)
		}
		if line == "" {
			continue
		}
		var told named
		if sh.runs(line, &told); told.ref(t) != ref {
			t.Errorf("%s\nof %q tells of %q", line, ref, told.ref(t))
		}
	}
}

// A run's command in the journal means what was typed.
func TestCommandWordsAreReadBackAsTheyWereTyped(t *testing.T) {
	for _, typed := range [][]string{
		{"restore", "--run=r1", "--", "-x", "--help"},
		{"restore", "--run=-r", "a b", "it's", "\u202e"},
		{"restore", `--queue="a,b",c`, "--all", "x"},
		{"restore", "--id=-x", "--id=a,b", "--id=--", "--", "--"},
	} {
		line, meant := restoring(t, typed)
		out, err := exec.CommandContext(t.Context(), "bash", "-c", "printf '%s\\0' "+line).Output()
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if _, again := restoring(t, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")); again != meant {
			t.Errorf("%q is kept as %s\nwhich is read as %s\nand meant     %s", typed, line, again, meant)
		}
	}
}

// restoring is what the journal would keep of a command, and what it means.
func restoring(t *testing.T, typed []string) (line, meant string) {
	t.Helper()
	root, cmd := &cobra.Command{Use: "idemctl"}, &cobra.Command{Use: "restore"}
	run, all := cmd.Flags().String("run", "", ""), cmd.Flags().Bool("all", false, "")
	queues, ids := cmd.Flags().StringSlice("queue", nil, ""), cmd.Flags().StringArray("id", nil, "")
	cmd.Run = func(cmd *cobra.Command, args []string) {
		line = commandWords(cmd, args...)
		meant = fmt.Sprintf("--run %q --all %t --queue %q --id %q %q", *run, *all, *queues, *ids, args)
	}
	root.AddCommand(cmd)
	root.SetArgs(typed)
	if err := root.Execute(); err != nil {
		t.Fatalf("%q: %v", typed, err)
	}
	return line, meant
}

// copies types keys and gives what the terminal was told to take.
func (s *seat) copies(keys string) string {
	s.t.Helper()
	s.types(keys)
	for end := time.Now().Add(90 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		s.mu.Lock()
		m := copiesText.FindStringSubmatch(s.text.String()[s.from:])
		s.mu.Unlock()
		switch {
		case m != nil:
			text, err := base64.StdEncoding.DecodeString(m[1])
			if err != nil {
				s.t.Fatal(err)
			}
			return string(text)
		case time.Now().After(end):
			s.t.Fatalf("nothing was copied:\n%s", s.shown())
		}
	}
}

var copiesText = regexp.MustCompile("\x1b\\]52;c;([^\x07]*)\x07")

// The line of a type, typed into a shell, answers what its screen shows: whatever
// its tasks carry, is declared of it, or was turned by keys.
func TestTheLineOfATypeAnswersAsItsScreenDoes(t *testing.T) {
	server := inspecttest.Start(t)
	options := func(o ...asynq.Option) []asynq.Option { return o }
	task := func(taskType, queue, payload string, o []asynq.Option) inspecttest.Spec {
		return inspecttest.Spec{Type: taskType, Queue: queue, Payload: []byte(payload), Outcome: inspecttest.Scheduled, Options: o}
	}
	server.Make(
		task("carried", "default", "1", options(asynq.MaxRetry(2), asynq.Timeout(time.Minute), asynq.Unique(time.Hour))),
		task("carried", "default", "2", options(asynq.MaxRetry(0), asynq.Timeout(3*time.Hour))),
		task("declared", "default", "3", options(asynq.MaxRetry(4), asynq.Timeout(time.Minute), asynq.Unique(48*time.Hour))),
		task("--type, \"it's\"", "-q, 1", "4", options(asynq.MaxRetry(3))),
		task("a*", "default", "5", options(asynq.MaxRetry(1), asynq.Timeout(time.Minute))),
		task("paused", "asleep", "6", options(asynq.MaxRetry(1))),
		inspecttest.Spec{Type: "drifting", Payload: []byte("7"), Outcome: inspecttest.Retry, Options: options(asynq.MaxRetry(2))},
	)
	served(t, server, "default")
	served(t, server, "-q, 1")
	server.Client().Set(t.Context(), "asynq:{asleep}:paused", 1, 0)
	sh := newShell(t, fmt.Sprintf(`
current_context: night
contexts:
  - name: night
    redis: {uri: %q}
    rules:
      - match: {type: declared}
        policy: {max_retry: 6, retry: "fixed(1m)", queue_wait: 10m}
        unique: {ttl: 24h, period: 12h}
      - match: {type: drifting}
        policy: {retry: "fixed(10s)"}
`, server.URI()))
	s := sitDown(t, sh.env, "tui", "--no-color")
	s.sees("night")
	for _, tt := range []struct{ filter, turn, sees string }{
		{"carried", "", "outlives every task"},
		{"carried", "-jl", "outlives every task"},
		{"declared", "", "outlives every task"},
		{"declared", "jjlllGhhhhhhhhhhhhhhhhhhhhhhhh", "outlives every task"},
		{"--type,", "", "outlives every task"},
		{"a*", "j", "outlives every task"},
		{"a*", "-", "outlives every task"},
		{"paused", "", "Not bounded"},
		{"paused", "-", "Not bounded"},
		{"drifting", "", "Nobody can say"},
		{"drifting", "-", "Nobody can say"}, // the policy that its delays refute is still there
	} {
		s.types(":ttl\r").sees("not unique")
		s.types("/" + tt.filter + "\r").sees("/" + tt.filter)
		line := s.copies("\r" + tt.turn + "@@")
		s.sees(tt.sees, "clipboard: the command line") // all keys are answered
		page := s.shown()
		var told struct {
			Go        *string `json:"go"`
			Unbounded []any   `json:"unbounded_because"`
			Unknown   []any   `json:"unknown_because"`
			Kinds     []struct {
				Needed *float64 `json:"ttl_needed_s"`
				Why    string   `json:"why"`
			} `json:"kinds"`
		}
		sh.runs(line+" -o json", &told)
		t.Logf("%s %s: %s", tt.filter, tt.turn, line)
		answers := goAnswer.FindAllString(page, -1) // the last is what was shown in the end
		switch {
		case tt.sees == "outlives every task" && (told.Go == nil || len(answers) == 0 || *told.Go+" "+tt.sees != answers[len(answers)-1]):
			t.Errorf("%s\nanswers %v, and the screen %q", line, told.Go, answers)
		case tt.sees == "Not bounded" && len(told.Unbounded) == 0:
			t.Errorf("%s\nfinds a bound: %+v", line, told)
		case tt.sees == "Nobody can say" && len(told.Unknown) > 0 && told.Go == nil:
		case tt.sees == "Nobody can say" && (len(told.Kinds) != 1 || told.Kinds[0].Needed != nil || told.Kinds[0].Why == ""):
			t.Errorf("%s\ncan say: %+v", line, told)
		}
		s.types("\x1b").sees("/" + tt.filter) // a key right behind it would be another
	}
	s.types("\x03").leaves(exitDone)
}

// goAnswer is where the screen says how long a lock must be.
var goAnswer = regexp.MustCompile(`asynq\.Unique\([^()]*\) outlives every task`)
