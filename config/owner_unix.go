//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives the file at path the owner and group of the one it is to replace, so that editing as root does
// not lock its owner out.
func keepOwner(path string, old fs.FileInfo) error {
	was, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	state, err := os.Stat(path)
	if err != nil {
		return err
	}
	if is, ok := state.Sys().(*syscall.Stat_t); ok && is.Uid == was.Uid && is.Gid == was.Gid {
		return nil
	}
	if err := os.Chown(path, int(was.Uid), int(was.Gid)); err != nil {
		return err
	}
	// A change of owner may clear permission bits.
	return os.Chmod(path, old.Mode().Perm())
}
