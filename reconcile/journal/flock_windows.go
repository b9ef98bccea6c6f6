package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Locks are mandatory on Windows and cover bytes, so the lock is on one that no
// journal reaches: readers are not disturbed.
var lockedByte = windows.Overlapped{OffsetHigh: 1 << 30}

// tryLock takes the lock of the open file without waiting; taken says that
// another open file has it. The lock goes with the handle (LockFileEx).
func tryLock(f *os.File, exclusive bool) (taken bool, err error) {
	var how uint32 = windows.LOCKFILE_FAIL_IMMEDIATELY
	if exclusive {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	at := lockedByte
	err = windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true, nil
	}
	return false, err
}
