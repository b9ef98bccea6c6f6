package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/reconcile"
)

// declared is what is known of one kind of tasks before any is looked at: the
// parameters, where each came from, and the lock its code asks for.
type declared struct {
	params retry.Params
	inputs []render.TTLInput
	// rule is the configuration's word on the kind; nil where it has none.
	rule *config.Rule
	// adopted are the inputs that came from tasks themselves.
	adopted map[string]bool
}

func (d *declared) note(name, value, source string) {
	for i := range d.inputs {
		if d.inputs[i].Name == name {
			d.inputs[i].Value, d.inputs[i].Source = value, source
			return
		}
	}
	d.inputs = append(d.inputs, render.TTLInput{Name: name, Value: value, Source: source})
}

// fromAsynq begins the source of a value that only asynq's code sets.
const fromAsynq = "asynq: "

// declare settles the parameters of a kind: flags over the configuration's rule
// over asynq's defaults. An empty type asks for no rule, an empty queue for the
// first rule that matches the type in any.
func (l *lifeFlags) declare(s *config.Settings, taskType, queue string) (*declared, error) {
	d := &declared{params: retry.DefaultParams()}
	d.note("max_retry", itoa(d.params.MaxRetry), fromAsynq+"client.go: defaultMaxRetry")
	d.note("delay", d.params.Delay.String(), fromAsynq+"server.go: DefaultRetryDelayFunc")
	d.note("timeout_s", "30m", fromAsynq+"client.go: defaultTimeout")
	d.note("forward_interval_s", d.params.ForwardInterval.String(), fromAsynq+"server.go: defaultDelayedTaskCheckInterval")
	d.note("queue_wait", "0s", "nobody said: a worker is always free")
	if l.params != "" {
		if err := d.readParams(l.params); err != nil {
			return nil, err
		}
	}
	if taskType != "" {
		if err := d.configured(s, taskType, queue); err != nil {
			return nil, err
		}
	}
	l.overlay(d)
	return d, nil
}

// declareRule is declare for the rule of a number, from 1; 0 is for a
// configuration without rules, and asks for its context's policy.
func (l *lifeFlags) declareRule(s *config.Settings, number int) (*declared, error) {
	if number > 0 {
		one := *s
		r := s.Context.Rules[number-1]
		r.Match = config.Match{} // it is meant, whatever the type
		one.Context.Rules = []config.Rule{r}
		return l.declare(&one, "any", "")
	}
	return l.declare(s, "any", "")
}

// readParams takes parameters as JSON, given as text or @FILE, over asynq's
// defaults.
func (d *declared) readParams(text string) error {
	name, source := "--params", "--params"
	if file, ok := strings.CutPrefix(text, "@"); ok {
		data, err := readLimited(file)
		if err != nil {
			return usagef("--params %s: %w", text, err)
		}
		text, source = string(data), file
	}
	p, err := retry.ParseParams([]byte(text))
	if err != nil {
		return &usageError{
			err:  fmt.Errorf("%s: %w", name, err),
			hint: `times are seconds, e.g. --params '{"max_retry": 8, "delay": {"kind": "fixed", "seconds": 60}, "timeout_s": 30}'`,
		}
	}
	d.params = p
	d.note("max_retry", itoa(p.MaxRetry), source)
	d.note("delay", p.Delay.String(), source)
	d.note("timeout_s", secondsOr(p.Timeout, "30m"), source)
	d.note("forward_interval_s", p.ForwardInterval.String(), source)
	d.note("queue_wait", p.QueueWait.Min.String()+".."+p.QueueWait.Max.String(), source)
	return nil
}

func secondsOr(s *retry.Seconds, otherwise string) string {
	if s == nil {
		return otherwise
	}
	return s.String()
}

// mostParams bounds a file of parameters.
const mostParams = 1 << 20

func readLimited(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, mostParams+1))
	if err == nil && len(data) > mostParams {
		return nil, fmt.Errorf("longer than %d bytes", mostParams)
	}
	return data, err
}

// configured takes what the configuration says of a type: its rule, else the
// context.
func (d *declared) configured(s *config.Settings, taskType, queue string) error {
	policy := s.Context.Policy
	for i := range s.Context.Rules {
		r := &s.Context.Rules[i]
		if reconcile.MatchGlob(r.Match.Type.Value, taskType) && (queue == "" || reconcile.MatchGlob(r.Match.Queue.Value, queue)) {
			d.rule, policy = r, r.Policy
			break
		}
	}
	if r := policy.Retry; r.IsSet() && r.Source.Kind != config.SourceDefault {
		p, err := retry.Parse(r.Value)
		if err != nil {
			return usagef("%s: %w", r.Source, err)
		}
		d.params.Delay = p
		d.note("delay", p.String(), r.Source.String())
	}
	if r := policy.MaxRetry; r.IsSet() && r.Source.Kind != config.SourceDefault {
		d.params.MaxRetry = r.Value
		d.note("max_retry", itoa(r.Value), r.Source.String())
	}
	if r := policy.Timeout; r.IsSet() && r.Source.Kind != config.SourceDefault {
		timeout := retry.SecondsOf(r.Value)
		d.params.Timeout = &timeout
		d.note("timeout_s", timeout.String(), r.Source.String())
	}
	if r := policy.QueueWait; r.IsSet() && r.Source.Kind != config.SourceDefault {
		d.params.QueueWait.Max = retry.SecondsOf(r.Value)
		d.note("queue_wait", d.params.QueueWait.Max.String(), r.Source.String())
	}
	if d.rule == nil || d.rule.Unique == nil {
		return nil
	}
	if u := d.rule.Unique.TTL; u.IsSet() {
		ttl := retry.SecondsOf(u.Value)
		d.params.UniqueTTL = &ttl
		d.note("unique_ttl_s", ttl.String(), u.Source.String())
	}
	if u := d.rule.Unique.Period; u.IsSet() {
		d.params.Period = retry.SecondsOf(u.Value)
		d.note("period_s", d.params.Period.String(), u.Source.String())
	}
	return nil
}
