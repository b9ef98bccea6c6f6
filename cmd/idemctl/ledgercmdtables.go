package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/reconcile"
)

// tables looks at every table of marks and inbox rows that the rules name.
func (o *retentionOptions) tables(ctx context.Context, cmd *cobra.Command, result *render.Retention, rules []retentionRule) error {
	for _, l := range o.set.Context.Ledgers {
		ledger, err := openLedger(ctx, cmd, l)
		if err != nil {
			return err
		}
		err = o.ledgerTables(ctx, ledger, l.Name.Value, result, rules)
		_ = ledger.Close() // only reads were done
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *retentionOptions) ledgerTables(ctx context.Context, ledger reconcile.Ledger, name string, result *render.Retention, rules []retentionRule) error {
	facts, err := ledger.Facts(ctx)
	if err != nil {
		return err
	}
	for i, r := range rules {
		var sources []reconcile.Source
		for _, s := range r.rule.Sources {
			if s.Ledger == name && (s.Role == reconcile.RoleMark || s.Role == reconcile.RoleInbox) {
				sources = append(sources, s)
			}
		}
		if len(sources) == 0 {
			continue
		}
		lookup, err := ledger.Prepare(ctx, sources)
		if err != nil {
			return err
		}
		ages, err := lookup.Oldest(ctx)
		if err != nil {
			return err
		}
		for n, source := range lookup.Sources() {
			o.addTable(result, facts, name, source, ages[n], &result.Rules[i].Need)
		}
	}
	for i := range result.Tables {
		if t := &result.Tables[i]; t.Ledger == name {
			o.judgeTable(t)
		}
	}
	return nil
}

// addTable notes a rule's need of a table. Of rules that share one the longest
// need counts, and the shortest declared retention.
func (o *retentionOptions) addTable(result *render.Retention, facts reconcile.LedgerFacts, name string, s reconcile.SourceFacts, age reconcile.SourceAge, need *retry.Retention) {
	i := slices.IndexFunc(result.Tables, func(t render.RetentionTable) bool {
		return t.Ledger == name && t.Table == s.Table && t.Column == s.Column
	})
	keep := need.Fixed
	if o.sliding {
		keep = need.Sliding
	}
	if i < 0 {
		t := render.RetentionTable{
			Ledger: name, Kind: facts.Kind, Table: s.Table, Column: s.Column, At: s.At,
			Declared: s.Retention.For, Forever: s.Retention.Forever,
			Empty: age.Empty, Oldest: age.Oldest, Needed: &keep,
		}
		if !age.Oldest.IsZero() {
			t.Age = facts.Now.Sub(age.Oldest)
		}
		result.Tables = append(result.Tables, t)
		i = len(result.Tables) - 1
		result.Tables[i].Statement = o.prune(facts.Kind, s)
	}
	t := &result.Tables[i]
	if role := s.Role.String(); !slices.Contains(t.Roles, role) {
		t.Roles = append(t.Roles, role)
	}
	switch {
	case !need.Bounded || t.Needed == nil:
		t.Needed = nil
	case keep > *t.Needed:
		t.Needed = &keep
	}
	if s.Retention.For > 0 && !t.Forever && (t.Declared == 0 || s.Retention.For < t.Declared) {
		t.Declared = s.Retention.For
	}
}

// judgeTable draws the verdict, once the need of all rules is known.
func (o *retentionOptions) judgeTable(t *render.RetentionTable) {
	keep := t.Statement
	t.Statement = ""
	if t.Needed == nil {
		t.Why = "nothing bounds the life of its tasks: keep every row"
		return
	}
	if keep != "" && !t.Forever { // what is declared to be kept is not to be deleted
		t.Statement = strings.ReplaceAll(keep, cutoffMark, fmt.Sprintf("%.0f", float64(ceilSeconds(*t.Needed))))
	}
	declared := retry.SecondsOf(t.Declared)
	switch {
	case t.Forever:
		t.Verdict, t.Why = render.RetentionFine, "its rows are kept for ever"
	case declared > 0 && declared < *t.Needed:
		t.Verdict = render.RetentionTooShort
		t.Why = fmt.Sprintf("rows are pruned after %s, %s before their tasks can no longer come again", declared, (*t.Needed - declared))
	case declared > 0:
		t.Verdict, t.Why = render.RetentionFine, "rows are kept long enough"
	case t.Empty:
		t.Why = "it has no row, and nobody said how long rows are kept (retention:)"
	case t.Oldest.IsZero():
		t.Why = "nothing tells how old its rows are, or how long they are kept (retention:)"
	case retry.SecondsOf(t.Age) >= *t.Needed:
		t.Verdict, t.Why = render.RetentionFine, "its oldest row is older than rows need to be"
	default:
		t.Why = "its oldest row is younger than rows must be kept: the table is young, or is pruned too early; say which with retention:"
	}
}

func ceilSeconds(s retry.Seconds) retry.Seconds {
	whole := retry.Seconds(int64(s))
	if whole < s {
		whole++
	}
	return whole
}

// cutoffMark stands in a statement for the seconds that rows are kept.
const cutoffMark = "\x00keep\x00"

// prune is a statement that deletes one batch of rows that are no longer needed;
// "" for a view, or a table without a time column. Rows are named by key and by
// age, so that a younger row of the same key stays; rows that fail the rule's
// condition are claims, and stay too.
func (o *retentionOptions) prune(kind string, s reconcile.SourceFacts) string {
	if s.At == "" || s.View {
		return ""
	}
	key, at := identifier(s.Column), identifier(s.At)
	condition := ""
	if s.When != "" {
		condition = " AND (" + s.When + ")"
	}
	switch kind {
	case "postgres":
		// A subquery with a limit may be run again and again; what WITH holds is run
		// once.
		old := at + " < now() - interval '" + cutoffMark + " seconds'" + condition
		return fmt.Sprintf(`-- repeat until no row is deleted; each time at most %[1]d
WITH batch AS MATERIALIZED (
    SELECT %[2]s AS batch_key FROM %[3]s
    WHERE %[4]s
    ORDER BY %[5]s LIMIT %[1]d FOR UPDATE SKIP LOCKED)
DELETE FROM %[3]s USING batch
WHERE %[2]s = batch_key AND %[4]s;
`, o.batchSize, key, s.Table, old, at)
	case "sqlite":
		old := "datetime(" + at + ") < datetime('now', '-" + cutoffMark + " seconds')" + condition
		return fmt.Sprintf(`-- repeat until no row is deleted; each time at most %[1]d
-- (for times as text; of a column of Unix seconds it deletes nothing)
DELETE FROM %[3]s
WHERE %[2]s IN (
    SELECT %[2]s FROM %[3]s
    WHERE %[4]s
    ORDER BY %[5]s LIMIT %[1]d)
  AND %[4]s;
`, o.batchSize, key, s.Table, old, at)
	}
	return ""
}

// identifier quotes a name for SQL.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
