package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/encoding/protowire"
)

// Schedule is a periodic task that a running asynq scheduler has registered.
type Schedule struct {
	ID        string // new with every registration
	Scheduler string // host:pid:uuid
	Spec      string // cron expression, or @every
	Type      string
	Payload   []byte
	// Options are the enqueue options as asynq prints them, such as
	// Queue("low"); TaskID and Group are among them, which
	// Inspector.SchedulerEntries loses. Options given to asynq.NewTask are not
	// stored anywhere.
	Options []string
	Next    time.Time
	Prev    time.Time // zero: not yet enqueued
}

// Schedules lists the entries of all running schedulers, sorted by type, spec
// and ID. Like Servers it leaves expired entries out and alone, and passes over
// what it cannot decode.
func (c *Client) Schedules(ctx context.Context) ([]Schedule, error) {
	schedules, err := c.schedules(ctx)
	return schedules, c.fault(ctx, "listing schedules", err)
}

func (c *Client) schedules(ctx context.Context) ([]Schedule, error) {
	entries, err := c.unexpired(ctx, keySchedulers)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	pipe := c.redis.Pipeline()
	lists := make([]*redis.StringSliceCmd, len(entries))
	for i, e := range entries {
		lists[i] = pipe.LRange(ctx, e.key, 0, -1)
	}
	if err := exec(ctx, pipe); err != nil {
		return nil, err
	}
	var schedules []Schedule
	for i, e := range entries {
		name := strings.TrimSuffix(strings.TrimPrefix(e.key, keySchedulers+":{"), "}")
		for _, v := range lists[i].Val() {
			if s, err := decodeSchedule([]byte(v)); err == nil {
				s.Scheduler = name
				schedules = append(schedules, s)
			}
		}
	}
	slices.SortFunc(schedules, func(a, b Schedule) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Spec, b.Spec), cmp.Compare(a.ID, b.ID))
	})
	return schedules, nil
}

// decodeSchedule reads a SchedulerEntry (asynq internal/proto/asynq.proto).
func decodeSchedule(b []byte) (Schedule, error) {
	var s Schedule
	err := eachField(b, func(number protowire.Number, _ uint64, v []byte) (err error) {
		switch number {
		case 1:
			s.ID = string(v)
		case 2:
			s.Spec = string(v)
		case 3:
			s.Type = string(v)
		case 4:
			s.Payload = slices.Clone(v)
		case 5:
			s.Options = append(s.Options, string(v))
		case 6:
			s.Next, err = timestamp(v)
		case 7:
			s.Prev, err = timestamp(v)
		}
		return err
	})
	return s, err
}
