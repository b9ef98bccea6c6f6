package journal

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDefaultPathIgnoresRelativeStateHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	below := filepath.Join(home, ".local", "state", "idemctl", "journal.jsonl")
	for state, want := range map[string]string{
		"":      below,
		"state": below,
		home:    filepath.Join(home, "idemctl", "journal.jsonl"),
	} {
		t.Setenv("XDG_STATE_HOME", state)
		if got, err := DefaultPath(); err != nil || got != want {
			t.Errorf("XDG_STATE_HOME=%q: %q, %v; want %q", state, got, err, want)
		}
	}
}

func TestOpenRefusesForeignFileAndLeavesItAsItIs(t *testing.T) {
	later := string(appendLine(nil, []byte(`{"schema":"idemctl.journal/v2","seq":2,"kind":"run"}`)))
	_, lines := written(t)
	for name, content := range map[string]string{
		"text":                     "127.0.0.1 localhost\n",
		"text without line end":    "127.0.0.1 localhost",
		"later schema":             later,
		"later schema behind ours": string(lines[0]) + later,
		"later schema, torn":       string(lines[0]) + strings.TrimSpace(later),
		"zeros":                    "\x00\x00\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			must(t, os.WriteFile(path, []byte(content), 0o600))
			if j, err := Open(t.Context(), path, testOptions()); err == nil {
				j.Close()
				t.Error("opened")
			}
			if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, []byte(content)) {
				t.Errorf("the file holds %q now (%v)", b, err)
			}
		})
	}
}

func TestReadSaysThatThereIsNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	records, errs := readAll(t, path)
	if len(records) != 0 || len(errs) != 1 || !errors.Is(errs[0], fs.ErrNotExist) {
		t.Errorf("%v, %v; want fs.ErrNotExist alone", records, errs)
	}
	if _, held, err := HeldBy(path); held || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("held %v, %v", held, err)
	}
}
