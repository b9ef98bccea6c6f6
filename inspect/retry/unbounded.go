package retry

import "fmt"

// ReasonCode is why a task's life has no bound. The zero value is ReasonUnknown.
type ReasonCode uint8

const (
	ReasonUnknown     ReasonCode = iota
	ReasonUncounted              // IsFailure may return false
	ReasonPaused                 // the queue is paused
	ReasonUnserved               // no server takes tasks from the queue
	ReasonRedisDown              // Redis does not answer
	ReasonRequeues               // any number of deploys
	ReasonAggregating            // waiting in a group without GroupMaxDelay
	ReasonRetries                // MaxRetry above MaxRetries
)

var reasonNames = [...]string{"unknown", "uncounted", "paused", "unserved", "redis-down", "requeues", "aggregating", "retries"}

func (c ReasonCode) String() string {
	if int(c) < len(reasonNames) {
		return reasonNames[c]
	}
	return reasonNames[ReasonUnknown]
}

// Reason is one reason, with words for people.
type Reason struct {
	Code ReasonCode
	Text string
}

// Unbounded lists why a task enqueued with these parameters has no bound, nil
// when it has one.
func (p Params) Unbounded() []Reason { return p.unboundedFrom(0, p.aggregated()) }

// unboundedFrom is Unbounded for a task with r counted failures. An exhausted
// task is archived whatever IsFailure says (processor.go: handleFailedMessage).
func (p Params) unboundedFrom(r int, aggregating bool) []Reason {
	var out []Reason
	add := func(when bool, code ReasonCode, text string) {
		if when {
			out = append(out, Reason{code, text})
		}
	}
	add(p.IsFailureMayBeFalse && r < p.MaxRetry, ReasonUncounted,
		"non-failure errors never count; loops while Retried < MaxRetry")
	add(p.QueuePaused, ReasonPaused, "paused queue: no dequeue")
	add(p.Unserved, ReasonUnserved, "no server consumes the queue")
	add(p.RedisDown, ReasonRedisDown, "redis is down: nothing moves")
	add(p.RequeuesUnlimited, ReasonRequeues, "unlimited deploys: a graceful shutdown requeues without counting a retry")
	add(aggregating && p.GroupMaxDelay <= 0, ReasonAggregating,
		"aggregating: GroupMaxDelay 0 = no limit; lock of an aggregated task is never released early")
	add(p.MaxRetry > MaxRetries, ReasonRetries,
		fmt.Sprintf("max_retry %d is in effect no limit (above %d)", p.MaxRetry, MaxRetries))
	return out
}

// overflows says whether a retry of this task makes DefaultRetryDelayFunc
// overflow.
func (p Params) overflows() bool {
	return p.Delay.Kind() == KindDefault && p.MaxRetry > overflowsAt
}

// overflowText is what happens then.
const overflowText = "DefaultRetryDelayFunc(310..) overflows int64 ns and turns negative: immediate retries"
