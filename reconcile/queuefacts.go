package reconcile

import (
	"context"
	"errors"

	"github.com/idemctl/idemctl/inspect"
)

// queueFacts is what an audit read of a queue when it began.
type queueFacts struct {
	inspect.Queue
	// served says that a live server consumes the queue. One that is stopped or
	// closed takes no tasks.
	served bool
}

// readQueues counts the queues in scope and finds out who serves them.
func (r *run) readQueues(ctx context.Context) error {
	servers, err := r.queue.Servers(ctx)
	if err != nil {
		return err
	}
	r.facts = map[string]queueFacts{}
	for _, q := range r.queues {
		counts, err := r.queue.Queue(ctx, q)
		if errors.Is(err, inspect.ErrQueueNotFound) {
			continue // it was removed just now
		}
		if err != nil {
			return err
		}
		r.facts[q] = queueFacts{Queue: counts, served: serves(servers, q)}
		for _, s := range r.states {
			r.expected += counts.Count(s)
		}
	}
	return nil
}

// serves says whether one of the servers takes tasks of the queue.
func serves(servers []inspect.Server, queue string) bool {
	for _, s := range servers {
		if _, ok := s.Queues[queue]; ok && s.Status == "active" {
			return true
		}
	}
	return false
}

// around adds to a moment what holds for the task's queue.
func (r *run) around(m Moment, t inspect.Task) Moment {
	if f, ok := r.facts[t.Queue]; ok {
		m.Paused, m.Unserved = f.Paused, !f.served
	}
	return m
}
