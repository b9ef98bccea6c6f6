package reconciletest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemctl/idemctl/internal/tied"
)

// startupLimit bounds the wait for a server that does not come up at all; a
// healthy one answers within a second.
const startupLimit = 60 * time.Second

// stopLimit is how long a server may take to end by itself.
const stopLimit = 20 * time.Second

// process is one postmaster and the temporary directory that holds its files.
type process struct {
	cmd  *exec.Cmd
	dir  string
	done <-chan struct{} // closed once the process was waited for
}

// start runs a server as the identity and waits until ready answers nil.
func (id identity) start(cmd *exec.Cmd, dir string, ready func() error) (*process, error) {
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &output, &output, dir
	id.apply(cmd)
	done, err := tied.Start(cmd, syscall.SIGINT) // a fast shutdown
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, dir: dir, done: done}
	if err := p.await(ready); err != nil {
		p.end()
		return nil, fmt.Errorf("%s did not start: %w\n%s", cmd.Path, err, output.Bytes())
	}
	return p, nil
}

// run runs a program to its end as the identity.
func (id identity) run(cmd *exec.Cmd, dir string) error {
	cmd.Dir = dir
	id.apply(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd.Path, err, out)
	}
	return nil
}

func (p *process) await(ready func() error) error {
	deadline := time.Now().Add(startupLimit)
	for {
		err := ready()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return err
		}
		select {
		case <-p.done:
			return errors.New("the process ended")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// end asks the server to stop without waiting for its clients, and insists when
// it does not.
func (p *process) end() {
	interrupt(p.cmd.Process)
	select {
	case <-p.done:
	case <-time.After(stopLimit):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// stop ends the server and removes its directory. It may be called again.
func (p *process) stop() {
	p.end()
	os.RemoveAll(p.dir)
}

// answers is nil once the server of the data directory takes connections on the
// port, and nobody else who has it.
func answers(port int, data string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, (&cluster{port: port}).dsn(superuser, "postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	var of string
	if err := conn.QueryRow(ctx, "SHOW data_directory").Scan(&of); err != nil {
		return err
	}
	if of != data {
		return fmt.Errorf("the server of %s answers on port %d, and not that of %s", of, port, data)
	}
	return nil
}
