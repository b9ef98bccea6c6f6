package render

import "testing"

func TestHiderHidesWhatIsNamedAndAllOfWhatNoPathPointsInto(t *testing.T) {
	for _, c := range []struct {
		paths         []string
		payload, want string
	}{
		{nil, `{"card":"4111"}`, "[redacted]"},
		{nil, "", "[redacted]"},
		{[]string{"card"}, `{"card": "4111", "n": 1.50}`, `{"card":"[redacted]","n":1.50}`},
		{[]string{"payload.card"}, `{"CARD":{"n":"4111"},"card":4111}`, `{"CARD":"[redacted]","card":"[redacted]"}`},
		// Nothing of it is hidden, so that it can still be restored byte for byte.
		{[]string{"card"}, `{ "order" : "A\/1" }`, `{ "order" : "A\/1" }`},
		{[]string{"card"}, `"4111"`, "[redacted]"},
		{[]string{"card"}, `4111`, "[redacted]"},
		{[]string{"card"}, `card=4111`, "[redacted]"},
		{[]string{"card"}, `{"card":"4111"`, "[redacted]"},
		{[]string{"card"}, `{"card":"4111"} {"card":"4112"}`, "[redacted]"},
		{[]string{"card"}, "\x00\xff4111", "[redacted]"},
	} {
		hide, err := Hider(c.paths)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(hide([]byte(c.payload))); got != c.want {
			t.Errorf("%v in %q: %q, want %q", c.paths, c.payload, got, c.want)
		}
	}
	if hide, err := Hider([]string{"card", "a..b["}); err == nil || hide != nil {
		t.Error("a path that cannot be read hides nothing, and nobody says so")
	}
}
