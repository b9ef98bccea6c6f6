package pgledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemctl/idemctl/reconcile"
)

// A replica has seen what the primary had committed at an instant once it has
// replayed the WAL up to the primary's insert position of that instant. The
// insert position, not the flushed one: with synchronous_commit off a commit is
// visible, and answered to its client, before it is flushed.

const (
	// fenceLimit is how long a replica may take to catch up before its answers
	// count as lagging.
	fenceLimit = 10 * time.Second
	// firstPoll and longestPoll bound the pause between two looks at the replay.
	firstPoll   = 2 * time.Millisecond
	longestPoll = 100 * time.Millisecond
)

// position is a place in the WAL of a cluster.
type position struct {
	lsn    string
	system string // the cluster's system identifier
}

// primaryLedger connects to the primary where it is not connected yet.
func (l *Ledger) primaryLedger(ctx context.Context) (*Ledger, error) {
	l.primary.Lock()
	defer l.primary.Unlock()
	if l.primary.ledger != nil {
		return l.primary.ledger, nil
	}
	p, err := open(ctx, Options{Name: l.name + " (primary)", DSN: l.primary.dsn, Timeout: l.timeout, MaxConns: 2})
	if err != nil {
		return nil, err
	}
	l.primary.ledger = p
	return p, nil
}

// checkPrimary says early what a fence would find: that the primary cannot be
// reached, or is no primary of this replica.
func (l *Ledger) checkPrimary(ctx context.Context) error {
	primary, err := l.primaryLedger(ctx)
	if err != nil {
		return err
	}
	target, err := primary.written(ctx)
	if err != nil {
		return err
	}
	return l.view(ctx, func(ctx context.Context, tx pgx.Tx) error {
		system, _, err := replayed(ctx, tx.Conn().PgConn(), target.lsn)
		if err == nil && system != target.system {
			return l.otherCluster(primary)
		}
		return err
	})
}

func (l *Ledger) otherCluster(primary *Ledger) error {
	return l.errorf(reconcile.LedgerBadDSN, primary.server, "name the primary that this replica follows",
		"the primary is of another cluster than the replica %s", l.server)
}

// awaitPrimary waits until the replica behind conn, in an open transaction, has
// replayed what its primary has written by now. It is false when that takes too
// long, or the replica does not say how far it is.
func (l *Ledger) awaitPrimary(ctx context.Context, conn *pgconn.PgConn) (bool, error) {
	primary, err := l.primaryLedger(ctx)
	if err != nil {
		return false, err
	}
	target, err := primary.written(ctx)
	if err != nil {
		return false, err
	}
	limit := time.NewTimer(min(fenceLimit, l.timeout))
	defer limit.Stop()
	for pause := firstPoll; ; pause = min(2*pause, longestPoll) {
		system, reached, err := replayed(ctx, conn, target.lsn)
		if err != nil {
			return false, err
		}
		if system != target.system {
			return false, l.otherCluster(primary)
		}
		if reached {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-limit.C:
			return false, nil
		case <-time.After(pause):
		}
	}
}

// written is the position up to which this server, a primary, has written.
func (l *Ledger) written(ctx context.Context) (position, error) {
	var p position
	err := l.view(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var recovering bool
		err := tx.QueryRow(ctx, `
			SELECT pg_is_in_recovery(), (SELECT system_identifier::text FROM pg_control_system()),
			       CASE WHEN pg_is_in_recovery() THEN '' ELSE pg_current_wal_insert_lsn()::text END`).
			Scan(&recovering, &p.system, &p.lsn)
		if err == nil && recovering {
			return l.errorf(reconcile.LedgerBadDSN, l.server, "name the primary that the replica follows", "the primary is a replica itself")
		}
		return err
	})
	return p, err
}

// replayed says which cluster the replica is of, and whether it has reached the
// position.
func replayed(ctx context.Context, conn *pgconn.PgConn, lsn string) (system string, reached bool, err error) {
	result := conn.ExecParams(ctx, `
		SELECT (SELECT system_identifier::text FROM pg_control_system()),
		       coalesce(pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= $1::pg_lsn, false)`,
		[][]byte{[]byte(lsn)}, nil, nil, nil).Read()
	if result.Err != nil {
		return "", false, result.Err
	}
	if len(result.Rows) != 1 {
		return "", false, errNoResult
	}
	return string(result.Rows[0][0]), string(result.Rows[0][1]) == "t", nil
}
