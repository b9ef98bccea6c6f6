//go:build !windows

package main

import (
	"os"
	"syscall"
)

// stopSignals end a command in good order.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
