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
// healthy one answers within a tenth of a second.
const startupLimit = 20 * time.Second

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
func launch(dir string, ready func() error, args ...string) (*process, error) {
	path, err := binary()
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	args = append(args, "--dir", dir, "--save", "", "--appendonly", "no", "--daemonize", "no",
		"--logfile", filepath.Join(dir, "log"))
	return run(exec.Command(path, args...), dir, ready)
}

func run(cmd *exec.Cmd, dir string, ready func() error) (*process, error) {
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

func (p *process) await(ready func() error) error {
	return eventually(func() error {
		select {
		case <-p.done:
			return errEnded
		default:
			return ready()
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

// freePort names a loopback port that was free a moment ago.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func loopback(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
