package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/idemctl/idemctl/inspect/payload"
)

const payloadPage = "../../docs/payload.md"

// What the page for users shows is what the commands print.
func TestPayloadPageShowsWhatIsPrinted(t *testing.T) {
	page := readFile(t, payloadPage)
	t.Chdir(filepath.Join("testdata", "payload", "page"))
	const fence = "```console\n$ idemctl "
	shown := 0
	for rest := page; ; shown++ {
		_, after, ok := strings.Cut(rest, fence)
		if !ok {
			break
		}
		var block string
		block, rest, _ = strings.Cut(after, "```\n")
		command, want, _ := strings.Cut(block, "\n")
		_, out, errs := inProcess(t, strings.Fields(command)...)
		if strings.TrimSuffix(out, "\n") != strings.TrimSuffix(want, "\n") || errs != "" {
			t.Errorf("idemctl %s prints\n%s%s\nthe page shows\n%s", command, out, errs, want)
		}
	}
	if shown < 5 {
		t.Errorf("%d commands are shown, want at least 5", shown)
	}
}

// Every rule is on the page, with its severity, its fix, and an example that fires it.
func TestPayloadPageHasEveryRule(t *testing.T) {
	page := readFile(t, payloadPage)
	for _, rule := range payload.Rules() {
		row := ""
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "| `"+rule.String()+"` | "+rule.Severity().String()+" | ") {
				row = line
			}
		}
		fix := rule.Fix()[1:]
		if row == "" || !strings.Contains(row, fix) {
			t.Errorf("%s is not on the page, or without its severity or fix: %s", rule, row)
			continue
		}
		if rule.Scope() == payload.ScopeCorpus {
			continue
		}
		_, example, _ := strings.Cut(row, " | `")
		example, _, _ = strings.Cut(example, "` |")
		if quoted, ok := strings.CutPrefix(example, "go:"); ok {
			text, err := strconv.Unquote(quoted)
			if err != nil {
				t.Errorf("%s: %s: %v", rule, quoted, err)
			}
			example = text
		}
		if payload.Check([]byte(example)).Count(rule) == 0 {
			t.Errorf("%s does not fire on its example %q", rule, example)
		}
	}
}

func TestPayloadCanonLinesAreAsPublished(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/schema/payload.v1.json#/$defs/canon")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(file, []byte("{\"a\":1,\"a\":2}\n1.0\n\n\"\u202e\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, out, _ := inProcess(t, "payload", "canon", "--lines", file, "-o", "ndjson")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines, want 4:\n%s", len(lines), out)
	}
	for _, line := range lines {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%v\n%s", err, line)
		}
	}
}
