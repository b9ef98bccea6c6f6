package inspecttest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
)

// MasterName is what the sentinel of StartSentinel calls its master.
const MasterName = "mymaster"

// Sentinel is a master, a replica of it, and a sentinel that watches them.
type Sentinel struct {
	Master   *Server
	Replica  *Server
	Addr     string // the sentinel's
	Password string // the sentinel's own
}

// StartSentinel starts the three, and waits until the replica follows and the
// sentinel knows of it.
func StartSentinel(t testing.TB) *Sentinel {
	t.Helper()
	// By default a master waits for more replicas before it sends the first one its
	// data.
	s := &Sentinel{Master: StartServer(t, "--repl-diskless-sync-delay", "0"), Password: "sentinel secret"}
	host, port := split(t, s.Master.Addr)
	s.Replica = StartServer(t, "--replicaof", host, port)
	if err := eventually(s.follows); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	return s
}

func (s *Sentinel) start(t testing.TB) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	host, masterPort := split(t, s.Master.Addr)
	proc, _, err := onFreePort(func(port int) (*process, error) {
		dir, err := tempDir()
		if err != nil {
			return nil, err
		}
		s.Addr = loopback(port)
		config := filepath.Join(dir, "sentinel.conf")
		text := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\nlogfile %s\nrequirepass %q\nsentinel monitor %s %s %s 1\n",
			port, dir, filepath.Join(dir, "log"), s.Password, MasterName, host, masterPort)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			return nil, err
		}
		return run(exec.Command(path, config, "--sentinel"), dir, s.ready)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proc.stop)
	s.calm()
}

// calm keeps the sentinel from doing nothing for half a minute after the machine
// stood still for two seconds ("TILT mode"). Those before Redis 7 cannot be told.
func (s *Sentinel) calm() {
	c := redis.NewClient(&redis.Options{Addr: s.Addr, Password: s.Password})
	defer c.Close()
	_ = c.Do(context.Background(), "sentinel", "debug", "tilt-trigger", "600000").Err()
}

// follows is nil once the replica has what the master has: a sentinel that starts
// before that hears of it ten seconds later.
func (s *Sentinel) follows() error {
	info, err := s.Replica.Client().Info(context.Background(), "replication").Result()
	if err == nil && infoField(info, "master_link_status") != "up" {
		return errors.New("the replica does not follow its master")
	}
	return err
}

// ready asks the sentinel for the replica that it found at the master.
func (s *Sentinel) ready(pid int) error {
	if err := answering(&redis.Options{Addr: s.Addr, Password: s.Password})(pid); err != nil {
		return err
	}
	c := redis.NewSentinelClient(&redis.Options{Addr: s.Addr, Password: s.Password, MaxRetries: -1})
	defer c.Close()
	replicas, err := c.Replicas(context.Background(), MasterName).Result()
	if err == nil && len(replicas) == 0 {
		return errors.New("the sentinel knows of no replica")
	}
	return err
}

// Options leads to the master by way of the sentinel.
func (s *Sentinel) Options() inspect.Options {
	return inspect.Options{
		URI: "redis-sentinel://" + s.Addr + "/" + MasterName, SentinelPassword: s.Password, DialTimeout: answerLimit, ReadTimeout: answerLimit,
	}
}

// AsynqOpt is how asynq goes that way.
func (s *Sentinel) AsynqOpt() asynq.RedisConnOpt {
	return asynq.RedisFailoverClientOpt{
		MasterName: MasterName, SentinelAddrs: []string{s.Addr}, SentinelPassword: s.Password,
		DialTimeout: answerLimit, ReadTimeout: answerLimit, WriteTimeout: answerLimit,
	}
}

func split(t testing.TB, addr string) (host, port string) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}
