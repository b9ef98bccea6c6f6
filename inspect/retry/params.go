package retry

import (
	"errors"
	"fmt"
	"math"
)

// Params describe one task and the servers that run it. Start from
// DefaultParams: the zero value means no retries and no known policy.
type Params struct {
	MaxRetry int    // asynq.MaxRetry; at most MaxRetries here
	Delay    Policy // the server's RetryDelayFunc

	Exec            Exec
	QueueWait       Range   // from pending to a worker, each time
	ForwardInterval Seconds // asynq.Config.DelayedTaskCheckInterval; 0: no wait

	Timeout   *Seconds // asynq.Timeout as given by the client; nil: not given
	Deadline  *Seconds // asynq.Deadline, counted from t0; nil: none
	ProcessIn Seconds  // ProcessIn, or ProcessAt minus t0; not positive: at once

	// Crashes is how many attempts may be lost with their worker. It is capped
	// at the number of attempts.
	Crashes int
	// Requeues is how many graceful shutdowns may push the task back.
	Requeues          int
	RequeuesUnlimited bool
	// ShutdownTimeout is asynq.Config.ShutdownTimeout. A run that is pushed back
	// is bounded by its own timeout whatever this is, so no bound depends on it.
	ShutdownTimeout Seconds

	UniqueTTL *Seconds // asynq.Unique; nil: not unique
	Period    Seconds  // how soon the same work may legally come again; 0: not told

	Group string // asynq.Group; "": none
	// GroupMaxDelay is asynq.Config.GroupMaxDelay; 0 is no limit.
	GroupMaxDelay Seconds

	// IsFailureMayBeFalse says that the server's IsFailure can return false.
	IsFailureMayBeFalse bool

	QueuePaused bool
	RedisDown   bool
	Unserved    bool // no live server has the queue in its configuration
}

// Exec is how long one run takes, before Timeout and Deadline cut it.
type Exec struct {
	Min     Seconds
	Typical *Seconds // a typical failing run; nil: as long as the longest
	Max     *Seconds // nil: until Timeout or Deadline ends it
}

// Range is a time anywhere between two ends.
type Range struct{ Min, Max Seconds }

// MaxRetries is the largest MaxRetry this package computes with. A larger one is
// in effect no bound at all: with a delay of one second it is hours, with the
// default policy it is thousands of years and an overflow.
const MaxRetries = 10_000

// asynq's own defaults (client.go: defaultMaxRetry, defaultTimeout; server.go:
// defaultDelayedTaskCheckInterval).
const (
	defaultMaxRetry        = 25
	defaultTimeout         = 30 * minute
	defaultForwardInterval = Seconds(5)
)

// ErrTooManyRetries is wrapped when MaxRetry exceeds MaxRetries.
var ErrTooManyRetries = errors.New("in effect no bound")

// DefaultParams are those of a task enqueued without options on a server
// without options: 25 retries, 30 minutes, one live server, no crash.
func DefaultParams() Params {
	return Params{MaxRetry: defaultMaxRetry, Delay: Default(), ForwardInterval: defaultForwardInterval}
}

// tooLong refuses times that no task has; it keeps every sum finite.
const tooLong Seconds = 1e12

// check refuses nonsense; the error names the parameter as JSON spells it.
func (p Params) check() error {
	if p.MaxRetry > MaxRetries {
		return fmt.Errorf("max_retry %d is above %d: %w", p.MaxRetry, MaxRetries, ErrTooManyRetries)
	}
	for _, c := range []struct {
		name  string
		value int
	}{{"max_retry", p.MaxRetry}, {"crashes", p.Crashes}, {"requeues", p.Requeues}} {
		if c.value < 0 {
			return fmt.Errorf("%s %d is negative", c.name, c.value)
		}
	}
	if p.Requeues > MaxRetries {
		return fmt.Errorf("requeues %d is above %d (write null for no limit)", p.Requeues, MaxRetries)
	}
	if p.Delay.Kind() == KindUnknown {
		return errors.New("delay is missing (write default, fixed(60s), …)")
	}
	for _, t := range p.times() {
		if err := t.check(); err != nil {
			return err
		}
	}
	return p.checkOrder()
}

// named is a time with the name that errors call it by.
type named struct {
	name   string
	value  Seconds
	signed bool // may be negative
}

func (p Params) times() []named {
	list := []named{
		{"exec.min", p.Exec.Min, false},
		{"queue_wait.min", p.QueueWait.Min, false},
		{"queue_wait.max", p.QueueWait.Max, false},
		{"forward_interval_s", p.ForwardInterval, false},
		{"process_in_s", p.ProcessIn, true},
		{"shutdown_timeout_s", p.ShutdownTimeout, false},
		{"period_s", p.Period, false},
		{"group_max_delay_s", p.GroupMaxDelay, false},
	}
	for _, o := range []struct {
		name   string
		value  *Seconds
		signed bool
	}{
		{"exec.typical", p.Exec.Typical, false},
		{"exec.max", p.Exec.Max, false},
		{"timeout_s", p.Timeout, false},
		{"deadline_s", p.Deadline, true},
		{"unique_ttl_s", p.UniqueTTL, true}, // LockTTL has asynq's own words for this
	} {
		if o.value != nil {
			list = append(list, named{o.name, *o.value, o.signed})
		}
	}
	return list
}

func (t named) check() error {
	switch v := t.value; {
	case math.IsNaN(float64(v)):
		return fmt.Errorf("%s is not a number", t.name)
	case v < 0 && !t.signed:
		return fmt.Errorf("%s %s is negative", t.name, v)
	case v > tooLong || v < -tooLong:
		return fmt.Errorf("%s is beyond %g seconds", t.name, float64(tooLong))
	}
	return nil
}

func (p Params) checkOrder() error {
	e, q := p.Exec, p.QueueWait
	switch {
	case q.Min > q.Max:
		return fmt.Errorf("queue_wait.min %s is above queue_wait.max %s", q.Min, q.Max)
	case e.Max != nil && e.Min > *e.Max:
		return fmt.Errorf("exec.min %s is above exec.max %s", e.Min, *e.Max)
	case e.Typical != nil && *e.Typical < e.Min:
		return fmt.Errorf("exec.typical %s is below exec.min %s", *e.Typical, e.Min)
	case e.Typical != nil && e.Max != nil && *e.Typical > *e.Max:
		return fmt.Errorf("exec.typical %s is above exec.max %s", *e.Typical, *e.Max)
	}
	return nil
}

// Scheduled says whether the task first waits in the scheduled set.
func (p Params) Scheduled() bool { return p.ProcessIn > 0 }

// aggregated says whether the task waits in a group: asynq stores no group for a
// scheduled task, which then reaches the handler alone (rdb.go: scheduleCmd).
func (p Params) aggregated() bool { return p.Group != "" && !p.Scheduled() }

// EffectiveTimeout is the timeout a worker applies, in whole seconds, after
// client.go (EnqueueContext: default, int64(timeout.Seconds())) and processor.go
// (computeDeadline: nothing stored means 30 minutes). ok is false when only the
// deadline ends a run.
func (p Params) EffectiveTimeout() (timeout Seconds, ok bool) {
	if p.Timeout != nil {
		if whole := Seconds(math.Floor(float64(*p.Timeout))); whole >= 1 {
			return whole, true
		}
	}
	if p.Deadline == nil {
		return defaultTimeout, true
	}
	return 0, false
}
