package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// heal makes the file end in a line feed. The bytes of a torn line are copied to
// a file of their own, and that is synced, before they are cut off: torn lines
// come from writes that were never acknowledged, but a damaged disk can make a
// good line look like one.
func heal(path string, f *os.File, t *tail, now time.Time) (*TornError, error) {
	switch {
	case t.bare:
		if _, err := f.WriteAt([]byte{'\n'}, t.end); err != nil {
			return nil, err
		}
		t.end++
		return nil, f.Sync()
	case t.torn == 0:
		return nil, nil //nolint:nilnil // there was nothing to heal
	}
	lines, err := countLines(io.NewSectionReader(f, 0, t.end))
	if err != nil {
		return nil, err
	}
	torn := &TornError{
		Path: path, Line: lines + 1, Offset: t.end, Bytes: t.torn,
		SavedAs: path + ".torn-" + now.UTC().Format("20060102T150405.000000000Z"),
	}
	if err := setAside(torn.SavedAs, io.NewSectionReader(f, t.end, t.torn)); err != nil {
		return nil, fmt.Errorf("setting aside the torn line %d as %q: %w", torn.Line, torn.SavedAs, err)
	}
	return torn, errors.Join(f.Truncate(t.end), f.Sync())
}

func setAside(path string, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return syncFolder(filepath.Dir(path))
}

func countLines(r io.Reader) (int, error) {
	lines, buf := 0, make([]byte, readSize)
	for {
		n, err := r.Read(buf)
		lines += bytes.Count(buf[:n], []byte{'\n'})
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
