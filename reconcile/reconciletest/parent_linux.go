package reconciletest

import "syscall"

// dieWithParent stops the server (fast shutdown) when the test binary ends,
// however that ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
