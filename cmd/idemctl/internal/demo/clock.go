package demo

import (
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// clock lets the time that passes run off the keys' times to live, which
// miniredis does only when it is told to. It could do so before each command,
// but goes over all keys then; here it is done every now and then, and before a
// time to live is read.
type clock struct {
	redis *miniredis.Miniredis
	stop  chan struct{}

	mu   sync.Mutex
	last time.Time
}

// beat is how late a key may expire.
const beat = 100 * time.Millisecond

func startClock(r *miniredis.Miniredis) *clock {
	c := &clock{redis: r, stop: make(chan struct{}), last: time.Now()}
	r.Server().SetPreHook(func(_ *server.Peer, cmd string, _ ...string) bool {
		if (cmd == "PTTL" || cmd == "TTL") && c.idle() {
			c.pass()
		}
		return false
	})
	return c
}

// run lets time pass until the clock is stopped.
func (c *clock) run() {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			c.pass()
		case <-c.stop:
			return
		}
	}
}

// pass runs off what has passed since the last time.
func (c *clock) pass() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.redis.FastForward(now.Sub(c.last))
	c.last = now
}

// idle waits until no other command runs. It is false inside a script, which
// holds the server for as long as anybody waits for it.
func (c *clock) idle() bool {
	for range 500 {
		if c.redis.TryLock() {
			c.redis.Unlock()
			return true
		}
		time.Sleep(200 * time.Microsecond)
	}
	return false
}
