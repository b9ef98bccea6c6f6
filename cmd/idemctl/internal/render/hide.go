package render

import "bytes"

// Hider returns what hides payload fields for good: in a record that is written,
// where no output can show them later. It replaces the named fields of a JSON
// object or array, and all of any other payload; without paths, all of every
// payload. A payload in which no field is named is returned as it is. An error is
// a path that cannot be read.
func Hider(paths []string) (func(payload []byte) []byte, error) {
	r, err := newRedactor(paths)
	if err != nil {
		return nil, err
	}
	return r.hide, nil
}

func (r redactor) hide(payload []byte) []byte {
	if !r.active() {
		return []byte(redacted)
	}
	hidden, err := r.apply(payload)
	if err != nil || !isContainer(hidden) {
		return []byte(redacted)
	}
	if same, err := (redactor{}).apply(payload); err == nil && bytes.Equal(hidden, same) {
		return payload
	}
	return hidden
}

// Hidden stands where something was hidden.
const Hidden = redacted
