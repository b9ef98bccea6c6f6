package main

import (
	"context"
	"os"
	"syscall"
)

// signalled is a signal that ended a command, in words for the journal. It is an
// interruption like any other.
type signalled struct{ os.Signal }

func (s signalled) Error() string {
	switch s.Signal {
	case os.Interrupt:
		return "stopped by the operator (Ctrl-C)"
	case syscall.SIGTERM:
		return "interrupted (SIGTERM)"
	case syscall.SIGHUP:
		return "interrupted (SIGHUP: its terminal was closed)"
	case syscall.SIGQUIT:
		return "interrupted (SIGQUIT)"
	}
	return "interrupted (" + s.String() + ")"
}

// Is says that a signal interrupts.
func (signalled) Is(target error) bool { return target == context.Canceled }
