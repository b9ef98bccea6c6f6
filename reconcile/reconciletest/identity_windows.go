package reconciletest

import (
	"os"
	"os/exec"
)

// identity is the user that runs the servers: here always the current one.
type identity struct{}

func serverIdentity() (identity, error) { return identity{}, nil }

func (identity) tempDir() (string, error) { return os.MkdirTemp("", "reconciletest-") }

func (identity) apply(*exec.Cmd) {}

// interrupt kills: Windows has no signal that asks.
func interrupt(p *os.Process) { _ = p.Kill() }
