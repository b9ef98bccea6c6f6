package config

import (
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
)

// Entry is one settled value, to show to an operator.
type Entry struct {
	// Key is its path, such as "redis.uri" or "rules[0].mark.table".
	Key string
	// Value as the file would say it, secrets masked.
	Value  string
	Source Source
}

// Entries lists every value of the settings that is set, in the order of the schema.
func (s *Settings) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		entries(reflect.ValueOf(&s.Context).Elem(), "", yield)
	}
}

// entries yields the settings at and below value, and reports whether to go on.
func entries(value reflect.Value, key string, yield func(Entry) bool) bool {
	switch {
	case isEmpty(value):
		return true
	case value.Type() == flagsType:
		flags := value.Interface().(map[string]Setting[[]string])
		for _, name := range slices.Sorted(maps.Keys(flags)) {
			if !yield(Entry{Key: join(key, name), Value: flags[name].text(), Source: flags[name].Source}) {
				return false
			}
		}
		return true
	case value.Kind() == reflect.Pointer:
		return entries(value.Elem(), key, yield)
	case value.Kind() == reflect.Slice:
		for n := range value.Len() {
			if !entries(value.Index(n), fmt.Sprintf("%s[%d]", key, n), yield) {
				return false
			}
		}
		return true
	case isScalar(value):
		setting := value.Addr().Interface()
		text := textOf(setting)
		if list, ok := setting.(*Setting[[]string]); ok {
			text = shownAddresses(list.Value)
		}
		return yield(Entry{Key: key, Value: text, Source: setting.(sourced).source()})
	}
	for field := range fieldsOf(value.Type()) {
		if !entries(value.FieldByIndex(field.Index), join(key, field.Tag.Get("yaml")), yield) {
			return false
		}
	}
	return true
}

func textOf(setting any) string { return setting.(interface{ text() string }).text() }
