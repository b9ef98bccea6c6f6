package main

import (
	"fmt"
	"strings"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/reconcile"
)

// doubts are why the answer that the parameters give would not hold: delays that
// Redis shows lie outside of the policy it rests on. With a type every kind that was
// looked at is its; without one only those that the same policy is declared for.
func (o *ttlCalcOptions) doubts(d *declared, seen *render.TTLObserved) []string {
	var out []string
	for i := range seen.Kinds {
		k := &seen.Kinds[i]
		delays, inside := k.Seen()
		outside := delays - inside
		if !k.Declared.Delay.Equal(d.params.Delay) {
			if o.taskType() == "" {
				continue
			}
			outside = k.Outside(d.params.Delay)
		}
		if outside > 0 {
			out = append(out, contradiction(d, k, outside, delays))
		}
	}
	return out
}

// contradiction says what contradicts the policy, and what to type instead.
func contradiction(d *declared, k *render.TTLKind, outside, delays int) string {
	policy := d.params.Delay.String()
	if d.free("delay") {
		policy += ", which nobody declared"
	}
	say := "declare the true one, with --policy or as policy.retry in the configuration"
	if fit, ok := k.Fit(d.params.Delay); ok && !fit.Policy.Equal(d.params.Delay) {
		say += ", such as --policy " + reconcile.ShellQuote(fit.Policy.String()) + " if the delays not seen are like those seen"
	}
	return fmt.Sprintf("%d of %d delays seen of %s in %s contradict the policy %s: %s", outside, delays, k.Type, k.Queue, policy, say)
}

// withhold takes away what follows from parameters that are in doubt: the page would
// prove a number that what it shows refutes.
func withhold(t *render.TTL, doubts []string) *render.TTL {
	if len(doubts) == 0 {
		return t
	}
	return &render.TTL{Params: t.Params, FailProb: t.FailProb, Unbounded: t.Unbounded, Doubts: doubts, Asked: t.Asked}
}

// reasons are why there is no answer, in one line.
func reasons(t *render.TTL) string {
	var out []string
	for _, r := range t.Unbounded {
		out = append(out, r.Text)
	}
	return strings.Join(append(out, t.Doubts...), "; ")
}
