package retry

import (
	"math"
	"sort"
	"testing"

	"pgregory.net/rapid"
)

func sqrt(x float64) float64 { return math.Sqrt(x) }

// enumerate lists the probabilities of every sum of default jitter for r retries
// by brute force: index J holds the number of ways.
func enumerate(r int) []float64 {
	ways := []float64{1}
	for k := 1; k <= r; k++ {
		next := make([]float64, len(ways)+29*k)
		for j, w := range ways {
			for u := range 30 {
				next[j+u*k] += w / 30
			}
		}
		ways = next
	}
	return ways
}

func TestIntegerConvolutionIsExact(t *testing.T) {
	for _, retries := range []int{1, 2, 3, 7, 25} {
		p := DefaultParams()
		p.MaxRetry, p.ForwardInterval, p.Exec.Max = retries, 0, new(Seconds(0))
		l, err := p.Lifetime()
		if err != nil {
			t.Fatal(err)
		}
		if l.Method != MethodExact {
			t.Fatalf("%d retries: method %s", retries, l.Method)
		}
		ways := enumerate(retries)
		for level, got := range map[float64]Seconds{0.50: l.P50, 0.95: l.P95, 0.99: l.P99} {
			sum := 0.0
			want := sort.Search(len(ways), func(j int) bool {
				sum = 0
				for _, w := range ways[:j+1] {
					sum += w
				}
				return sum >= level-1e-12
			})
			if got != l.Min+Seconds(want) {
				t.Errorf("%d retries, level %g: %v, want %v", retries, level, got, l.Min+Seconds(want))
			}
		}
		checkTail(t, p, l, ways)
	}
}

// checkTail compares the risk at whole and broken seconds with brute force.
func checkTail(t *testing.T, p Params, l Lifetime, ways []float64) {
	t.Helper()
	for _, j := range []int{0, 1, len(ways) / 3, len(ways) / 2, len(ways) - 2, len(ways) - 1} {
		want := 0.0
		for _, w := range ways[j+1:] {
			want += w
		}
		m, err := p.model()
		if err != nil {
			t.Fatal(err)
		}
		steps := m.lifetime(m.retries+1, crashFirst)
		for _, fraction := range []Seconds{0, 0.9} {
			got, _ := m.alive(steps, l.Min+Seconds(j)+fraction, 1)
			if math.Abs(got-want) > 1e-12 {
				t.Errorf("%d retries: P(L > min+%v) is %v, want %v", p.MaxRetry, Seconds(j)+fraction, got, want)
			}
		}
	}
}

// irwinHall is the distribution function of the sum of n uniforms on [0,1].
func irwinHall(n int, x float64) float64 {
	sum, choose := 0.0, 1.0
	for k := 0; float64(k) <= x && k <= n; k++ {
		sign := 1.0
		if k%2 == 1 {
			sign = -1
		}
		sum += sign * choose * math.Pow(x-float64(k), float64(n))
		choose = choose * float64(n-k) / float64(k+1)
	}
	for k := 2; k <= n; k++ {
		sum /= float64(k)
	}
	return sum
}

// The sum of equal waits has a closed form; the grid must agree with it.
func TestGridAgreesWithTheClosedForm(t *testing.T) {
	for _, waits := range []int{1, 2, 3, 5, 9} {
		p := Params{MaxRetry: waits - 1, Delay: mustParse(t, "fixed(0s)"), QueueWait: Range{0, 1}, Exec: Exec{Max: new(Seconds(0))}}
		l, err := p.Lifetime()
		if err != nil {
			t.Fatal(err)
		}
		for level, x := range map[float64]Seconds{0.50: l.P50, 0.95: l.P95, 0.99: l.P99} {
			if got := irwinHall(waits, float64(x)); math.Abs(got-level) > 0.0005 {
				t.Errorf("%d waits: P(L <= %v) is %.5f, want %g (%s, step %v)", waits, x, got, level, l.Method, l.Step)
			}
		}
	}
}

// The grid's own moments must be those the terms have in theory: that is what
// the choice of its step promises.
func TestGridKeepsMeanAndVariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genParams(t)
		p.Deadline = nil
		m, err := p.model()
		if err != nil {
			t.Fatal(err)
		}
		law := m.law(m.lifetime(m.retries+1, crashFirst), nil)
		mean, variance := law.mean, law.variance
		law.measure()
		sd := sqrt(variance)
		if off := math.Abs(float64(law.mean - mean)); off > 0.002*sd+1e-6*(1+float64(mean)) {
			t.Fatalf("%+v: mean %v on the grid, %v in theory, sd %v", p, law.mean, mean, sd)
		}
		if off := math.Abs(sqrt(law.variance) - sd); off > 0.005*sd+1e-6 {
			t.Fatalf("%+v: sd %v on the grid, %v in theory", p, sqrt(law.variance), sd)
		}
	})
}

func TestNothingRandomNeedsNoGrid(t *testing.T) {
	p := Params{MaxRetry: 4, Delay: mustParse(t, "fixed(10s)"), Exec: Exec{Typical: new(Seconds(2)), Max: new(Seconds(9))}}
	l, err := p.Lifetime()
	if err != nil {
		t.Fatal(err)
	}
	if l.Method != MethodConstant || l.P50 != 50 || l.P99 != 50 || l.SD != 0 || l.Min != 40 || l.Max != 85 {
		t.Errorf("got %+v", l)
	}
}
