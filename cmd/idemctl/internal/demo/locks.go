package demo

import (
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
)

// aDay is a lock that outlives every attempt of a task with brief's retries.
const aDay = 24 * time.Hour

// aMonth outlives asynq's default of 25 retries, which take three weeks.
const aMonth = 30 * 24 * time.Hour

// brief is a task that is retried a few times at most, so that a lock of a day
// is long enough for it.
func brief(more ...asynq.Option) []asynq.Option {
	return append([]asynq.Option{asynq.MaxRetry(3), asynq.Timeout(time.Minute)}, more...)
}

// locks are the ways in which a uniqueness lock guards something else than its
// task.
func locks() []*incident {
	errWarehouse := errors.New("warehouse: too many connections")
	return []*incident{
		{
			story: "refused for good, and its lock refuses the next try", kind: "subscription:renew",
			payload: m{"subscription": 301, "period": "2026-11"},
			options: brief(asynq.Unique(aDay)), run: fail(fmt.Errorf("card expired: %w", asynq.SkipRetry)), ends: "archived",
		},
		{
			story: "its lock was shorter than its first retry", kind: "report:weekly", payload: m{"week": 47, "store": "north"},
			options: []asynq.Option{asynq.Unique(time.Second)}, run: fail(errWarehouse), ends: "retry",
			morning: outliveLock,
		},
		{
			story: "and one that was enqueued again meanwhile", kind: "report:weekly", payload: m{"week": 47, "store": "south"},
			options: []asynq.Option{asynq.Unique(time.Second)}, run: fail(errWarehouse), ends: "retry",
			morning: steps(outliveLock, enqueueAgain(brief(asynq.Unique(aDay), asynq.ProcessIn(time.Hour))...)),
		},
		{
			story: "the payload was corrected after it was enqueued", kind: "subscription:renew",
			payload: m{"subscription": 302, "plan": "basic"},
			options: brief(asynq.Unique(aDay), asynq.ProcessIn(time.Hour)), ends: "scheduled",
			morning: correct(m{"subscription": 302, "plan": "family"}),
		},
		{
			story: "greeted from one queue", kind: "email:welcome", payload: m{"user": 8},
			options: brief(asynq.Unique(aDay), asynq.ProcessIn(time.Hour)), ends: "scheduled",
		},
		{
			story: "and greeted from another", kind: "email:welcome", queue: "bulk", payload: m{"user": 8},
			options: brief(asynq.Unique(aDay), asynq.ProcessIn(time.Hour)), ends: "scheduled",
		},
		{
			story: "deleted with all that was pending, but for its lock", kind: "email:newsletter", queue: "bulk",
			payload: m{"issue": 112}, options: brief(asynq.Unique(aDay)),
			early: true, then: deletePending,
		},
		{
			story: "its queue was paused for the night", kind: "report:stock", queue: "nightly", payload: m{"store": "north"},
			options: brief(asynq.Unique(6 * time.Hour)), early: true, then: pause, ends: "pending",
		},
	}
}
