package demo

import (
	"context"
	"crypto/md5"
	"database/sql"
	"encoding/hex"
	"time"
)

// desk is where handlers write.
type desk struct{ db *sql.DB }

func stamp() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

func (d desk) exec(ctx context.Context, statements ...statement) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, s := range statements {
		if _, err := tx.ExecContext(ctx, s.text, s.args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

type statement struct {
	text string
	args []any
}

func markTask(id string) statement {
	return statement{`INSERT INTO processed_tasks (task_id, processed_at) VALUES (?, ?)`, []any{id, stamp()}}
}

func markEvent(event string) statement {
	return statement{`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?)`, []any{event, stamp()}}
}

func payment(event string, amount int) statement {
	return statement{`INSERT INTO payments (event_id, amount, created_at) VALUES (?, ?, ?)`, []any{event, amount, stamp()}}
}

func claim(transfer string) statement {
	return statement{`INSERT INTO transfers (transfer_id, status, claimed_at) VALUES (?, 'claimed', ?)`, []any{transfer, stamp()}}
}

func award(id string) statement {
	return statement{`INSERT INTO awards (award_id, points, awarded_at) VALUES (?, 100, ?)`, []any{id, stamp()}}
}

func webhook(delivery string, payload []byte) statement {
	sum := md5.Sum(payload)
	return statement{
		`INSERT INTO webhooks (delivery_id, payload_md5, received_at) VALUES (?, ?, ?)`,
		[]any{delivery, hex.EncodeToString(sum[:]), stamp()},
	}
}

// yesterday is a mark that an earlier run of the same task ID left behind.
func yesterday(id string) statement {
	at := time.Now().UTC().Add(-24 * time.Hour).Format("2006-01-02T15:04:05.000Z")
	return statement{`INSERT INTO processed_tasks (task_id, processed_at) VALUES (?, ?)`, []any{id, at}}
}
