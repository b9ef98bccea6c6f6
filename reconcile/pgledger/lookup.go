package pgledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
)

// source is one resolved source of a lookup.
type source struct {
	facts       reconcile.SourceFacts
	relation    *relation
	key         *column
	form        keyForm
	at, claimed *column // nil when there is none
	fingerprint *column
	when        string // "" when every row passes
}

// lookup reads a fixed set of sources. It is safe for concurrent use.
type lookup struct {
	ledger  *Ledger
	sources []source
	kinds   []keyType // the parameters of the statement, in order
	sql     string
	setup   string // limits the transaction of a Read
	tables  string // the sources' tables, for messages
	scans   bool   // some source is read without an index
	// stale says that an absence proves nothing although the server is no
	// replica: a source is filled from elsewhere.
	stale bool
}

// Prepare resolves the sources, validates the statement that reads all of them,
// and looks for the index that serves each.
func (l *Ledger) Prepare(ctx context.Context, sources []reconcile.Source) (reconcile.Lookup, error) {
	k := &lookup{ledger: l}
	err := l.view(ctx, func(ctx context.Context, tx pgx.Tx) error {
		for _, s := range sources {
			resolved, err := l.resolve(ctx, tx, s)
			if err != nil {
				return l.fail(ctx, err, s.Table)
			}
			k.sources = append(k.sources, *resolved)
		}
		k.compose()
		for i := range k.sources {
			if err := l.inspect(ctx, tx, k, &k.sources[i]); err != nil {
				return l.fail(ctx, err, k.sources[i].facts.Table)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	k.setup = l.setup
	if !k.scans && l.knows("enable_seqscan") {
		// The index was found to serve: no stale statistics make the planner
		// read a large table from end to end.
		k.setup += ", set_config('enable_seqscan', 'off', true)"
	}
	return k, nil
}

// resolve finds the table and the columns of a source.
func (l *Ledger) resolve(ctx context.Context, tx pgx.Tx, s reconcile.Source) (*source, error) {
	r, err := l.resolveTable(ctx, tx, s)
	if err != nil {
		return nil, err
	}
	out := &source{relation: r}
	if out.key, err = l.keyColumn(r, s.Column); err != nil {
		return nil, err
	}
	form, reason := formOf(out.key, l.asciiOnly)
	if reason != "" {
		return nil, l.errorf(reconcile.LedgerBadSource, r.String(), keyTypesHint, "column %s: %s", out.key.name, reason)
	}
	out.form = form
	if out.at, err = l.timeColumn(r, s.At, s.Column == ""); err != nil {
		return nil, err
	}
	out.claimed = out.at
	if s.ClaimedAt != "" {
		if out.claimed, err = l.timeColumn(r, s.ClaimedAt, false); err != nil {
			return nil, err
		}
	}
	if out.fingerprint, err = l.fingerprintColumn(r, s.Fingerprint); err != nil {
		return nil, err
	}
	if err := l.mayRead(ctx, tx, out); err != nil {
		return nil, err
	}
	if out.when = strings.TrimSpace(s.When); out.when != "" {
		if err := sqltext.CheckPredicate(out.when, sqltext.PostgreSQL); err != nil {
			return nil, l.errorf(reconcile.LedgerBadSource, r.String(), "write one boolean expression over the row's columns, such as status = 'completed'", "when %q: %w", s.When, err)
		}
		if err := l.checkBoolean(ctx, tx, out); err != nil {
			return nil, err
		}
	}
	out.describe(s)
	return out, nil
}

func (s *source) columns() []*column {
	var out []*column
	for _, c := range []*column{s.key, s.at, s.claimed, s.fingerprint} {
		if c != nil && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

func (l *Ledger) mayRead(ctx context.Context, tx pgx.Tx, s *source) error {
	var denied []string
	for _, c := range s.columns() {
		if !c.readable {
			denied = append(denied, sqltext.Display(c.name))
		}
	}
	if denied == nil {
		return nil
	}
	role, err := currentRole(ctx, tx)
	if err != nil {
		return err
	}
	return l.errorf(reconcile.LedgerDenied, s.relation.String(),
		fmt.Sprintf("GRANT SELECT ON %s TO %s", s.relation, role),
		"role %s may not read %s", role, strings.Join(denied, ", "))
}

func (s *source) describe(given reconcile.Source) {
	s.facts = reconcile.SourceFacts{
		Source: given, Table: s.relation.String(), Column: s.key.name, ColumnType: s.key.typeName,
		View:        !s.relation.guarded(),
		Partitioned: s.relation.kind == kindPartitioned,
	}
	if s.at != nil {
		s.facts.At = s.at.name
	}
}

// checkBoolean lets the server say whether the predicate is a condition over the
// table's rows. WHERE takes no aggregate, window or set-returning function.
func (l *Ledger) checkBoolean(ctx context.Context, tx pgx.Tx, s *source) error {
	_, err := explain(ctx, tx, fmt.Sprintf("SELECT 1 FROM %s WHERE (%s)", s.relation.quoted(), s.when))
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || pgErr.Code == "42501" || strings.HasPrefix(pgErr.Code, "57") {
		return err
	}
	return l.errorf(reconcile.LedgerBadSource, s.relation.String(),
		"write one boolean expression over the row's columns, such as status = 'completed'",
		"when %q: %s (SQLSTATE %s)", s.when, pgErr.Message, pgErr.Code)
}

// Sources says what was resolved.
func (k *lookup) Sources() []reconcile.SourceFacts {
	out := make([]reconcile.SourceFacts, len(k.sources))
	for i := range k.sources {
		out[i] = k.sources[i].facts
	}
	return out
}

// Fit says why some source's column cannot hold the key, or how it is spelled
// when all can. Where one source compares by value and another by spelling, the
// value's spelling is it: the keys that share it may share a row.
func (k *lookup) Fit(key string) (canonical, problem string) {
	canonical = key
	for i := range k.sources {
		s := &k.sources[i]
		if reason := s.form.fit(key); reason != "" {
			return "", fmt.Sprintf("%s.%s (%s) cannot hold the key: %s", s.facts.Table, s.key.name, s.key.typeName, reason)
		}
		if s.form.kind.byValue() {
			canonical = s.form.kind.asked(key)
		}
	}
	return canonical, ""
}
