package sqliteledger

import (
	"context"
	"errors"
	"time"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
)

// oldestLimit bounds the search for the oldest row.
const oldestLimit = 2 * time.Second

// Oldest says how far back each source remembers. The oldest time is the least
// value of the time column: where rows spell their times in different ways it is
// that of some row, if not of the oldest. It is zero where the search takes too
// long.
func (k *lookup) Oldest(ctx context.Context) ([]reconcile.SourceAge, error) {
	out := make([]reconcile.SourceAge, len(k.sources))
	for i := range k.sources {
		s := &k.sources[i]
		err := k.ledger.query(ctx, s.facts.Table, func(ctx context.Context) error {
			return k.ledger.db.QueryRowContext(ctx, "SELECT NOT EXISTS (SELECT 1 FROM "+s.relation.quoted()+")").Scan(&out[i].Empty)
		})
		if err != nil {
			return nil, err
		}
		if out[i].Empty || s.at == nil {
			continue
		}
		if out[i].Oldest, err = k.ledger.oldest(ctx, s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (l *Ledger) oldest(ctx context.Context, s *source) (time.Time, error) {
	var at any
	short, cancel := context.WithTimeout(ctx, oldestLimit)
	defer cancel()
	err := l.query(short, s.facts.Table, func(ctx context.Context) error {
		return l.db.QueryRowContext(ctx, "SELECT min("+sqltext.Quote(s.at.name)+") FROM "+s.relation.quoted()).Scan(&at)
	})
	var e *reconcile.LedgerError
	if errors.As(err, &e) && (e.Kind == reconcile.LedgerTimeout || short.Err() != nil) && ctx.Err() == nil {
		return time.Time{}, nil
	}
	return moment(at), err
}

// Writers can see nothing: a SQLite file does not tell who has begun to write.
func (k *lookup) Writers(ctx context.Context, _ time.Time) (reconcile.Writers, error) {
	err := k.ledger.query(ctx, k.tables, func(ctx context.Context) error { return ctx.Err() })
	return reconcile.Writers{}, err
}
