package reconciletest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemctl/idemctl/internal/tied"
)

// ErrNoPooler says that PgBouncer is not installed, which no package of
// PostgreSQL brings along.
var ErrNoPooler = errors.New("pgbouncer is neither on the PATH nor in /usr/sbin: install the package pgbouncer")

// Pooler starts a PgBouncer in transaction mode before the database's server,
// stopped with the test, and returns the DSN of the database behind it. Settings
// are lines of its configuration. The pooler has one server session, which all
// its clients share.
func (db *Database) Pooler(settings ...string) (dsn string, err error) {
	db.t.Helper()
	bin, err := poolerBinary()
	if err != nil {
		return "", err
	}
	id, err := serverIdentity()
	if err != nil {
		return "", err
	}
	dir, err := id.tempDir()
	if err != nil {
		return "", err
	}
	port, err := tied.FreePort()
	if err != nil {
		os.RemoveAll(dir)
		return "", err
	}
	lines := append([]string{
		"[databases]", fmt.Sprintf("* = host=127.0.0.1 port=%d", db.Port),
		"[pgbouncer]", "listen_addr = 127.0.0.1", fmt.Sprintf("listen_port = %d", port), "unix_socket_dir =",
		"auth_type = any", "pool_mode = transaction", "default_pool_size = 1",
		// With auth_type any, everyone is one user of the server.
		"admin_users = " + superuser,
	}, settings...)
	lines[1] += " user=" + superuser
	config := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(config, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		os.RemoveAll(dir)
		return "", err
	}
	c := &cluster{port: port}
	proc, err := id.start(exec.Command(bin, config), dir, func() error { return accepts(c.dsn(superuser, db.Name)) })
	if err != nil {
		os.RemoveAll(dir)
		return "", err
	}
	db.t.Cleanup(proc.stop)
	return c.dsn(superuser, db.Name), nil
}

func poolerBinary() (string, error) {
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path, nil
	}
	const debian = "/usr/sbin/pgbouncer"
	if _, err := os.Stat(debian); err == nil {
		return debian, nil
	}
	return "", ErrNoPooler
}

// accepts is nil once the DSN can be connected to.
func accepts(dsn string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
