//go:build unix

package reconciletest

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// identity is the user that runs the servers: PostgreSQL refuses root.
type identity struct {
	uid, gid uint32
	switched bool
}

// serverIdentity is the current user or, for root, an unprivileged one.
func serverIdentity() (identity, error) {
	if os.Geteuid() != 0 {
		return identity{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			continue
		}
		return identity{uid: uint32(uid), gid: uint32(gid), switched: true}, nil
	}
	return identity{}, errors.New("PostgreSQL refuses to run as root, and there is neither a user postgres nor a user nobody: run the tests as another user")
}

// tempDir makes a directory that the identity owns and can enter.
func (id identity) tempDir() (string, error) {
	dir, err := os.MkdirTemp("", "reconciletest-")
	if err != nil || !id.switched {
		return dir, err
	}
	err = errors.Join(os.Chmod(dir, 0o755), checkReachable(dir), os.Chown(dir, int(id.uid), int(id.gid)))
	if err != nil {
		os.RemoveAll(dir)
	}
	return dir, err
}

func (id identity) apply(cmd *exec.Cmd) {
	if id.switched {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id.uid, Gid: id.gid}}
	}
}

func interrupt(p *os.Process) { _ = p.Signal(os.Interrupt) }
