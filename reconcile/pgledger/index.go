package pgledger

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
)

// Whether an index serves a lookup is asked of the planner itself: with
// sequential scans switched off it finds an index wherever one can be used,
// whatever the tables' size. That covers collations, partial and invalid
// indexes, partitions, inheritance and views alike. The keys of the trial are
// values no other condition holds, so that the plan shows where they went: into
// an index condition, or into a filter over rows read some other way.

// plan is a node of EXPLAIN (FORMAT JSON): its conditions by name, and its
// children.
type plan map[string]json.RawMessage

func (p plan) text(name string) string {
	var s string
	_ = json.Unmarshal(p[name], &s)
	return s
}

func (p plan) number(name string) float64 {
	var f float64
	_ = json.Unmarshal(p[name], &f)
	return f
}

func (p plan) children() []plan {
	var c []plan
	_ = json.Unmarshal(p["Plans"], &c)
	return c
}

// walk visits the node and everything below it.
func (p plan) walk(visit func(plan)) {
	visit(p)
	for _, c := range p.children() {
		c.walk(visit)
	}
}

// explain asks for the plan of a statement without running it.
func explain(ctx context.Context, tx pgx.Tx, sql string) (plan, error) {
	var text string
	// The simple protocol: EXPLAIN takes no parameters everywhere.
	err := tx.QueryRow(ctx, "EXPLAIN (FORMAT JSON) "+sql, pgx.QueryExecModeExec).Scan(&text)
	if err != nil {
		return nil, err
	}
	var answer []struct{ Plan plan }
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer) != 1 {
		return nil, fmt.Errorf("the server's plan cannot be read")
	}
	return answer[0].Plan, nil
}

// trial is a key of each type that is never asked in earnest, twice so that the
// planner sees a list.
var trials = [keyTypes][2]string{
	keyText:    {"idemctl-trial-key-1", "idemctl-trial-key-2"},
	keyChar:    {"idemctl-trial-key-1", "idemctl-trial-key-2"},
	keyUUID:    {"1de3c710-7a1a-4000-8000-6b6579000001", "1de3c710-7a1a-4000-8000-6b6579000002"},
	keyInteger: {"31415", "27182"},
	keyBytes:   {"69646d63746c31", "69646d63746c32"},
}

// literal is the trial's array for a statement, and the part of it that a plan
// shows.
func (t keyType) literal() (array, shown string) {
	a, b := trials[t][0], trials[t][1]
	shown = a
	if t == keyBytes {
		a, b = `"\\x`+a+`"`, `"\\x`+b+`"`
	}
	return fmt.Sprintf("'{%s,%s}'::%s", a, b, arrays[t].name), shown
}

// scanStyle says which ways of reading a table a plan may show.
type scanStyle uint8

const (
	byIndex    scanStyle = iota // an index wherever one can be used
	sequential                  // no index, so that every condition is in a filter
)

// steerPlanner tells the planner, for the rest of the transaction, how to read
// tables, and to leave no partition out.
func steerPlanner(ctx context.Context, tx pgx.Tx, style scanStyle) error {
	_, err := tx.Exec(ctx, `
		SELECT set_config(name, CASE
			WHEN name IN ('enable_partition_pruning', 'constraint_exclusion') THEN 'off'
			WHEN (name = 'enable_seqscan') = ($1 = 1) THEN 'on'
			ELSE 'off' END, true)
		FROM pg_catalog.pg_settings
		WHERE name IN ('enable_seqscan', 'enable_indexscan', 'enable_indexonlyscan', 'enable_bitmapscan',
		               'enable_partition_pruning', 'constraint_exclusion')`, int(style))
	return err
}

// indexed says whether an index serves the lookup of the source's keys.
func (l *Ledger) indexed(ctx context.Context, tx pgx.Tx, s *source) (bool, error) {
	if err := steerPlanner(ctx, tx, byIndex); err != nil {
		return false, err
	}
	array, shown := s.form.kind.literal()
	p, err := explain(ctx, tx, s.statement(0, array))
	if err != nil {
		return false, err
	}
	found, filtered := false, false
	p.walk(func(node plan) {
		for name := range node {
			if !strings.Contains(node.text(name), shown) {
				continue
			}
			switch name {
			case "Index Cond":
				found = true
			case "Recheck Cond":
			default:
				filtered = true
			}
		}
	})
	return found && !filtered, nil
}

// noIndex refuses a lookup that would read the whole table.
func (l *Ledger) noIndex(s *source) error {
	column := sqltext.Display(s.key.name)
	hint := fmt.Sprintf("CREATE INDEX CONCURRENTLY ON %s (%s)", s.relation, column)
	why := "no index serves a lookup by " + column
	switch s.relation.kind {
	case kindPartitioned:
		hint = fmt.Sprintf("CREATE INDEX ON %s (%s)", s.relation, column)
		why += " in every partition"
	case kindView:
		hint = "create an index on the table the view takes " + column + " from, and keep the view free of DISTINCT, LIMIT, window functions and casts of that column"
	case kindForeign:
		hint = "name the server that holds the table as a ledger of its own"
		why = "the table is foreign, and nobody can say from here what serves a lookup there"
	}
	return l.errorf(reconcile.LedgerNoIndex, s.relation.String(), hint+", or allow scans of this ledger", "%s", why)
}
