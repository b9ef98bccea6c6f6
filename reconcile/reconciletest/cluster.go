package reconciletest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/idemctl/idemctl/internal/tied"
)

// superuser is the bootstrap role of every server started here.
const superuser = "postgres"

// passwordRole is a role whose members must give a password; everyone else is
// trusted. It exists for tests of refused passwords.
const passwordRole = "needs_password"

// cluster is one PostgreSQL server with its data directory.
type cluster struct {
	proc *process
	port int
}

// startCluster makes a new, empty server. A port that was free a moment ago may
// be taken by the time the server asks for it, so a few are tried.
func startCluster() (*cluster, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	id, err := serverIdentity()
	if err != nil {
		return nil, err
	}
	dir, err := id.tempDir()
	if err != nil {
		return nil, err
	}
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", filepath.Join(dir, "data"),
		"-U", superuser, "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
	if err := id.run(initdb, dir); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	if err := prependAccessRule(dir); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return launch(bin, id, dir)
}

// prependAccessRule demands a password of the members of passwordRole.
func prependAccessRule(dir string) error {
	path := filepath.Join(dir, "data", "pg_hba.conf")
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	rule := "host all +" + passwordRole + " 127.0.0.1/32 scram-sha-256\n"
	return os.WriteFile(path, append([]byte(rule), old...), 0o600)
}

// launch starts the server on the data directory below dir and waits until it
// takes connections. It removes dir when it fails.
func launch(bin string, id identity, dir string) (*cluster, error) {
	var failures []error
	for range 5 {
		port, err := tied.FreePort()
		if err != nil {
			os.RemoveAll(dir)
			return nil, err
		}
		cmd := exec.Command(filepath.Join(bin, "postgres"), serverOptions(dir, port)...)
		proc, err := id.start(cmd, dir, func() error { return answers(port, filepath.Join(dir, "data")) })
		if err == nil {
			return &cluster{proc: proc, port: port}, nil
		}
		failures = append(failures, err)
	}
	os.RemoveAll(dir)
	return nil, errors.Join(failures...)
}

// serverOptions trade durability, which no test looks at, for speed.
func serverOptions(dir string, port int) []string {
	settings := []string{
		"listen_addresses=127.0.0.1", "unix_socket_directories=",
		"fsync=off", "synchronous_commit=off", "full_page_writes=off",
		"max_connections=200", "shared_buffers=32MB",
		"wal_level=logical", "max_wal_senders=40", "max_replication_slots=8", "hot_standby=on",
		"wal_keep_size=512MB", // what a replica being copied needs, whatever else is written meanwhile
		"max_prepared_transactions=20",
		"log_min_messages=warning", "lc_messages=C",
	}
	args := []string{"-D", filepath.Join(dir, "data"), "-p", strconv.Itoa(port)}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	return args
}

// binDir names the directory of the server programs to use, for tests against
// another version than the newest one installed.
const binDir = "IDEMCTL_TEST_POSTGRES"

// binaries finds the directory of the server programs: that in the environment,
// else that of the newest installed version, else that of postgres on the PATH.
func binaries() (string, error) {
	if dir := os.Getenv(binDir); dir != "" {
		return dir, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	sort.Slice(found, func(i, j int) bool { return majorOf(found[i]) > majorOf(found[j]) })
	if len(found) > 0 {
		return filepath.Dir(found[0]), nil
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", errors.New("postgres is neither in /usr/lib/postgresql/*/bin nor on the PATH: install the package postgresql (Debian, Ubuntu, Alpine), postgresql-server (Fedora) or postgresql@17 (Homebrew)")
}

func majorOf(binary string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(binary))))
	return n
}

// checkReachable says which directory above dir keeps the server's user out.
func checkReachable(dir string) error {
	for p := dir; ; p = filepath.Dir(p) {
		st, err := os.Stat(p)
		if err != nil {
			return err
		}
		if st.Mode().Perm()&0o005 != 0o005 {
			return fmt.Errorf("%s is closed to other users, and PostgreSQL refuses to run as root: set TMPDIR to a directory whose parents have mode 0755", p)
		}
		if p == filepath.Dir(p) {
			return nil
		}
	}
}

// dsn is how a client reaches a database of the server.
func (c *cluster) dsn(user, database string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "postgres://%s@127.0.0.1:%d/%s?sslmode=disable", user, c.port, database)
	return b.String()
}
