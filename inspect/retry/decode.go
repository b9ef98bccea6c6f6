package retry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// members reads one JSON object by name: exact names, none unknown, none twice,
// no null unless the reader takes it, and the needed ones present. Errors begin
// with where, unless that is empty.
type members map[string]func(raw json.RawMessage) error

func (m members) read(where string, data []byte, needed ...string) error {
	if where != "" {
		where += ": "
	}
	fields, err := object(data)
	if err != nil {
		return fmt.Errorf("%s%w", where, err)
	}
	seen := map[string]bool{}
	for _, f := range fields {
		set, known := m[f.name]
		switch {
		case !known:
			return fmt.Errorf("%sunknown name %s (%s)", where, quote(f.name), strings.Join(slices.Sorted(maps.Keys(m)), ", "))
		case seen[f.name]:
			return fmt.Errorf("%s%s is written twice", where, f.name)
		}
		seen[f.name] = true
		if err := set(f.raw); err != nil {
			return fmt.Errorf("%s%s: %w", where, f.name, err)
		}
	}
	for _, name := range needed {
		if !seen[name] {
			return fmt.Errorf("%s%s is missing", where, name)
		}
	}
	return nil
}

type rawField struct {
	name string
	raw  json.RawMessage
}

// object splits an object in the order it is written.
func object(data []byte) ([]rawField, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var out []rawField
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, errors.New("broken JSON")
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, errors.New("broken JSON")
		}
		text, _ := name.(string)
		out = append(out, rawField{text, raw})
	}
	if _, err := d.Token(); err != nil {
		return nil, errors.New("broken JSON")
	}
	if d.More() {
		return nil, errors.New("more follows the JSON object")
	}
	return out, nil
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// into reads a value of a plain type; null is an error.
func into[T any](dst *T, what string) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		if isNull(raw) || json.Unmarshal(raw, dst) != nil {
			return fmt.Errorf("%s is not %s", quote(string(raw)), what)
		}
		return nil
	}
}

func number(dst *float64) func(json.RawMessage) error { return into(dst, "a number") }
func whole(dst *int) func(json.RawMessage) error      { return into(dst, "a whole number") }
func truth(dst *bool) func(json.RawMessage) error     { return into(dst, "true or false") }
func text(dst *string) func(json.RawMessage) error    { return into(dst, "text") }

func seconds(dst *Seconds) func(json.RawMessage) error {
	return into(dst, "a number of seconds")
}

// maybe reads seconds that null leaves out.
func maybe(dst **Seconds) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		*dst = nil
		if isNull(raw) {
			return nil
		}
		*dst = new(Seconds)
		return seconds(*dst)(raw)
	}
}

// notNegative is for numbers that are checked where they are read.
func notNegative(dst *Seconds) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		if err := seconds(dst)(raw); err != nil {
			return err
		}
		if *dst < 0 {
			return fmt.Errorf("%s is negative", *dst)
		}
		return nil
	}
}
