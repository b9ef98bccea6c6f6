package inspect_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

const benchTasks = 40_000

// benchServer holds 40,000 tasks, of which a third has a unique key.
func benchServer(b *testing.B) *inspecttest.Server {
	b.Helper()
	s := inspecttest.StartServer(b)
	unique := func(i int, m *inspecttest.Message) {
		if i%3 == 0 {
			m.UniqueKey = inspect.UniqueKey(m.Queue, m.Type, m.Payload)
		}
	}
	s.Fill("default", inspect.StateRetry, benchTasks/2, unique)
	s.Fill("default", inspect.StatePending, benchTasks/4, unique)
	s.Fill("default", inspect.StateArchived, benchTasks/8, unique)
	s.Fill("default", inspect.StateCompleted, benchTasks/8, unique)
	return s
}

// redisCPU is the processor time in seconds that the server has used.
func redisCPU(b *testing.B, s *inspecttest.Server) float64 {
	b.Helper()
	text, err := s.Client().Info(context.Background(), "cpu").Result()
	if err != nil {
		b.Fatal(err)
	}
	total := 0.0
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "used_cpu_user" || name == "used_cpu_sys" {
			n, _ := strconv.ParseFloat(value, 64)
			total += n
		}
	}
	return total
}

// ownCPU is the processor time in seconds that this process has used.
func ownCPU(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	at := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return at(u.Utime) + at(u.Stime)
}

// perTask measures f, which reads benchTasks tasks, in processor time per task.
func perTask(b *testing.B, s *inspecttest.Server, f func() int) {
	b.Helper()
	b.ReportAllocs()
	redisBefore, ownBefore := redisCPU(b, s), ownCPU(b)
	b.ResetTimer()
	for b.Loop() {
		if n := f(); n < benchTasks {
			b.Fatalf("read %d tasks, want %d at least", n, benchTasks)
		}
	}
	tasks := float64(b.N) * benchTasks
	b.ReportMetric((redisCPU(b, s)-redisBefore)/tasks*1e6, "redis-µs/task")
	b.ReportMetric((ownCPU(b)-ownBefore)/tasks*1e6, "client-µs/task")
	b.ReportMetric(tasks/b.Elapsed().Seconds(), "tasks/s")
}

// BenchmarkFirstPass compares the two ways to read everything once.
func BenchmarkFirstPass(b *testing.B) {
	s := benchServer(b)
	c := open(b, s)
	for _, plain := range []bool{false, true} {
		for _, inFlight := range []int{1, 2} {
			b.Run(fmt.Sprintf("plain=%v/inflight=%d", plain, inFlight), func(b *testing.B) {
				perTask(b, s, func() int {
					n := 0
					for page, err := range c.Pages(context.Background(), inspect.Listing{Plain: plain, Passes: 1, InFlight: inFlight}) {
						if err != nil {
							b.Fatal(err)
						}
						n += len(page)
					}
					return n
				})
			})
		}
	}
}

// BenchmarkLaterPass is a pass over tasks that have all been seen.
func BenchmarkLaterPass(b *testing.B) {
	s := benchServer(b)
	c := open(b, s)
	index := inspect.NewIndex()
	l := inspect.Listing{Plain: true, Passes: 1, Index: index}
	for _, err := range c.Pages(context.Background(), l) {
		if err != nil {
			b.Fatal(err)
		}
	}
	perTask(b, s, func() int {
		n := 0
		l.OnPage = func(p inspect.Page) {
			if p.State != inspect.StateRetry {
				n += p.IDs
			}
		}
		for page, err := range c.Pages(context.Background(), l) {
			b.Fatalf("%d tasks were fetched again, error %v", len(page), err)
		}
		return n + benchTasks/2
	})
}

// BenchmarkRead confirms tasks by their IDs.
func BenchmarkRead(b *testing.B) {
	s := inspecttest.StartServer(b)
	refs := s.Fill("default", inspect.StateArchived, benchTasks, nil)
	c := open(b, s)
	perTask(b, s, func() int {
		tasks, err := c.Read(context.Background(), refs)
		if err != nil {
			b.Fatal(err)
		}
		return len(tasks)
	})
}
