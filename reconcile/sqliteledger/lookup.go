package sqliteledger

import (
	"context"
	"fmt"
	"strings"

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
	sql     string
	tables  string // the sources' tables, for messages
}

// Prepare resolves the sources, validates the statement that reads all of them,
// and looks for the index that serves each.
func (l *Ledger) Prepare(ctx context.Context, sources []reconcile.Source) (reconcile.Lookup, error) {
	k := &lookup{ledger: l}
	err := l.query(ctx, "", func(ctx context.Context) error {
		for _, given := range sources {
			s, err := l.resolve(ctx, given)
			if err != nil {
				return l.fail(ctx, err, given.Table)
			}
			if err := l.inspect(ctx, s); err != nil {
				return l.fail(ctx, err, s.facts.Table)
			}
			k.sources = append(k.sources, *s)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	k.compose()
	return k, nil
}

// resolve finds the table and the columns of a source.
func (l *Ledger) resolve(ctx context.Context, given reconcile.Source) (*source, error) {
	r, err := l.resolveTable(ctx, given)
	if err != nil {
		return nil, err
	}
	s := &source{relation: r}
	if s.key, err = l.columnNamed(r, given.Column, keyColumns); err != nil {
		return nil, err
	}
	if s.key == nil {
		return nil, l.missingColumn(r, strings.Join(keyColumns, ", "))
	}
	form, reason := formOf(s.key)
	if reason != "" {
		return nil, l.errorf(reconcile.LedgerBadSource, r.String(), keyTypesHint, "column %s: %s", s.key.name, reason)
	}
	s.form = form
	if err := l.resolveOthers(s, given); err != nil {
		return nil, err
	}
	if err := l.checkCollation(ctx, s); err != nil {
		return nil, err
	}
	if err := l.checkPredicate(ctx, s, given.When); err != nil {
		return nil, err
	}
	s.describe(given)
	return s, nil
}

// resolveOthers finds the columns beside the key. The time column has a default
// only where the key column has.
func (l *Ledger) resolveOthers(s *source, given reconcile.Source) (err error) {
	var defaults []string
	if given.Column == "" {
		defaults = timeColumns
	}
	if s.at, err = l.columnNamed(s.relation, given.At, defaults); err != nil {
		return err
	}
	if s.claimed, err = l.columnNamed(s.relation, given.ClaimedAt, nil); err != nil {
		return err
	}
	if s.claimed == nil {
		s.claimed = s.at
	}
	s.fingerprint, err = l.columnNamed(s.relation, given.Fingerprint, nil)
	return err
}

// checkPredicate lets SQLite say whether the predicate is an expression over the
// table's rows. WHERE takes no aggregate and no window function.
func (l *Ledger) checkPredicate(ctx context.Context, s *source, when string) error {
	s.when = strings.TrimSpace(when)
	if s.when == "" {
		return nil
	}
	err := sqltext.CheckPredicate(s.when, sqltext.SQLite)
	if err == nil {
		_, err = l.bytecode(ctx, "SELECT 1 FROM "+s.relation.quoted()+" WHERE ("+s.when+")")
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	return l.errorf(reconcile.LedgerBadSource, s.relation.String(),
		"write one boolean expression over the row's columns, such as status = 'completed'", "when %q: %w", when, err)
}

func (s *source) describe(given reconcile.Source) {
	s.facts = reconcile.SourceFacts{
		Source: given, Table: s.relation.String(), Column: s.key.name, ColumnType: s.key.declared, View: s.relation.view,
	}
	if s.at != nil {
		s.facts.At = s.at.name
	}
}

// compose writes the statement that reads all sources: a row for each row found.
// ?1 is a JSON array of the keys, ?2 one of those that are integers.
func (k *lookup) compose() {
	var parts, tables []string
	for i := range k.sources {
		parts = append(parts, k.sources[i].statement(i))
		tables = append(tables, k.sources[i].facts.Table)
	}
	k.sql = strings.Join(parts, "\nUNION ALL\n")
	k.tables = strings.Join(tables, ", ")
}

// statement reads the rows of one source. The keys are in a subquery of their
// own, so that a predicate sees the table's columns alone. A unary plus keeps a
// value as it is and hides the column's declared type from the driver, which
// would read some as times.
func (s *source) statement(number int) string {
	when := "1"
	if s.when != "" {
		when = "((" + s.when + ") IS TRUE)"
	}
	return fmt.Sprintf("SELECT %d, +%s, %s, %s, %s, %s FROM %s WHERE %s IN (%s)",
		number, sqltext.Quote(s.key.name), when, value(s.at), value(s.claimed), value(s.fingerprint),
		s.relation.quoted(), sqltext.Quote(s.key.name), s.form.candidates())
}

// candidates selects every form of the keys in which the column may hold them.
func (f keyForm) candidates() string {
	const (
		texts    = "SELECT value FROM json_each(?1)"
		blobs    = "SELECT CAST(value AS BLOB) FROM json_each(?1)"
		integers = "SELECT value FROM json_each(?2)"
	)
	switch f.affinity {
	case affinityInteger:
		return integers
	case affinityText:
		return texts + " UNION ALL " + blobs
	}
	return texts + " UNION ALL " + blobs + " UNION ALL " + integers
}

func value(c *column) string {
	if c == nil {
		return "NULL"
	}
	return "+" + sqltext.Quote(c.name)
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
// when all can: an integer's digits where a column is INTEGER, else as it is.
func (k *lookup) Fit(key string) (canonical, problem string) {
	canonical = key
	for i := range k.sources {
		s := &k.sources[i]
		if reason := s.form.fit(key); reason != "" {
			return "", fmt.Sprintf("%s.%s (%s) cannot hold the key: %s", s.facts.Table, s.key.name, s.key.declared, reason)
		}
		if s.form.affinity == affinityInteger {
			canonical = s.form.asked(key)
		}
	}
	return canonical, ""
}
