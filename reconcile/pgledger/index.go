package pgledger

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
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
// tables, and to leave no partition out. Index-only scans are off: one may read a
// whole index, and wherever one serves a key so does a plain index scan.
func steerPlanner(ctx context.Context, tx pgx.Tx, style scanStyle) error {
	_, err := tx.Exec(ctx, `
		SELECT set_config(name, CASE
			WHEN name IN ('enable_partition_pruning', 'constraint_exclusion', 'enable_indexonlyscan') THEN 'off'
			WHEN (name = 'enable_seqscan') = ($1 = 1) THEN 'on'
			ELSE 'off' END, true)
		FROM pg_catalog.pg_settings
		WHERE name IN ('enable_seqscan', 'enable_indexscan', 'enable_indexonlyscan', 'enable_bitmapscan',
		               'enable_partition_pruning', 'constraint_exclusion')`, int(style))
	return err
}

// indexed says whether an index serves the lookup of the source's keys: every
// scan that takes the keys as an index condition reads a table that has an index
// which leads straight to them, and no filter holds them.
func (l *Ledger) indexed(ctx context.Context, tx pgx.Tx, s *source) (bool, error) {
	if err := steerPlanner(ctx, tx, byIndex); err != nil {
		return false, err
	}
	array, shown := s.form.kind.literal()
	p, err := explain(ctx, tx, s.statement(0, array))
	if err != nil {
		return false, err
	}
	indexes, err := indexesBelow(ctx, tx, s.relation.oid)
	if err != nil {
		return false, err
	}
	served, filtered := false, false
	p.walk(func(node plan) {
		for name := range node {
			switch {
			case !strings.Contains(node.text(name), shown), name == "Recheck Cond":
			case name == "Index Cond" && serves(indexes, node.text("Index Name"), node.text(name), shown):
				served = true
			default:
				filtered = true
			}
		}
	})
	return served && !filtered, nil
}

// index is a B-tree or hash index. Other kinds read more than the rows of a key.
type index struct {
	name    string
	table   uint32
	columns []string // its key columns as the server writes them
	whole   bool     // it is valid and holds every row
}

// indexesBelow are the indexes of the relation and of what is below it.
func indexesBelow(ctx context.Context, tx pgx.Tx, relation uint32) ([]index, error) {
	rows, err := tx.Query(ctx, below+`
		SELECT c.relname::text, i.indrelid,
		       ARRAY(SELECT pg_catalog.pg_get_indexdef(i.indexrelid, n, false) FROM generate_series(1, i.indnkeyatts) AS n ORDER BY n),
		       i.indisvalid AND i.indisready AND i.indislive AND i.indpred IS NULL AND NOT EXISTS (
		           SELECT FROM pg_catalog.pg_attribute t, pg_catalog.pg_attribute x
		           WHERE t.attrelid = i.indrelid AND t.attnum = i.indkey[0] AND x.attrelid = i.indexrelid AND x.attnum = 1
		             AND t.attcollation <> x.attcollation)
		FROM below JOIN pg_catalog.pg_index i ON i.indrelid = below.oid
		JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
		JOIN pg_catalog.pg_am a ON a.oid = c.relam AND a.amname IN ('btree', 'hash')`, []uint32{relation})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (index, error) {
		var x index
		err := row.Scan(&x.name, &x.table, &x.columns, &x.whole)
		return x, err
	})
}

// serves says whether a condition that the planner gave to the named index is
// one that leads straight to the keys: with that index, or with another of the
// same table. On a small table the planner may prefer an index that it has to
// read from end to end.
func serves(indexes []index, name, condition, keys string) bool {
	for _, used := range indexes {
		if used.name != name {
			continue
		}
		for _, x := range indexes {
			if x.table == used.table && (x.whole || x.name == name) && leads(x.columns, condition, keys) {
				return true
			}
		}
	}
	return false
}

// leads says whether an index over the columns goes straight to the keys: the
// condition that holds them is on its first column, or those before it are bound
// by equalities of their own.
func leads(columns []string, condition, keys string) bool {
	bound := make(map[string]bool)
	keyed := ""
	for _, c := range sqltext.Conjuncts(condition) {
		m := equality.FindStringSubmatch(c)
		if m == nil {
			continue
		}
		bound[m[1]] = true
		if strings.Contains(c, keys) {
			keyed = m[1]
		}
	}
	for _, c := range columns {
		if c == keyed || !bound[c] {
			return c == keyed
		}
	}
	return false
}

// equality is the start of an equality as the server writes conditions, with the
// column's name, quoted where that is needed: task_id =, p.task_id =,
// ("Task")::text =.
var equality = regexp.MustCompile(`^\(*(?:(?:\w+|"(?:[^"]|"")+")\.)?(\w+|"(?:[^"]|"")+")\)*(?:::[\w ."]+(?:\(\d+\))?\)*)* = `)

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
