package config

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed sample.yaml
var sample string

// Sample is the commented configuration that [Init] writes.
func Sample() string { return sample }

// filePrivate and folderPrivate are the modes of what is created: a configuration tends to hold passwords.
const (
	filePrivate   fs.FileMode = 0o600
	folderPrivate fs.FileMode = 0o700
)

// Init writes the commented sample to path, with mode 0600, and creates the directories above it. A file that is
// there already is left alone and gives an error that is fs.ErrExist, unless overwrite. The file appears whole or
// not at all. A symbolic link that is overwritten stays one.
func Init(path string, overwrite bool) error {
	if target, err := filepath.EvalSymlinks(path); overwrite && err == nil {
		path = target
	}
	if err := os.MkdirAll(filepath.Dir(path), folderPrivate); err != nil {
		return fmt.Errorf("cannot create the directory of the configuration: %w", err)
	}
	temporary, err := writeBeside(path, []byte(sample), filePrivate)
	if err != nil {
		return fmt.Errorf("cannot write the configuration: %w", err)
	}
	defer func() { _ = os.Remove(temporary) }()
	if overwrite {
		err = os.Rename(temporary, path)
	} else {
		err = place(temporary, path)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return &Error{
			Problem: fmt.Sprintf("%s is there already, expected no file of that name", path),
			Hint:    "idemctl config init --force", cause: fs.ErrExist,
		}
	case err != nil:
		return fmt.Errorf("cannot write the configuration: %w", err)
	}
	return syncFolder(path)
}

// place gives a finished file its name, if nothing has that name. Where the file system knows no hard links there
// is an instant in which another process may create it.
func place(temporary, path string) error {
	err := os.Link(temporary, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fs.ErrExist
	}
	return os.Rename(temporary, path)
}
