//go:build !linux

package inspecttest

import "os/exec"

// dieWithParent has no counterpart outside Linux: Main and the tests' clean-up
// stop the servers there.
func dieWithParent(*exec.Cmd) {}
