package config

import "reflect"

// The keys of the file are the yaml tags of the schema. These functions walk them.

// keysOf lists the keys of a block in the order of the schema.
func keysOf(block reflect.Type) []string {
	var names []string
	for field := range fieldsOf(block) {
		names = append(names, field.Tag.Get("yaml"))
	}
	return names
}

// fieldsOf yields the fields of a block that are keys of the file.
func fieldsOf(block reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for n := range block.NumField() {
			if field := block.Field(n); field.Tag.Get("yaml") != "" && !yield(field) {
				return
			}
		}
	}
}

// fieldOf gives the field of a block with that key, or the zero Value.
func fieldOf(block reflect.Value, name string) reflect.Value {
	for field := range fieldsOf(block.Type()) {
		if field.Tag.Get("yaml") == name {
			return block.FieldByIndex(field.Index)
		}
	}
	return reflect.Value{}
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}
