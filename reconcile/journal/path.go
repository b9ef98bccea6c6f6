package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// DefaultPath is $XDG_STATE_HOME/idemctl/journal.jsonl, or the same below
// ~/.local/state where the variable is unset or not absolute (XDG Base Directory
// Specification 0.8: relative paths are to be ignored).
func DefaultPath() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no place for the journal: %w: set XDG_STATE_HOME, or name a file", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "idemctl", "journal.jsonl"), nil
}

// makeFolder makes the folder and those above it, private to the user, and syncs
// what it changed: a synced file in a folder that a crash forgets is gone too.
// A folder that exists is left as it is.
func makeFolder(folder string) error {
	_, err := os.Stat(folder)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(folder)
	if parent != folder {
		if err := makeFolder(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(parent)
}

var (
	errNotRegular = errors.New("it is not a regular file: name one that is (links are not followed)")
	errOpenToAll  = errors.New("other users may read or write it, and it holds payloads: chmod o-rwx it")
)

// openPrivate opens a file for reading and writing, and makes it (mode 0600)
// where there is none. It follows no symbolic link in the last element, so that
// nobody who may write to the folder can choose another file to be appended to
// or truncated, and refuses a file that all users may read or write.
func openPrivate(path string) (f *os.File, made bool, err error) {
	before, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err == nil, err
		}
		before, err = os.Lstat(path) // another process was faster
	}
	if err := regular(before, err); err != nil {
		return nil, false, err
	}
	f, err = os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, false, err
	}
	if err := private(f, before); err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, false, nil
}

// private says what forbids to use a file that was opened after it had been
// looked at.
func private(f *os.File, before fs.FileInfo) error {
	now, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !os.SameFile(before, now):
		return errors.New("it was replaced while it was opened: try again")
	case runtime.GOOS != "windows" && now.Mode().Perm()&0o007 != 0: // Windows keeps no such bits
		return errOpenToAll
	}
	return nil
}

// regular refuses what is not a plain file: a pipe would block, a device swallow.
func regular(stat fs.FileInfo, err error) error {
	if err == nil && !stat.Mode().IsRegular() {
		return errNotRegular
	}
	return err
}
