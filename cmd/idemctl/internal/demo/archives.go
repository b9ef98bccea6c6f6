package demo

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// archives are tasks that nobody looks after until asynq deletes them.
func archives() []*incident {
	return []*incident{
		{
			// Before the next one, whose archiving trims it away.
			story: "trimmed from the archive, and its hash stays", kind: "invoice:send", payload: m{"invoice": 95},
			options: []asynq.Option{asynq.ProcessIn(time.Hour)}, ends: "scheduled",
			morning: steps(archiveByHand, archivedDaysAgo(91)),
		},
		{
			story: "parked by hand before it ever ran, and forgotten", kind: "invoice:send", payload: m{"invoice": 90},
			options: []asynq.Option{asynq.ProcessIn(time.Hour)}, ends: "scheduled",
			morning: steps(archiveByHand, archivedDaysAgo(84)),
		},
	}
}

// fullArchive is an archive that loses its oldest tasks soon.
func fullArchive() *incident {
	return &incident{
		story: "an upload in a loop", kind: "thumbnail:render", queue: "thumbnails", payload: m{"upload": 3},
		options: once(), run: fail(errors.New("image: unknown format")), ends: "archived",
		morning: crowd(9_000),
	}
}

// archivedDaysAgo is an archived task after so many days.
func archivedDaysAgo(days int) step {
	return func(ctx context.Context, n *night, i *incident) error {
		at := float64(time.Now().AddDate(0, 0, -days).Unix())
		return n.lab.client.ZAddXX(ctx, i.key("archived"), redis.Z{Score: at, Member: i.id}).Err()
	}
}

// crowd fills the archive with tasks like this one until it holds so many. They
// are copies of its hash: thousands of attempts would take the laboratory longer
// than anybody likes to wait.
func crowd(size int) step {
	return func(ctx context.Context, n *night, i *incident) error {
		fields, err := n.lab.client.HGetAll(ctx, i.hash()).Result()
		if err != nil {
			return err
		}
		score, err := n.lab.client.ZScore(ctx, i.key("archived"), i.id).Result()
		if err != nil {
			return err
		}
		copies := make([]*incident, size-1)
		for c := range copies {
			copies[c] = &incident{queue: i.queue, id: uuid.NewString()}
		}
		n.lab.Tasks += len(copies)
		for part := range slices.Chunk(copies, 1000) {
			pipe := n.lab.client.Pipeline()
			for _, c := range part {
				// IDs are of one length, so that the message stays well formed.
				msg := bytes.Replace([]byte(fields["msg"]), []byte(i.id), []byte(c.id), 1)
				pipe.HSet(ctx, c.hash(), "msg", msg, "state", fields["state"])
				pipe.ZAdd(ctx, c.key("archived"), redis.Z{Score: score, Member: c.id})
			}
			if _, err := pipe.Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}
