package retry

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hibiken/asynq"
)

// These tests hold the package against asynq's own function.

func TestDefaultDelayNeverLeavesItsBounds(t *testing.T) {
	p := Default()
	for n := range 309 + 1 {
		low, high := p.Bounds(n)
		for range 200 {
			if d := asynq.DefaultRetryDelayFunc(n, nil, nil); d < low || d > high {
				t.Fatalf("asynq waits %v after n=%d, bounds are %v to %v", d, n, low, high)
			}
		}
	}
}

func TestDefaultDelayBoundsAreReached(t *testing.T) {
	for _, n := range []int{0, 1, 24} {
		low, high := Default().Bounds(n)
		var least, most bool
		for range 5000 { // each end is missed with probability (29/30)^5000 < 1e-73
			d := asynq.DefaultRetryDelayFunc(n, nil, nil)
			least, most = least || d == low, most || d == high
		}
		if !least || !most {
			t.Errorf("n=%d: %v or %v was never drawn", n, low, high)
		}
	}
}

// From n = 310 on the real function wraps around. What is said to be drawn must
// be what it draws, and the bounds must hold even so.
func TestOverflownDefaultDelayIsWhatAsynqComputes(t *testing.T) {
	if d := asynq.DefaultRetryDelayFunc(overflowsAt, nil, nil); d >= 0 {
		t.Fatalf("asynq no longer overflows at n=%d: %v", overflowsAt, d)
	}
	for _, n := range []int{310, 311, 340, 367, 368, 369, 370, 400, 439, 500, 1000, 5000} {
		s := defaultDelay(n)
		for range 300 {
			d := max(0, SecondsOf(asynq.DefaultRetryDelayFunc(n, nil, nil)))
			if d < s.lowest() || d > s.highest() {
				t.Fatalf("asynq waits %v after n=%d, drawn are %v to %v", d, n, s.lowest(), s.highest())
			}
			if d < s.min || d > s.max {
				t.Fatalf("asynq waits %v after n=%d, bounds are %v to %v", d, n, s.min, s.max)
			}
		}
	}
}

// simulate draws one life from t0: asynq's own delays, everything else from the
// seeded source, independent and uniform.
func simulate(p Params, r *rand.Rand) Seconds {
	draw := func(from, to Seconds) Seconds { return from + Seconds(r.Float64())*(to-from) }
	run := func() Seconds { return *p.Exec.Typical }
	t := p.ProcessIn
	if p.ProcessIn > 0 {
		t += draw(0, p.ForwardInterval)
	}
	for range p.Requeues {
		t += draw(p.QueueWait.Min, p.QueueWait.Max) + run()
	}
	for n := 0; ; n++ {
		t += draw(p.QueueWait.Min, p.QueueWait.Max) + run()
		if n < p.Crashes {
			t += 55 + draw(0, 5) + draw(0, 60)
		}
		if n == p.MaxRetry {
			return t
		}
		t += SecondsOf(asynq.DefaultRetryDelayFunc(n, nil, nil)) + draw(0, p.ForwardInterval)
	}
}

// TestSimulatedLivesMeetTheQuantiles allows seven standard deviations of the
// counted share: a false alarm once in 1e11 runs, though asynq's own jitter
// cannot be seeded.
func TestSimulatedLivesMeetTheQuantiles(t *testing.T) {
	const lives = 20_000
	typical := Seconds(3)
	most := Seconds(60)
	for name, p := range map[string]Params{
		"delays only":  {MaxRetry: 5},
		"one retry":    {MaxRetry: 1, ForwardInterval: 5},
		"default":      {MaxRetry: 25, ForwardInterval: 5, QueueWait: Range{0, 60}},
		"all at once":  {MaxRetry: 4, ForwardInterval: 5, QueueWait: Range{2, 30}, Crashes: 2, Requeues: 3, ProcessIn: 90},
		"no retry":     {MaxRetry: 0, QueueWait: Range{0, 60}, Crashes: 1},
		"many retries": {MaxRetry: 60, ForwardInterval: 5},
	} {
		t.Run(name, func(t *testing.T) {
			p.Delay, p.Exec = Default(), Exec{Typical: &typical, Max: &most}
			l, err := p.Lifetime()
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, uint64(p.MaxRetry)))
			levels := []struct {
				p    float64
				x    Seconds
				upTo int
			}{{0.50, l.P50, 0}, {0.95, l.P95, 0}, {0.99, l.P99, 0}}
			var sum Seconds
			for range lives {
				life := simulate(p, r)
				if life < l.Min || life > l.Max {
					t.Fatalf("a life of %v left %v to %v", life, l.Min, l.Max)
				}
				sum += life
				for i := range levels {
					if life <= levels[i].x {
						levels[i].upTo++
					}
				}
			}
			for _, level := range levels {
				checkShare(t, l, level.p, float64(level.upTo)/lives, lives)
			}
			if off, allowed := sum/lives-l.Mean, 7*l.SD/141; off > allowed || off < -allowed {
				t.Errorf("mean %v, simulated %v", l.Mean, sum/lives)
			}
		})
	}
}

// checkShare compares a level with the share of lives up to its quantile. Whole
// seconds come in lumps: there the share may exceed the level by one lump.
func checkShare(t *testing.T, l Lifetime, level, share float64, lives int) {
	t.Helper()
	noise := 7 * 0.5 / sqrt(float64(lives)) // p(1-p) is at most 1/4
	lump := 0.0
	if l.Method == MethodExact {
		lump = 1.0 / 30
	}
	if share < level-noise || share > level+noise+lump {
		t.Errorf("%.1f %% of lives end by the quantile for %.0f %%", share*100, level*100)
	}
}

func TestLongestDelayIsTheLongestDuration(t *testing.T) {
	if got := longest.Duration(); got != time.Duration(1<<63-1) {
		t.Errorf("longest delay is %v", got)
	}
}
