package render

import (
	"bytes"
	"encoding/json"
)

// Hider hides payload fields for good: in a record that is written, where no
// output can show them later.
type Hider struct{ r redactor }

// NewHider reads the paths of what to hide; without any it is all of every
// payload. An error is a path that cannot be read.
func NewHider(paths []string) (*Hider, error) {
	r, err := newRedactor(paths)
	if err != nil {
		return nil, err
	}
	return &Hider{r}, nil
}

// Payload replaces the named fields of a JSON object or array, and all of any
// other payload. A payload in which no field is named is returned as it is.
func (h *Hider) Payload(payload []byte) []byte {
	if !h.r.active() || h.r.hidesPayloads() {
		return []byte(redacted)
	}
	hidden, err := h.r.apply(payload)
	if err != nil || !isContainer(hidden) {
		return []byte(redacted)
	}
	if same, err := (redactor{}).apply(payload); err == nil && bytes.Equal(hidden, same) {
		return payload
	}
	return hidden
}

// Header replaces the value of a header that a path names, with or without a
// leading headers.
func (h *Hider) Header(name, value string) string {
	var shown map[string]string
	hidden := h.r.headers(map[string]string{name: value})
	if err := json.Unmarshal(hidden, &shown); err != nil || len(shown) != 1 {
		return redacted // hidden as a whole, or nobody can say
	}
	return shown[name]
}

// Hidden stands where something was hidden.
const Hidden = redacted
