package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
)

const parkedStory = "parked by hand before it ever ran"

// m is a JSON object.
type m map[string]any

// once is a task that gets a single attempt.
func once(more ...asynq.Option) []asynq.Option {
	return append([]asynq.Option{asynq.MaxRetry(0)}, more...)
}

var errBank = errors.New("bank: gateway answered 502")

// incidents are the bad night's stories: at least one for every finding.
func incidents() []*incident {
	return append(append(payments(), ledgerless()...), others()...)
}

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
			before:  nil, ends: "scheduled",
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
			options: []asynq.Option{asynq.Unique(time.Hour), asynq.ProcessIn(time.Hour)}, ends: "scheduled",
		},
		{
			story: "the twin", kind: "payment:charge", queue: "payments",
			payload: m{"event_id": "evt_1010", "amount": 700, "sent_at": "2026-11-30T03:12:07.204Z"},
			options: []asynq.Option{asynq.Unique(time.Hour), asynq.ProcessIn(time.Hour)}, ends: "scheduled",
		},
		{
			story: "marked, and died before the payment", kind: "payment:refund", queue: "payments",
			payload: event("evt_1011"), options: once(), run: markOnly("evt_1011"), ends: "archived",
		},
	}
}

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
			story: "only a lock guards it", kind: "email:welcome", payload: m{"user": 7},
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
			run:     func(context.Context, *night, *incident) error { return nil }, ends: "completed",
		},
		{
			story: "success with its mark", kind: "invoice:send", payload: m{"invoice": 89},
			options: []asynq.Option{asynq.Retention(time.Hour)}, run: markByID, ends: "completed",
		},
		{
			story: parkedStory, kind: "invoice:send", payload: m{"invoice": 90},
			options: []asynq.Option{asynq.ProcessIn(time.Hour)}, ends: "scheduled",
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

// pay is the handler as it should be, but for what it returns in the end.
func pay(event string, after error) handler {
	return func(ctx context.Context, n *night, _ *incident) error {
		if err := n.desk.exec(ctx, markEvent(event), payment(event, 4200)); err != nil {
			return fmt.Errorf("charge: %w", err)
		}
		return after
	}
}

// payThenOverrun commits, and then does not mind that its time is up.
func payThenOverrun(event string) handler {
	return func(ctx context.Context, n *night, i *incident) error {
		if err := pay(event, nil)(ctx, n, i); err != nil {
			return err
		}
		<-ctx.Done()
		time.Sleep(50 * time.Millisecond)
		return nil
	}
}

func payThenHang(event string) handler {
	return func(ctx context.Context, n *night, i *incident) error {
		if err := pay(event, nil)(ctx, n, i); err != nil {
			return err
		}
		n.hang()
		return nil
	}
}

func fail(err error) handler {
	return func(context.Context, *night, *incident) error { return err }
}

// markOnly writes its two rows in two transactions, and dies between them.
func markOnly(event string) handler {
	return func(ctx context.Context, n *night, _ *incident) error {
		if err := n.desk.exec(ctx, markEvent(event)); err != nil {
			return err
		}
		return errors.New("refund: connection reset before the payment row")
	}
}

func markByID(ctx context.Context, n *night, i *incident) error {
	return n.desk.exec(ctx, markTask(i.id))
}

func claimThenFail(transfer string) handler {
	return func(ctx context.Context, n *night, _ *incident) error {
		if err := n.desk.exec(ctx, claim(transfer)); err != nil {
			return err
		}
		return errors.New("transfer: upstream closed the stream")
	}
}

func awardThenFail(id string) handler {
	return func(ctx context.Context, n *night, _ *incident) error {
		if err := n.desk.exec(ctx, award(id)); err != nil {
			return err
		}
		return errors.New("points: cache refresh failed")
	}
}
