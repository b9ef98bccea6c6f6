package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/observed"
)

// runAll says of every kind what its lock comes to.
func (o *ttlCalcOptions) runAll(ctx context.Context, cmd *cobra.Command, page render.Options) error {
	seen, err := o.observe(ctx, cmd)
	if err != nil {
		return err
	}
	if err := render.WriteTTLAll(o.out, page, seen); err != nil {
		return &writeError{err}
	}
	switch {
	case !seen.Complete:
		return outcome(exitIncomplete)
	case slices.ContainsFunc(seen.Kinds, func(k render.TTLKind) bool {
		return k.Verdict == render.TTLTooShort || k.Locks.Short > 0
	}):
		return outcome(exitFindings)
	}
	return nil
}

// paramsOf is what is declared of a kind, for the collector. A kind whose
// declaration makes no sense ends the reading with an error later.
func (r *kindReader) paramsOf(k observed.Kind) retry.Params { return r.declaredOf(k).params }

func (r *kindReader) declaredOf(k observed.Kind) *declared {
	if d, ok := r.known[k]; ok {
		return d
	}
	d, err := r.declareKind(k)
	if err != nil {
		if r.failed == nil {
			r.failed = err
		}
		d = &declared{params: retry.DefaultParams()}
	}
	r.known[k] = d
	return d
}

func (r *kindReader) declareKind(k observed.Kind) (*declared, error) {
	taskType := k.Type
	if r.life.params != "" {
		taskType = "" // the parameters are given, whatever the type
	}
	d, err := r.life.declare(r.set, taskType, k.Queue)
	if err != nil {
		return nil, err
	}
	return d, checkParams(d.params)
}

// checkParams refuses parameters that make no sense.
func checkParams(p retry.Params) error {
	p.MaxRetry = min(p.MaxRetry, 1) // what is wrong is not the number of delays
	if _, err := p.Attempts(); err != nil {
		return nonsense(err)
	}
	return nil
}

// judge compares the lock that a kind uses with the one that it needs.
func (r *kindReader) judge(f *observed.Facts) render.TTLKind {
	d := r.declaredOf(f.Kind)
	k := render.TTLKind{Facts: f, Declared: d.params, Period: d.params.Period}
	for _, in := range d.inputs {
		switch {
		case in.Name == "delay" && !strings.HasPrefix(in.Source, fromAsynq):
			k.PolicyFrom = in.Source
		case in.Name == "period_s":
			k.PeriodFrom = in.Source
		}
	}
	if every := f.Interval(); k.Period == 0 && every > 0 {
		k.Period, k.PeriodFrom = retry.SecondsOf(every), "periodic entry"
	}
	k.InUse, k.InUseFrom = f.InUse(d.params.UniqueTTL)
	need := f.Need(d.params, d.binds())
	k.Needed, k.Go, k.Why = need.Safe, need.Go, need.Why
	decide(&k)
	return k
}

// decide draws the verdict.
func decide(k *render.TTLKind) {
	switch {
	case k.InUse == nil && k.Locks.Unique == 0:
		k.Verdict = render.TTLUnlocked
		if k.Why == "" {
			k.Why = "no Unique TTL is configured, and no lock of its tasks is alive"
		}
	case k.InUse == nil:
		k.Verdict, k.Why = render.TTLUnknown, because(k.Why, "tasks are unique, but none tells the TTL that it was given: write unique.ttl")
	case k.Needed == nil:
		k.Verdict, k.Why = render.TTLUnknown, because(k.Why, "the TTL that is needed is not known")
	case *k.InUse < *k.Needed:
		k.Verdict, k.By = render.TTLTooShort, *k.Needed-*k.InUse
		k.Why = "a task that fails on outlives its lock, and an equal one is let in beside it"
		if k.Period > 0 && *k.Needed > k.Period {
			k.Why += fmt.Sprintf("; yet equal work may come again after %s (%s): Unique is the wrong tool, use a TaskID or the check in the handler", k.Period, k.PeriodFrom)
		}
	case k.Period > 0 && *k.InUse > k.Period:
		k.Verdict, k.By = render.TTLTooLong, *k.InUse-k.Period
		k.Why = fmt.Sprintf("equal work may come again after %s (%s), and is refused until the lock of a task that failed ends", k.Period, k.PeriodFrom)
	default:
		k.Verdict, k.Why = render.TTLFine, ""
	}
}

func because(have, otherwise string) string {
	if have != "" {
		return have
	}
	return otherwise
}

// adopt puts what the tasks of the type themselves carry, and the state of its
// queues, over what nobody declared.
func adopt(d *declared, seen *render.TTLObserved, taskType string) {
	if taskType == "" {
		return
	}
	for i := range seen.Kinds {
		k := &seen.Kinds[i]
		d.params.QueuePaused = d.params.QueuePaused || k.Paused
		d.params.Unserved = d.params.Unserved || k.Servers == 0
		d.params.IsFailureMayBeFalse = d.params.IsFailureMayBeFalse || k.Uncounted > 0
		for _, e := range k.Estimates(d.params) {
			d.adoptEstimate(e, k)
		}
	}
}

// adoptEstimate takes a number of retries or a timeout that tasks carry, where
// nobody declared one. Of several queues the longest counts.
func (d *declared) adoptEstimate(e observed.Estimate, k *render.TTLKind) {
	source := fmt.Sprintf("%d %s in %s", e.Count, e.Of, k.Queue)
	switch e.Name {
	case "policy.max_retry":
		n, err := wholeNumber(e.Value)
		if err == nil && d.free("max_retry") && (n > d.params.MaxRetry || !d.adopted["max_retry"]) {
			d.params.MaxRetry = n
			d.adopt("max_retry", e.Value, source)
		}
	case "policy.timeout":
		s, err := retry.ParseSeconds(e.Value)
		if err == nil && d.free("timeout_s") && s > 0 && (d.params.Timeout == nil || s > *d.params.Timeout) {
			d.params.Timeout = &s
			d.adopt("timeout_s", e.Value, source)
		}
	}
}

// binds says whether somebody declared how often or how long tasks are tried.
func (d *declared) binds() bool { return !d.free("max_retry") || !d.free("timeout_s") }

// free says whether nobody declared an input.
func (d *declared) free(name string) bool {
	return d.adopted[name] || slices.ContainsFunc(d.inputs, func(in render.TTLInput) bool {
		return in.Name == name && strings.HasPrefix(in.Source, fromAsynq)
	})
}

func (d *declared) adopt(name, value, source string) {
	if d.adopted == nil {
		d.adopted = map[string]bool{}
	}
	d.adopted[name] = true
	d.note(name, value, source)
}
