// Package inspecttest gives tests real Redis servers: private ones, on free
// loopback ports or unix sockets, in temporary directories, ended with the test.
//
// A test package calls Main from its TestMain; its tests then share one server
// and get a database each from Start. A test that looks at a whole server (its
// statistics, users, TLS or topology) starts one of its own: StartServer,
// StartTLS, StartUnix, StartSentinel, StartCluster.
package inspecttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
)

// databases is how many tests can use the shared server at a time.
const databases = 256

// Server is a database that belongs to one test.
type Server struct {
	Network string // "tcp" or "unix"
	Addr    string // host:port, or the socket's path
	DB      int

	username, password string
	tls                *Authority // nil: no TLS

	t      testing.TB
	making sync.Mutex // of the client, which handlers ask for, too
	client *redis.Client
}

// shared is the server that the tests of one binary have in common.
var shared struct {
	sync.Mutex
	on   bool // Main is running
	proc *process
	addr string
	free []int
}

// Main runs the tests of a package and stops the shared server after them.
// Use it as the whole of TestMain:
//
//	func TestMain(m *testing.M) { inspecttest.Main(m) }
func Main(m *testing.M) {
	os.Exit(Run(m))
}

// Run is Main for a TestMain that has more to do: it returns the exit code.
func Run(m interface{ Run() int }) int {
	shared.Lock()
	shared.on = true
	shared.Unlock()
	defer stopShared()
	return m.Run()
}

func stopShared() {
	shared.Lock()
	defer shared.Unlock()
	if shared.proc != nil {
		shared.proc.stop()
	}
	shared.proc, shared.on = nil, false
}

// Start gives the test an empty database on the shared server, or a server of
// its own where Main does not run. The database is emptied after the test.
func Start(t testing.TB) *Server {
	t.Helper()
	addr, db, ok, err := borrow()
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return StartServer(t)
	}
	s := &Server{t: t, Network: "tcp", Addr: addr, DB: db}
	t.Cleanup(func() {
		if err := s.Client().FlushDB(context.Background()).Err(); err != nil {
			t.Errorf("emptying database %d: %v", db, err)
		}
		giveBack(db)
		s.closeClient()
	})
	return s
}

func borrow() (addr string, db int, ok bool, err error) {
	shared.Lock()
	defer shared.Unlock()
	if !shared.on {
		return "", 0, false, nil
	}
	if shared.proc == nil {
		shared.proc, shared.addr, err = startStandalone("--databases", strconv.Itoa(databases))
		if err != nil {
			return "", 0, false, err
		}
		shared.free = nil
		for db := databases - 1; db >= 0; db-- {
			shared.free = append(shared.free, db)
		}
	}
	if len(shared.free) == 0 {
		return "", 0, false, errors.New("every database of the shared server is in use")
	}
	last := len(shared.free) - 1
	db = shared.free[last]
	shared.free = shared.free[:last]
	return shared.addr, db, true, nil
}

func giveBack(db int) {
	shared.Lock()
	defer shared.Unlock()
	shared.free = append(shared.free, db)
}

// StartServer starts a server for this test alone; args are redis-server's
// options, such as "--maxmemory-policy", "allkeys-lru".
func StartServer(t testing.TB, args ...string) *Server {
	t.Helper()
	proc, addr, err := startStandalone(args...)
	if err != nil {
		t.Fatal(err)
	}
	return owned(t, &Server{Network: "tcp", Addr: addr}, proc)
}

func startStandalone(args ...string) (*process, string, error) {
	if _, err := binary(); err != nil {
		return nil, "", err
	}
	proc, port, err := onFreePort(func(port int) (*process, error) { return startOn(port, args...) })
	return proc, loopback(port), err
}

// startOn starts a server on a loopback port.
func startOn(port int, args ...string) (*process, error) {
	dir, err := tempDir()
	if err != nil {
		return nil, err
	}
	return launch(dir, answering(&redis.Options{Addr: loopback(port)}),
		append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1"}, args...)...)
}

// answering makes a probe that is nil once the server itself answers, and nobody
// else who has its port; a demand for a password is an answer.
func answering(opt *redis.Options) probe {
	opt.MaxRetries, opt.PoolSize = -1, 1
	return func(pid int) error {
		c := redis.NewClient(opt)
		defer c.Close()
		facts, err := c.Info(context.Background(), "server").Result()
		if redis.HasErrorPrefix(err, "NOAUTH") {
			return nil
		}
		if err != nil {
			return err
		}
		if who := infoField(facts, "process_id"); who != strconv.Itoa(pid) {
			return fmt.Errorf("process %s answers at %s, and not %d", who, opt.Addr, pid)
		}
		return nil
	}
}

// Options is how package inspect reaches the database.
func (s *Server) Options() inspect.Options {
	o := inspect.Options{
		URI: s.Addr, DB: s.DB, Username: s.username, Password: s.password, DialTimeout: answerLimit, ReadTimeout: answerLimit,
	}
	if s.Network == "unix" {
		o.URI = "unix://" + s.Addr
	}
	if s.tls != nil {
		o.TLS, o.CAFile = true, s.tls.CAFile
	}
	return o
}

// URI is the database's address in one string, for command lines. It does not
// hold a password.
func (s *Server) URI() string {
	if s.Network == "unix" {
		return fmt.Sprintf("unix://%s?db=%d", s.Addr, s.DB)
	}
	return fmt.Sprintf("redis://%s/%d", s.Addr, s.DB)
}

// answerLimit is how long clients wait for an answer: on a machine that stands
// still for some seconds, a command that is given up and sent again may be done
// twice.
const answerLimit = time.Minute

// Client is a plain client of the database, closed with the test. It may be asked
// for by several goroutines.
func (s *Server) Client() *redis.Client {
	s.making.Lock()
	defer s.making.Unlock()
	if s.client == nil {
		s.client = redis.NewClient(s.redisOptions())
	}
	return s.client
}

func (s *Server) redisOptions() *redis.Options {
	o := &redis.Options{
		Network: s.Network, Addr: s.Addr, DB: s.DB, Username: s.username, Password: s.password,
		DialTimeout: answerLimit, ReadTimeout: answerLimit, WriteTimeout: answerLimit,
	}
	if s.tls != nil {
		o.TLSConfig = s.tls.ClientConfig()
	}
	return o
}

// infoField is the value of a line of INFO or CLUSTER INFO; "" without one.
func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			return value
		}
	}
	return ""
}

func (s *Server) closeClient() {
	s.making.Lock()
	defer s.making.Unlock()
	if s.client != nil {
		_ = s.client.Close()
	}
}

// AsynqOpt is how asynq's client, server and Inspector reach the database.
func (s *Server) AsynqOpt() asynq.RedisConnOpt {
	o := asynq.RedisClientOpt{
		Network: s.Network, Addr: s.Addr, DB: s.DB, Username: s.username, Password: s.password,
		DialTimeout: answerLimit, ReadTimeout: answerLimit, WriteTimeout: answerLimit,
	}
	if s.tls != nil {
		o.TLSConfig = s.tls.ClientConfig()
	}
	return o
}
