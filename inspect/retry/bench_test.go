package retry

import (
	"testing"
)

func lifetime(b *testing.B, p Params) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Lifetime(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLifetimeDefault: 25 retries of the default policy, exact quantiles.
// Wanted: below 50 ms and 32 MiB.
func BenchmarkLifetimeDefault(b *testing.B) {
	p := DefaultParams()
	p.ForwardInterval = 0
	lifetime(b, p)
}

// BenchmarkLifetimeDefaultWaits adds the forwarder and a busy queue.
func BenchmarkLifetimeDefaultWaits(b *testing.B) {
	p := DefaultParams()
	p.QueueWait = Range{0, 60}
	lifetime(b, p)
}

// BenchmarkLifetime140 is the longest life that a careless MaxRetry gives.
func BenchmarkLifetime140(b *testing.B) {
	p := DefaultParams()
	p.MaxRetry, p.ForwardInterval = 140, 0
	lifetime(b, p)
}

// BenchmarkLifetimeMostRetries is the most work this package agrees to do.
func BenchmarkLifetimeMostRetries(b *testing.B) {
	p := DefaultParams()
	p.MaxRetry, p.QueueWait = MaxRetries, Range{0, 60}
	lifetime(b, p)
}

// BenchmarkBatch answers all given vectors, line by line as --batch does; a
// line's time is ns/line. Wanted: 200 lines a second on one core.
func BenchmarkBatch(b *testing.B) {
	var lines [][]byte
	for _, list := range readVectors(b, "testdata/lifetime-vectors.json") {
		for _, v := range list {
			lines = append(lines, v.Request)
		}
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for _, line := range lines {
			r, err := ParseRequest(line)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = Evaluate(r) // one vector asks for an error
			n++
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "lines/s")
}

// BenchmarkRemainingBounds is what an audit asks for every task.
func BenchmarkRemainingBounds(b *testing.B) {
	for _, spec := range []string{"default", `expr("min(2.0^n, 3600) * rand")`} {
		b.Run(spec[:4], func(b *testing.B) {
			p := DefaultParams()
			p.Delay = mustParse(b, spec)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := p.RemainingBounds(Seen{State: StateRetry, Retried: 3, NextProcessIn: 60}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
