package retry

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ParseParams reads Params from JSON over DefaultParams. Times are seconds,
// names are exact, unknown and repeated names are errors:
//
//	max_retry, delay, exec{min,typical,max}, queue_wait{min,max},
//	forward_interval_s, timeout_s, deadline_s, process_in_s, crashes,
//	requeues (null: no limit), shutdown_timeout_s, unique_ttl_s, period_s,
//	group, group_max_delay_s, is_failure_may_be_false, is_failure, queue_paused,
//	redis_down, servers (0: nobody serves the queue)
//
// delay is an object {"kind": …} or a policy as Parse reads it. is_failure is
// "default" (or true: every error counts) or "may_be_false" (or false).
func ParseParams(data []byte) (Params, error) {
	p := DefaultParams()
	if err := p.members().read("params", data); err != nil {
		return Params{}, err
	}
	if err := p.check(); err != nil && !errors.Is(err, ErrTooManyRetries) {
		return Params{}, fmt.Errorf("params: %w", err)
	}
	return p, nil
}

func (p *Params) members() members {
	return members{
		"max_retry":               whole(&p.MaxRetry),
		"delay":                   p.readDelay,
		"exec":                    p.Exec.read,
		"queue_wait":              p.QueueWait.read,
		"forward_interval_s":      seconds(&p.ForwardInterval),
		"timeout_s":               maybe(&p.Timeout),
		"deadline_s":              maybe(&p.Deadline),
		"process_in_s":            seconds(&p.ProcessIn),
		"crashes":                 whole(&p.Crashes),
		"requeues":                p.readRequeues,
		"shutdown_timeout_s":      seconds(&p.ShutdownTimeout),
		"unique_ttl_s":            maybe(&p.UniqueTTL),
		"period_s":                seconds(&p.Period),
		"group":                   p.readGroup,
		"group_max_delay_s":       seconds(&p.GroupMaxDelay),
		"is_failure_may_be_false": truth(&p.IsFailureMayBeFalse),
		"is_failure":              p.readIsFailure,
		"queue_paused":            truth(&p.QueuePaused),
		"redis_down":              truth(&p.RedisDown),
		"servers":                 p.readServers,
	}
}

func (e *Exec) read(raw json.RawMessage) error {
	return members{"min": seconds(&e.Min), "typical": maybe(&e.Typical), "max": maybe(&e.Max)}.read("", raw)
}

func (r *Range) read(raw json.RawMessage) error {
	return members{"min": seconds(&r.Min), "max": seconds(&r.Max)}.read("", raw)
}

func (p *Params) readGroup(raw json.RawMessage) error {
	if isNull(raw) {
		return nil
	}
	return text(&p.Group)(raw)
}

func (p *Params) readRequeues(raw json.RawMessage) error {
	if isNull(raw) {
		p.RequeuesUnlimited = true
		return nil
	}
	return whole(&p.Requeues)(raw)
}

func (p *Params) readIsFailure(raw json.RawMessage) error {
	switch string(raw) {
	case `"default"`, "true":
		p.IsFailureMayBeFalse = false
	case `"may_be_false"`, "false":
		p.IsFailureMayBeFalse = true
	default:
		return fmt.Errorf("%s is unknown (default, may_be_false)", quote(string(raw)))
	}
	return nil
}

func (p *Params) readServers(raw json.RawMessage) error {
	var n int
	if err := whole(&n)(raw); err != nil {
		return err
	}
	if n < 0 {
		return fmt.Errorf("%d is negative", n)
	}
	p.Unserved = n == 0
	return nil
}
