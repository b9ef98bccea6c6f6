package payloadtest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/inspect/payload"
)

// rounds is how often a value is marshalled, and its maps rebuilt. A map of two
// members is written in one order by accident with a probability of 2^-rounds.
const rounds = 12

// maxTurned bounds how many slices of a value are turned around.
const maxTurned = 64

// Check fails the test if v, marshalled as a payload, does not have one canonical
// spelling: if marshalling v again, or v with rebuilt maps, gives other bytes, or
// if an error rule (or a rule on clocks and traces) fires. Other warnings, and
// arrays whose order changes the payload, are logged. A []byte is taken as the
// payload itself.
func Check(t testing.TB, v any, options ...Option) {
	t.Helper()
	s := newSettings(options)
	first, err := s.encode(v)
	if err != nil {
		t.Fatalf("marshal %T: %v", v, err)
	}
	checkRules(t, s, first)
	if _, raw := v.([]byte); raw {
		return
	}
	if checkRepeats(t, s, v, first) {
		checkSlices(t, s, v, first)
	}
}

// SameWork builds a value for the same work twice and fails the test if the two
// payloads would take two locks. It names the paths that differ.
func SameWork(t testing.TB, build func() any, options ...Option) {
	t.Helper()
	s := newSettings(options)
	first, err := s.encode(build())
	if err != nil {
		t.Fatalf("marshal the first value: %v", err)
	}
	second, err := s.encode(build())
	if err != nil {
		t.Fatalf("marshal the second value: %v", err)
	}
	if d := payload.Diff(first, second); !d.SharesLock {
		t.Errorf("the same work takes two locks: %s", describe(d))
	}
}

func checkRules(t testing.TB, s settings, p []byte) {
	t.Helper()
	for _, f := range payload.Check(p).Findings {
		if s.allows(f.Rule) {
			continue
		}
		text := fmt.Sprintf("%s at %s (byte %d): %s; %s", f.Rule, f.Path, f.Start, f.Message, f.Fix())
		switch {
		case s.fails(f.Rule):
			t.Error(text)
		case f.Severity() == payload.Warn:
			t.Log(text)
		}
	}
}

// checkRepeats marshals the value again, as it is and with rebuilt maps. It is
// false if the payload was not always the same.
func checkRepeats(t testing.TB, s settings, v any, first []byte) bool {
	t.Helper()
	for i := range rounds {
		value, what := v, "marshalling the same value again"
		if i%2 == 1 {
			value, what = rebuild(v), "rebuilding the maps of the value"
		}
		again, err := s.encode(value)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return false
		}
		if d := payload.Diff(first, again); !d.SharesLock {
			t.Errorf("%s takes another lock: %s", what, describe(d))
			return false
		}
	}
	return true
}

// checkSlices turns one slice after the other around.
func checkSlices(t testing.TB, s settings, v any, first []byte) {
	t.Helper()
	for n := range maxTurned {
		turned, ok := turn(v, n)
		if !ok {
			return
		}
		again, err := s.encode(turned)
		if err != nil {
			t.Errorf("marshal with a slice turned around: %v", err)
			return
		}
		d := payload.Diff(first, again)
		if d.SharesLock {
			continue
		}
		path := commonArray(d.Values)
		if slices.Contains(s.unordered, path) {
			t.Errorf("the order of %s changes the lock; sort it before marshalling", path)
		} else {
			t.Logf("the order of %s is part of the lock", path)
		}
	}
}

// commonArray is the path of the array to which all changes belong.
func commonArray(changes []payload.Change) string {
	if len(changes) == 0 {
		return "$"
	}
	prefix := changes[0].Path
	for _, c := range changes[1:] {
		n := 0
		for n < len(prefix) && n < len(c.Path) && prefix[n] == c.Path[n] {
			n++
		}
		prefix = prefix[:n]
	}
	if end := strings.LastIndexByte(prefix, '['); end >= 0 {
		return prefix[:end]
	}
	return prefix
}

// describe names up to five differences.
func describe(d payload.Difference) string {
	const shown = 5
	var parts []string
	for _, c := range d.Values {
		part := c.Path + " has another value"
		if len(c.Rules) > 0 {
			part += fmt.Sprintf(" (%v)", c.Rules)
		}
		parts = append(parts, part)
	}
	for _, s := range d.Spellings {
		parts = append(parts, fmt.Sprintf("%s is spelled differently (%s)", s.Path, s.Rule))
	}
	if len(parts) == 0 {
		return fmt.Sprintf("first different byte at %d", d.FirstByte)
	}
	if len(parts) > shown {
		parts = append(parts[:shown], fmt.Sprintf("and %d more", len(parts)-shown))
	}
	return strings.Join(parts, ", ")
}

// rebuild copies a value with every map filled in a random order.
func rebuild(v any) any {
	c := copier{}
	return c.copyOf(reflect.ValueOf(v), 0).Interface()
}

// turn copies a value with its n-th slice in reverse; false if it has fewer that
// reversing changes.
func turn(v any, n int) (any, bool) {
	c := copier{turning: true, skip: n}
	turned := c.copyOf(reflect.ValueOf(v), 0)
	return turned.Interface(), c.skip < 0
}

func shuffle(keys []reflect.Value) {
	rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
}
