package render

import (
	"fmt"
	"strings"

	"github.com/idemctl/idemctl/inspect/retry"
)

// explainTTL is the formula of a life with this task's numbers in it. Times are
// seconds.
func explainTTL(t *TTL) []string {
	p, l := t.Params, t.Lifetime
	lines := []string{
		"L = P + [P>0]·f0 + q0 + Σ i=1..R ( x_i + c_i + d(i−1) − δ_i + f_i + q_i ) + x_{R+1} + c_{R+1} + Σ j=1..Q ( x'_j + q'_j )",
		fmt.Sprintf("R = %d retries, so %d attempts, %d passes of the forwarder and %d runs", p.MaxRetry, p.MaxRetry+1, l.ForwardHops, l.Runs),
	}
	for _, part := range l.Parts {
		if symbol := symbols[part.Term]; symbol != "" {
			lines = append(lines, fmt.Sprintf("%s: %s", symbol, rangeOf(part)))
		}
		if part.Term == retry.TermDelay {
			lines = append(lines, delayLines(p)...)
		}
	}
	lines = append(lines, sumLine("L_max", l.Parts, func(q retry.Part) retry.Seconds { return q.Max }, l.Max),
		sumLine("L_min", l.Parts, func(q retry.Part) retry.Seconds { return q.Min }, l.Min))
	if len(t.Unbounded) > 0 || t.Advice.Go == "" {
		return lines
	}
	safe, margin := t.Advice.Safe, max(t.Advice.Safe/100, 60)
	how := "⌈L_max⌉"
	if p.Scheduled() {
		how = "⌈L_max − P⌉ + 1"
	}
	return append(lines,
		fmt.Sprintf("safe TTL = %s = %s", how, num(safe)),
		fmt.Sprintf("recommended = safe + max(1 %%, 60) = %s + %s, rounded up to %s = %s", num(safe), num(margin), num(t.Advice.Recommended), t.Advice.Recommended))
}

// symbols are the terms' names in the formula.
var symbols = map[retry.Term]string{
	retry.TermGroup:      "wait in the group",
	retry.TermProcessIn:  "P",
	retry.TermForward:    "Σ f",
	retry.TermQueueWait:  "Σ q",
	retry.TermRun:        "Σ x",
	retry.TermRequeue:    "Σ (x' + q')",
	retry.TermCrash:      "Σ c",
	retry.TermDelay:      "Σ d(n), n = 0..R−1",
	retry.TermTruncation: "−Σ δ (only shortens; not in L_min and L_max)",
}

func rangeOf(p retry.Part) string {
	if p.Min == p.Max {
		return num(p.Max)
	}
	return fmt.Sprintf("%s … %s, mean %s", num(p.Min), num(p.Max), num(p.Mean))
}

func num(s retry.Seconds) string { return number3(float64(s)) }

// delayLines spells out the sums of asynq's default policy, which have a closed
// form.
func delayLines(p retry.Params) []string {
	if p.Delay.Kind() != retry.KindDefault || p.MaxRetry == 0 {
		return []string{fmt.Sprintf("  d(n) as %s gives it", p.Delay)}
	}
	r := float64(p.MaxRetry)
	power := (r - 1) * r * (2*r - 1) * (3*r*r - 3*r - 1) / 30
	base := power + 15*r
	jitter := 29 * r * (r + 1) / 2
	return []string{
		"  d(n) = n⁴ + 15 + (n+1)·U, U one of 0..29",
		fmt.Sprintf("  Σ n⁴ = (R−1)·R·(2R−1)·(3R²−3R−1)/30 = %s", number3(power)),
		fmt.Sprintf("  shortest %s + 15·%d = %s", number3(power), p.MaxRetry, number3(base)),
		fmt.Sprintf("  longest %s + 29·R·(R+1)/2 = %s + %s = %s", number3(base), number3(base), number3(jitter), number3(base+jitter)),
	}
}

// sumLine adds the parts up.
func sumLine(name string, parts []retry.Part, of func(retry.Part) retry.Seconds, sum retry.Seconds) string {
	var terms []string
	for _, p := range parts {
		if p.Term != retry.TermTruncation && of(p) != 0 {
			terms = append(terms, num(of(p)))
		}
	}
	if len(terms) == 0 {
		terms = []string{"0"}
	}
	if len(terms) == 1 && terms[0] == num(sum) {
		return name + " = " + num(sum)
	}
	return name + " = " + strings.Join(terms, " + ") + " = " + num(sum)
}
