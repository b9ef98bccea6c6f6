package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"
)

// steps takes one after the other.
func steps(all ...step) step {
	return func(ctx context.Context, n *night, i *incident) error {
		for _, s := range all {
			if err := s(ctx, n, i); err != nil {
				return err
			}
		}
		return nil
	}
}

// outliveLock waits until the task's lock has run out.
func outliveLock(ctx context.Context, n *night, i *incident) error {
	return until(ctx, "the lock of "+i.kind+" to run out", func() (bool, error) {
		key, err := n.lab.client.HGet(ctx, i.hash(), "unique_key").Result()
		if err != nil {
			return false, err
		}
		held, err := n.lab.client.Exists(ctx, key).Result()
		return held == 0, err
	})
}

// enqueueAgain is a producer that sends the same work once more.
func enqueueAgain(options ...asynq.Option) step {
	return func(ctx context.Context, n *night, i *incident) error {
		twin := &incident{kind: i.kind, queue: i.queue, id: uuid.NewString(), raw: i.raw, options: options}
		n.lab.Tasks++
		return twin.enqueue(ctx, n.client)
	}
}

// conflict is a producer that sends other work under the task's ID, and is
// refused.
func conflict(payload any, options ...asynq.Option) step {
	return func(ctx context.Context, n *night, i *incident) error {
		other := &incident{kind: i.kind, queue: i.queue, id: i.id, payload: payload, options: options}
		other.prepare()
		err := other.enqueue(ctx, n.client)
		if err == nil {
			return fmt.Errorf("asynq took the ID %q twice", i.id)
		}
		if errors.Is(err, asynq.ErrTaskIDConflict) {
			return nil
		}
		return err
	}
}

// correct is an operator who changes the payload of a scheduled task.
func correct(payload any) step {
	return func(_ context.Context, n *night, i *incident) error {
		raw, err := json.Marshal(payload)
		if err != nil {
			return err
		}
		return n.inspector.UpdateTaskPayload(i.queue, i.id, raw)
	}
}

// archiveByHand is an operator who parks a task.
func archiveByHand(_ context.Context, n *night, i *incident) error {
	return n.inspector.ArchiveTask(i.queue, i.id)
}

// deletePending is an operator who empties the queue.
func deletePending(_ context.Context, n *night, i *incident) error {
	_, err := n.inspector.DeleteAllPendingTasks(i.queue)
	return err
}

// pause is an operator who holds the queue.
func pause(_ context.Context, n *night, i *incident) error {
	return n.inspector.PauseQueue(i.queue)
}

// until looks every few milliseconds whether something has come about.
func until(ctx context.Context, what string, come func() (bool, error)) error {
	for {
		yes, err := come()
		if yes {
			return nil
		}
		if err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
		case <-time.After(10 * time.Millisecond):
		}
	}
}
