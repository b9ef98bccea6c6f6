package demo

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"
)

// handler is what one task's handler does.
type handler func(ctx context.Context, n *night, i *incident) error

// step is what happens to one task from outside: a producer's, an operator's or
// a crash's doing.
type step func(ctx context.Context, n *night, i *incident) error

// incident is one task and how its night goes.
type incident struct {
	story   string
	kind    string
	queue   string
	id      string // "" is given a UUID, as asynq does
	payload any    // JSON
	text    string // the payload's very bytes, where they are not what Go marshals
	options []asynq.Option
	before  []statement // rows that are there before it is enqueued
	early   bool        // enqueued before the workers are started
	then    step        // right after it is enqueued
	run     handler     // nil: no worker ever gets to it
	ends    string      // state it ends in; "" is gone
	morning step        // when every task is where it ends

	raw []byte
}

// m is a JSON object.
type m map[string]any

// incidents are the bad night's stories: at least one for every finding that a
// laboratory can show.
func incidents(o Options) []*incident {
	all := slices.Concat(payments(), ledgerless(), others(), locks(), retries(), identities(), structures(), archives(), payloads())
	if o.FullArchive {
		all = append(all, fullArchive())
	}
	return all
}

// once is a task that gets a single attempt.
func once(more ...asynq.Option) []asynq.Option {
	return append([]asynq.Option{asynq.MaxRetry(0)}, more...)
}

// prepare gives the incident what its story leaves out.
func (i *incident) prepare() {
	if i.id == "" {
		i.id = uuid.NewString()
	}
	if i.queue == "" {
		i.queue = "default"
	}
	if i.raw = []byte(i.text); i.text != "" {
		return
	}
	i.raw, _ = json.Marshal(i.payload) // maps and structs of plain values always marshal
}

// enqueue hands the incident's task to asynq.
func (i *incident) enqueue(ctx context.Context, c *asynq.Client) error {
	options := append([]asynq.Option{asynq.Queue(i.queue), asynq.TaskID(i.id)}, i.options...)
	_, err := c.EnqueueContext(ctx, asynq.NewTask(i.kind, i.raw), options...)
	return err
}

// key is one of the keys of the incident's queue (asynq internal/base:
// QueueKeyPrefix).
func (i *incident) key(name string) string { return "asynq:{" + i.queue + "}:" + name }

// hash is the key of the incident's task.
func (i *incident) hash() string { return i.key("t:" + i.id) }

// hangs says whether the incident's worker is still at it when the night ends.
func (i *incident) hangs() bool { return i.run != nil && i.ends == "active" }
