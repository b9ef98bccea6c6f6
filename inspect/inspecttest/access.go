package inspecttest

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// ReadOnly is a rule for an ACL user who may read asynq's keys and ask for the
// time and the server's facts, but run no script and write nothing.
const ReadOnly = "resetchannels resetkeys ~asynq:* -@all +@read -@scripting +ping +time +info +select"

// AddUser adds an ACL user; rules are those of ACL SETUSER. It returns a view of
// the same database as that user.
func (s *Server) AddUser(name, password, rules string) *Server {
	s.t.Helper()
	args := []any{"acl", "setuser", name, "reset", "on", ">" + password}
	for _, rule := range strings.Fields(rules) {
		args = append(args, rule)
	}
	s.must(s.Client().Do(s.ctx(), args...).Err())
	user := &Server{t: s.t, Network: s.Network, Addr: s.Addr, DB: s.DB, tls: s.tls, username: name, password: password}
	s.t.Cleanup(user.closeClient)
	return user
}

// StartTLS starts a server that speaks TLS alone and asks for no client
// certificate.
func StartTLS(t testing.TB) (*Server, *Authority) {
	t.Helper()
	return startTLS(t, "--tls-auth-clients", "no")
}

// StartMutualTLS starts a server that also asks for a client certificate.
func StartMutualTLS(t testing.TB) (*Server, *Authority) {
	t.Helper()
	return startTLS(t, "--tls-auth-clients", "yes")
}

func startTLS(t testing.TB, args ...string) (*Server, *Authority) {
	t.Helper()
	a := NewAuthority(t)
	args = append(args, "--port", "0", "--bind", "127.0.0.1",
		"--tls-ca-cert-file", a.CAFile, "--tls-cert-file", a.ServerCertFile, "--tls-key-file", a.ServerKeyFile)
	proc, port, err := onFreePort(func(port int) (*process, error) {
		dir, err := tempDir()
		if err != nil {
			return nil, err
		}
		probe := answering(&redis.Options{Addr: loopback(port), TLSConfig: a.ClientConfig()})
		return launch(dir, probe, append([]string{"--tls-port", strconv.Itoa(port)}, args...)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return owned(t, &Server{Network: "tcp", Addr: loopback(port), tls: a}, proc), a
}

// StartUnix starts a server that listens on a unix socket alone.
func StartUnix(t testing.TB) *Server {
	t.Helper()
	dir, err := tempDir()
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "socket")
	proc, err := launch(dir, answering(&redis.Options{Network: "unix", Addr: socket}), "--port", "0", "--unixsocket", socket)
	if err != nil {
		t.Fatal(err)
	}
	return owned(t, &Server{Network: "unix", Addr: socket}, proc)
}

// owned gives the test a server that ends with it.
func owned(t testing.TB, s *Server, proc *process) *Server {
	s.t = t
	t.Cleanup(func() {
		s.closeClient()
		proc.stop()
	})
	return s
}
