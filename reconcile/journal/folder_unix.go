//go:build unix

package journal

import (
	"errors"
	"os"
)

// syncFolder makes the names in a folder survive a crash (fsync(2): syncing a
// file does not sync the entry that names it).
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
