package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// written is a journal of one run with the items 1 to 5, and its lines.
func written(t testing.TB) (path string, lines [][]byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "journal.jsonl")
	j := mustOpen(t, path)
	run := mustBegin(t, j)
	for _, item := range []string{"1", "2", "3", "4", "5"} {
		must(t, j.Intend(intent(item, 20)))
	}
	must(t, j.End(run))
	must(t, j.Close())
	return path, linesOf(t, path)
}

// linesOf splits a file into its lines, each with its line feed.
func linesOf(t testing.TB, path string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	lines := bytes.SplitAfter(b, []byte("\n"))
	return lines[:len(lines)-1]
}

func rewrite(t testing.TB, path string, lines ...[]byte) {
	t.Helper()
	b := bytes.Join(lines, nil)
	if !bytes.HasSuffix(b, []byte("\n")) {
		b = append(b, '\n')
	}
	must(t, os.WriteFile(path, b, 0o600))
}

func TestReadNamesDamagedLineAndGoesOn(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"one bit":         func(line []byte) []byte { line[len(line)/2] ^= 1; return line },
		"edited value":    func(line []byte) []byte { return bytes.Replace(line, []byte(`"archived"`), []byte(`"pending"`), 1) },
		"added blank":     func(line []byte) []byte { return bytes.Replace(line, []byte(`,`), []byte(`, `), 1) },
		"carriage return": func(line []byte) []byte { return append(bytes.TrimSuffix(line, []byte("\n")), '\r', '\n') },
		"checksum gone":   func(line []byte) []byte { return append(line[:len(line)-crcSize-1], '}', '\n') },
		"upper-case sum":  bytes.ToUpper,
		"zeros":           func(line []byte) []byte { clear(line[:len(line)-1]); return line },
		"empty":           func([]byte) []byte { return []byte("\n") },
		"other schema":    func([]byte) []byte { return appendLine(nil, []byte(`{"schema":"idemctl.journal/v9","seq":3}`)) },
		"unknown kind": func([]byte) []byte {
			return appendLine(nil, []byte(`{"schema":"idemctl.journal/v1","seq":3,"kind":"x"}`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, lines := written(t)
			lines[2] = damage(lines[2])
			rewrite(t, path, lines...)
			records, errs := readAll(t, path)
			var damaged *DamagedError
			if len(errs) != 1 || !errors.As(errs[0], &damaged) {
				t.Fatalf("errors %v, want one DamagedError", errs)
			}
			if want := int64(len(lines[0]) + len(lines[1])); damaged.Line != 3 || damaged.Offset != want {
				t.Errorf("line %d offset %d, want 3 and %d", damaged.Line, damaged.Offset, want)
			}
			if got := items(records, KindIntent); got != "1 3 4 5" {
				t.Errorf("intents %q, want all but the damaged one", got)
			}
		})
	}
}

func TestReadSeesLinesThatAreGoneOrCopied(t *testing.T) {
	path, lines := written(t)
	for name, c := range map[string]struct {
		lines       [][]byte
		line        int
		want, found uint64
		intents     string
	}{
		"gone":           {[][]byte{lines[0], lines[1], lines[4], lines[5]}, 3, 3, 5, "1 4 5"},
		"first gone":     {[][]byte{lines[2], lines[3]}, 1, 1, 3, "2 3"},
		"copied":         {[][]byte{lines[0], lines[1], lines[1], lines[2]}, 3, 3, 2, "1 1 2"},
		"line feed gone": {[][]byte{lines[0], bytes.TrimSpace(lines[1]), lines[2], lines[3]}, 3, 3, 4, "3"},
	} {
		t.Run(name, func(t *testing.T) {
			rewrite(t, path, c.lines...)
			records, errs := readAll(t, path)
			var gap *GapError
			if len(errs) == 0 || !errors.As(errs[len(errs)-1], &gap) {
				t.Fatalf("errors %v, want a GapError", errs)
			}
			if gap.Line != c.line || gap.Want != c.want || gap.Found != c.found {
				t.Errorf("line %d: %d instead of %d; want line %d: %d instead of %d", gap.Line, gap.Found, gap.Want, c.line, c.found, c.want)
			}
			if got := items(records, KindIntent); got != c.intents {
				t.Errorf("intents %q, want %q", got, c.intents)
			}
		})
	}
}

func TestReadStopsWhenTheCallerDoes(t *testing.T) {
	path, _ := written(t)
	n := 0
	for _, err := range Read(path) {
		must(t, err)
		n++
		if n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d records after a break at 2", n)
	}
}

func TestOpenNumbersOnBehindDamagedLastLines(t *testing.T) {
	path, lines := written(t)
	for _, i := range []int{5, 6} {
		lines[i][9] ^= 1
	}
	rewrite(t, path, lines...)
	j := mustOpen(t, path)
	mustBegin(t, j)
	must(t, j.Close())
	records, errs := readAll(t, path)
	if len(errs) != 2 {
		t.Errorf("errors %v, want the two damaged lines and no gap", errs)
	}
	if last := records[len(records)-1]; last.Seq != 8 {
		t.Errorf("the new record has seq %d, want 8", last.Seq)
	}
}
