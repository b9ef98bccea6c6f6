package render

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
)

func TestKeysOfWhatIsHiddenAreHidden(t *testing.T) {
	field := func(text string) reconcile.Field { return strings.Split(text, " ") }
	for _, tt := range []struct {
		path, field string
		hidden      bool
	}{
		{"card.number", "payload card number", true},
		{"payload.card.number", "payload card number", true},
		{"$.Card.NUMBER", "payload card number", true},
		{"card", "payload card number", true},         // above it
		{"card.number", "payload card", true},         // somewhere below it
		{"card.number", "payload card cvc", false},    // beside it
		{"card.number", "payload number", false},      // another of its name
		{"..number", "payload card number", true},     // at any depth
		{"..number", "payload number", true},          //
		{"..number", "payload card cvc", false},       //
		{"..number", "payload card *", true},          // somewhere below
		{"card.cvc", "payload alt *", false},          // nowhere
		{"items[*].sku", "payload items 3 sku", true}, // each element
		{"items.sku", "payload items 3 sku", true},    // through the array
		{"items[1].sku", "payload items 3 sku", false},
		{"items[*].sku", "payload items", true},
		{"*.sku", "payload a sku", true},
		{"card.number", "payload", true}, // nobody knows which field
		{"token", "headers token", true},
		{"headers.token", "headers token", true},
		{"headers.token", "headers tenant", false},
		{"headers.token", "payload token", false},
		{"headers.token", "headers", true},
		{"payload", "payload card number", true},
		{"headers", "headers token", true},
		{"headers", "payload token", false},
	} {
		hides, err := KeysHidden([]string{tt.path})
		if err != nil {
			t.Fatal(err)
		}
		if got := hides(field(tt.field)); got != tt.hidden {
			t.Errorf("%s hides a key of %s: %t, want %t", tt.path, tt.field, got, tt.hidden)
		}
	}
	if hides, err := KeysHidden(nil); err != nil || hides != nil {
		t.Errorf("without a path keys may be hidden: %v", err)
	}
	if _, err := KeysHidden([]string{"a["}); err == nil {
		t.Error("a path that cannot be read hides nothing, in silence")
	}
}

func TestEvidenceShowsNoHiddenKey(t *testing.T) {
	for text, want := range map[string]string{
		`{"code":"effect/lost","key":"4111","key_hidden":true}`: `{"code":"effect/lost","key":"[redacted]","key_hidden":true}`,
		`{"z":1,"key":"4111"}`: `{"z":1,"key":"4111"}`,
		`no JSON`:              `no JSON`,
	} {
		if got := shownEvidence(json.RawMessage(text), false); string(got) != want {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
	if got := shownEvidence(json.RawMessage(`{"key":"4111"}`), true); string(got) != `{"key":"[redacted]"}` {
		t.Errorf("a key that is hidden by now is shown: %s", got)
	}
}
