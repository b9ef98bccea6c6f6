package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/timeline"
)

// riskPoints is how many points the curve of the risk has.
const riskPoints = 81

// answer computes everything there is to say of one set of parameters. Its
// errors are usage errors: parameters that make no sense.
func answer(p retry.Params, failProb float64) (*render.TTL, error) {
	t := &render.TTL{Params: p, FailProb: failProb, Unbounded: p.Unbounded(), Asked: p.UniqueTTL != nil}
	if p.UniqueTTL != nil {
		if _, _, err := retry.LockTTL(*p.UniqueTTL, p.ProcessIn); err != nil {
			return nil, nonsense(err)
		}
	}
	life, err := p.Lifetime()
	if errors.Is(err, retry.ErrTooManyRetries) {
		return t, nil // Unbounded says it
	}
	if err != nil {
		return nil, nonsense(err)
	}
	t.Lifetime, t.Warnings = &life, life.Warnings
	if t.Attempts, err = p.Attempts(); err != nil {
		return nil, nonsense(err)
	}
	if t.Advice, err = p.Advise(); err != nil {
		return nil, nonsense(err)
	}
	if err := judgeLock(t); err != nil {
		return nil, err
	}
	t.Warnings = mergeWarnings(t.Warnings, t.Advice.Warnings)
	return t, curve(t)
}

// judgeLock judges the lock that was asked about, else the recommended one.
func judgeLock(t *render.TTL) error {
	p := t.Params
	if !t.Asked {
		if len(t.Unbounded) > 0 || t.Advice.Go == "" {
			return checkFailProb(t.FailProb)
		}
		p.UniqueTTL = &t.Advice.Recommended
	}
	lock, err := p.Lock(t.FailProb)
	if err != nil {
		return nonsense(err)
	}
	t.Lock = &lock
	t.Warnings = mergeWarnings(t.Warnings, lock.Warnings)
	return nil
}

func checkFailProb(p float64) error {
	if !(p >= 0 && p <= 1) {
		return nonsense(fmt.Errorf("fail_prob %g is not between 0 and 1", p))
	}
	return nil
}

// curve adds the risk where it falls: of tasks that always fail four standard
// deviations around the mean, of others from the enqueue to the longest life. It
// adds nothing where all tasks live equally long.
func curve(t *render.TTL) error {
	l := t.Lifetime
	at := make([]retry.Seconds, riskPoints)
	switch {
	case t.FailProb < 1:
		scale := timeline.NewScale(max(l.Max, lockEnd(t)), riskPoints)
		for i := range at {
			at[i] = scale.At(i)
		}
	case l.SD == 0:
		return nil
	default:
		from, to := max(l.Min, l.Mean-4*l.SD), min(l.Max, l.Mean+4*l.SD)
		for i := range at {
			at[i] = from + (to-from)*retry.Seconds(i)/(riskPoints-1)
		}
	}
	risks, err := t.Params.Risk(t.FailProb, at)
	if err != nil {
		return nonsense(err)
	}
	for i, r := range risks {
		t.Risk = append(t.Risk, render.TTLRisk{At: at[i], Alive: r})
	}
	return nil
}

func lockEnd(t *render.TTL) retry.Seconds {
	if t.Lock == nil {
		return 0
	}
	return t.Lock.TTL
}

// mergeWarnings adds what is not said yet; of one code the first text stands.
func mergeWarnings(said, more []retry.Warning) []retry.Warning {
	out := slices.Clone(said)
	for _, w := range more {
		if !slices.ContainsFunc(out, func(have retry.Warning) bool { return have.Code == w.Code }) {
			out = append(out, w)
		}
	}
	return out
}

// nonsense is an error in parameters, wherever they came from.
func nonsense(err error) error {
	return &usageError{err: err, hint: "idemctl ttl-calc --help lists the parameters and their units"}
}
