package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// writeBeside writes content to a new file in the directory of path and syncs it. The caller renames or removes
// it. On an error nothing is left behind.
func writeBeside(path string, content []byte, mode fs.FileMode) (temporary string, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	defer func() {
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	if err := file.Chmod(mode); err != nil {
		return "", err
	}
	if _, err := file.Write(content); err != nil {
		return "", err
	}
	return file.Name(), file.Sync()
}

// syncFolder makes a rename in the directory of path last. Windows knows no such thing.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// replace gives the file at path new content in one step, with its mode and owner. A symbolic link stays one: the
// file it names is replaced.
func replace(path string, content []byte) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	state, err := os.Stat(target)
	if err != nil {
		return err
	}
	temporary, err := writeBeside(target, content, state.Mode().Perm())
	if err != nil {
		return err
	}
	if err := keepOwner(temporary, state); err != nil {
		_ = os.Remove(temporary)
		return err
	}
	if err := os.Rename(temporary, target); err != nil {
		_ = os.Remove(temporary)
		return err
	}
	return syncFolder(target)
}
