package sqliteledger

import "context"

// Write runs a statement through the ledger's own connections, as nothing but a
// test would.
func (l *Ledger) Write(ctx context.Context, sql string) error {
	_, err := l.db.ExecContext(ctx, sql)
	return err
}
