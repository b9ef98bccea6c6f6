package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/inspect/payload"
)

// payloadCases is an environment variable that may name a directory with further
// cases, as the tests of inspect/payload have it: cases.jsonl, and corpora with
// NAME.jsonl and expected.json.
const payloadCases = "IDEMCTL_PAYLOAD_CASES"

// caseDirs are the directories of cases: this command's own, and the given one.
func caseDirs() []string {
	dirs := []string{filepath.Join("testdata", "payload")}
	if more := os.Getenv(payloadCases); more != "" {
		dirs = append(dirs, more)
	}
	return dirs
}

// payloadCase is a payload with its known right answer.
type payloadCase struct {
	ID           string
	Payload      []byte `json:"payload_b64"`
	Canonical    bool
	CanonicalB64 *[]byte `json:"canonical_b64"`
	Encoding     string
	Rules        []string
	Findings     []struct{ Rule, Path string }
}

func readCases[T any](t *testing.T, text string) (cases []T) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var c T
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%.80s: %v", lines.Text(), err)
		}
		cases = append(cases, c)
	}
	if lines.Err() != nil || len(cases) == 0 {
		t.Fatalf("%d cases, %v", len(cases), lines.Err())
	}
	return cases
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func (c *payloadCase) found() []string {
	var found []string
	for _, f := range c.Findings {
		found = append(found, f.Rule+" "+f.Path)
	}
	slices.Sort(found)
	return found
}

// The command says of every case what is known to be right, and exits as its worst
// finding wants.
func TestPayloadCheckAgreesWithGivenCases(t *testing.T) {
	for _, dir := range caseDirs() {
		path := filepath.Join(dir, "cases.jsonl")
		want := readCases[payloadCase](t, readFile(t, path))
		code, out, errs := inProcess(t, "payload", "check", "--ndjson", path, "-o", "ndjson")
		if code != exitFindings || errs != "" {
			t.Errorf("exit code %d; stderr:\n%s", code, errs)
		}
		got := readCases[payloadCase](t, out)
		if len(got) != len(want) {
			t.Fatalf("%d payloads, want %d", len(got), len(want))
		}
		for i, w := range want {
			compareCase(t, &got[i], &w)
		}
	}
}

func compareCase(t *testing.T, got, want *payloadCase) {
	t.Helper()
	slices.Sort(want.Rules)
	form := func(c *payloadCase) string {
		if c.CanonicalB64 == nil {
			return "none"
		}
		return string(*c.CanonicalB64)
	}
	switch {
	case got.ID != want.ID, got.Canonical != want.Canonical, form(got) != form(want):
		t.Errorf("%s: %s, canonical %v, form %q; want %v and %q", want.ID, got.ID, got.Canonical, form(got), want.Canonical, form(want))
	case want.Encoding != "" && got.Encoding != want.Encoding:
		t.Errorf("%s: encoding %s, want %s", want.ID, got.Encoding, want.Encoding)
	case !slices.Equal(got.Rules, want.Rules) || !slices.Equal(got.found(), want.found()):
		t.Errorf("%s: %v, want %v", want.ID, got.found(), want.found())
	}
}

// canon writes exactly the canonical bytes, or nothing and why.
func TestPayloadCanonWritesExactlyTheForm(t *testing.T) {
	file := filepath.Join(t.TempDir(), "payload")
	for _, dir := range caseDirs() {
		for _, c := range readCases[payloadCase](t, readFile(t, filepath.Join(dir, "cases.jsonl"))) {
			if err := os.WriteFile(file, c.Payload, 0o600); err != nil {
				t.Fatal(err)
			}
			code, out, errs := inProcess(t, "payload", "canon", file)
			switch {
			case c.CanonicalB64 == nil && (code != exitFindings || out != "" || !strings.Contains(errs, "no canonical form")):
				t.Errorf("%s: exit code %d, %q, stderr:\n%s", c.ID, code, out, errs)
			case c.CanonicalB64 != nil && (code != exitDone || out != string(*c.CanonicalB64) || errs != ""):
				t.Errorf("%s: exit code %d, %q, stderr:\n%s", c.ID, code, out, errs)
			}
		}
	}
}

// key prints the lock asynq itself would take.
func TestPayloadKeyIsThatOfAsynq(t *testing.T) {
	file := filepath.Join(t.TempDir(), "payload")
	for _, c := range readCases[payloadCase](t, readFile(t, filepath.Join("testdata", "payload", "cases.jsonl"))) {
		if err := os.WriteFile(file, c.Payload, 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, _ := inProcess(t, "payload", "key", file, "-q", "night", "-t", "a:b", "-o", "name")
		if want := payload.UniqueKey("night", "a:b", append([]byte{}, c.Payload...)) + "\n"; code != exitDone || out != want {
			t.Errorf("%s: exit code %d, %q, want %q", c.ID, code, out, want)
		}
	}
}

// corpusCase is a corpus with what must and must not be said of it.
type corpusCase struct {
	Type           string
	Volatile       []string
	AtLeastSuspect []string            `json:"at_least_suspect"`
	MayFlag        []string            `json:"may_flag"`
	MustNotFlag    []string            `json:"must_not_flag"`
	Rules          map[string][]string `json:"rules"`
	MustNotRules   []string            `json:"must_not_rules"`
	Collisions     [][]string
	JSONPayloads   int `json:"json_payloads"`
	Clusters       []struct {
		Removed []string
		Groups  [][]string
	}
	Stats map[string]corpusStats
}

type corpusStats struct {
	Present, Values, Distinct int
	Types                     map[string]int
}

type corpusAnswer struct {
	Schema               string
	Type                 string
	JSON                 int
	Volatile, Suspect    []string
	Rules                map[string][]string
	Clusters, Collisions [][]string
	Stats                map[string]corpusStats
}

func TestPayloadCorpusAgreesWithGivenCorpora(t *testing.T) {
	for _, dir := range caseDirs() {
		var expected map[string]corpusCase
		if err := json.Unmarshal([]byte(readFile(t, filepath.Join(dir, "corpora", "expected.json"))), &expected); err != nil {
			t.Fatal(err)
		}
		for name, want := range expected {
			t.Run(name, func(t *testing.T) {
				_, out, errs := inProcess(t, "payload", "corpus", "--ndjson", filepath.Join(dir, "corpora", name+".jsonl"), "-o", "json")
				if errs != "" {
					t.Errorf("stderr:\n%s", errs)
				}
				answers := readCases[corpusAnswer](t, out)
				if len(answers) != 1 {
					t.Fatalf("%d objects, want one", len(answers))
				}
				compareCorpus(t, &answers[0], &want)
			})
		}
	}
}

func compareCorpus(t *testing.T, got *corpusAnswer, want *corpusCase) {
	t.Helper()
	if got.Schema != "idemctl.corpus/v1" || got.Type != want.Type || got.JSON != want.JSONPayloads {
		t.Errorf("%s of type %s with %d JSON payloads", got.Schema, got.Type, got.JSON)
	}
	flagged := slices.Concat(got.Volatile, got.Suspect)
	for _, path := range want.Volatile {
		if !slices.Contains(got.Volatile, path) {
			t.Errorf("%s is not volatile", path)
		}
	}
	for _, path := range want.AtLeastSuspect {
		if !slices.Contains(flagged, path) {
			t.Errorf("%s is not even suspect", path)
		}
	}
	for _, path := range flagged {
		if slices.Contains(want.MustNotFlag, path) || !slices.Contains(slices.Concat(want.Volatile, want.AtLeastSuspect, want.MayFlag), path) {
			t.Errorf("%s is flagged", path)
		}
	}
	for rule, paths := range want.Rules {
		slices.Sort(paths)
		if !slices.Equal(got.Rules[rule], paths) {
			t.Errorf("%s at %v, want %v", rule, got.Rules[rule], paths)
		}
	}
	for _, rule := range want.MustNotRules {
		if len(got.Rules[rule]) > 0 {
			t.Errorf("%s at %v, want none", rule, got.Rules[rule])
		}
	}
	var clusters [][]string
	for _, c := range want.Clusters {
		if slices.Equal(c.Removed, got.Volatile) {
			clusters = c.Groups
		}
	}
	if sortedLists(got.Clusters) != sortedLists(clusters) {
		t.Errorf("clusters:\n%s\nwant:\n%s", sortedLists(got.Clusters), sortedLists(clusters))
	}
	if sortedLists(got.Collisions) != sortedLists(want.Collisions) {
		t.Errorf("collisions:\n%s\nwant:\n%s", sortedLists(got.Collisions), sortedLists(want.Collisions))
	}
	for path, w := range want.Stats {
		s := got.Stats[path]
		if s.Present != w.Present || s.Values != w.Values || s.Distinct != w.Distinct {
			t.Errorf("%s: %+v, want %+v", path, s, w)
		}
	}
}

func sortedLists(lists [][]string) string {
	var lines []string
	for _, list := range lists {
		lines = append(lines, strings.Join(slices.Sorted(slices.Values(list)), " "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// A terminal is no place for exact bytes: what acts on it is escaped, and the value
// stays the same.
func TestPayloadCanonOnATerminalIsHarmless(t *testing.T) {
	file := filepath.Join(t.TempDir(), "payload")
	if err := os.WriteFile(file, []byte("{\"a\":\"\u009b2J\u202e\x7f\"}"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, _ := onTerminal(t, 80, "payload", "canon", file)
	if code != exitDone || out != `{"a":"\u009b2J\u202e\u007f"}`+"\n" {
		t.Errorf("exit code %d, %q", code, out)
	}
}

// hanging is standard input on which nothing ever comes.
type hanging struct{ read chan struct{} }

func (h hanging) Read([]byte) (int, error) {
	close(h.read)
	select {}
}

// An interrupt ends the command although a read from the terminal hangs.
func TestPayloadCheckIsInterruptedWhileItWaitsForInput(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in := hanging{make(chan struct{})}
	go func() {
		<-in.read
		cancel()
	}()
	var out, errs bytes.Buffer
	s := &streams{in: in, out: &out, err: &errs, width: func() int { return 0 }, now: time.Now}
	code := execute(ctx, []string{"payload", "check", "--lines", "-"}, s, config.Environment{
		LookupEnv: func(string) (string, bool) { return "", false }, Home: t.TempDir(), ReadFile: os.ReadFile,
	})
	if code != exitIncomplete || !strings.Contains(errs.String(), "interrupted") {
		t.Errorf("exit code %d; stderr:\n%s", code, errs.String())
	}
}

// What the environment selects for queues does not narrow files in silence.
func TestPayloadFilesIgnoreWhatTheEnvironmentSelects(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(file, []byte("1\n2\n3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	variables := map[string]string{"IDEMCTL_LIMIT": "1", "IDEMCTL_STATE": "archived", "IDEMCTL_QUEUE": "a*", "IDEMCTL_ID": "x"}
	var out, errs bytes.Buffer
	s := &streams{in: strings.NewReader(""), out: &out, err: &errs, width: func() int { return 0 }, now: time.Now}
	code := execute(t.Context(), []string{"payload", "check", "--lines", file, "-o", "ndjson"}, s, config.Environment{
		LookupEnv: func(name string) (string, bool) { v, ok := variables[name]; return v, ok },
		Home:      t.TempDir(), ReadFile: os.ReadFile,
	})
	if code != exitDone || strings.Count(out.String(), "\n") != 3 {
		t.Errorf("exit code %d, output:\n%s%s", code, out.String(), errs.String())
	}
}

// The permissions page promises that this user is enough, and nothing is written.
func TestPayloadCommandsWorkForARedisUserWhoMayOnlyRead(t *testing.T) {
	server := inspecttest.StartServer(t)
	server.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "a", Payload: []byte(`{"n":1}`)},
		inspecttest.Spec{Outcome: inspecttest.Active, ID: "b", Payload: []byte(`{"n": 1}`)},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "c", Payload: []byte(`{"n":1}`)},
	)
	user := server.AddUser("reader", "hunter2", "~asynq:* resetchannels -@all +@read +ping +select +info +time +client|setname")
	for _, c := range []struct {
		code int
		args []string
	}{
		{exitFindings, []string{"check", "-q", "*"}},
		{exitDone, []string{"canon", "-q", "default", "-s", "archived"}},
		{exitDone, []string{"key", "-i", "b"}},
		{exitFindings, []string{"diff", "-i", "a", "-i", "b"}},
		{exitDone, []string{"diff", "-i", "a", "-i", "c"}},
		{exitFindings, []string{"corpus", "-q", "*"}},
	} {
		args := append([]string{"payload"}, append(c.args, "--uri", user.URI())...)
		code, out, errs := inProcess(t, args...)
		if code != c.code || errs != "" {
			t.Errorf("%v: exit code %d, want %d; output:\n%s%s", c.args, code, c.code, out, errs)
		}
	}
}

// A line that no Redis could hold is named, and the next one is judged.
func TestPayloadLineThatIsTooLongDoesNotHideTheNext(t *testing.T) {
	var errs bytes.Buffer
	p := &program{streams: &streams{err: &errs}}
	var got []string
	in := &payloadInput{
		payloadOptions: &payloadOptions{program: p, lines: true}, largest: 8,
		take: func(p *render.Payload) error { got = append(got, p.ID+" "+string(p.Raw)); return nil },
	}
	text := "1\r\n" + strings.Repeat("x", 1<<19) + "\n\n2"
	if err := in.content(t.Context(), "f", strings.NewReader(text), 0); err != nil {
		t.Fatal(err)
	}
	if want := []string{"f:1 1", "f:3 ", "f:4 2"}; !slices.Equal(got, want) || in.unread != 1 {
		t.Errorf("read %q and could not read %d; want %q and 1", got, in.unread, want)
	}
	if !strings.Contains(errs.String(), "f:2: is larger than") {
		t.Errorf("stderr:\n%s", errs.String())
	}
	in.lines = false
	if err := in.content(t.Context(), "g", strings.NewReader("123456789"), 0); err != nil || in.unread != 2 {
		t.Errorf("a file that is too large: %v, %d not read", err, in.unread)
	}
}

// A dump that is broken from end to end does not fill the screen.
func TestPayloadFaultsAreCountedBeyondTwenty(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dump")
	if err := os.WriteFile(file, []byte(strings.Repeat("{\n", 500)+`{"payload":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := inProcess(t, "payload", "check", "--ndjson", file, "-o", "json")
	if code != exitIncomplete || !strings.Contains(out, `"unread":500`) {
		t.Errorf("exit code %d, %s", code, out)
	}
	if n := strings.Count(errs, "\n"); n > 25 || !strings.Contains(errs, "and 480 inputs more") {
		t.Errorf("%d lines on stderr:\n%s", n, errs)
	}
}
