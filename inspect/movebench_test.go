package inspect_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// BenchmarkRequeue moves tasks beside a pending list of a million, one after
// another and several at a time. slowest-µs is Redis's own time for the slowest
// script.
func BenchmarkRequeue(b *testing.B) {
	ctx := context.Background()
	s := inspecttest.StartServer(b, "--slowlog-log-slower-than", "0", "--slowlog-max-len", "20000")
	c := open(b, s)
	fillPending(b, s, 1_000_000)
	for _, width := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("width=%d", width), func(b *testing.B) {
			refs := s.Fill("default", inspect.StateArchived, b.N, nil)
			all, err := c.Raw(ctx, refs)
			if err != nil {
				b.Fatal(err)
			}
			redisBefore := redisCPU(b, s)
			b.ResetTimer()
			var next atomic.Int64
			var workers sync.WaitGroup
			for range width {
				workers.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						if got, err := c.Requeue(ctx, all[i-1].Expect(), inspect.Requeue{}); err != nil || !got.Done {
							b.Errorf("%+v, error %v", got, err)
						}
					}
				})
			}
			workers.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
			b.ReportMetric((redisCPU(b, s)-redisBefore)/float64(b.N)*1e6, "redis-µs/task")
			b.ReportMetric(slowest(b, s), "slowest-µs")
		})
	}
}

// fillPending makes a long list; nobody looks at its tasks.
func fillPending(b *testing.B, s *inspecttest.Server, n int) {
	b.Helper()
	const batch = 10_000
	for from := 0; from < n; from += batch {
		ids := make([]any, batch)
		for i := range ids {
			ids[i] = fmt.Sprintf("00000000-0000-4000-8000-%012d", from+i)
		}
		if err := s.Client().LPush(context.Background(), "asynq:{default}:pending", ids...).Err(); err != nil {
			b.Fatal(err)
		}
	}
}

// slowest is the longest that Redis was busy with one script, in microseconds.
func slowest(b *testing.B, s *inspecttest.Server) float64 {
	b.Helper()
	logs, err := s.Client().SlowLogGet(context.Background(), -1).Result()
	if err != nil {
		b.Fatal(err)
	}
	most := 0.0
	for _, entry := range logs {
		if strings.HasPrefix(strings.ToLower(entry.Args[0]), "eval") {
			most = max(most, float64(entry.Duration.Microseconds()))
		}
	}
	return most
}
