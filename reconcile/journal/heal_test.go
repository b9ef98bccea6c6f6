package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A writer may be killed after any byte.
func TestOpenKeepsEveryWholeRecordWhereverTheTailIsTorn(t *testing.T) {
	whole, lines := written(t)
	b, err := os.ReadFile(whole)
	must(t, err)
	kept := len(lines[0]) + len(lines[1])
	for cut := kept; cut <= kept+len(lines[2]); cut++ {
		path := filepath.Join(t.TempDir(), "journal.jsonl")
		must(t, os.WriteFile(path, b[:cut], 0o600))
		isWhole := cut >= kept+len(lines[2])-1 // at most the line feed is missing
		isTorn := cut > kept && !isWhole

		_, errs := readAll(t, path)
		var torn *TornError
		if isTorn != (len(errs) == 1 && errors.As(errs[0], &torn)) {
			t.Fatalf("cut at %d: reading says %v", cut, errs)
		}
		j := mustOpen(t, path)
		checkSetAside(t, j.Torn(), isTorn, b[kept:cut])
		mustBegin(t, j)
		must(t, j.Intend(intent("new", 1)))
		must(t, j.Close())
		want := "1 new"
		if isWhole {
			want = "1 2 new"
		}
		if got := items(readWhole(t, path), KindIntent); got != want {
			t.Fatalf("cut at %d: intents %q, want %q", cut, got, want)
		}
	}
}

func checkSetAside(t *testing.T, torn *TornError, want bool, bytesCut []byte) {
	t.Helper()
	if !want {
		if torn != nil {
			t.Fatalf("set aside without need: %v", torn)
		}
		return
	}
	if torn == nil || torn.Line != 3 || torn.Bytes != int64(len(bytesCut)) {
		t.Fatalf("torn %v, want line 3 with %d bytes", torn, len(bytesCut))
	}
	saved, err := os.ReadFile(torn.SavedAs)
	must(t, err)
	if !bytes.Equal(saved, bytesCut) {
		t.Fatalf("%q was set aside, want %q", saved, bytesCut)
	}
}

func TestOpenHealsTheVeryFirstLine(t *testing.T) {
	_, lines := written(t)
	for _, cut := range []int{1, 5, 40, len(lines[0]) - 2} {
		path := filepath.Join(t.TempDir(), "journal.jsonl")
		must(t, os.WriteFile(path, lines[0][:cut], 0o600))
		j := mustOpen(t, path)
		if j.Torn() == nil || j.Torn().Line != 1 {
			t.Errorf("cut at %d: torn %v", cut, j.Torn())
		}
		mustBegin(t, j)
		must(t, j.Close())
		if records := readWhole(t, path); len(records) != 1 {
			t.Errorf("cut at %d: %d records, want 1", cut, len(records))
		}
	}
}

// After a power cut a file may end in zeros where data never arrived.
func TestOpenSetsZerosAside(t *testing.T) {
	path, lines := written(t)
	b, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append(b, make([]byte, 3*readSize)...), 0o600))
	j := mustOpen(t, path)
	if torn := j.Torn(); torn == nil || torn.Bytes != 3*readSize || torn.Line != len(lines)+1 {
		t.Errorf("torn %+v", torn)
	}
	must(t, j.Close())
	if n := len(readWhole(t, path)); n != len(lines) {
		t.Errorf("%d records, want %d", n, len(lines))
	}
}

func TestOpenFailsWhereTheTornLineCannotBeSaved(t *testing.T) {
	path, _ := written(t)
	b, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, b[:len(b)-9], 0o600))
	opt := testOptions()
	first, err := Open(t.Context(), path, opt)
	must(t, err)
	saved := first.Torn().SavedAs
	must(t, first.Close())

	// The same name again, as if the clock stood still.
	must(t, os.WriteFile(path, b[:len(b)-9], 0o600))
	stamp := saved[len(path+".torn-"):]
	opt.Now = func() time.Time { return stampTime(t, stamp) }
	if j, err := Open(t.Context(), path, opt); err == nil {
		j.Close()
		t.Fatal("opened, and one of two torn lines is lost")
	}
	if now, err := os.ReadFile(path); err != nil || len(now) != len(b)-9 {
		t.Errorf("the journal was cut to %d bytes (%v)", len(now), err)
	}
}

func stampTime(t *testing.T, stamp string) time.Time {
	t.Helper()
	at, err := time.Parse("20060102T150405.000000000Z", stamp)
	must(t, err)
	return at
}
