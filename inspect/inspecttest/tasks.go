package inspecttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
)

// Outcome is what a real worker is to do with a task, or where a real client is
// to leave it.
type Outcome uint8

// The outcomes, one for each state and way into it.
const (
	Pending     Outcome = iota // enqueued; no worker takes it
	Scheduled                  // enqueued for an hour from now, unless the options say when
	Aggregating                // enqueued into a group, "g" unless the options name one
	Retry                      // failed once, to be retried in an hour
	Archived                   // failed, with asynq.SkipRetry
	Completed                  // succeeded; retained for an hour, unless the options say how long
	Active                     // its handler is running until the test ends
)

// Spec is a task to make.
type Spec struct {
	Outcome Outcome
	Queue   string // "": default
	ID      string // "": a new UUID
	Type    string // "": test:task
	Payload []byte
	Headers map[string]string
	Options []asynq.Option

	Err    error  // what the handler returns for Retry and Archived; nil: "handler failed"
	Result []byte // what the handler writes as the task's result; nil: nothing
}

func (s Spec) queue() string {
	if s.Queue == "" {
		return "default"
	}
	return s.Queue
}

func (s Spec) worked() bool {
	return s.Outcome == Retry || s.Outcome == Archived || s.Outcome == Completed
}

// Make has asynq's client and server bring every task into its state, and
// returns the references in the same order. A queue that workers are needed for
// must have nothing pending, which they would take too.
func (s *Server) Make(specs ...Spec) []inspect.Ref {
	s.t.Helper()
	for i := range specs {
		if specs[i].ID == "" {
			specs[i].ID = uuid.NewString()
		}
	}
	s.work(specs)
	s.activate(specs)
	refs := make([]inspect.Ref, len(specs))
	for i, spec := range specs {
		if !spec.worked() && spec.Outcome != Active {
			s.enqueue(spec)
		}
		refs[i] = inspect.Ref{Queue: spec.queue(), ID: spec.ID}
	}
	return refs
}

// enqueue uses a client of its own each time: asynq's remembers queues that it
// has published.
func (s *Server) enqueue(spec Spec) {
	s.t.Helper()
	opts := []asynq.Option{asynq.Queue(spec.queue()), asynq.TaskID(spec.ID)}
	switch spec.Outcome {
	case Scheduled:
		opts = append(opts, asynq.ProcessIn(time.Hour))
	case Aggregating:
		opts = append(opts, asynq.Group("g"))
	case Completed:
		opts = append(opts, asynq.Retention(time.Hour))
	}
	kind := spec.Type
	if kind == "" {
		kind = "test:task"
	}
	task := asynq.NewTaskWithHeaders(kind, spec.Payload, spec.Headers)
	client := asynq.NewClient(s.AsynqOpt())
	defer client.Close()
	if _, err := client.Enqueue(task, append(opts, spec.Options...)...); err != nil {
		s.t.Fatalf("enqueueing task %q: %v", spec.ID, err)
	}
}

// work enqueues what a worker is to finish and runs one until it has.
func (s *Server) work(specs []Spec) {
	s.t.Helper()
	byID := make(map[string]Spec)
	queues := make(map[string]int)
	for _, spec := range specs {
		if spec.worked() {
			byID[spec.ID] = spec
			queues[spec.queue()] = 1
		}
	}
	s.mustBeIdle(queues)
	for _, spec := range byID {
		s.enqueue(spec)
	}
	if len(byID) == 0 {
		return
	}
	var left sync.WaitGroup
	left.Add(len(byID))
	stop := s.Serve(queues, 8, func(_ context.Context, t *asynq.Task) error {
		defer left.Done()
		return byID[t.ResultWriter().TaskID()].finish(t)
	})
	left.Wait()
	stop() // waits for the tasks to be acknowledged
}

func (s *Server) mustBeIdle(queues map[string]int) {
	s.t.Helper()
	for q := range queues {
		if n := s.Client().LLen(s.ctx(), key(q, "pending")).Val(); n > 0 {
			s.t.Fatalf("%d tasks are pending in queue %q, which the workers would take", n, q)
		}
	}
}

func (s Spec) finish(t *asynq.Task) error {
	if s.Result != nil {
		if _, err := t.ResultWriter().Write(s.Result); err != nil {
			return err
		}
	}
	err := s.Err
	if err == nil {
		err = errors.New("handler failed")
	}
	switch s.Outcome {
	case Retry:
		return err
	case Archived:
		return fmt.Errorf("%w: %w", err, asynq.SkipRetry)
	default:
		return nil
	}
}

// activate has workers that hold the active tasks until the test ends.
func (s *Server) activate(specs []Spec) {
	s.t.Helper()
	queues := make(map[string]int)
	n := 0
	for _, spec := range specs {
		if spec.Outcome == Active {
			queues[spec.queue()] = 1
			n++
		}
	}
	if n == 0 {
		return
	}
	s.mustBeIdle(queues)
	for _, spec := range specs {
		if spec.Outcome == Active {
			s.enqueue(spec)
		}
	}
	release := make(chan struct{})
	var started sync.WaitGroup
	started.Add(n)
	stop := s.Serve(queues, n, func(context.Context, *asynq.Task) error {
		started.Done()
		<-release
		return nil
	})
	s.t.Cleanup(func() {
		close(release)
		stop()
	})
	started.Wait()
}

// Serve runs a real asynq server with a retry delay of an hour. stop shuts it
// down and waits; it may be called again, and is when the test ends.
func (s *Server) Serve(queues map[string]int, concurrency int, handler asynq.HandlerFunc) (stop func()) {
	s.t.Helper()
	return s.ServeConfig(asynq.Config{
		Queues: queues, Concurrency: concurrency,
		RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return time.Hour },
	}, handler)
}

// ServeConfig is Serve with a configuration of the test's own. It logs nothing,
// and looks for work more often than by default. When it returns, Redis knows of
// the server.
func (s *Server) ServeConfig(config asynq.Config, handler asynq.HandlerFunc) (stop func()) {
	s.t.Helper()
	config.Logger = silent{}
	if config.TaskCheckInterval == 0 {
		config.TaskCheckInterval = 10 * time.Millisecond
	}
	if config.ShutdownTimeout == 0 {
		config.ShutdownTimeout = time.Minute // a handler that is slow is not one that hangs
	}
	srv := asynq.NewServer(s.AsynqOpt(), config)
	before := s.servers()
	if err := srv.Start(handler); err != nil {
		s.t.Fatalf("starting asynq server: %v", err)
	}
	stop = sync.OnceFunc(srv.Shutdown)
	s.t.Cleanup(stop)
	s.must(eventually(func() error {
		if !slices.ContainsFunc(s.servers(), func(one string) bool { return !slices.Contains(before, one) }) {
			return errors.New("the asynq server has not said that it is there")
		}
		return nil
	}))
	return stop
}

// servers are those that have written a heartbeat (asynq rdb.go:
// WriteServerState).
func (s *Server) servers() []string {
	s.t.Helper()
	all, err := s.Client().ZRange(s.ctx(), "asynq:servers", 0, -1).Result()
	s.must(err)
	return all
}

// Waiting is how many tasks of a queue are running or still to run, at one instant:
// read one after the other, the lists may each be empty while a task goes from one
// to the next. Groups are not looked at.
func (s *Server) Waiting(queue string) int64 {
	s.t.Helper()
	var counts []*redis.IntCmd
	_, err := s.Client().TxPipelined(s.ctx(), func(p redis.Pipeliner) error {
		counts = []*redis.IntCmd{
			p.LLen(s.ctx(), key(queue, "pending")), p.LLen(s.ctx(), key(queue, "active")),
			p.ZCard(s.ctx(), key(queue, "scheduled")), p.ZCard(s.ctx(), key(queue, "retry")),
		}
		return nil
	})
	if err != nil {
		s.t.Errorf("counting the tasks of queue %q: %v", queue, err)
	}
	waiting := int64(0)
	for _, n := range counts {
		waiting += n.Val()
	}
	return waiting
}

// Inspector is asynq's own, closed with the test.
func (s *Server) Inspector() *asynq.Inspector {
	i := asynq.NewInspector(s.AsynqOpt())
	s.t.Cleanup(func() { _ = i.Close() })
	return i
}

// silent is a logger that says nothing.
type silent struct{}

func (silent) Debug(...any) {}
func (silent) Info(...any)  {}
func (silent) Warn(...any)  {}
func (silent) Error(...any) {}
func (silent) Fatal(...any) {}
