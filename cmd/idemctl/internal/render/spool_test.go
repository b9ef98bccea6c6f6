package render

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

func drained(t *testing.T, s *spool) []string {
	t.Helper()
	var got []string
	if err := s.each(func(blob []byte) error {
		got = append(got, string(blob))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSpoolSortsAcrossRuns(t *testing.T) {
	for _, most := range []int{0, 1, 200, 5000} {
		s := &spool{most: most}
		var want []string
		for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(1000) {
			text := fmt.Sprintf("%04d", i)
			want = append(want, text)
			if err := s.add([]byte(text), []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(want)
		if got := drained(t, s); !slices.Equal(got, want) {
			t.Errorf("with %d bytes of memory: %v", most, got)
		}
		if (most == 1) != (len(s.runs) == 1000) || (most == 0) != (len(s.runs) == 0) {
			t.Errorf("with %d bytes of memory: %d runs", most, len(s.runs))
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSpoolKeepsTheOrderOfEquals(t *testing.T) {
	s := &spool{most: 300}
	t.Cleanup(func() { _ = s.close() })
	var want []string
	for i := range 100 {
		text := fmt.Sprintf("%d", i)
		want = append(want, text)
		if err := s.add(nil, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got := drained(t, s); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestSpoolLeavesNoFileBehind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s := &spool{most: 1}
	if err := s.add([]byte("k"), []byte("secret")); err != nil {
		t.Fatal(err)
	}
	info, err := s.file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() == 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("%d bytes, mode %v", info.Size(), info.Mode())
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) > 0 {
		t.Errorf("%v %v", names, err)
	}
	if err := errors.Join(s.close(), s.close()); err != nil {
		t.Error(err)
	}
}

func TestAuditSaysWhenItCannotKeepFindings(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	var b bytes.Buffer
	a := NewAudit(&b, sampleOptions(FormatJSON, 0, false))
	a.sink.(*jsonAudit).spool.most = 1
	for _, f := range sampleFindings() {
		a.Finding(f)
	}
	if !errors.Is(a.Err(), os.ErrNotExist) {
		t.Errorf("%v", a.Err())
	}
	if err := a.Close(sampleReport(t), sampleHeader()); err == nil || b.Len() > 0 {
		t.Errorf("%v, and wrote %q", err, b.String())
	}
}

func TestMemoryStaysBounded(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const findings = 25_000
	for _, format := range []Format{FormatTable, FormatJSON, FormatCSV} {
		var sink lineCounter
		a := NewAudit(&sink, sampleOptions(format, 80, format == FormatTable))
		before, f := heapBytes(), sampleFindings()[1]
		for i := range findings {
			f.Task.ID = fmt.Sprintf("task-%d", i)
			a.Finding(f)
		}
		if grown := int64(heapBytes()) - int64(before); grown > 24<<20 {
			t.Errorf("%s keeps %d MiB for %d findings", format, grown>>20, findings)
		}
		r := sampleReport(t)
		r.Totals.ByCode = map[reconcile.Code]int{reconcile.CodeAppliedArchived: findings}
		if err := a.Close(r, sampleHeader()); err != nil {
			t.Fatal(err)
		}
		if format != FormatTable && sink.lines < findings {
			t.Errorf("%s wrote %d lines", format, sink.lines)
		}
	}
}

func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

type lineCounter struct{ lines int }

func (c *lineCounter) Write(p []byte) (int, error) {
	c.lines += bytes.Count(p, []byte("\n"))
	return len(p), nil
}

// drawn is a finding with short texts of few characters, so that ties and
// prefixes are common.
func drawn(t *rapid.T) *reconcile.Finding {
	word := rapid.StringOfN(rapid.SampledFrom([]rune{0, 1, 'a', 'b', '\xff'}), 0, 3, -1)
	f := &reconcile.Finding{
		Code:     rapid.SampledFrom(reconcile.Codes()).Draw(t, "code"),
		Severity: rapid.SampledFrom(reconcile.Severities()).Draw(t, "severity"),
	}
	f.Task.Ref = inspect.Ref{Queue: word.Draw(t, "queue"), ID: word.Draw(t, "id")}
	f.Task.Type = word.Draw(t, "type")
	f.Task.Retried = rapid.IntRange(-2, 300).Draw(t, "retried")
	return f
}

func TestOrderOfKeysIsTheOrderOfFindings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, g := drawn(t), drawn(t)
		c := bytes.Compare(order{}.key(factsOf(f)), order{}.key(factsOf(g)))
		if (c < 0) != f.Less(g) || (c > 0) != g.Less(f) {
			t.Fatalf("%d for %+v and %+v", c, f, g)
		}
		by := order{by: "retried"}
		c = bytes.Compare(by.key(factsOf(f)), by.key(factsOf(g)))
		if f.Task.Retried != g.Task.Retried && (c < 0) != (f.Task.Retried < g.Task.Retried) {
			t.Fatalf("%d for %d and %d", c, f.Task.Retried, g.Task.Retried)
		}
		down := order{by: "id", down: true}
		c = bytes.Compare(down.key(factsOf(f)), down.key(factsOf(g)))
		if f.Task.ID != g.Task.ID && (c < 0) != (f.Task.ID > g.Task.ID) {
			t.Fatalf("%d for %q and %q", c, f.Task.ID, g.Task.ID)
		}
	})
}

func TestSortPutsNewestFailureFirst(t *testing.T) {
	o := sampleOptions(FormatTable, 0, false)
	o.Sort, o.NoHeaders = "failed", true
	out := audited(t, o, sampleReport(t), sampleFindings()...)
	first, _, _ := strings.Cut(out, "\n")
	if !strings.Contains(first, idRefund) || !strings.HasPrefix(out[strings.LastIndexByte(strings.TrimSpace(out), '\n')+1:], "high\tidentity/key-collision") {
		t.Errorf("%s", out)
	}
}

func TestValidateNamesWhatItExpects(t *testing.T) {
	for text, o := range map[string]Options{
		"unknown output format \"xml\" (one of table, wide,": {Format: "xml"},
		"cannot sort by \"size\" (one of applied,":           {Sort: "size"},
		"cannot sort by \"-\"":                               {Sort: "-"},
		"redact path \"a..\": a name is missing":             {Redact: []string{"a.."}},
		"redact path \"$\" names no field":                   {Redact: []string{"ok", "$"}},
	} {
		err := o.Validate()
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if err := (Options{Sort: "-severity", Redact: []string{"$.a"}}).Validate(); err != nil {
		t.Error(err)
	}
}
