package retry

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Family is a kind of question that Evaluate answers. The zero value is
// FamilyUnknown.
type Family uint8

const (
	FamilyUnknown      Family = iota
	FamilyLifetime            // params
	FamilyAttemptStart        // params, attempt
	FamilyRemaining           // params, seen
	FamilyLockRisk            // params with unique_ttl_s, fail_prob
	FamilyLockTTL             // unique_ttl_s, process_in_s
	FamilyRetention           // params, policy
	FamilyUnbounded           // params
)

var familyNames = [...]string{
	"unknown", "lifetime", "attempt_start", "remaining", "lock_risk", "lock_ttl", "retention", "unbounded",
}

func (f Family) String() string {
	if int(f) < len(familyNames) {
		return familyNames[f]
	}
	return familyNames[FamilyUnknown]
}

// ParseFamily reads a family's name.
func ParseFamily(name string) (Family, error) {
	for i, known := range familyNames[1:] {
		if name == known {
			return Family(i + 1), nil
		}
	}
	return FamilyUnknown, fmt.Errorf("unknown family %s (%s)", quote(name), strings.Join(familyNames[1:], ", "))
}

// Request is one question. Which fields a family needs stands with its constant;
// ParseRequest also refuses the others.
type Request struct {
	ID      string
	Family  Family
	Params  Params
	Attempt int // from 1
	Seen    Seen
	// FailProb is the chance that an attempt fails; 1 when it is not written.
	FailProb float64
	Policy   RetentionPolicy
}

// ParseRequest reads one JSON object {"id", "family", "params", …}; "note" is
// free text. unique_ttl_s, process_in_s and group of lock_ttl may stand in
// params or beside it. With an error the Request still holds the ID, if it
// could be read.
func ParseRequest(data []byte) (Request, error) {
	r := Request{Params: DefaultParams(), FailProb: 1, Policy: DefaultRetentionPolicy()}
	raw := map[string]json.RawMessage{}
	keep := func(name string) func(json.RawMessage) error {
		return func(m json.RawMessage) error {
			raw[name] = m
			return nil
		}
	}
	var family, note string
	names := members{"id": text(&r.ID), "family": text(&family), "note": text(&note)}
	for _, name := range []string{"params", "attempt", "seen", "fail_prob", "policy", "unique_ttl_s", "process_in_s", "group"} {
		names[name] = keep(name)
	}
	if err := names.read("", data, "family"); err != nil {
		r.ID = idOf(data)
		return r, err
	}
	f, err := ParseFamily(family)
	if err != nil {
		return r, err
	}
	r.Family = f
	return r, r.readParts(raw)
}

// idOf finds the ID of a request that is wrong elsewhere.
func idOf(data []byte) (id string) {
	fields, _ := object(data)
	for _, f := range fields {
		if f.name == "id" {
			_ = json.Unmarshal(f.raw, &id)
		}
	}
	return id
}

// wants lists the parts each family has, the needed ones first.
var wants = map[Family]struct{ needed, allowed []string }{
	FamilyLifetime:     {[]string{"params"}, nil},
	FamilyAttemptStart: {[]string{"params", "attempt"}, nil},
	FamilyRemaining:    {[]string{"params", "seen"}, nil},
	FamilyLockRisk:     {[]string{"params"}, []string{"fail_prob"}},
	FamilyLockTTL:      {nil, []string{"params", "unique_ttl_s", "process_in_s", "group"}},
	FamilyRetention:    {[]string{"params"}, []string{"policy"}},
	FamilyUnbounded:    {[]string{"params"}, nil},
}

func (r *Request) readParts(raw map[string]json.RawMessage) error {
	want := wants[r.Family]
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if !slices.Contains(want.needed, name) && !slices.Contains(want.allowed, name) {
			return fmt.Errorf("%s does not belong to family %s", name, r.Family)
		}
	}
	for _, name := range want.needed {
		if _, ok := raw[name]; !ok {
			return fmt.Errorf("%s is missing", name)
		}
	}
	// params first: what stands beside them is read over them.
	if m, ok := raw["params"]; ok {
		p, err := ParseParams(m)
		if err != nil {
			return err
		}
		r.Params = p
	}
	readers := members{
		"attempt":      whole(&r.Attempt),
		"seen":         r.Seen.read,
		"fail_prob":    number(&r.FailProb),
		"policy":       r.Policy.read,
		"unique_ttl_s": maybe(&r.Params.UniqueTTL),
		"process_in_s": seconds(&r.Params.ProcessIn),
		"group":        r.Params.readGroup,
	}
	for name, m := range raw {
		if name == "params" {
			continue
		}
		if err := readers[name](m); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// read takes state, retried, next_process_in_s (needed for scheduled and retry),
// running_for_s, orphaned and lease_expired_ago_s.
func (s *Seen) read(raw json.RawMessage) error {
	var state string
	var next *Seconds
	err := members{
		"state":               text(&state),
		"retried":             whole(&s.Retried),
		"next_process_in_s":   maybe(&next),
		"running_for_s":       maybe(&s.RunningFor),
		"orphaned":            truth(&s.Orphaned),
		"lease_expired_ago_s": maybe(&s.LeaseExpiredAgo),
	}.read("", raw, "state", "retried")
	if err != nil {
		return err
	}
	if s.State, err = ParseState(state); err != nil {
		return err
	}
	if next != nil {
		s.NextProcessIn = *next
	} else if s.State == StateScheduled || s.State == StateRetry {
		return errors.New("next_process_in_s is missing")
	}
	return nil
}

// read takes dup_horizon_s, archive_days, reruns, zombie_s (seconds or
// "exec.max") and skew_s.
func (r *RetentionPolicy) read(raw json.RawMessage) error {
	days := float64(r.Archive / day)
	err := members{
		"dup_horizon_s": seconds(&r.DupHorizon),
		"archive_days":  number(&days),
		"reruns":        whole(&r.Reruns),
		"zombie_s":      r.readZombie,
		"skew_s":        seconds(&r.Skew),
	}.read("", raw)
	r.Archive = Seconds(days) * day
	return err
}

func (r *RetentionPolicy) readZombie(raw json.RawMessage) error {
	if string(raw) == `"exec.max"` {
		r.Zombie = nil
		return nil
	}
	return maybe(&r.Zombie)(raw)
}
