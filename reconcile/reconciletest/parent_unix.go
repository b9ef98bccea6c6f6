//go:build unix && !linux

package reconciletest

import "syscall"

// dieWithParent can do nothing where the system has no parent-death signal.
func dieWithParent(*syscall.SysProcAttr) {}
