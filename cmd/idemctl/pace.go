package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/reconcile"
)

// paceFlags bound what a change may do to the queues, and when it gives up.
type paceFlags struct {
	rate       rateValue
	maxPending int
	failures   int
	canary     int
	canaryWait time.Duration
}

// defaultRate is how many tasks a second are moved unless somebody says more.
const defaultRate = 20

// addRate adds the flag that every move has.
func (p *paceFlags) addRate(cmd *cobra.Command) {
	p.rate = defaultRate
	cmd.Flags().Var(&p.rate, "rate", "most tasks a second to move, such as 20 or 20/s (0: no limit)")
}

// add adds the flags of tasks that run again.
func (p *paceFlags) add(cmd *cobra.Command) {
	p.addRate(cmd)
	f := cmd.Flags()
	f.IntVar(&p.canary, "canary", 0, "run `N` tasks first, and the others only if all of these succeed")
	f.DurationVar(&p.canaryWait, "canary-wait", reconcile.DefaultCanaryWait, "how long canaries have to succeed")
	f.IntVar(&p.maxPending, "max-pending", 0, "wait while `N` tasks are pending in the queue (0: never)")
	f.IntVar(&p.failures, "stop-after-failures", 0, "stop when `N` tasks that were run failed again (0: never)")
}

func (p *paceFlags) application() (reconcile.Application, error) {
	for name, n := range map[string]int{"canary": p.canary, "max-pending": p.maxPending, "stop-after-failures": p.failures} {
		if n < 0 {
			return reconcile.Application{}, usagef("--%s %d: expected a number that is not negative", name, n)
		}
	}
	return reconcile.Application{
		Rate: float64(p.rate), MaxPending: p.maxPending, StopAfterFailures: p.failures,
		Canary: p.canary, CanaryWait: p.canaryWait,
	}, nil
}

// deletes is for a plan that runs nothing again: the flags of tasks that run are
// refused where they were typed. Where the environment or the file sets them they are
// meant for other plans, and put aside.
func (p *paceFlags) deletes(cmd *cobra.Command) error {
	for _, name := range []string{"canary", "canary-wait", "max-pending", "stop-after-failures"} {
		f := cmd.Flags().Lookup(name)
		if f.Changed {
			return &usageError{
				err:  fmt.Errorf("--%s is for tasks that run again, and this is a plan of resolve: it deletes them", name),
				hint: "leave it out; --rate bounds every plan",
			}
		}
		if err := f.Value.Set(f.DefValue); err != nil {
			return err
		}
		delete(f.Annotations, setElsewhere)
	}
	return nil
}

// rateValue is a number of tasks a second; "/s" may follow it. It is a
// pflag.Value.
type rateValue float64

func (r *rateValue) String() string { return strconv.FormatFloat(float64(*r), 'g', -1, 64) }

// Type is pflag.Value's.
func (r *rateValue) Type() string { return moveRate }

const moveRate = "R/s"

// slower says whether a rate that is written in a file is below the one that
// moves have; what is no rate is left to Set to refuse. 0 is no limit.
func slower(written, now string) bool {
	var a, b rateValue
	if a.Set(written) != nil || b.Set(now) != nil {
		return true
	}
	return a > 0 && (b == 0 || a < b)
}

// Set is pflag.Value's.
func (r *rateValue) Set(s string) error {
	n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(s), "/s"), 64)
	if err != nil || !(n >= 0 && n <= 1e9) {
		return fmt.Errorf("%q: expected tasks a second, such as 20 or 20/s", s)
	}
	*r = rateValue(n)
	return nil
}
