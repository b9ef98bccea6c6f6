// Package tied starts programs that end with the one that started them, however
// that ends: a killed test binary leaves no server behind. It names their ports, too.
package tied

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Start starts the program and waits for it elsewhere: done is closed once it
// has ended and was waited for. Where the system can (Linux), the program gets
// the signal when this process ends; elsewhere the caller alone stops it.
//
// Linux sends that signal when the thread ends that started the program, be the
// process alive or not (prctl(2), PR_SET_PDEATHSIG), and Go ends the thread of a
// goroutine that returns locked (runtime.LockOSThread). So each program keeps a
// thread to itself, which is given back alive.
func Start(cmd *exec.Cmd, sig syscall.Signal) (done <-chan struct{}, err error) {
	tie(cmd, sig)
	started, ended := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(ended)
		}
	}()
	return ended, <-started
}
