package pgledger_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// BenchmarkRead reads a thousand keys, half of them present, from a million rows.
func BenchmarkRead(b *testing.B) {
	db := reconciletest.Postgres(b)
	db.Exec(`CREATE TABLE marks (task_id uuid PRIMARY KEY, processed_at timestamptz);
		INSERT INTO marks SELECT md5(g::text)::uuid, now() FROM generate_series(1, 1000000) g;
		CREATE TABLE texts (task_id text PRIMARY KEY, processed_at timestamptz);
		INSERT INTO texts SELECT task_id::text, processed_at FROM marks; ANALYZE`)
	l, err := pgledger.Open(context.Background(), pgledger.Options{Name: "main", DSN: db.DSN})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for _, table := range []string{"marks", "texts"} {
		for _, size := range []int{100, 1000, 5000} {
			b.Run(fmt.Sprint(table, size), func(b *testing.B) {
				k, err := l.Prepare(context.Background(), []reconcile.Source{{Table: table}})
				if err != nil {
					b.Fatal(err)
				}
				keys := make([]string, size)
				for i := range keys {
					keys[i] = db.Value("SELECT md5($1)::uuid", fmt.Sprint(i*397%2000000))
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := k.Read(context.Background(), keys, false); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "keys/s")
			})
		}
	}
}
