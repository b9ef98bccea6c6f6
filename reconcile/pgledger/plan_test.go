package pgledger

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// TestLookupsOfEveryTypeUseTheIndex on a table large enough that reading it would
// show, with statistics and without, for small batches and for large ones.
func TestLookupsOfEveryTypeUseTheIndex(t *testing.T) {
	db := reconciletest.Postgres(t)
	l, err := Open(context.Background(), Options{Name: "main", DSN: db.DSN})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i, c := range []struct{ column, value string }{
		{"text", "g::text"},
		{"varchar", "g::text"},
		{"varchar(40)", "g::text"},
		{"char(36)", "g::text"},
		{"uuid", "md5(g::text)::uuid"},
		{"smallint", "(g % 30000)::int2"},
		{"integer", "g"},
		{"bigint", "g"},
		{"bytea", "convert_to(g::text, 'UTF8')"},
	} {
		table := fmt.Sprintf("t%d", i)
		db.Exec("CREATE TABLE " + table + " (task_id " + c.column + ", status text, filler text)")
		db.Exec("INSERT INTO " + table + " SELECT " + c.value + ", 'x', repeat('x', 50) FROM generate_series(1, 20000) g")
		db.Exec("CREATE INDEX ON " + table + " (task_id)")
		for _, analyzed := range []bool{false, true} {
			if analyzed {
				db.Exec("ANALYZE " + table)
			}
			for _, keys := range []int{1, 1000, 15000} {
				checkPlan(t, l, table, c.column, keys)
			}
		}
	}
}

func checkPlan(t *testing.T, l *Ledger, table, column string, keys int) {
	t.Helper()
	ctx := context.Background()
	k, err := l.Prepare(ctx, []reconcile.Source{{Table: table, Column: "task_id", When: "status = 'x'"}})
	if err != nil {
		t.Fatal(err)
	}
	lk := k.(*lookup)
	asked := make([]string, keys)
	for i := range asked {
		asked[i] = fmt.Sprint(i)
		if column == "uuid" {
			asked[i] = fmt.Sprintf("a0eebc99-9c0b-4ef8-bb6d-%012x", i)
		}
	}
	err = l.view(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lk.setup); err != nil {
			return err
		}
		kind := lk.kinds[0]
		p, err := explain(ctx, tx, strings.ReplaceAll(lk.sql, "$1", literalOf(ctx, tx, t, kind, asked)))
		if err != nil {
			return err
		}
		p.walk(func(node plan) {
			if node.text("Node Type") == "Seq Scan" {
				t.Errorf("%s, %d keys: a sequential scan", column, keys)
			}
			if strings.Contains(node.text("Filter"), "task_id") {
				t.Errorf("%s, %d keys: the key is filtered: %.100s", column, keys, node.text("Filter"))
			}
		})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// literalOf writes the keys' array as the server would.
func literalOf(ctx context.Context, tx pgx.Tx, t *testing.T, kind keyType, keys []string) string {
	t.Helper()
	var text string
	err := tx.QueryRow(ctx, "SELECT quote_literal($1::"+arrays[kind].name+"::text)", kind.array(askedAs(kind, keys))).Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func askedAs(kind keyType, keys []string) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = kind.asked(k)
	}
	return out
}

// TestStatementNeverCastsTheColumnItCompares: a cast column has no index.
func TestStatementNeverCastsTheColumnItCompares(t *testing.T) {
	for kind := keyText; kind < keyTypes; kind++ {
		s := source{relation: &relation{schema: "public", name: "t"}, key: &column{name: "task_id"}, form: keyForm{kind: kind}}
		sql := s.statement(0, "$1::"+arrays[kind].name)
		if !strings.Contains(sql, `WHERE "task_id" = ANY($1::`+arrays[kind].name+`)`) {
			t.Errorf("key type %d: %s", kind, sql)
		}
	}
}

// TestOldestReadsNoLargeTable in search of a time that no index finds.
func TestOldestReadsNoLargeTable(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE big (task_id text PRIMARY KEY, at timestamptz);
		INSERT INTO big SELECT g::text, '2026-01-01'::timestamptz + g * interval '1 s' FROM generate_series(1, 150000) g; ANALYZE big`)
	ctx := context.Background()
	l, err := Open(ctx, Options{Name: "main", DSN: db.DSN})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	k, err := l.Prepare(ctx, []reconcile.Source{{Table: "big", Column: "task_id", At: "at"}})
	if err != nil {
		t.Fatal(err)
	}
	ages, err := k.Oldest(ctx)
	if err != nil || ages[0].Empty || !ages[0].Oldest.IsZero() {
		t.Errorf("without an index: %+v, %v", ages, err)
	}
	db.Exec("CREATE INDEX ON big (at)")
	ages, err = k.Oldest(ctx)
	if err != nil || ages[0].Empty || ages[0].Oldest.Format("2006-01-02 15:04:05") != "2026-01-01 00:00:01" {
		t.Errorf("with an index: %+v, %v", ages, err)
	}
}
