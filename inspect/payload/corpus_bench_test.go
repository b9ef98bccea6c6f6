package payload

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"runtime"
	"testing"
)

// corpusOf makes payloads of about 300 bytes with a trace, a clock and a list of
// lines. Every work is enqueued about three times.
func corpusOf(n int) []Entry {
	random := rand.New(rand.NewSource(7))
	entries := make([]Entry, n)
	for i := range entries {
		work := random.Intn(n/3 + 1)
		lines := []map[string]any{}
		for k := range 3 {
			lines = append(lines, map[string]any{"sku": fmt.Sprintf("SKU-%d", (work+k)%997), "quantity": 1 + (work+k)%5})
		}
		p, err := json.Marshal(map[string]any{
			"order_id": work, "tenant": work % 7, "email": fmt.Sprintf("user%d@example.com", work%5000), "lines": lines,
			"trace_id": fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64()),
			"sent_at":  fmt.Sprintf("2024-05-01T12:30:15.%09dZ", random.Intn(1e9)),
		})
		if err != nil {
			panic(err)
		}
		entries[i] = Entry{ID: fmt.Sprintf("%08x-0000-4000-8000-%012x", i, i), Queue: "default", Type: "order:sync", Payload: p}
	}
	return entries
}

func BenchmarkCorpus(b *testing.B) {
	entries := corpusOf(100_000)
	bytes := 0
	for _, e := range entries {
		bytes += len(e.Payload)
	}
	b.SetBytes(int64(bytes))
	for b.Loop() {
		var c Corpus
		for _, e := range entries {
			c.Add(e)
		}
		reports := c.Result()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		b.ReportMetric(float64(memory.HeapAlloc)/(1<<20), "MiB-heap")
		b.ReportMetric(float64(c.held)/(1<<20), "MiB-estimate")
		if got := reports[0].Volatile; len(got) != 2 {
			b.Fatalf("volatile %v", got)
		}
	}
}
