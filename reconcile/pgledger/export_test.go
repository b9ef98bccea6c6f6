package pgledger

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Write runs a statement in a transaction of the ledger's, as nothing but a test
// would.
func (l *Ledger) Write(ctx context.Context, sql string) error {
	return l.view(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
		return tx.Commit(ctx)
	})
}

// Outside runs a statement in one of the ledger's sessions, outside of its
// transactions.
func (l *Ledger) Outside(ctx context.Context, sql string) error {
	_, err := l.pool.Exec(ctx, sql)
	return err
}
