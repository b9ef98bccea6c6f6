package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// switchedOn removes the "#" before every setting of the sample that is commented out, and keeps explanations.
func switchedOn() string {
	return regexp.MustCompile(`(?m)^( *)#([^ \n])`).ReplaceAllString(Sample(), "$1$2")
}

func TestSampleIsValidAsWritten(t *testing.T) {
	file := mustParse(t, Sample())
	if len(file.Warnings) != 0 || file.CurrentContext.Value != "local" || len(file.Contexts) != 1 {
		t.Errorf("got %+v", file)
	}
}

func TestSampleIsValidWithEverythingSwitchedOn(t *testing.T) {
	file := mustParse(t, switchedOn())
	if len(file.Warnings) != 0 {
		t.Errorf("warnings: %v", file.Warnings)
	}
}

// TestSampleShowsEveryKey walks the schema: a key that is added and not explained in the sample is one that
// nobody finds.
func TestSampleShowsEveryKey(t *testing.T) {
	file := mustParse(t, switchedOn())
	shown := map[string]bool{}
	collect(reflect.ValueOf(file).Elem(), "", shown)
	var missing []string
	for _, key := range schemaKeys(reflect.TypeFor[File](), "") {
		if !shown[key] {
			missing = append(missing, key)
		}
	}
	// A rule has three sources of one type, and a retry policy stands in two places; what is shown for one place
	// need not be repeated for the other.
	missing = slices.DeleteFunc(missing, func(key string) bool {
		for _, other := range []string{".mark.", ".effect.", ".inbox."} {
			for _, same := range []string{".mark.", ".effect.", ".inbox."} {
				if shown[strings.Replace(key, other, same, 1)] {
					return true
				}
			}
		}
		return shown[strings.Replace(key, ".rules.policy.", ".policy.", 1)]
	})
	if len(missing) != 0 {
		t.Errorf("the sample does not show %s", strings.Join(missing, ", "))
	}
}

// schemaKeys lists the paths of all keys, without the numbers of lists.
func schemaKeys(block reflect.Type, path string) []string {
	for block.Kind() == reflect.Pointer || block.Kind() == reflect.Slice {
		block = block.Elem()
	}
	if block == flagsType || reflect.PointerTo(block).Implements(reflect.TypeFor[scalar]()) {
		return []string{path}
	}
	var keys []string
	for field := range fieldsOf(block) {
		keys = append(keys, schemaKeys(field.Type, join(path, field.Tag.Get("yaml")))...)
	}
	return keys
}

// collect notes the paths of all values that are set.
func collect(value reflect.Value, path string, shown map[string]bool) {
	switch {
	case isEmpty(value):
	case value.Type() == flagsType || isScalarType(value):
		shown[path] = true
	case value.Kind() == reflect.Pointer:
		collect(value.Elem(), path, shown)
	case value.Kind() == reflect.Slice:
		for n := range value.Len() {
			collect(value.Index(n), path, shown)
		}
	default:
		for field := range fieldsOf(value.Type()) {
			collect(value.FieldByIndex(field.Index), join(path, field.Tag.Get("yaml")), shown)
		}
	}
}

func isScalarType(value reflect.Value) bool {
	return reflect.PointerTo(value.Type()).Implements(reflect.TypeFor[scalar]())
}
