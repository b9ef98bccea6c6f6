package demo

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// crashable is an asynq server whose connection to Redis can be cut, which is
// all that Redis ever sees of a worker that dies.
type crashable struct {
	server *asynq.Server
	client *redis.Client
	dead   atomic.Bool
}

var errCut = errors.New("the laboratory has cut this connection")

func startServer(addr string, handler asynq.HandlerFunc, queues map[string]int) *crashable {
	c := &crashable{}
	c.client = redis.NewClient(&redis.Options{
		Addr: addr, MaxRetries: -1,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if c.dead.Load() {
				return nil, errCut
			}
			conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			return &cuttable{Conn: conn, dead: &c.dead}, err
		},
	})
	c.server = asynq.NewServerFromRedisClient(c.client, asynq.Config{
		Concurrency:       8,
		Queues:            queues,
		Logger:            silence{},
		LogLevel:          asynq.FatalLevel,
		RetryDelayFunc:    retryDelay,
		IsFailure:         isFailure,
		TaskCheckInterval: 50 * time.Millisecond,
		ShutdownTimeout:   100 * time.Millisecond,

		DelayedTaskCheckInterval: 250 * time.Millisecond,
	})
	// Start fails only on a server that was started before.
	_ = c.server.Start(handler)
	return c
}

// crash cuts the connection for good: no acknowledgement, no heartbeat. The
// server is then told to stop, since it would go on asking for tasks as fast as
// it can; nothing of that reaches Redis.
func (c *crashable) crash() {
	c.dead.Store(true)
	c.server.Shutdown()
}

// stop ends the server.
func (c *crashable) stop() {
	if !c.dead.Load() {
		c.server.Shutdown()
	}
	_ = c.client.Close()
}

// cuttable is a connection that a crash makes useless.
type cuttable struct {
	net.Conn
	dead *atomic.Bool
}

func (c *cuttable) Write(b []byte) (int, error) {
	if c.dead.Load() {
		return 0, errCut
	}
	return c.Conn.Write(b)
}

func (c *cuttable) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.dead.Load() {
		return 0, errCut
	}
	return n, err
}

// silence is a logger that says nothing: the laboratory's workers fail on
// purpose.
type silence struct{}

// Printf makes it go-redis's logger too.
func (silence) Printf(context.Context, string, ...any) {}

func (silence) Debug(...any) {}
func (silence) Info(...any)  {}
func (silence) Warn(...any)  {}
func (silence) Error(...any) {}
func (silence) Fatal(...any) {}
