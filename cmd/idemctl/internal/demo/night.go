package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// night is all incidents with the workers' shared state.
type night struct {
	lab       *Lab
	desk      desk
	client    *asynq.Client
	inspector *asynq.Inspector
	incidents []*incident

	mu   sync.Mutex
	byID map[string]*incident // by queue and ID
	hung int                  // workers that are not coming back
	last time.Time            // when the last handler came back by itself
}

func newNight(l *Lab, incidents []*incident) *night {
	n := &night{
		lab: l, desk: desk{l.ledger}, incidents: incidents, byID: map[string]*incident{},
		client:    asynq.NewClientFromRedisClient(l.client),
		inspector: asynq.NewInspectorFromRedisClient(l.client),
	}
	for _, i := range n.incidents {
		i.prepare()
		n.byID[i.queue+" "+i.id] = i
	}
	return n
}

// enqueue hands the early or the other incidents to asynq.
func (n *night) enqueue(ctx context.Context, early bool) error {
	for _, i := range n.incidents {
		if i.early != early {
			continue
		}
		err := n.desk.exec(ctx, i.before...)
		if err == nil {
			err = i.enqueue(ctx, n.client)
		}
		if err == nil && i.then != nil {
			err = i.then(ctx, n, i)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", i.story, err)
		}
		n.lab.Tasks++
	}
	return nil
}

// handle plays the incident that the task belongs to.
func (n *night) handle(ctx context.Context, t *asynq.Task) error {
	id := t.ResultWriter().TaskID()
	queue, _ := asynq.GetQueueName(ctx)
	n.mu.Lock()
	i := n.byID[queue+" "+id]
	n.mu.Unlock()
	if i == nil {
		return errors.New("no such incident")
	}
	if n.lab.mended.Load() {
		return n.mended(ctx, i)
	}
	if i.run == nil {
		return errors.New("no such incident")
	}
	defer n.back(ctx) // even if it panics
	return i.run(ctx, n, i)
}

// back notes the time of a handler that its deadline has not cut off.
func (n *night) back(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = time.Now()
}

// hang is a worker that does not come back: it holds its task until the
// laboratory closes.
func (n *night) hang() {
	n.mu.Lock()
	n.hung++
	n.mu.Unlock()
	<-n.lab.release
}

// wait is until every task is where its story ends.
func (n *night) wait(ctx context.Context) error {
	hanging := 0
	for _, i := range n.incidents {
		if i.hangs() {
			hanging++
		}
		if err := until(ctx, i.story+" to be "+orGone(i.ends), func() (bool, error) { return n.ended(ctx, i) }); err != nil {
			return err
		}
	}
	return until(ctx, "the workers that hang", func() (bool, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.hung == hanging, nil
	})
}

func orGone(state string) string {
	if state == "" {
		return "gone"
	}
	return state
}

func (n *night) ended(ctx context.Context, i *incident) (bool, error) {
	state, err := n.lab.client.HGet(ctx, i.hash(), "state").Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, err
	}
	return state == i.ends, nil
}

// morning kills the doomed server, moves its leases into the past as if its
// half minute had gone by, does what operators and crashes do, and waits until
// what settles has settled.
func (n *night) morning(ctx context.Context, doomed *crashable) error {
	doomed.crash()
	ended := float64(time.Now().Add(-7 * time.Second).Unix())
	for _, i := range n.incidents {
		if i.queue != "doomed" {
			continue
		}
		if err := n.lab.client.ZAddXX(ctx, i.key("lease"), redis.Z{Score: ended, Member: i.id}).Err(); err != nil {
			return err
		}
	}
	for _, i := range n.incidents {
		if i.morning == nil {
			continue
		}
		if err := i.morning(ctx, n, i); err != nil {
			return fmt.Errorf("%s: %w", i.story, err)
		}
	}
	return n.settle(ctx)
}

// settled is when the end of an attempt is older than the laboratory's settle
// time of a second, and the second that asynq cuts off its times or that a
// claim's task has as its timeout; with some time for the end to be written.
const settled = 2300 * time.Millisecond

// settle waits until what the night's handlers left can be judged. An attempt
// that ran into its timeout had taken effect before, and needs no time to settle.
func (n *night) settle(ctx context.Context) error {
	n.mu.Lock()
	last := n.last
	n.mu.Unlock()
	select {
	case <-time.After(time.Until(last.Add(settled))):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
