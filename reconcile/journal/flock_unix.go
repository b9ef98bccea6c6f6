//go:build unix

package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the advisory lock of the open file without waiting; taken says
// that another open file has it. The lock goes with the last descriptor, so a
// killed process leaves none behind (flock(2)).
func tryLock(f *os.File, exclusive bool) (taken bool, err error) {
	how := unix.LOCK_SH | unix.LOCK_NB
	if exclusive {
		how = unix.LOCK_EX | unix.LOCK_NB
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	var locked error
	err = conn.Control(func(fd uintptr) {
		for {
			if locked = unix.Flock(int(fd), how); !errors.Is(locked, unix.EINTR) {
				return
			}
		}
	})
	if errors.Is(locked, unix.EWOULDBLOCK) {
		return true, err
	}
	return false, errors.Join(err, locked)
}
