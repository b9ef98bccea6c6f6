package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// handler is what one task's handler does.
type handler func(ctx context.Context, n *night, i *incident) error

// incident is one task and how its night goes.
type incident struct {
	story   string
	kind    string
	queue   string
	id      string // "" is given a UUID, as asynq does
	payload any    // JSON
	options []asynq.Option
	before  []statement // rows that are there before it is enqueued
	run     handler     // nil: no worker ever gets to it
	ends    string      // state it ends in; "" is gone

	raw []byte
}

// night is all incidents with the workers' shared state.
type night struct {
	lab       *Lab
	desk      desk
	incidents []*incident
	started   time.Time

	mu   sync.Mutex
	byID map[string]*incident // by queue and ID
	hung int                  // workers that are not coming back
}

func newNight(l *Lab) *night {
	n := &night{lab: l, desk: desk{l.ledger}, incidents: incidents(), byID: map[string]*incident{}, started: time.Now()}
	for _, i := range n.incidents {
		if i.id == "" {
			i.id = uuid.NewString()
		}
		if i.queue == "" {
			i.queue = "default"
		}
		i.raw, _ = json.Marshal(i.payload) // maps and structs of plain values always marshal
		n.byID[i.queue+" "+i.id] = i
	}
	return n
}

// enqueue hands the incident's task to asynq.
func (i *incident) enqueue(ctx context.Context, c *asynq.Client) error {
	options := append([]asynq.Option{asynq.Queue(i.queue), asynq.TaskID(i.id)}, i.options...)
	_, err := c.EnqueueContext(ctx, asynq.NewTask(i.kind, i.raw), options...)
	return err
}

// handle plays the incident that the task belongs to.
func (n *night) handle(ctx context.Context, t *asynq.Task) error {
	id := t.ResultWriter().TaskID()
	queue, _ := asynq.GetQueueName(ctx)
	n.mu.Lock()
	i := n.byID[queue+" "+id]
	n.mu.Unlock()
	if i == nil || i.run == nil {
		return errors.New("no such incident")
	}
	return i.run(ctx, n, i)
}

// hang is a worker that does not come back: it holds its task until the
// laboratory closes.
func (n *night) hang() {
	n.mu.Lock()
	n.hung++
	n.mu.Unlock()
	<-n.lab.release
}

// patience is how long the laboratory waits for its workers.
const patience = 10 * time.Second

// wait is until every task is where its story ends.
func (n *night) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, i := range n.incidents {
		if err := n.waitFor(ctx, i); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		n.mu.Lock()
		hung := n.hung
		n.mu.Unlock()
		if hung == hanging(n.incidents) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("the laboratory's workers did not get there in %s", patience)
}

// hanging counts the incidents whose worker is still at it when the night ends.
func hanging(incidents []*incident) int {
	count := 0
	for _, i := range incidents {
		if i.ends == "active" {
			count++
		}
	}
	return count
}

func (n *night) waitFor(ctx context.Context, i *incident) error {
	key := "asynq:{" + i.queue + "}:t:" + i.id
	for {
		state, err := n.lab.client.HGet(ctx, key, "state").Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return fmt.Errorf("%s: waiting for it to be %q: %w", i.story, i.ends, err)
		}
		if state == i.ends {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// morning kills the doomed server, moves its leases into the past as if its
// half minute had gone by, does what operators do by hand, and waits until what
// settles has settled.
func (n *night) morning(ctx context.Context) error {
	n.lab.servers[1].crash()
	ended := float64(time.Now().Add(-7 * time.Second).Unix())
	for _, i := range n.incidents {
		if i.queue == "doomed" {
			err := n.lab.client.ZAddXX(ctx, "asynq:{doomed}:lease", redis.Z{Score: ended, Member: i.id}).Err()
			if err != nil {
				return err
			}
		}
	}
	inspector := asynq.NewInspectorFromRedisClient(n.lab.client)
	for _, i := range n.incidents {
		if i.story == parkedStory {
			if err := inspector.ArchiveTask(i.queue, i.id); err != nil {
				return err
			}
		}
	}
	select {
	case <-time.After(time.Until(n.started.Add(settled))):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// settled is when every failure of the night is older than the laboratory's
// settle time of a second, the second that asynq cuts off, and the claims'
// timeouts of a second.
const settled = 3200 * time.Millisecond
