package tui

import (
	"strconv"

	"github.com/idemctl/idemctl/inspect/retry"
)

// knob is a parameter of a task's life that keys can turn.
type knob struct {
	name string
	flag string // of ttl-calc
	show func(p *retry.Params) string
	turn func(p *retry.Params, by int)
}

// spans are the times that a knob stops at, in seconds.
var spans = []retry.Seconds{
	0, 1, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 6 * 3600, 12 * 3600, 86400,
	2 * 86400, 3 * 86400, 7 * 86400, 14 * 86400, 22 * 86400, 30 * 86400, 60 * 86400, 90 * 86400,
}

// policies are the usual ones, to try.
var policies = []string{
	"default", "fixed(10s)", "fixed(1m)", "fixed(10m)", "linear(base=0s, step=30s, cap=1h)",
	"exponential(base=1s, factor=2, cap=1h)", "exponential(base=10s, factor=2, cap=1h, jitter=20%)", "exponential(base=1m, factor=2, cap=6h)",
}

var knobs = []knob{
	{
		name: "retries", flag: "max-retry",
		show: func(p *retry.Params) string { return strconv.Itoa(p.MaxRetry) },
		turn: func(p *retry.Params, by int) { p.MaxRetry = min(max(0, p.MaxRetry+by), 100) },
	},
	{
		name: "delay", flag: "policy",
		show: func(p *retry.Params) string { return p.Delay.String() },
		turn: turnPolicy,
	},
	{
		name: "timeout", flag: "timeout",
		show: func(p *retry.Params) string { t, _ := p.EffectiveTimeout(); return t.String() },
		turn: func(p *retry.Params, by int) { t, _ := p.EffectiveTimeout(); t = max(1, step(t, by)); p.Timeout = &t },
	},
	{
		name: "queue wait", flag: "queue-wait",
		show: func(p *retry.Params) string { return p.QueueWait.Max.String() },
		turn: func(p *retry.Params, by int) {
			p.QueueWait.Max = step(p.QueueWait.Max, by)
			p.QueueWait.Min = min(p.QueueWait.Min, p.QueueWait.Max)
		},
	},
	{
		name: "starts in", flag: "process-in",
		show: func(p *retry.Params) string { return p.ProcessIn.String() },
		turn: func(p *retry.Params, by int) { p.ProcessIn = step(p.ProcessIn, by) },
	},
	{
		name: "crashes", flag: "crashes",
		show: func(p *retry.Params) string { return strconv.Itoa(p.Crashes) },
		turn: func(p *retry.Params, by int) { p.Crashes = min(max(0, p.Crashes+by), 100) },
	},
	{
		name: "lock in use", flag: "unique",
		show: func(p *retry.Params) string {
			if p.UniqueTTL == nil {
				return ""
			}
			return p.UniqueTTL.String()
		},
		turn: func(p *retry.Params, by int) {
			ttl := retry.Seconds(0)
			if p.UniqueTTL != nil {
				ttl = *p.UniqueTTL
			}
			ttl = step(ttl, by)
			p.UniqueTTL = &ttl
			if ttl == 0 {
				p.UniqueTTL = nil
			}
		},
	},
}

// step is the next stop above or below a time.
func step(t retry.Seconds, by int) retry.Seconds {
	if by > 0 {
		for _, s := range spans {
			if s > t {
				return s
			}
		}
		return t
	}
	for i := len(spans) - 1; i >= 0; i-- {
		if spans[i] < t {
			return spans[i]
		}
	}
	return t
}

// turnPolicy goes through the usual policies.
func turnPolicy(p *retry.Params, by int) {
	at := -1
	for i, spec := range policies {
		if q, err := retry.Parse(spec); err == nil && q.Equal(p.Delay) {
			at = i
		}
	}
	switch {
	case at < 0 && by > 0:
		at = 0
	case at < 0:
		at = len(policies) - 1
	default:
		at = (at + by + len(policies)) % len(policies)
	}
	if q, err := retry.Parse(policies[at]); err == nil {
		p.Delay = q
	}
}
