package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/observed"
	"github.com/idemctl/idemctl/reconcile"
)

// openRedisAlone connects to Redis and to nothing else. The caller closes the
// session. The settings are settled already.
func (o *ttlCalcOptions) openRedisAlone(ctx context.Context, cmd *cobra.Command) (*session, error) {
	s := &session{settings: o.set}
	if err := s.openRedis(ctx, cmd); err != nil {
		return nil, err
	}
	return s, nil
}

// observe reads what Redis shows of the kinds in scope.
func (o *ttlCalcOptions) observe(ctx context.Context, cmd *cobra.Command) (*render.TTLObserved, error) {
	s, err := o.openRedisAlone(ctx, cmd)
	if err != nil {
		return nil, err
	}
	defer s.close()
	r := &kindReader{
		ttlCalcOptions: o, cmd: cmd, client: s.queue,
		known: map[observed.Kind]*declared{}, result: &render.TTLObserved{Complete: true},
	}
	r.collector = observed.NewCollector(r.paramsOf)
	err = r.read(ctx)
	if err == nil {
		err = r.failed
	}
	switch {
	case err == nil:
	case r.result.Tasks == 0 || !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
		return nil, err
	default:
		r.result.Complete, r.result.Problem = false, "timed out"
		if errors.Is(err, context.Canceled) {
			r.result.Problem = "interrupted"
		}
	}
	r.result.Dropped = r.collector.Dropped
	if o.all {
		r.addConfigured()
	}
	for _, f := range r.collector.Facts() {
		r.result.Kinds = append(r.result.Kinds, r.judge(f))
	}
	return r.result, nil
}

// addConfigured adds the types that rules name in full and Redis shows nothing
// of: what the configuration says of their locks can be judged all the same. The
// queue is "" where the rule names none.
func (r *kindReader) addConfigured() {
	seen := map[string]bool{}
	for _, f := range r.collector.Facts() {
		seen[f.Type] = true
	}
	for _, rule := range r.set.Context.Rules {
		taskType, queue := rule.Match.Type.Value, rule.Match.Queue.Value
		if isGlob(queue) {
			queue = ""
		}
		if taskType == "" || isGlob(taskType) || seen[taskType] || !r.wantsType(taskType) || len(r.queues) > 0 && !r.wantsQueue(queue) {
			continue
		}
		r.collector.Kind(observed.Kind{Type: taskType, Queue: queue})
	}
}

func isGlob(pattern string) bool { return strings.ContainsAny(pattern, "*?[") }

// kindReader reads one Redis.
type kindReader struct {
	*ttlCalcOptions
	cmd       *cobra.Command
	client    *inspect.Client
	collector *observed.Collector
	known     map[observed.Kind]*declared
	failed    error // of a declaration
	result    *render.TTLObserved
}

func (r *kindReader) read(ctx context.Context) error {
	now, err := r.client.Now(ctx)
	if err != nil {
		return err
	}
	r.result.At = now
	queues, err := r.queuesInScope(ctx)
	if err != nil {
		return err
	}
	expected := 0
	for _, name := range queues {
		q, err := r.client.Queue(ctx, name)
		if err != nil {
			return err
		}
		r.collector.Queue(q)
		expected += q.Size()
	}
	wanted := func(k observed.Kind) bool { return r.wantsType(k.Type) && slices.Contains(queues, k.Queue) }
	servers, err := r.client.Servers(ctx)
	if err != nil {
		return err
	}
	for _, s := range servers {
		if s.Status == "active" {
			r.result.Servers++
		}
	}
	r.collector.Servers(servers, now, wanted)
	schedules, err := r.client.Schedules(ctx)
	if err != nil {
		return err
	}
	// A periodic entry may be for a queue that has never held a task.
	r.collector.Schedules(schedules, func(k observed.Kind) bool { return r.wantsType(k.Type) && r.wantsQueue(k.Queue) })
	return r.readTasks(ctx, queues, expected)
}

func (r *kindReader) readTasks(ctx context.Context, queues []string, expected int) error {
	if len(queues) == 0 {
		r.log.warnf("Redis knows no queue: is this the right server and database (--uri, --db)?")
		return nil
	}
	size, _ := r.cmd.Flags().GetInt("page-size")
	bar := r.newProgress()
	defer bar.done()
	read := 0
	for tasks, err := range r.client.Pages(ctx, inspect.Listing{Queues: queues, PageSize: size, InFlight: 2, Plain: true}) {
		if err != nil {
			return err
		}
		if err := r.page(ctx, tasks); err != nil {
			return err
		}
		read += len(tasks)
		bar.show(reconcile.Progress{Phase: "reading tasks", Tasks: read, Expected: expected})
	}
	return nil
}

// page notes a page of tasks with their locks, by the clock of Redis.
func (r *kindReader) page(ctx context.Context, tasks []inspect.Task) error {
	tasks = slices.DeleteFunc(tasks, func(t inspect.Task) bool { return !r.wantsType(t.Type) || t.Defect != inspect.DefectNone })
	var keys []string
	for _, t := range tasks {
		if t.UniqueKey != "" && t.State.Live() {
			keys = append(keys, t.UniqueKey)
		}
	}
	locks, err := r.client.Locks(ctx, keys)
	if err != nil {
		return err
	}
	now, err := r.client.Now(ctx)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		var lock *inspect.Lock
		if t.UniqueKey != "" && t.State.Live() {
			lock, locks = &locks[0], locks[1:]
		}
		if t.Prev == inspect.StateUnknown {
			r.result.Tasks++
		}
		r.collector.Task(t, lock, now)
	}
	return nil
}

// queuesInScope matches the patterns of --queue against the queues there are.
func (r *kindReader) queuesInScope(ctx context.Context) ([]string, error) {
	all, err := r.client.Queues(ctx)
	if err != nil || len(r.queues) == 0 {
		return all, err
	}
	for _, pattern := range r.queues {
		if !slices.ContainsFunc(all, func(q string) bool { return q == pattern || reconcile.MatchGlob(pattern, q) }) {
			return nil, &reconcile.QueueError{Pattern: pattern, Known: all}
		}
	}
	return slices.DeleteFunc(all, func(q string) bool { return !r.wantsQueue(q) }), nil
}

func (o *ttlCalcOptions) wantsQueue(q string) bool { return matchesAny(o.queues, q) }
func (o *ttlCalcOptions) wantsType(t string) bool  { return matchesAny(o.types, t) }

// matchesAny says whether a name is meant by the patterns; no pattern means all.
func matchesAny(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		return p == name || reconcile.MatchGlob(p, name)
	})
}
