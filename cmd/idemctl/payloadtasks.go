package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// eachTask reads the payloads of the tasks in scope. Whatever is in Redis is read
// by commands that only read.
func (in *payloadInput) eachTask(ctx context.Context, cmd *cobra.Command) error {
	s := &session{settings: in.settings}
	if err := s.openRedis(ctx, cmd); err != nil {
		return err
	}
	defer s.close()
	queues, err := in.queuesInScope(ctx, s.queue)
	if err != nil {
		return err
	}
	if len(queues) == 0 {
		in.log.warnf("Redis knows no queue: is this the right server and database (--uri, --db)?")
		return nil
	}
	if len(in.scope.ids) > 0 {
		return in.tasksByID(ctx, s.queue, queues)
	}
	return in.listedTasks(ctx, cmd, s.queue, queues)
}

// queuesInScope matches the patterns of --queue against the queues there are.
func (in *payloadInput) queuesInScope(ctx context.Context, c *inspect.Client) ([]string, error) {
	all, err := c.Queues(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(all)
	if len(in.scope.queues) == 0 {
		return all, nil
	}
	var chosen []string
	for _, pattern := range in.scope.queues {
		found := false
		for _, q := range all {
			if q == pattern || reconcile.MatchGlob(pattern, q) {
				found = true
				chosen = append(chosen, q)
			}
		}
		if !found {
			return nil, &reconcile.QueueError{Pattern: pattern, Known: all}
		}
	}
	slices.Sort(chosen)
	return slices.Compact(chosen), nil
}

// tasksByID reads the named tasks, in the order in which they were named.
func (in *payloadInput) tasksByID(ctx context.Context, c *inspect.Client, queues []string) error {
	for _, id := range in.scope.ids {
		refs := make([]inspect.Ref, len(queues))
		for i, q := range queues {
			refs[i] = inspect.Ref{Queue: q, ID: id}
		}
		tasks, err := c.Read(ctx, refs)
		if err != nil {
			return err
		}
		found := false
		for i := range tasks {
			if t := &tasks[i]; t.State == inspect.StateUnknown || len(in.states) > 0 && !slices.Contains(in.states, t.State) {
				continue
			}
			found = true
			if err := in.offerTask(ctx, &tasks[i]); err != nil {
				return err
			}
		}
		if !found {
			in.fault(id, errors.New("no task has this ID in "+strings.Join(queues, ", ")), "it was done, or deleted; idemctl tasks lists those there are")
		}
	}
	return nil
}

// listedTasks streams the tasks of the queues, page by page.
func (in *payloadInput) listedTasks(ctx context.Context, cmd *cobra.Command, c *inspect.Client, queues []string) error {
	size, _ := cmd.Flags().GetInt("page-size")
	bar := &progress{}
	if in.silent || !in.outTerminal { // else results and the bar would share a screen
		bar = in.newProgress()
	}
	defer bar.done()
	expected, err := in.countTasks(ctx, c, queues)
	if err != nil {
		return err
	}
	seen := 0
	for tasks, err := range c.Pages(ctx, inspect.Listing{Queues: queues, States: in.states, PageSize: size, InFlight: 2, Plain: true}) {
		if err != nil {
			return err
		}
		for i := range tasks {
			// A task that moved while it was read comes again, with the payload it had.
			if tasks[i].Prev != inspect.StateUnknown {
				continue
			}
			if err := in.offerTask(ctx, &tasks[i]); err != nil {
				return err
			}
		}
		seen += len(tasks)
		bar.show(reconcile.Progress{Phase: "reading payloads", Tasks: seen, Expected: expected})
	}
	return nil
}

// countTasks is how many tasks the queues hold in the states in scope.
func (in *payloadInput) countTasks(ctx context.Context, c *inspect.Client, queues []string) (int, error) {
	states := in.states
	if len(states) == 0 {
		states = inspect.States()
	}
	n := 0
	for _, q := range queues {
		counts, err := c.Queue(ctx, q)
		if err != nil {
			return 0, err
		}
		for _, s := range states {
			n += counts.Count(s)
		}
	}
	return n, nil
}

// offerTask hands a task's payload on, if it is in scope.
func (in *payloadInput) offerTask(ctx context.Context, t *inspect.Task) error {
	p := &render.Payload{ID: t.ID, Task: true, NoLock: t.UniqueKey == "", Queue: t.Queue, Type: t.Type, Raw: t.Payload}
	if t.Defect == inspect.DefectUndecodable {
		in.fault(p.Name(), errors.New("its stored message cannot be decoded"), "")
		return nil
	}
	if t.Defect != inspect.DefectNone || !in.typeInScope(t.Type) {
		return nil
	}
	if len(p.Raw) == 0 {
		p.Raw = emptyPayloadOf(t)
	}
	return in.offer(ctx, p)
}

// emptyPayloadOf tells a nil payload from an empty one by the lock of a unique task:
// the message in Redis is the same for both. Where that cannot be told it is nil,
// which is how a task without a payload is enqueued.
func emptyPayloadOf(t *inspect.Task) []byte {
	if t.UniqueKey != "" && !strings.HasSuffix(t.UniqueKey, ":") {
		return []byte{}
	}
	return nil
}

func (in *payloadInput) typeInScope(taskType string) bool {
	return len(in.scope.types) == 0 || slices.ContainsFunc(in.scope.types, func(pattern string) bool {
		return pattern == taskType || reconcile.MatchGlob(pattern, taskType)
	})
}
