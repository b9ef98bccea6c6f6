package demo

import (
	"errors"
	"time"

	"github.com/hibiken/asynq"
)

// ledgerless tasks are of types that no source or no rule guards.
func ledgerless() []*incident {
	return []*incident{
		{
			story: "idempotent by nature", kind: "search:index", payload: m{"doc": 17}, options: once(),
			run: fail(errors.New("index is read-only")), ends: "archived",
		},
		{
			story: "nothing guards it", kind: "wallet:topup", payload: m{"user": 7, "cents": 500},
			options: []asynq.Option{asynq.ProcessIn(time.Hour)}, ends: "scheduled",
		},
		{
			story: "only a lock guards it, and not for long enough", kind: "email:welcome", payload: m{"user": 7},
			options: []asynq.Option{asynq.Unique(time.Hour), asynq.ProcessIn(time.Hour)}, ends: "scheduled",
		},
		{
			story: "no rule speaks of it", kind: "legacy:sync", payload: m{"shard": 3}, options: once(),
			run: fail(errors.New("legacy: timeout talking to 10.0.4.17:8080")), ends: "archived",
		},
	}
}

// others are keyed by their task ID, by a claim, or by less than that.
func others() []*incident {
	return []*incident{
		{
			story: "success without a mark", kind: "invoice:send", payload: m{"invoice": 88},
			options: []asynq.Option{asynq.Retention(time.Hour)},
			run:     succeed, ends: "completed",
		},
		{
			story: "success with its mark", kind: "invoice:send", payload: m{"invoice": 89},
			options: []asynq.Option{asynq.Retention(time.Hour)}, run: markByID, ends: "completed",
		},
		{
			story: "an old run's mark", kind: "invoice:send", queue: "bulk", id: "invoice-2026-10", payload: m{"month": "2026-10"},
			before: []statement{yesterday("invoice-2026-10")}, ends: "pending",
		},
		{
			story: "one ID in two queues", kind: "invoice:remind", queue: "bulk", id: "remind-91", payload: m{"invoice": 91},
			ends: "pending",
		},
		{
			story: "the same ID in the other queue", kind: "invoice:remind", id: "remind-91", payload: m{"invoice": 91},
			options: []asynq.Option{asynq.ProcessIn(time.Hour)}, ends: "scheduled",
		},
		{
			story: "failed just now, by the report's own settle time", kind: "report:monthly", payload: m{"month": "2026-11"},
			options: once(), run: fail(errors.New("warehouse: query cancelled")), ends: "archived",
		},
		{
			story: "claimed, and nobody knows", kind: "transfer:send", payload: m{"transfer_id": "tr_51"},
			options: once(asynq.Timeout(30 * time.Minute)), run: claimThenFail("tr_51"), ends: "archived",
		},
		{
			story: "the claim of a dead attempt", kind: "transfer:send", payload: m{"transfer_id": "tr_52"},
			options: once(asynq.Timeout(time.Second)), run: claimThenFail("tr_52"), ends: "archived",
		},
		{
			story: "awarded twice", kind: "points:award", payload: m{"award_id": "aw_7"},
			options: once(), before: []statement{award("aw_7")}, run: awardThenFail("aw_7"), ends: "archived",
		},
		{
			story: "another payload under its key", kind: "webhook:deliver", payload: m{"delivery_id": "d_3", "body": "paid"},
			options: once(), before: []statement{webhook("d_3", []byte(`{"delivery_id":"d_3","body":"refused"}`))},
			run: fail(errors.New("webhook d_3 already delivered")), ends: "archived",
		},
	}
}
