package retry

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// genParams draws sensible tasks of every sort.
func genParams(t *rapid.T) Params {
	length := func(label string, most float64) Seconds {
		return Seconds(math.Round(rapid.Float64Range(0, most).Draw(t, label)*100) / 100)
	}
	policy, err := Parse(genPolicy(t))
	if err != nil {
		t.Fatal(err)
	}
	p := Params{
		MaxRetry:        rapid.IntRange(0, 12).Draw(t, "max_retry"),
		Delay:           policy,
		ForwardInterval: length("forward", 10),
		Crashes:         rapid.IntRange(0, 4).Draw(t, "crashes"),
		Requeues:        rapid.IntRange(0, 3).Draw(t, "requeues"),
		ProcessIn:       length("process_in", 500) - 100,
	}
	p.QueueWait.Min = length("wait min", 20)
	p.QueueWait.Max = p.QueueWait.Min + length("wait", 100)
	p.Exec.Min = length("exec min", 5)
	p.Exec.Typical = new(p.Exec.Min + length("typical", 30))
	p.Exec.Max = new(*p.Exec.Typical + length("max", 300))
	if rapid.Bool().Draw(t, "timed") {
		p.Timeout = new(length("timeout", 400))
	}
	if rapid.Bool().Draw(t, "has deadline") {
		p.Deadline = new(length("deadline", 5000) - 100)
	}
	return p
}

func TestLifetimeIsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genParams(t)
		l, err := p.Lifetime()
		if err != nil {
			t.Fatal(err)
		}
		const slack = 1e-6
		order := []Seconds{l.TruncatedMin, l.Min, l.P50, l.P95, l.P99, l.Max}
		for i, s := range order[1:] {
			if s < order[i]-slack {
				t.Fatalf("%+v: not in order: %v", p, order)
			}
		}
		if l.Mean < l.Min-slack || l.Mean > l.Max+slack {
			t.Fatalf("%+v: mean %v outside %v to %v", p, l.Mean, l.Min, l.Max)
		}
		checkSums(t, l)
	})
}

// checkSums: the parts add up, and every one names its source.
func checkSums(t *rapid.T, l Lifetime) {
	var sum Part
	for _, part := range l.Parts {
		if part.Source == "" || part.Term == TermUnknown {
			t.Fatalf("%+v has no source", part)
		}
		if part.Term == TermTruncation {
			continue
		}
		sum.Min, sum.Mean, sum.Max = sum.Min+part.Min, sum.Mean+part.Mean, sum.Max+part.Max
	}
	for _, c := range [][2]Seconds{{sum.Min, l.Min}, {sum.Mean, l.Mean}, {sum.Max, l.Max}} {
		if off := math.Abs(float64(c[0] - c[1])); off > 1e-6*(1+float64(c[1])) {
			t.Fatalf("the parts add up to %v, not %v: %+v", c[0], c[1], l.Parts)
		}
	}
}

// A term that grows never shortens a bound or the last attempt's window.
func TestLifetimeIsMonotoneInEveryTerm(t *testing.T) {
	grow := map[string]func(*Params, Seconds){
		"max_retry":    func(p *Params, _ Seconds) { p.MaxRetry++ },
		"queue_wait":   func(p *Params, s Seconds) { p.QueueWait.Max += s },
		"all waits":    func(p *Params, s Seconds) { p.QueueWait.Min += s; p.QueueWait.Max += s },
		"forward":      func(p *Params, s Seconds) { p.ForwardInterval += s },
		"exec.max":     func(p *Params, s Seconds) { p.Exec.Max = new(*p.Exec.Max + s) },
		"timeout":      func(p *Params, s Seconds) { p.growTimeout(s) },
		"deadline":     func(p *Params, s Seconds) { p.growDeadline(s) },
		"process_in":   func(p *Params, s Seconds) { p.ProcessIn += s },
		"crashes":      func(p *Params, _ Seconds) { p.Crashes++ },
		"requeues":     func(p *Params, _ Seconds) { p.Requeues++ },
		"nothing else": func(*Params, Seconds) {},
	}
	rapid.Check(t, func(t *rapid.T) {
		p := genParams(t)
		before := ends(t, p)
		more := Seconds(rapid.IntRange(1, 1000).Draw(t, "more"))
		for name, f := range grow {
			q := p
			f(&q, more)
			after := ends(t, q)
			if after.Min < before.Min-1e-6 || after.Max < before.Max-1e-6 {
				t.Fatalf("%s grew by %v: %v became %v\n%+v", name, more, before, after, p)
			}
		}
	})
}

// ends are the bounds of a lifetime, without its distribution.
func ends(t *rapid.T, p Params) Range {
	m, err := p.model()
	if err != nil {
		t.Fatal(err)
	}
	attempts := m.retries + 1
	return Range{m.low(m.lifetime(attempts, crashFirst)), m.high(m.lifetime(attempts, crashLast))}
}

// growTimeout leaves out the step from "ignored, so 30 minutes" to a real one.
func (p *Params) growTimeout(s Seconds) {
	if p.Timeout != nil && *p.Timeout >= 1 {
		p.Timeout = new(*p.Timeout + s)
	}
}

func (p *Params) growDeadline(s Seconds) {
	if p.Deadline != nil {
		p.Deadline = new(*p.Deadline + s)
	}
}

// TestDeadlineExtremesBeatEveryPlacement tries every choice of attempts that
// crash, and every place for pushed back runs, with all terms at one end.
func TestDeadlineExtremesBeatEveryPlacement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genParams(t)
		p.MaxRetry = rapid.IntRange(0, 4).Draw(t, "retries")
		p.Deadline = new(Seconds(rapid.IntRange(0, 1500).Draw(t, "deadline")))
		p.Requeues = rapid.IntRange(0, 2).Draw(t, "pushed back")
		l, err := p.Lifetime()
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.model()
		if err != nil {
			t.Fatal(err)
		}
		attempts := p.MaxRetry + 1
		lost := min(p.Crashes, attempts)
		for crashed := range 1 << attempts {
			if popcount(crashed) != lost {
				continue
			}
			for at := range attempts {
				low, high := m.place(crashed, at)
				if low < l.Min-1e-6 || high > l.Max+1e-6 {
					t.Fatalf("crashes %b, pushed back before attempt %d: %v…%v leaves %v…%v\n%+v", crashed, at+1, low, high, l.Min, l.Max, p)
				}
			}
		}
	})
}

func popcount(x int) (n int) {
	for ; x > 0; x &= x - 1 {
		n++
	}
	return n
}

// place is an independent walk: which attempts crash (bits), and before which
// one all requeues happen.
func (m *model) place(crashed, requeuedAt int) (low, high Seconds) {
	run := func(t, x Seconds) Seconds { return t + min(x, max(0, m.deadline-t)) }
	low, high = m.start+m.wait.min, m.start+m.wait.max
	if m.start > 0 {
		high += m.forward.max
	}
	for i := 0; ; i++ {
		if i == requeuedAt {
			for range m.requeues {
				high = run(high, m.run.high) + m.wait.max
			}
		}
		low, high = run(low, m.run.low), run(high, m.run.high)
		if crashed>>i&1 == 1 {
			low, high = low+55, high+120
		}
		if i == m.retries {
			return low, high
		}
		low += m.delays[i].min + m.wait.min
		high += m.delays[i].max + m.forward.max + m.wait.max
	}
}

func TestAttemptWindowsEndWithTheLife(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genParams(t)
		l, err := p.Lifetime()
		if err != nil {
			t.Fatal(err)
		}
		list, err := p.Attempts()
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != p.MaxRetry+1 {
			t.Fatalf("%d windows for %d retries", len(list), p.MaxRetry)
		}
		for i, a := range list {
			if a.N != i+1 || a.EarliestTruncated > a.Earliest || a.Earliest > a.Latest+1e-6 || a.Latest > a.LatestEnd+1e-6 {
				t.Fatalf("window %+v", a)
			}
			if i > 0 && (a.Earliest < list[i-1].Earliest || a.Latest < list[i-1].Latest) {
				t.Fatalf("attempt %d starts before attempt %d: %+v", i+1, i, list)
			}
		}
		if last := list[p.MaxRetry].LatestEnd; math.Abs(float64(last-l.Max)) > 1e-6*(1+float64(l.Max)) {
			t.Fatalf("the last attempt ends by %v, the life by %v", last, l.Max)
		}
	})
}

func TestHundredRetriesDoNotOverflow(t *testing.T) {
	for _, retries := range []int{100, 137, 309, 310, 311, 400, 2000} {
		p := DefaultParams()
		p.MaxRetry = retries
		l, err := p.Lifetime()
		if err != nil {
			t.Fatal(err)
		}
		if !(l.Min > 0 && l.Min <= l.P50 && l.P50 <= l.P99 && l.P99 <= l.Max) || l.Max > Seconds(retries)*longest*2 {
			t.Errorf("%d retries: %v … %v … %v", retries, l.Min, l.P50, l.Max)
		}
		if warned := has(l.Warnings, WarningOverflow); warned != (retries > 310) {
			t.Errorf("%d retries: overflow warning is %v", retries, warned)
		}
	}
	p := DefaultParams()
	p.MaxRetry = math.MaxInt32
	if _, err := p.Lifetime(); !errors.Is(err, ErrTooManyRetries) {
		t.Errorf("MaxInt32 retries: %v", err)
	}
	if r := p.Unbounded(); len(r) != 1 || r[0].Code != ReasonRetries {
		t.Errorf("MaxInt32 retries are bounded: %v", r)
	}
}

func has(list []Warning, code WarningCode) bool {
	for _, w := range list {
		if w.Code == code {
			return w.Text != ""
		}
	}
	return false
}

func TestEffectiveTimeoutFollowsTheClientAndTheWorker(t *testing.T) {
	for _, c := range []struct {
		timeout, deadline *Seconds
		want              Seconds
		ok                bool
	}{
		{nil, nil, 1800, true},
		{new(Seconds(0)), nil, 1800, true},
		{new(Seconds(0.5)), nil, 1800, true},
		{new(Seconds(1.9)), nil, 1, true},
		{new(Seconds(60)), new(Seconds(5)), 60, true},
		{nil, new(Seconds(5)), 0, false},
		{new(Seconds(0.5)), new(Seconds(5)), 0, false},
	} {
		p := Params{Timeout: c.timeout, Deadline: c.deadline}
		if got, ok := p.EffectiveTimeout(); got != c.want || ok != c.ok {
			t.Errorf("timeout %v, deadline %v: %v %v, want %v %v", c.timeout, c.deadline, got, ok, c.want, c.ok)
		}
	}
}

func TestWarningsSpeakOfWhatTheNumbersHide(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Params)
		want   WarningCode
	}{
		"timeout of half a second": {func(p *Params) { p.Timeout = new(Seconds(0.5)) }, WarningTimeoutIgnored},
		"fraction of a timeout":    {func(p *Params) { p.Timeout = new(Seconds(1.9)) }, WarningTimeoutCut},
		"deadline":                 {func(p *Params) { p.Deadline = new(Seconds(60)) }, WarningDeadline},
		"unknown run time":         {func(p *Params) {}, WarningTypical},
		"three weeks":              {func(p *Params) {}, WarningDefaultRetries},
		"group":                    {func(p *Params) { p.Group = "g" }, WarningGroup},
		"immediate retry":          {func(p *Params) { p.Delay, _ = Parse("linear(step=2s)") }, WarningImmediate},
		"phase":                    {func(p *Params) { p.Delay, _ = Parse("fixed(1s)") }, WarningPhase},
		"saturated":                {func(p *Params) { p.Delay, _ = Parse("exponential(base=1d, factor=9)") }, WarningSaturated},
		"turning":                  {func(p *Params) { p.Delay, _ = Parse(`expr("60 - 100*(rand-0.5)^2")`) }, WarningTurning},
	} {
		p := DefaultParams()
		c.change(&p)
		l, err := p.Lifetime()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !has(l.Warnings, c.want) {
			t.Errorf("%s: no %s warning in %v", name, c.want, l.Warnings)
		}
	}
	plain := Params{MaxRetry: 3, Delay: Default(), Exec: Exec{Typical: new(Seconds(1))}, Timeout: new(Seconds(60))}
	if l, err := plain.Lifetime(); err != nil || len(l.Warnings) > 0 {
		t.Errorf("an ordinary task is warned of: %v %v", l.Warnings, err)
	}
}

// A score cut to whole seconds takes the elapsed part of a second, but never
// more than the wait itself: on average ½ s of a long wait, ⅜ s of half a second.
func TestTruncationNeverTakesMoreThanTheWait(t *testing.T) {
	for wait, want := range map[Seconds][2]Seconds{0: {0, 0}, 0.5: {0.5, 0.375}, 1: {1, 0.5}, 90: {1, 0.5}} {
		if most, mean := cutOf(wait); most != want[0] || mean != want[1] {
			t.Errorf("a wait of %v loses up to %v, %v on average; want %v and %v", wait, most, mean, want[0], want[1])
		}
	}
	p := Params{MaxRetry: 3, Delay: mustParse(t, "fixed(10s)"), Timeout: new(Seconds(60)), Deadline: new(Seconds(1e6)), Exec: Exec{Min: 60}}
	l, err := p.Lifetime()
	if err != nil {
		t.Fatal(err)
	}
	// With both limits the worker also cuts the start of each timeout.
	if l.Min != 270 || l.TruncatedMin != 270-3-4 {
		t.Errorf("minimum %v, truncated %v", l.Min, l.TruncatedMin)
	}
}
