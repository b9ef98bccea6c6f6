package inspect

import (
	"context"
	"sync"
	"time"
)

// pace keeps listings below a number of tasks a second; 0: no bound. It is
// shared by all listings of a client.
type pace struct {
	perSecond float64

	mu   sync.Mutex
	free time.Time // when what was read so far is paid for
}

// wait is called after n tasks were read and returns when more may be. It
// returns ctx.Err() when ctx is done first.
func (p *pace) wait(ctx context.Context, n int) error {
	if p.perSecond <= 0 {
		return ctx.Err()
	}
	delay := p.charge(time.Now(), n)
	if delay <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// charge returns how long to wait from now on. Time that was not used is not
// saved up.
func (p *pace) charge(now time.Time, n int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(time.Duration(float64(n) / p.perSecond * float64(time.Second)))
	return p.free.Sub(now)
}
