package journal

import (
	"fmt"
	"path/filepath"
	"testing"
)

// BenchmarkIntend shows what a sync for many intents saves. The disk decides.
func BenchmarkIntend(b *testing.B) {
	for _, group := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("group=%d", group), func(b *testing.B) {
			j := mustOpen(b, filepath.Join(b.TempDir(), "journal.jsonl"))
			mustBegin(b, j)
			records := make([]Record, group)
			for n := 0; b.Loop(); n++ {
				for i := range records {
					records[i] = intent(fmt.Sprintf("%d-%d", n, i), 500)
				}
				must(b, j.Intend(records...))
			}
			b.ReportMetric(float64(b.N*group)/b.Elapsed().Seconds(), "intents/s")
		})
	}
}

func BenchmarkPending(b *testing.B) {
	const groups, group = 100, 1000
	path := filepath.Join(b.TempDir(), "journal.jsonl")
	j := mustOpen(b, path)
	mustBegin(b, j)
	for n := range groups {
		var intents, results []Record
		for i := range group {
			item := fmt.Sprintf("%d-%d", n, i)
			intents = append(intents, intent(item, 500))
			results = append(results, Record{Item: item, Outcome: OutcomeDone})
		}
		must(b, j.Intend(intents...))
		must(b, j.Settle(results[1:]...))
	}
	b.ReportAllocs()
	for b.Loop() {
		pending, errs := pendingItemsOf(b, path)
		if len(pending) != groups || len(errs) > 0 {
			b.Fatalf("%d pending, %v", len(pending), errs)
		}
	}
	b.ReportMetric(2*groups*group*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
