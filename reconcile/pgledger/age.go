package pgledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
)

// smallTable is how many rows may be read in search of the oldest one where no
// index on the time column finds it.
const smallTable = 100_000

// Oldest says how far back each source remembers. The time of the oldest row is
// looked for only where an index on the time column finds it or the table is
// small: elsewhere, and where the statement takes too long, it is zero.
func (k *lookup) Oldest(ctx context.Context) ([]reconcile.SourceAge, error) {
	out := make([]reconcile.SourceAge, len(k.sources))
	for i := range k.sources {
		s := &k.sources[i]
		empty, err := k.ledger.empty(ctx, s)
		if err != nil {
			return nil, err
		}
		out[i].Empty = empty
		if empty || s.at == nil {
			continue
		}
		if out[i].Oldest, err = k.ledger.oldest(ctx, s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (l *Ledger) empty(ctx context.Context, s *source) (empty bool, err error) {
	err = l.view(ctx, func(ctx context.Context, tx pgx.Tx) error {
		err := tx.QueryRow(ctx, "SELECT NOT EXISTS (SELECT FROM "+s.relation.quoted()+")").Scan(&empty)
		return l.fail(ctx, err, s.facts.Table)
	})
	return empty, err
}

func (l *Ledger) oldest(ctx context.Context, s *source) (time.Time, error) {
	sql := fmt.Sprintf("SELECT min(%s)::timestamptz FROM %s", sqltext.Quote(s.at.name), s.relation.quoted())
	var at *time.Time
	err := l.view(ctx, func(ctx context.Context, tx pgx.Tx) error {
		p, err := explain(ctx, tx, sql)
		if err != nil {
			return l.fail(ctx, err, s.facts.Table)
		}
		if rowsScanned(p) > smallTable {
			return nil
		}
		err = tx.QueryRow(ctx, "SELECT CASE WHEN isfinite(t) THEN t END FROM ("+sql+") AS r(t)").Scan(&at)
		return l.fail(ctx, err, s.facts.Table)
	})
	var e *reconcile.LedgerError
	switch {
	case errors.As(err, &e) && e.Kind == reconcile.LedgerTimeout && ctx.Err() == nil, err == nil && at == nil:
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, err
	}
	return at.UTC(), nil
}

// rowsScanned is how many rows the planner expects to read. Below a Limit a scan
// ends early, and its own estimate does not say so.
func rowsScanned(p plan) float64 {
	if p.text("Node Type") == "Limit" {
		return p.number("Plan Rows")
	}
	children := p.children()
	if len(children) == 0 {
		return p.number("Plan Rows")
	}
	total := 0.0
	for _, c := range children {
		total += rowsScanned(c)
	}
	return total
}
