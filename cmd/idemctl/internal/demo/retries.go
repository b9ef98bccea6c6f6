package demo

import (
	"errors"
	"time"

	"github.com/hibiken/asynq"
)

// errBusy is what a provider's rate limit answers. The servers' IsFailure calls
// it no failure.
var errBusy = errors.New("sms: provider answered 429")

// delayed is an error whose next attempt comes after a delay of its own.
type delayed struct {
	error
	after time.Duration
}

func (d delayed) Unwrap() error { return d.error }

// retryDelay is the servers' RetryDelayFunc: asynq's default unless the error
// says otherwise.
func retryDelay(n int, err error, t *asynq.Task) time.Duration {
	var d delayed
	if errors.As(err, &d) {
		return d.after
	}
	return asynq.DefaultRetryDelayFunc(n, err, t)
}

// isFailure is the servers' IsFailure.
func isFailure(err error) bool { return !errors.Is(err, errBusy) }

// retries are tasks that are retried in another way than anybody thinks.
func retries() []*incident {
	return []*incident{
		{
			story: "failures that nobody counts", kind: "sms:send", id: "sms-7781", payload: m{"order": 7781},
			run: fail(delayed{errBusy, time.Minute}), ends: "retry",
		},
		{
			story: "a delay that the declared policy does not know", kind: "sms:send", id: "sms-7782", payload: m{"order": 7782},
			run: fail(delayed{errors.New("sms: provider is down for maintenance"), 6 * time.Hour}), ends: "retry",
		},
		{
			story: "due long after its deadline", kind: "sms:send", id: "otp-90210", payload: m{"login": 90210},
			options: []asynq.Option{asynq.Deadline(time.Now().Add(time.Second)), asynq.ProcessIn(time.Hour)}, ends: "scheduled",
		},
	}
}
