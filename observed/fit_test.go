package observed

import (
	"strconv"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// seen are facts of tasks in retry, by their counted failures and delay.
func seen(declared retry.Policy, delays ...[2]int) *Facts {
	p := retry.DefaultParams()
	p.Delay = declared
	c := NewCollector(func(Kind) retry.Params { return p })
	for i, d := range delays {
		c.Task(inspect.Task{
			Ref: inspect.Ref{Queue: "q", ID: strconv.Itoa(i)}, Type: "t", State: inspect.StateRetry,
			Retried: d[0], MaxRetry: 25, LastFailedAt: epoch, NextProcessAt: epoch.Add(time.Duration(d[1]) * time.Second),
		}, nil, epoch)
	}
	return c.Facts()[0]
}

func TestFitFindsTheSimplestPolicy(t *testing.T) {
	for _, c := range []struct {
		delays [][2]int
		want   string
	}{
		{[][2]int{{1, 20}, {1, 44}, {5, 300}}, "default"},
		{[][2]int{{1, 60}, {2, 60}, {7, 60}}, "fixed(1m)"},
		{[][2]int{{1, 0}, {2, 60}, {3, 120}, {5, 240}}, "linear(base=0s, step=1m)"},
		{[][2]int{{1, 100}, {2, 200}, {3, 400}}, "exponential(base=1m40s, factor=2)"},
		{[][2]int{{1, 100}, {2, 7}, {3, 400}}, "table(1m40s, 7s, 6m40s)"},
	} {
		f := seen(retry.Default(), c.delays...)
		fit, ok := f.Fit(retry.Default())
		if !ok || fit.Policy.String() != c.want || fit.Delays != len(c.delays) {
			t.Errorf("%v: %s over %d delays (%v), want %s", c.delays, fit.Policy, fit.Delays, ok, c.want)
		}
	}
}

// A policy that was declared and holds is not replaced by a simpler one.
func TestFitKeepsADeclaredPolicyThatHolds(t *testing.T) {
	declared, err := retry.Parse("exponential(base=1m, factor=1)")
	if err != nil {
		t.Fatal(err)
	}
	fit, ok := seen(declared, [2]int{1, 60}, [2]int{2, 60}).Fit(declared)
	if !ok || !fit.Policy.Equal(declared) {
		t.Errorf("%s, %v", fit.Policy, ok)
	}
}

func TestFitOfNothingIsNone(t *testing.T) {
	f := seen(retry.Default(), [2]int{0, 30})
	if _, ok := f.Fit(retry.Default()); ok || f.Uncounted != 1 {
		t.Errorf("a failure that did not count has no n: %+v", f)
	}
	if got := seen(retry.Default(), [2]int{1, 20}, [2]int{1, 4000}); got.Delays[0].Inside != 1 {
		t.Errorf("%+v", got.Delays)
	}
}

// Redis does not say whether the last failure counted: a delay for one more
// failure is no contradiction.
func TestDelayOfAnUncountedFailureIsNoContradiction(t *testing.T) {
	f := seen(retry.Default(), [2]int{4, 271}, [2]int{4, 400}, [2]int{4, 100})
	if all, inside := f.Seen(); all != 3 || inside != 3 {
		t.Errorf("%d of %d", inside, all)
	}
}

// What a hostile queue holds must not fill the memory.
func TestHostileKindsAndCountsAreBounded(t *testing.T) {
	c := NewCollector(func(Kind) retry.Params { return retry.DefaultParams() })
	for i := range mostKinds + 50 {
		c.Task(inspect.Task{Ref: inspect.Ref{Queue: "q", ID: "x"}, Type: strconv.Itoa(i), State: inspect.StatePending}, nil, epoch)
	}
	if len(c.Facts()) != mostKinds || c.Dropped != 50 {
		t.Errorf("%d kinds, %d dropped", len(c.Facts()), c.Dropped)
	}
	c = NewCollector(func(Kind) retry.Params { return retry.DefaultParams() })
	for i := range 3 * mostValues {
		c.Task(inspect.Task{
			Ref: inspect.Ref{Queue: "q", ID: "x"}, Type: "t", State: inspect.StateRetry, Retried: i + 1, MaxRetry: i, Timeout: time.Duration(i) * time.Second,
			LastFailedAt: epoch, NextProcessAt: epoch.Add(time.Minute),
		}, nil, epoch)
	}
	f := c.Facts()[0]
	if len(f.MaxRetry) > mostValues || len(f.Timeout) > mostValues || len(f.Options) > mostValues || len(f.Delays) > mostValues {
		t.Errorf("%d, %d, %d, %d values kept", len(f.MaxRetry), len(f.Timeout), len(f.Options), len(f.Delays))
	}
	if most := f.Params(retry.DefaultParams()); most[len(most)-1].MaxRetry != 3*mostValues-1 {
		t.Errorf("the largest MaxRetry is lost: %d", most[len(most)-1].MaxRetry)
	}
}
