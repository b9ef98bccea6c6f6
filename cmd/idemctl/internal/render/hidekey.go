package render

import (
	"encoding/json"
	"strconv"

	"github.com/idemctl/idemctl/reconcile"
)

// KeysHidden says of which fields a key must not be made that is shown: those that
// the paths hide, those that hold one of them, and those inside one. It is nil where
// nothing is hidden. An error is a path that cannot be read.
func KeysHidden(paths []string) (func(reconcile.Field) bool, error) {
	r, err := newRedactor(paths)
	if err != nil || !r.active() {
		return nil, err
	}
	return r.hidesKeyOf, nil
}

func (r redactor) hidesKeyOf(f reconcile.Field) bool {
	if len(f) < 2 { // all of the payload, or some field that nobody can name
		return true
	}
	if r.wholePayload && f[0] == "payload" || r.wholeHeaders && f[0] == "headers" {
		return true
	}
	// A path may name a header, or a field of the payload, with what it is in or not.
	return r.touches(f[1:]) || r.touches(f)
}

// touches says whether a path ends at the field or above it, or goes on below it. A
// step at any depth is below only where the field is taken apart: else it is no object.
func (r redactor) touches(f reconcile.Field) bool {
	w := rewriter{redactor: r}
	var spots []spot
	for i := range r.paths {
		spots = append(spots, spot{path: i})
	}
	for _, name := range f {
		if name == reconcile.AnyField && len(spots) > 0 {
			return true
		}
		next := w.member(spots, name)
		if n, err := strconv.Atoi(name); err == nil {
			for _, at := range w.element(spots, n) {
				next = reach(next, at)
			}
		}
		if spots = next; w.ends(spots) {
			return true
		}
	}
	for _, at := range spots {
		if s := w.step(at); !s.deep {
			return true
		}
	}
	return false
}

// shownEvidence is an intent's evidence without a key that no output may show, by its
// own mark or because hides says so: the journal has it, as verifying needs it.
func shownEvidence(text json.RawMessage, hides bool) json.RawMessage {
	var mark struct {
		Hidden bool    `json:"key_hidden"`
		Key    *string `json:"key"`
	}
	if json.Unmarshal(text, &mark) != nil || !mark.Hidden && !hides || mark.Key == nil {
		return text
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return nil
	}
	members["key"] = json.RawMessage(`"` + reconcile.HiddenKey + `"`)
	shown, err := marshal(members)
	if err != nil {
		return nil
	}
	return shown
}
