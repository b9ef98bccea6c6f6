package payloadtest

import (
	"encoding/json"
	"slices"

	"github.com/idemctl/idemctl/inspect/payload"
)

// Option changes what a check asks for.
type Option func(*settings)

type settings struct {
	marshal   func(any) ([]byte, error)
	allowed   []payload.Rule
	unordered []string
	strict    bool
}

// Marshal sets how values become payloads; the default is json.Marshal.
func Marshal(marshal func(any) ([]byte, error)) Option {
	return func(s *settings) { s.marshal = marshal }
}

// Allow silences rules.
func Allow(rules ...payload.Rule) Option {
	return func(s *settings) { s.allowed = append(s.allowed, rules...) }
}

// Unordered names arrays, such as $.member_ids, whose order has no meaning: turning
// them around must not change the payload, so marshalling has to sort them.
func Unordered(paths ...string) Option {
	return func(s *settings) { s.unordered = append(s.unordered, paths...) }
}

// Strict makes every warning fail the test.
func Strict() Option {
	return func(s *settings) { s.strict = true }
}

func newSettings(options []Option) settings {
	s := settings{marshal: json.Marshal}
	for _, option := range options {
		option(&s)
	}
	return s
}

// encode marshals a value; a []byte is a payload already.
func (s settings) encode(v any) ([]byte, error) {
	if raw, ok := v.([]byte); ok {
		return raw, nil
	}
	return s.marshal(v)
}

// fails says whether a rule fails the test: errors do, and of the warnings those on
// what usually differs from enqueue to enqueue.
func (s settings) fails(rule payload.Rule) bool {
	switch rule {
	case payload.VolatileName, payload.TimestampSubsecond, payload.TimestampEpoch:
		return true
	default:
		return rule.Severity() == payload.Error || s.strict && rule.Severity() == payload.Warn
	}
}

func (s settings) allows(rule payload.Rule) bool { return slices.Contains(s.allowed, rule) }
