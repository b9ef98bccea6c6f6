package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/inspect/retry"
)

// lifeFlags describe one task and the servers that run it.
type lifeFlags struct {
	maxRetry, crashes  countValue
	requeues           requeuesValue
	policy             policyValue
	timeout, deadline  timeValue
	processIn, forward timeValue
	queueWait, run     rangeValue
	runTypical         timeValue
	unique, period     timeValue
	group              string
	groupMaxDelay      timeValue
	uncounted          bool
	params             string
	failProb           float64
	sources            map[string]config.Source // of values that no flag gave
}

// lifeNames are the flags of lifeFlags that describe a task.
var lifeNames = []string{
	"max-retry", "policy", "timeout", "deadline", "process-in", "queue-wait", "run", "run-typical",
	"crashes", "requeues", "forward-interval", "group", "group-max-delay", "uncounted",
}

func (l *lifeFlags) add(f *pflag.FlagSet) {
	f.Var(&l.maxRetry, "max-retry", "asynq.MaxRetry `N` (default 25)")
	f.Var(&l.policy, "policy", "retry `POLICY`: default, fixed(60s), linear(base=0s, step=2s, cap=1h), poly(coef=5s, power=2), exponential(base=30s, factor=2, cap=1h, jitter=full|equal|20%), table(30s, 1m), expr(\"…\")")
	f.Var(&l.timeout, "timeout", "asynq.Timeout `TIME` of the task (default 30m)")
	f.Var(&l.deadline, "deadline", "asynq.Deadline as `TIME` after the enqueue")
	f.Var(&l.processIn, "process-in", "asynq.ProcessIn `TIME`, or ProcessAt as time after the enqueue")
	f.Var(&l.queueWait, "queue-wait", "longest `TIME` in pending before a worker is free, or MIN..MAX")
	f.Var(&l.run, "run", "longest `TIME` of one run, or MIN..MAX (default: until the timeout)")
	f.Var(&l.runTypical, "run-typical", "`TIME` of a typical failing run, for mean and quantiles")
	f.Var(&l.crashes, "crashes", "`N` attempts that may be lost with their worker")
	f.Var(&l.requeues, "requeues", "`N` shutdowns that may push the task back, or unlimited")
	f.Var(&l.forward, "forward-interval", "asynq.Config.DelayedTaskCheckInterval `TIME` (default 5s)")
	f.StringVar(&l.group, "group", "", "asynq.Group `NAME` of the task")
	f.Var(&l.groupMaxDelay, "group-max-delay", "asynq.Config.GroupMaxDelay `TIME` (0: no limit)")
	f.BoolVar(&l.uncounted, "uncounted", false, "Config.IsFailure may say that an error is no failure")
	f.Var(&l.period, "period", "`TIME` after which equal work may legally come again")
}

// overlay puts what flags say over the rest.
func (l *lifeFlags) overlay(d *declared) {
	p := &d.params
	note := func(flag, name, value string) { d.note(name, value, l.from(flag)) }
	if l.maxRetry.given {
		p.MaxRetry = l.maxRetry.n
		note("max-retry", "max_retry", l.maxRetry.String())
	}
	if l.policy.given {
		p.Delay = l.policy.policy
		note("policy", "delay", p.Delay.String())
	}
	if l.queueWait.given() {
		p.QueueWait = retry.Range{Min: l.queueWait.min.or(0), Max: *l.queueWait.max.at}
		note("queue-wait", "queue_wait", l.queueWait.String())
	}
	if l.run.given() {
		p.Exec.Min, p.Exec.Max = l.run.min.or(0), l.run.max.at
		note("run", "exec", l.run.String())
	}
	for _, t := range []struct {
		flag, name string
		value      timeValue
		to         **retry.Seconds
	}{
		{"timeout", "timeout_s", l.timeout, &p.Timeout},
		{"deadline", "deadline_s", l.deadline, &p.Deadline},
		{"run-typical", "exec.typical", l.runTypical, &p.Exec.Typical},
		{"unique", "unique_ttl_s", l.unique, &p.UniqueTTL},
	} {
		if t.value.at != nil {
			*t.to = t.value.at
			note(t.flag, t.name, t.value.String())
		}
	}
	for _, t := range []struct {
		flag, name string
		value      timeValue
		to         *retry.Seconds
	}{
		{"process-in", "process_in_s", l.processIn, &p.ProcessIn},
		{"forward-interval", "forward_interval_s", l.forward, &p.ForwardInterval},
		{"period", "period_s", l.period, &p.Period},
		{"group-max-delay", "group_max_delay_s", l.groupMaxDelay, &p.GroupMaxDelay},
	} {
		if t.value.at != nil {
			*t.to = *t.value.at
			note(t.flag, t.name, t.value.String())
		}
	}
	if l.forward.at != nil && *l.forward.at == 0 {
		p.ForwardInterval = retry.DefaultParams().ForwardInterval
		note("forward-interval", "forward_interval_s", "0, which asynq reads as "+p.ForwardInterval.String()+" (server.go: NewServerFromRedisClient)")
	}
	l.overlayCounts(d, note)
}

func (l *lifeFlags) overlayCounts(d *declared, note func(flag, name, value string)) {
	p := &d.params
	if l.crashes.given {
		p.Crashes = l.crashes.n
		note("crashes", "crashes", l.crashes.String())
	}
	if l.requeues.given {
		p.Requeues, p.RequeuesUnlimited = l.requeues.n, l.requeues.unlimited
		note("requeues", "requeues", l.requeues.String())
	}
	if l.group != "" {
		p.Group = l.group
		note("group", "group", l.group)
	}
	if l.uncounted {
		p.IsFailureMayBeFalse = true
		note("uncounted", "is_failure", "may_be_false")
	}
}

// from says where a flag's value came from.
func (l *lifeFlags) from(flag string) string {
	if source, ok := l.sources[flag]; ok {
		return source.String()
	}
	return "--" + flag
}

// settle takes note of where values came from. The timeout of a task has the
// name of the shared flag that bounds a command's own time: only the command
// line means the task's, the environment and the file mean the command's.
func (l *lifeFlags) settle(p *program, cmd *cobra.Command, s *config.Settings) error {
	l.sources = map[string]config.Source{}
	for name, value := range s.Context.Flags {
		if f := cmd.Flags().Lookup(name); f != nil && !f.Changed {
			l.sources[f.Name] = value.Source
		}
	}
	f := cmd.Flags().Lookup("timeout")
	if f == nil || f.Changed || l.timeout.at == nil {
		return nil
	}
	p.shared.timeout = l.timeout.at.Duration()
	l.timeout.at = nil
	if p.shared.timeout < 0 {
		return usagef("%s: expected a time that is not negative", l.sources["timeout"])
	}
	return nil
}
