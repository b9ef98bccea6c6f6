package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
)

// startSchedulers starts what two deployments of one service start: the same
// periodic entry, twice. It never fires while the laboratory stands.
func (l *Lab) startSchedulers() error {
	for range 2 {
		s := asynq.NewSchedulerFromRedisClient(l.client, &asynq.SchedulerOpts{
			Logger: silence{}, LogLevel: asynq.FatalLevel, HeartbeatInterval: 2 * time.Second,
		})
		l.schedulers = append(l.schedulers, s)
		if _, err := s.Register("@every 24h", asynq.NewTask("report:daily", []byte(`{"store":"north"}`))); err != nil {
			return fmt.Errorf("registering the daily report: %w", err)
		}
		if err := s.Start(); err != nil {
			return fmt.Errorf("starting a scheduler: %w", err)
		}
	}
	return nil
}

// scheduled waits until both schedulers have shown what they have registered.
func (l *Lab) scheduled(ctx context.Context) error {
	return until(ctx, "the schedulers' first beat", func() (bool, error) {
		shown, err := l.client.ZCard(ctx, "asynq:schedulers").Result()
		return shown == int64(len(l.schedulers)), err
	})
}
