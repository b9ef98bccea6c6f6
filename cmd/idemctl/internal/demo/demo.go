// Package demo is a laboratory: an in-process Redis, a SQLite ledger in a
// temporary folder, and a real asynq client and server whose handlers fail in
// every way that matters. What it leaves in Redis and in the ledger is what a
// bad night leaves in production; everything that reads it afterwards is the
// normal code path.
package demo

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	_ "modernc.org/sqlite" // the ledger's driver
)

//go:embed config.yaml
var configuration string

//go:embed schema.sql
var schema string

// Lab is a running laboratory. Close ends it and leaves nothing behind.
type Lab struct {
	// Redis is the server's address, host:port on loopback.
	Redis string
	// Ledger is the ledger's DSN.
	Ledger string
	// Config is a configuration file with the laboratory's rules.
	Config string
	// Tasks says how many tasks were enqueued.
	Tasks int

	folder  string
	redis   *miniredis.Miniredis
	client  *redis.Client
	ledger  *sql.DB
	servers []*crashable
	release chan struct{} // closed when handlers that hang may end
	clock   chan struct{} // closed to stop the keys' clock
	done    sync.WaitGroup
}

// Open builds the laboratory and waits until the bad night is over: every task
// is where its story ends, and what settles has settled. It takes about three
// seconds.
func Open(ctx context.Context) (*Lab, error) {
	l := &Lab{release: make(chan struct{}), clock: make(chan struct{})}
	if err := l.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("demo: %w", err), l.Close())
	}
	return l, nil
}

func (l *Lab) open(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "idemctl-demo-")
	if err != nil {
		return err
	}
	l.folder = folder
	if l.redis, err = startRedis(); err != nil {
		return err
	}
	l.Redis = l.redis.Addr()
	l.done.Go(l.tick)
	redis.SetLogger(silence{}) // connections are cut here on purpose
	l.client = redis.NewClient(&redis.Options{Addr: l.Redis})
	if err := l.openLedger(ctx); err != nil {
		return err
	}
	l.Config = filepath.Join(folder, "config.yaml")
	text := strings.NewReplacer("REDIS_ADDRESS", l.Redis, "LEDGER_DSN", l.Ledger).Replace(configuration)
	if err := os.WriteFile(l.Config, []byte(text), 0o600); err != nil {
		return err
	}
	return l.play(ctx)
}

// startRedis listens on a free loopback port.
func startRedis() (*miniredis.Miniredis, error) {
	r := miniredis.NewMiniRedis()
	if err := r.StartAddr(net.JoinHostPort("127.0.0.1", "0")); err != nil {
		return nil, fmt.Errorf("starting the in-process Redis: %w", err)
	}
	return r, nil
}

// tick lets keys expire: miniredis has no clock of its own.
func (l *Lab) tick() {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-second.C:
			l.redis.FastForward(time.Second)
		case <-l.clock:
			return
		}
	}
}

func (l *Lab) openLedger(ctx context.Context) error {
	file := filepath.Join(l.folder, "ledger.db")
	l.Ledger = "sqlite:" + file
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_pragma=synchronous(OFF)")
	if err != nil {
		return err
	}
	l.ledger = db
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return fmt.Errorf("creating the ledger's tables: %w", err)
	}
	return nil
}

// Close stops the workers and removes the folder. It is safe on a laboratory
// that is half built.
func (l *Lab) Close() error {
	close(l.release)
	for _, s := range l.servers {
		s.stop()
	}
	close(l.clock)
	l.done.Wait()
	var faults []error
	if l.client != nil {
		faults = append(faults, l.client.Close())
	}
	if l.ledger != nil {
		faults = append(faults, l.ledger.Close())
	}
	if l.redis != nil {
		l.redis.Close()
	}
	if l.folder != "" {
		faults = append(faults, os.RemoveAll(l.folder))
	}
	return errors.Join(faults...)
}

// play enqueues every incident, lets the workers at them, and waits for the
// morning.
func (l *Lab) play(ctx context.Context) error {
	night := newNight(l)
	l.servers = append(l.servers, startServer(l.Redis, night.handle, map[string]int{"default": 3, "payments": 5}))
	l.servers = append(l.servers, startServer(l.Redis, night.handle, map[string]int{"doomed": 1}))
	client := asynq.NewClientFromRedisClient(l.client)
	for _, i := range night.incidents {
		if err := night.desk.exec(ctx, i.before...); err != nil {
			return fmt.Errorf("%s: %w", i.story, err)
		}
		if err := i.enqueue(ctx, client); err != nil {
			return fmt.Errorf("%s: %w", i.story, err)
		}
		l.Tasks++
	}
	if err := night.wait(ctx); err != nil {
		return err
	}
	return night.morning(ctx)
}
