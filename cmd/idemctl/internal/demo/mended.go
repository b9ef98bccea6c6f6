package demo

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// mended is the handler after the night's bugs were found: it does the task's
// work, and its mark with it in one transaction, unless it finds that done.
func (n *night) mended(ctx context.Context, i *incident) error {
	switch {
	case strings.HasPrefix(i.kind, "payment:"):
		var p struct {
			EventID string `json:"event_id"`
			Amount  int    `json:"amount"`
		}
		if err := json.Unmarshal(i.raw, &p); err != nil {
			return err
		}
		return n.desk.once(ctx, markEvent(p.EventID), payment(p.EventID, p.Amount))
	case i.kind == "search:index":
		return nil // idempotent by nature: it leaves no row
	}
	return n.desk.once(ctx, markTask(i.id))
}

// Rest waits until the workers have taken and done what waits for them, for a few
// seconds at most.
func (l *Lab) Rest(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_ = until(ctx, "the queues to be empty", func() (bool, error) {
		waiting := int64(0)
		for _, queue := range []string{"default", "payments"} {
			n, err := l.client.LLen(ctx, "asynq:{"+queue+"}:pending").Result()
			if err != nil {
				return false, err
			}
			waiting += n
		}
		return waiting == 0, nil
	})
	select {
	case <-ctx.Done():
	case <-time.After(500 * time.Millisecond): // what was taken last is done by then
	}
}

// once writes the mark and what goes with it, or nothing where the mark is there.
func (d desk) once(ctx context.Context, mark statement, effects ...statement) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	marked, err := tx.ExecContext(ctx, mark.text+" ON CONFLICT DO NOTHING", mark.args...)
	if err != nil {
		return err
	}
	if rows, err := marked.RowsAffected(); err != nil || rows == 0 {
		return err
	}
	for _, s := range effects {
		if _, err := tx.ExecContext(ctx, s.text, s.args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
