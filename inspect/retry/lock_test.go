package retry

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hibiken/asynq"
	"pgregory.net/rapid"
)

func TestLockTTLDropsWhatTheClientDrops(t *testing.T) {
	for _, c := range []struct {
		ttl, in, want Seconds
		from          CountedFrom
	}{
		{1, 0, 1, CountedFromEnqueue},
		{59.999, 0, 59, CountedFromEnqueue},
		{60, -5, 60, CountedFromEnqueue},
		{60, 10, 69, CountedFromProcessAt},          // a whole sum has just lost its last second
		{60, 10.25, 70, CountedFromProcessAt},       //
		{0.1 + 0.2 + 0.7, 0, 1, CountedFromEnqueue}, // float noise is not a second
		{1.1, 2.2, 3, CountedFromProcessAt},
	} {
		got, from, err := LockTTL(c.ttl, c.in)
		if err != nil || got != c.want || from != c.from {
			t.Errorf("Unique(%v) due in %v: %v from %v (%v), want %v from %v", c.ttl, c.in, got, from, err, c.want, c.from)
		}
	}
	for _, ttl := range []Seconds{0.999, 0, -1} {
		if _, _, err := LockTTL(ttl, 100); !errors.Is(err, ErrUniqueTTL) {
			t.Errorf("Unique(%v): %v", ttl, err)
		}
	}
	if _, _, err := LockTTL(Seconds(math.NaN()), 0); err == nil {
		t.Error("NaN is accepted")
	}
}

// asynq's client refuses a short TTL before it looks for Redis.
func TestUniqueTTLErrorIsAsynqsOwn(t *testing.T) {
	client := asynq.NewClient(asynq.RedisClientOpt{Addr: "127.0.0.1:1"})
	defer client.Close()
	_, err := client.Enqueue(asynq.NewTask("t", nil), asynq.Unique(Seconds(0.999).Duration()))
	if err == nil || err.Error() != ErrUniqueTTL.Error() {
		t.Errorf("asynq says %v", err)
	}
}

func lockOf(t interface{ Fatal(...any) }, p Params, ttl Seconds, failProb float64) Lock {
	p.UniqueTTL = &ttl
	l, err := p.Lock(failProb)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestSafeTTLOutlivesTheTask(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genParams(t)
		l, err := p.Lifetime()
		if err != nil {
			t.Fatal(err)
		}
		safe := lockOf(t, p, 1, 1).SafeUniqueTTL
		lock := lockOf(t, p, safe, 1)
		if lock.TTL < l.Max-1e-6 || lock.AliveAtExpiry != 0 || lock.Covered != p.MaxRetry+1 || has(lock.Warnings, WarningLockShort) {
			t.Fatalf("%+v: a lock of %v ends at %v, the task by %v: %+v", p, safe, lock.TTL, l.Max, lock)
		}
		advice, err := p.Advise()
		if err != nil {
			t.Fatal(err)
		}
		if advice.Safe != safe || advice.Recommended < safe+max(safe/100, 60)-1e-6 || advice.Recommended > safe*1.01+60+86400 {
			t.Fatalf("advice %+v for a safe TTL of %v", advice, safe)
		}
	})
}

func TestRiskFallsWithTTLAndRisesWithFailures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genParams(t)
		ttl := Seconds(rapid.IntRange(1, 3000).Draw(t, "ttl"))
		f := rapid.Float64Range(0, 1).Draw(t, "fail_prob")
		risk := lockOf(t, p, ttl, f).AliveAtExpiry
		if longer := lockOf(t, p, ttl+100, f).AliveAtExpiry; longer > risk+1e-9 {
			t.Fatalf("a longer lock is riskier: %v, %v\n%+v", risk, longer, p)
		}
		if surer := lockOf(t, p, ttl, min(1, f+0.1)).AliveAtExpiry; surer < risk-1e-9 {
			t.Fatalf("more failures are less risky: %v, %v\n%+v", risk, surer, p)
		}
		if risk < 0 || risk > 1 {
			t.Fatalf("risk %v", risk)
		}
	})
}

// TestRiskMeetsSimulatedLives draws lives whose attempts fail with a
// probability, and counts those that outlive the lock.
func TestRiskMeetsSimulatedLives(t *testing.T) {
	const lives = 40_000
	p := Params{MaxRetry: 6, Delay: Default(), ForwardInterval: 5, QueueWait: Range{0, 30}, Exec: Exec{Typical: new(Seconds(4)), Max: new(Seconds(60))}}
	for _, c := range []struct {
		ttl      Seconds
		failProb float64
	}{{60, 0.5}, {200, 0.8}, {500, 0.9}, {1500, 1}} {
		r := rand.New(rand.NewPCG(7, 7))
		alive := 0
		for range lives {
			q := p
			q.MaxRetry = 0
			for q.MaxRetry < p.MaxRetry && r.Float64() < c.failProb {
				q.MaxRetry++
			}
			if simulate(q, r) > c.ttl {
				alive++
			}
		}
		want := float64(alive) / lives
		got := lockOf(t, p, c.ttl, c.failProb).AliveAtExpiry
		if math.Abs(got-want) > 7*0.5/sqrt(lives) {
			t.Errorf("lock of %v, failures %g: risk %.4f, simulated %.4f", c.ttl, c.failProb, got, want)
		}
	}
}

func TestLockWarnings(t *testing.T) {
	p := Params{MaxRetry: 3, Delay: Default(), Exec: Exec{Typical: new(Seconds(1)), Max: new(Seconds(30))}, Period: 3600}
	short := lockOf(t, p, 60, 1)
	if !has(short.Warnings, WarningLockShort) || !has(short.Warnings, WarningLockEarly) || has(short.Warnings, WarningPeriod) {
		t.Errorf("short lock: %v", short.Warnings)
	}
	if short.Covered != 1 { // attempt 1 ends by 30 s, attempt 2 by 30+44+30 s
		t.Errorf("a lock of a minute covers %d attempts", short.Covered)
	}
	long := lockOf(t, p, 86400, 1)
	if !has(long.Warnings, WarningPeriod) || !has(long.Warnings, WarningLockAfter) || has(long.Warnings, WarningLockShort) {
		t.Errorf("long lock: %v", long.Warnings)
	}
	if long.BlocksMin != 86400-(236+4*30) || long.BlocksMax != 86400-62 {
		t.Errorf("a lock of a day blocks for %v to %v", long.BlocksMin, long.BlocksMax)
	}
}

func TestAdviceIsGoThatAPersonWouldWrite(t *testing.T) {
	for _, c := range []struct {
		change func(*Params)
		want   string
	}{
		{func(*Params) {}, "asynq.Unique(22 * 24 * time.Hour)"},
		{func(p *Params) { p.MaxRetry = 0 }, "asynq.Unique(35 * time.Minute)"},
		{func(p *Params) { p.MaxRetry, p.Exec.Max = 0, new(Seconds(10)) }, "asynq.Unique(70 * time.Second)"},
		{func(p *Params) { p.MaxRetry = 10 }, "asynq.Unique(11 * time.Hour)"},
		{func(p *Params) { p.MaxRetry = 200 }, ""},
	} {
		p := DefaultParams()
		c.change(&p)
		a, err := p.Advise()
		if err != nil || a.Go != c.want {
			t.Errorf("%d retries: %q (safe %v, %v), want %q", p.MaxRetry, a.Go, a.Safe, err, c.want)
		}
		if c.want == "" && !has(a.Warnings, WarningTooLong) {
			t.Errorf("%d retries: no warning that nothing is long enough", p.MaxRetry)
		}
	}
	p := DefaultParams()
	p.Period = 86400
	if a, err := p.Advise(); err != nil || !has(a.Warnings, WarningPeriod) {
		t.Errorf("a lock of three weeks on daily work is not warned of: %v %v", a.Warnings, err)
	}
}

func TestLockRefusesNonsense(t *testing.T) {
	p := DefaultParams()
	if _, err := p.Lock(1); err == nil || !strings.Contains(err.Error(), "unique_ttl_s") {
		t.Errorf("no TTL: %v", err)
	}
	p.UniqueTTL = new(Seconds(60))
	for _, f := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := p.Lock(f); err == nil || !strings.Contains(err.Error(), "fail_prob") {
			t.Errorf("fail_prob %v: %v", f, err)
		}
	}
}
