package inspecttest

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends the server with the test binary, however that ends.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
