package retry

import "fmt"

// WarningCode is what a warning is about. The zero value is WarningUnknown.
type WarningCode uint8

const (
	WarningUnknown        WarningCode = iota
	WarningOverflow                   // asynq's default delay overflows
	WarningSaturated                  // a delay beyond the longest time.Duration
	WarningTurning                    // an expression is not monotone in rand
	WarningTimeoutIgnored             // timeout 0 or below a second: 30 minutes
	WarningTimeoutCut                 // the fraction of a second is dropped
	WarningDeadline                   // a deadline does not end retrying
	WarningTypical                    // exec.typical unknown: the longest is taken
	WarningImmediate                  // the first retry comes at once
	WarningPhase                      // short delays keep step with the forwarder
	WarningDefaultRetries             // 25 default retries are three weeks
	WarningGroup                      // what aggregation does to a task and its lock
	WarningLockEarly                  // what frees a lock early
	WarningLockAfter                  // the lock outlives the task
	WarningLockShort                  // the lock ends first
	WarningPeriod                     // the lock outlasts the legal period
	WarningTooLong                    // no time.Duration is long enough
	WarningArchive                    // the archive's 90 days are no guarantee
	WarningRerun                      // an operator can run it again
)

var warningNames = [...]string{
	"unknown", "overflow", "saturated", "turning", "timeout-ignored", "timeout-cut", "deadline", "typical",
	"immediate", "phase", "default-retries", "group", "lock-early", "lock-after", "lock-short", "period", "too-long", "archive", "rerun",
}

func (c WarningCode) String() string {
	if int(c) < len(warningNames) {
		return warningNames[c]
	}
	return warningNames[WarningUnknown]
}

// Warning is something the numbers alone do not say, in words for people.
type Warning struct {
	Code WarningCode
	Text string
}

// warnings are those of the task itself.
func (p Params) warnings(m *model) []Warning {
	var out []Warning
	add := func(when bool, code WarningCode, text string) {
		if when {
			out = append(out, Warning{code, text})
		}
	}
	out = append(out, p.delayWarnings(m)...)
	timeout, timed := p.EffectiveTimeout()
	if p.Timeout != nil {
		add(*p.Timeout < 1 && timed, WarningTimeoutIgnored,
			fmt.Sprintf("a timeout of %s is no timeout: the worker uses %s", *p.Timeout, timeout))
		add(*p.Timeout < 1 && !timed, WarningTimeoutIgnored,
			fmt.Sprintf("a timeout of %s is no timeout: only the deadline ends a run", *p.Timeout))
		add(*p.Timeout > timeout && timed && *p.Timeout >= 1, WarningTimeoutCut,
			fmt.Sprintf("a timeout of %s is stored as %s", *p.Timeout, timeout))
	}
	add(p.Deadline != nil && p.MaxRetry > 0, WarningDeadline,
		"the deadline does not end retrying: after it every attempt fails at once, and all remaining retries still wait their delays")
	add(p.Exec.Typical == nil && m.run.high > 0, WarningTypical,
		fmt.Sprintf("no typical run time is given: mean and quantiles let every run take the longest, %s", m.run.high))
	add(p.aggregated(), WarningGroup,
		"in a group the task becomes part of another one, with its own ID and retries; its lock is not released before its TTL ends")
	return out
}

func (p Params) delayWarnings(m *model) []Warning {
	var out []Warning
	add := func(when bool, code WarningCode, text string) {
		if when {
			out = append(out, Warning{code, text})
		}
	}
	add(p.overflows(), WarningOverflow, overflowText)
	seen := map[doubt]int{}
	for n, d := range m.delays {
		if _, ok := seen[d.doubt]; !ok {
			seen[d.doubt] = n
		}
	}
	n, ok := seen[doubtSaturated]
	add(ok, WarningSaturated,
		fmt.Sprintf("delay(%d) is more than a time.Duration holds (292 years): what the server's function returns there is not known", n))
	n, ok = seen[doubtTurning]
	add(ok, WarningTurning,
		fmt.Sprintf("at n=%d the expression does not run from one end of rand to the other: its bounds are those of %d points, not proven", n, probes))
	if m.retries == 0 {
		return out
	}
	first := m.delays[0]
	add(first.max == 0 && p.Delay.Kind() != KindDefault, WarningImmediate,
		"the first retry has no delay: n counts from 0")
	add(first.shape == shapeConstant && first.max < 2*m.forward.max, WarningPhase,
		"short delays without jitter keep step with the forwarder: the true mean and spread differ from those of independent waits; minimum and maximum hold")
	add(p.Delay.Kind() == KindDefault && m.retries >= defaultMaxRetry, WarningDefaultRetries,
		fmt.Sprintf("%d retries of the default policy go on for up to %s", m.retries, rough(sumMax(m.delays))))
	return out
}

func sumMax(delays []spread) (sum Seconds) {
	for _, d := range delays {
		sum += d.max
	}
	return sum
}

// rough is a time as a person would say it.
func rough(s Seconds) string {
	for _, u := range []struct {
		size Seconds
		name string
	}{{365.25 * day, "years"}, {day, "days"}, {hour, "hours"}, {minute, "minutes"}} {
		if s >= 2*u.size {
			return fmt.Sprintf("%.1f %s", float64(s/u.size), u.name)
		}
	}
	return fmt.Sprintf("%.0f seconds", float64(s))
}
