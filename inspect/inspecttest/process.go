package inspecttest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/idemctl/idemctl/internal/tied"
)

// startupLimit bounds the wait for a server that does not come up at all; a
// healthy one answers within a tenth of a second, and a sentinel that missed its
// replica looks again after ten.
const startupLimit = time.Minute

// process is one redis-server and the temporary directory that holds its files.
type process struct {
	cmd  *exec.Cmd
	dir  string
	done <-chan struct{} // closed once the process was waited for
}

// binary finds the server program. Valkey serves as well as Redis.
func binary() (string, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("redis-server is not on the PATH: install the package redis-server (Debian, Ubuntu), redis (Fedora, Alpine, Homebrew) or valkey")
}

// tempDir makes a directory with a short path: a unix socket's path may hold
// little more than a hundred bytes.
func tempDir() (string, error) {
	return os.MkdirTemp("", "inspecttest-")
}

// launch starts the server in dir, with everything it writes going to dir, and
// waits until ready answers nil. It removes dir when it fails.
func launch(dir string, ready probe, args ...string) (*process, error) {
	path, err := binary()
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	args = append(args, "--dir", dir, "--save", "", "--appendonly", "no", "--daemonize", "no",
		"--logfile", filepath.Join(dir, "log"))
	return run(exec.Command(path, args...), dir, ready)
}

// probe is nil once the server with the process ID answers.
type probe func(pid int) error

func run(cmd *exec.Cmd, dir string, ready probe) (*process, error) {
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	done, err := tied.Start(cmd, syscall.SIGKILL)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	p := &process{cmd: cmd, dir: dir, done: done}
	if err := p.await(ready); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		p.stop()
		return nil, fmt.Errorf("%s did not start: %w\n%s%s", cmd.Path, err, output.Bytes(), log)
	}
	return p, nil
}

func (p *process) await(ready probe) error {
	return eventually(func() error {
		select {
		case <-p.done:
			return errEnded
		default:
			return ready(p.cmd.Process.Pid)
		}
	})
}

var errEnded = errors.New("the process ended")

// eventually calls ready until it is nil, within the startup limit.
func eventually(ready func() error) error {
	deadline := time.Now().Add(startupLimit)
	for {
		err := ready()
		if err == nil || errors.Is(err, errEnded) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// stop ends the process and removes its directory. There is nothing to save, so
// it does not ask first. It may be called again.
func (p *process) stop() {
	_ = p.cmd.Process.Kill()
	<-p.done
	os.RemoveAll(p.dir)
}

// onFreePort tries a few ports, since another process may take the one that was
// free.
func onFreePort(start func(port int) (*process, error)) (*process, int, error) {
	var failures []error
	for range 5 {
		port, err := tied.FreePort()
		if err != nil {
			return nil, 0, err
		}
		proc, err := start(port)
		if err == nil {
			return proc, port, nil
		}
		failures = append(failures, err)
	}
	return nil, 0, errors.Join(failures...)
}

func loopback(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
