package demo

import (
	"context"
	"errors"
	"time"

	"github.com/hibiken/asynq"
)

// structures are tasks that their queue's own lists hide. What asynq does by
// itself or on an operator's order, it does here; what takes a crash in the
// middle of one of its scripts, or a Redis that loses keys, is written as those
// would leave it.
func structures() []*incident {
	return []*incident{
		{
			story: "Redis was full and evicted it while it waited", kind: "image:resize", payload: m{"image": 11},
			early: true, then: evict, ends: "active", // a worker took the ID, and found no task
		},
		{
			story: "evicted as well, and not due yet", kind: "image:resize", payload: m{"image": 12},
			options: []asynq.Option{asynq.ProcessIn(time.Hour)}, ends: "scheduled", morning: evict,
		},
		{
			story: "its result arrived when it was gone", kind: "image:resize", id: "resize-13", payload: m{"image": 13},
			run: succeed, morning: writeResult,
		},
		{
			story: "run by hand out of its group, failed, and went back", kind: "search:index", payload: m{"doc": 18},
			options: []asynq.Option{asynq.Group("shop-4")}, then: runNow,
			run: fail(delayed{errors.New("index is read-only"), 0}), ends: "aggregating",
		},
		{
			story: "paid, and its acknowledgement broke off", kind: "payment:charge", queue: "doomed",
			payload: m{"event_id": "evt_1012", "amount": 4200}, run: payThenHang("evt_1012"), ends: "active",
			morning: breakAcknowledgement,
		},
		{
			story: "taken by a worker, and the taking broke off", kind: "invoice:send", queue: "bulk", payload: m{"invoice": 93},
			ends: "pending", morning: breakTaking,
		},
		{
			story: "the same, one step further", kind: "invoice:send", queue: "bulk", payload: m{"invoice": 94},
			ends: "pending", morning: steps(breakTaking, becomeActive),
		},
		{
			story: "left behind by a queue that was removed", kind: "campaign:mail", queue: "blackfriday", payload: m{"campaign": 5},
			options: []asynq.Option{asynq.Group("segment-b")}, early: true, then: removeQueue, ends: "aggregating",
		},
	}
}

// evict loses the task's hash and keeps what points to it, as Redis does at its
// memory limit under an allkeys policy.
func evict(ctx context.Context, n *night, i *incident) error {
	return n.lab.client.Del(ctx, i.hash()).Err()
}

// breakAcknowledgement is asynq's done script (rdb.go: doneCmd) after its first
// step.
func breakAcknowledgement(ctx context.Context, n *night, i *incident) error {
	return n.lab.client.LRem(ctx, i.key("active"), 0, i.id).Err()
}

// breakTaking is asynq's dequeue script (rdb.go: dequeueCmd) after its first
// step.
func breakTaking(ctx context.Context, n *night, i *incident) error {
	pipe := n.lab.client.TxPipeline()
	pipe.LRem(ctx, i.key("pending"), 0, i.id)
	pipe.LPush(ctx, i.key("active"), i.id)
	_, err := pipe.Exec(ctx)
	return err
}

// becomeActive is what the dequeue script does next; its lease would follow.
func becomeActive(ctx context.Context, n *night, i *incident) error {
	pipe := n.lab.client.TxPipeline()
	pipe.HSet(ctx, i.hash(), "state", "active")
	pipe.HDel(ctx, i.hash(), "pending_since")
	_, err := pipe.Exec(ctx)
	return err
}

// writeResult is a result that was on its way when its task was acknowledged:
// asynq stores it without looking whether there is a task (rdb.go: WriteResult).
func writeResult(ctx context.Context, n *night, i *incident) error {
	return n.lab.client.HSet(ctx, i.hash(), "result", `{"width":640}`).Err()
}

// removeQueue deletes a queue that looks empty: DeleteQueue does not look into
// groups.
func removeQueue(_ context.Context, n *night, i *incident) error {
	return n.inspector.DeleteQueue(i.queue, false)
}

// runNow is an operator who does not wait for a group to fill. The failed
// attempt goes back to the group, which asynq has meanwhile forgotten (rdb.go:
// forwardCmd).
func runNow(_ context.Context, n *night, i *incident) error {
	return n.inspector.RunTask(i.queue, i.id)
}
