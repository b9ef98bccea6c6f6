//go:build !windows

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// stopSignals end a command in good order.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// survivePipe has a reader of the results that goes away end no change half-way:
// writing fails instead.
func survivePipe() { signal.Ignore(syscall.SIGPIPE) }
