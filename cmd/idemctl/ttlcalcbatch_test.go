package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/config"
)

// ttlVectors is an environment variable that may name a file with further
// questions and their right answers, as the tests of inspect/retry have it.
const ttlVectors = "IDEMCTL_TTL_VECTORS"

// batchVector is one question with the answer it must get.
type batchVector struct {
	id        string
	expect    map[string]any
	truncated map[string]float64
	tolerance map[string]float64
}

// notAsked are the members of a vector that are no part of the question.
var notAsked = []string{"expect", "expect_truncated", "parts", "tol", "mc_sim", "mc_ideal", "sampled"}

// readBatch turns a file of families into the lines of a batch.
func readBatch(t testing.TB, path string) (lines []byte, vectors []batchVector) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var families map[string]json.RawMessage
	if err := json.Unmarshal(data, &families); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	delete(families, "about")
	for family, raw := range families {
		var list []map[string]json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			t.Fatalf("%s: %s: %v", path, family, err)
		}
		for _, fields := range list {
			var v batchVector
			for name, to := range map[string]any{"id": &v.id, "expect": &v.expect, "expect_truncated": &v.truncated, "tol": &v.tolerance} {
				if raw, ok := fields[name]; ok {
					if err := json.Unmarshal(raw, to); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, name := range notAsked {
				delete(fields, name)
			}
			fields["family"] = json.RawMessage(`"` + family + `"`)
			line, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			lines, vectors = append(append(lines, line...), '\n'), append(vectors, v)
		}
	}
	return lines, vectors
}

// TestBatchAnswersEveryVector asks all questions in one batch, and wants the
// answers in order and within their tolerances.
func TestBatchAnswersEveryVector(t *testing.T) {
	paths := []string{filepath.Join("..", "..", "inspect", "retry", "testdata", "lifetime-vectors.json")}
	if more := os.Getenv(ttlVectors); more != "" {
		paths = append(paths, more)
	}
	for _, path := range paths {
		lines, vectors := readBatch(t, path)
		if len(vectors) == 0 {
			t.Fatalf("%s holds no vectors", path)
		}
		file := filepath.Join(t.TempDir(), "questions.ndjson")
		if err := os.WriteFile(file, lines, 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := inProcess(t, "ttl-calc", "--batch", file)
		if code != exitDone {
			t.Fatalf("%s: exit code %d: %s", path, code, errs)
		}
		answers := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if len(answers) != len(vectors) {
			t.Fatalf("%s: %d answers to %d questions", path, len(answers), len(vectors))
		}
		for i, v := range vectors {
			v.check(t, answers[i])
		}
	}
}

func (v batchVector) check(t *testing.T, answer string) {
	t.Helper()
	var got struct {
		ID, Family, Error string
		Result            map[string]any
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	if got.ID != v.id {
		t.Fatalf("answer to %s where that to %s belongs", got.ID, v.id)
	}
	if want, ok := v.expect["error"].(string); ok {
		if !strings.Contains(got.Error, want) || got.Result != nil {
			t.Errorf("%s: %s, want an error that says %q", v.id, answer, want)
		}
		return
	}
	for name, want := range v.expect {
		if name != "why" {
			v.compare(t, name, got.Result[name], want, answer)
		}
	}
	for name, want := range v.truncated {
		v.compare(t, "truncated_"+name, got.Result["truncated_"+name], want, answer)
	}
}

func (v batchVector) compare(t *testing.T, name string, got, want any, answer string) {
	t.Helper()
	number, ok := want.(float64)
	if !ok {
		if got != want {
			t.Errorf("%s: %s is %v, want %v: %s", v.id, name, got, want, answer)
		}
		return
	}
	tolerance, given := v.tolerance[strings.TrimPrefix(name, "truncated_")]
	if !given {
		tolerance = 0.5
		if name == "sd" {
			tolerance = max(tolerance, v.tolerance["mean"])
		}
	}
	have, ok := got.(float64)
	if !ok || math.Abs(have-number) > tolerance {
		t.Errorf("%s: %s is %v, want %v ± %v: %s", v.id, name, got, number, tolerance, answer)
	}
}

// A batch is a stream: what was answered must be there when it is interrupted,
// and a line that is no question must not pass for an answered one.
func TestBatchTellsRefusalsFromBrokenLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "questions.ndjson")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"id":"a","family":"lifetime","params":{"max_retry":-1}}` + "\n\n" + `{"id":"b","family":"unbounded","params":{}}`)
	code, out, errs := inProcess(t, "ttl-calc", "--batch", file)
	if code != exitDone || !strings.HasPrefix(out, `{"id":"a","error":"params: max_retry -1 is negative"}`+"\n"+`{"id":"b","family":"unbounded","result":`) {
		t.Errorf("exit code %d, %s", code, out)
	}
	if !strings.Contains(errs, "1 of 2 questions have an error") {
		t.Errorf("stderr says %q", errs)
	}
	write(`{"id":"a","family":"unbounded","params":{}}` + "\n" + `{"id":"b",` + "\n" + `{"id":"c","family":"unbounded","params":{}}`)
	code, out, errs = inProcess(t, "ttl-calc", "--batch", file)
	if code != exitUsage || strings.Count(out, "\n") != 3 || strings.Count(out, `"error"`) != 1 {
		t.Errorf("exit code %d, %s", code, out)
	}
	if !strings.Contains(errs, "1 of 3 lines are no questions; the first is line 2") {
		t.Errorf("stderr says %q", errs)
	}
}

// measured runs the program in this process, in a pipe.
func measured(b *testing.B, args ...string) (code int, errs string) {
	b.Helper()
	var errors bytes.Buffer
	s := &streams{
		in: strings.NewReader(""), out: io.Discard, err: &errors,
		width: func() int { return 0 }, now: time.Now,
	}
	return execute(b.Context(), args, s, config.Environment{LookupEnv: func(string) (string, bool) { return "", false }}), errors.String()
}

// BenchmarkBatch answers 10,000 questions as the command does. Wanted: 200 a
// second on one core.
func BenchmarkBatch(b *testing.B) {
	lines, vectors := readBatch(b, filepath.Join("..", "..", "inspect", "retry", "testdata", "lifetime-vectors.json"))
	const questions = 10_000
	var all bytes.Buffer
	asked := 0
	for asked < questions {
		all.Write(lines)
		asked += len(vectors)
	}
	file := filepath.Join(b.TempDir(), "questions.ndjson")
	if err := os.WriteFile(file, all.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if code, errs := measured(b, "ttl-calc", "--batch", file); code != exitDone {
			b.Fatal(fmt.Errorf("exit code %d: %s", code, errs))
		}
	}
	b.ReportMetric(float64(asked*b.N)/b.Elapsed().Seconds(), "questions/s")
}

// BenchmarkAnswer is one whole answer: bounds, exact quantiles, lock, attempts
// and the curve of the risk. Wanted: below 50 ms and 32 MiB.
func BenchmarkAnswer(b *testing.B) {
	for name, args := range map[string][]string{
		"always-fails": {"ttl-calc", "-o", "json"},
		"half-fail":    {"ttl-calc", "-o", "json", "--fail-prob", "0.5", "--run-typical", "2s", "--queue-wait", "1m"},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if code, errs := measured(b, args...); code != exitDone {
					b.Fatal(fmt.Errorf("exit code %d: %s", code, errs))
				}
			}
		})
	}
}
