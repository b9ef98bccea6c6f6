package demo

import "github.com/hibiken/asynq"

// identities are tasks whose IDs do not do what they were chosen for.
func identities() []*incident {
	return []*incident{
		{
			story: "done, and its ID stays taken until its retention ends", kind: "subscription:renew", id: "renew-300",
			payload: m{"subscription": 300, "period": "2026-11"},
			options: brief(asynq.Retention(aDay)), run: markByID, ends: "completed",
			// The client takes the lock before it learns that the ID is taken.
			morning: conflict(m{"subscription": 300, "period": "2026-12"}, asynq.Unique(aDay)),
		},
		{
			story: "waits in a group, under an ID that the handler will not see", kind: "invoice:remind", id: "remind-92",
			payload: m{"invoice": 92}, options: []asynq.Option{asynq.Group("customer-17")}, ends: "aggregating",
		},
	}
}
