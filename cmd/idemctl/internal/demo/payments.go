package demo

import (
	"context"
	"errors"
	"time"

	"github.com/hibiken/asynq"
)

var errBank = errors.New("bank: gateway answered 502")

// payments write their mark and their payment in one transaction, keyed by the
// event.
func payments() []*incident {
	event := func(id string) m { return m{"event_id": id, "amount": 4200} }
	return []*incident{
		{
			story: "the good case", kind: "payment:charge", queue: "payments", payload: event("evt_1000"),
			run: pay("evt_1000", nil),
		},
		{
			story: "timeout after the commit", kind: "payment:charge", queue: "payments", payload: event("evt_1001"),
			options: once(asynq.Timeout(time.Second)), run: payThenOverrun("evt_1001"), ends: "archived",
		},
		{
			story: "error after the commit", kind: "payment:charge", queue: "payments", payload: event("evt_1002"),
			options: once(), run: pay("evt_1002", errors.New("notify: connection reset by peer")), ends: "archived",
		},
		{
			story: "found its work done and returned the error", kind: "payment:charge", queue: "payments",
			payload: event("evt_1003"), options: once(),
			before: []statement{markEvent("evt_1003"), payment("evt_1003", 4200)},
			run:    pay("evt_1003", nil), ends: "archived",
		},
		{
			story: "failed before the commit", kind: "payment:charge", queue: "payments", payload: event("evt_1004"),
			options: once(), run: fail(errBank), ends: "archived",
		},
		{
			story: "panicked before the commit", kind: "payment:charge", queue: "payments", payload: event("evt_1005"),
			options: once(),
			run:     func(context.Context, *night, *incident) error { panic("nil map in currency table") }, ends: "archived",
		},
		{
			story: "error after the commit, will be retried", kind: "payment:charge", queue: "payments",
			payload: event("evt_1006"), run: pay("evt_1006", errors.New("notify: broken pipe")), ends: "retry",
		},
		{
			story: "enqueued again while done", kind: "payment:charge", queue: "payments", payload: event("evt_1000"),
			options: []asynq.Option{asynq.ProcessIn(time.Hour)},
			ends:    "scheduled",
		},
		{
			story: "done, and its worker is still at it", kind: "payment:charge", queue: "payments",
			payload: event("evt_1007"), run: payThenHang("evt_1007"), ends: "active",
		},
		{
			story: "died between commit and acknowledgement", kind: "payment:charge", queue: "doomed",
			payload: event("evt_1008"), run: payThenHang("evt_1008"), ends: "active",
		},
		{
			story: "died before the commit", kind: "payment:charge", queue: "doomed", payload: event("evt_1009"),
			run: func(_ context.Context, n *night, _ *incident) error { n.hang(); return nil }, ends: "active",
		},
		{
			story: "no event in the payload", kind: "payment:charge", queue: "payments", payload: m{"amount": 100},
			options: once(), run: fail(errors.New("missing event_id")), ends: "archived",
		},
		{
			story: "a clock in the payload let its twin past the lock", kind: "payment:charge", queue: "payments",
			payload: m{"event_id": "evt_1010", "amount": 700, "sent_at": "2026-11-30T03:12:07.118Z"},
			options: []asynq.Option{asynq.Unique(aMonth), asynq.ProcessIn(time.Hour)}, ends: "scheduled",
		},
		{
			story: "the twin", kind: "payment:charge", queue: "payments",
			payload: m{"event_id": "evt_1010", "amount": 700, "sent_at": "2026-11-30T03:12:07.204Z"},
			options: []asynq.Option{asynq.Unique(aMonth), asynq.ProcessIn(time.Hour)}, ends: "scheduled",
		},
		{
			story: "marked, and died before the payment", kind: "payment:refund", queue: "payments",
			payload: event("evt_1011"), options: once(), run: markOnly("evt_1011"), ends: "archived",
		},
	}
}
