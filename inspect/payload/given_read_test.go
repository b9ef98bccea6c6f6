package payload

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// casesDir is an environment variable that may name a directory with further cases:
// cases.jsonl, and corpora with NAME.jsonl and expected.json.
const casesDir = "IDEMCTL_PAYLOAD_CASES"

// givenCases reads the cases of this repository, and those of casesDir.
func givenCases(t testing.TB) []givenCase {
	t.Helper()
	var cases []givenCase
	for _, line := range readLines(t, filepath.Join("testdata", "cases.txt")) {
		if line[0] == '#' {
			continue
		}
		c, err := parseCase(string(line))
		if err != nil {
			t.Fatalf("%.60s: %v", line, err)
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		t.Fatal("no cases in testdata")
	}
	if dir := os.Getenv(casesDir); dir != "" {
		for _, line := range readLines(t, filepath.Join(dir, "cases.jsonl")) {
			var c givenCase
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatalf("%.60s: %v", line, err)
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// parseCase reads a line of testdata/cases.txt.
func parseCase(line string) (c givenCase, err error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 6 {
		return c, fmt.Errorf("%d fields, want 6", len(fields))
	}
	c.ID = fields[0]
	text, err := strconv.Unquote(fields[1])
	if err != nil {
		return c, fmt.Errorf("payload: %w", err)
	}
	c.Payload = []byte(text)
	switch fields[2] {
	case "=":
		c.Canonical, c.Form = true, c.Payload
	case "-":
	default:
		text, err = strconv.Unquote(fields[2])
		if err != nil {
			return c, fmt.Errorf("canonical form: %w", err)
		}
		c.Form = []byte(text)
	}
	if fields[3] != "-" {
		c.Encoding = fields[3]
	}
	c.Findings, err = parseFindings(fields[4])
	return c, err
}

func parseFindings(field string) (findings []givenFinding, err error) {
	for field != "" {
		name, rest, _ := strings.Cut(field, " ")
		var f givenFinding
		if f.Rule, err = ParseRule(name); err != nil {
			return nil, err
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return nil, fmt.Errorf("path of %s: %w", name, err)
		}
		if f.Path, err = strconv.Unquote(quoted); err != nil {
			return nil, fmt.Errorf("path of %s: %w", name, err)
		}
		findings = append(findings, f)
		field = strings.TrimPrefix(rest[len(quoted):], "; ")
	}
	return findings, nil
}

func readLines(t testing.TB, path string) [][]byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines [][]byte
	scanner := bufio.NewScanner(bytes.NewReader(content))
	scanner.Buffer(nil, 1<<24)
	for scanner.Scan() {
		if line := scanner.Bytes(); len(bytes.TrimSpace(line)) > 0 {
			lines = append(lines, slices.Clone(line))
		}
	}
	if err := scanner.Err(); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return lines
}

// givenCorpora reads the corpora of this repository, and those of casesDir.
func givenCorpora(t testing.TB) map[string]givenCorpus {
	t.Helper()
	corpora := map[string]givenCorpus{}
	dir := filepath.Join("testdata", "corpora")
	var compact map[string]compactCorpus
	readExpected(t, dir, &compact)
	for name, c := range compact {
		corpora[name] = c.read(t, name, readLines(t, filepath.Join(dir, name+".txt")))
	}
	if len(corpora) == 0 {
		t.Fatal("no corpora in testdata")
	}
	if more := os.Getenv(casesDir); more != "" {
		dir = filepath.Join(more, "corpora")
		var given map[string]givenCorpus
		readExpected(t, dir, &given)
		for name, c := range given {
			c.entries = readEntries(t, filepath.Join(dir, name+".jsonl"))
			corpora["more/"+name] = c
		}
	}
	return corpora
}

func readExpected(t testing.TB, dir string, into any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
}

// compactCorpus is a corpus of this repository: payloads are numbered instead of
// named, and written as they are unless they hold what a line cannot.
type compactCorpus struct {
	givenCorpus
	Clusters []struct {
		Removed []string `json:"removed"`
		Groups  [][]int  `json:"groups"`
	} `json:"clusters"`
	Collisions [][]int `json:"collisions"`
}

func (c compactCorpus) read(t testing.TB, name string, lines [][]byte) givenCorpus {
	t.Helper()
	out := c.givenCorpus
	id := func(i int) string { return fmt.Sprintf("%s-%03d", name, i) }
	ids := func(lists [][]int) (named [][]string) {
		for _, list := range lists {
			var group []string
			for _, i := range list {
				group = append(group, id(i))
			}
			named = append(named, group)
		}
		return named
	}
	for _, cluster := range c.Clusters {
		out.Clusters = append(out.Clusters, givenClusters{cluster.Removed, ids(cluster.Groups)})
	}
	out.Collisions = ids(c.Collisions)
	for i, line := range lines {
		if line[0] == '"' {
			text, err := strconv.Unquote(string(line))
			if err != nil {
				t.Fatalf("%s, line %d: %v", name, i+1, err)
			}
			line = []byte(text)
		}
		out.entries = append(out.entries, Entry{ID: id(i), Queue: "default", Type: c.Type, Payload: line})
	}
	return out
}

func readEntries(t testing.TB, path string) (entries []Entry) {
	t.Helper()
	for _, line := range readLines(t, path) {
		var e struct {
			ID      string `json:"id"`
			Type    string `json:"type"`
			Payload []byte `json:"payload_b64"`
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		entries = append(entries, Entry{ID: e.ID, Queue: "default", Type: e.Type, Payload: e.Payload})
	}
	return entries
}
