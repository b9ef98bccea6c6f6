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
	"sync/atomic"
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
	// schedulers have all registered the same entry.
	schedulers []*asynq.Scheduler
	release    chan struct{} // closed when handlers that hang may end
	clock      *clock
	done       sync.WaitGroup // of the clock
	mended     atomic.Bool    // the handlers do their work now
}

// Options say which laboratory. The zero value is the usual one.
type Options struct {
	// FullArchive adds a queue whose archive is nearly full: 9,000 tasks, more
	// than anybody wants to meet in every list.
	FullArchive bool
	// Mended has the handlers' bugs found in the morning: tasks that run again
	// succeed.
	Mended bool
}

// Open builds the laboratory and waits until the bad night is over: every task
// is where its story ends, and what settles has settled. It takes about three
// seconds.
func Open(ctx context.Context, o Options) (*Lab, error) {
	l := &Lab{release: make(chan struct{})}
	if err := l.open(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("demo: %w", err), l.Close())
	}
	return l, nil
}

func (l *Lab) open(ctx context.Context, o Options) error {
	folder, err := os.MkdirTemp("", "idemctl-demo-")
	if err != nil {
		return err
	}
	l.folder = folder
	if l.redis, err = startRedis(); err != nil {
		return err
	}
	l.Redis = l.redis.Addr()
	l.clock = startClock(l.redis)
	l.done.Go(l.clock.run)
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
	return l.play(ctx, o)
}

// startRedis listens on a free loopback port.
func startRedis() (*miniredis.Miniredis, error) {
	r := miniredis.NewMiniRedis()
	if err := r.StartAddr(net.JoinHostPort("127.0.0.1", "0")); err != nil {
		return nil, fmt.Errorf("starting the in-process Redis: %w", err)
	}
	return r, nil
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
	for _, s := range l.schedulers {
		s.Shutdown()
	}
	if l.clock != nil {
		close(l.clock.stop)
	}
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

// patience is how long the laboratory waits for its workers.
const patience = 30 * time.Second

var errSlow = fmt.Errorf("the laboratory's workers did not get there in %s", patience)

// play enqueues every incident, lets the workers at them, and waits for the
// morning.
func (l *Lab) play(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errSlow)
	defer cancel()
	night := newNight(l, incidents(o))
	if err := night.enqueue(ctx, true); err != nil {
		return err
	}
	queues := map[string]int{"default": 3, "payments": 5, "nightly": 1, "thumbnails": 1}
	doomed := startServer(l.Redis, night.handle, map[string]int{"doomed": 1})
	l.servers = append(l.servers, startServer(l.Redis, night.handle, queues), doomed)
	if err := l.startSchedulers(); err != nil {
		return err
	}
	if err := night.enqueue(ctx, false); err != nil {
		return err
	}
	if err := night.wait(ctx); err != nil {
		return err
	}
	if err := night.morning(ctx, doomed); err != nil {
		return err
	}
	l.mended.Store(o.Mended)
	return l.scheduled(ctx)
}
