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
		hide, err := NewHider(c.paths)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(hide.Payload([]byte(c.payload))); got != c.want {
			t.Errorf("%v in %q: %q, want %q", c.paths, c.payload, got, c.want)
		}
	}
	if hide, err := NewHider([]string{"card", "a..b["}); err == nil || hide != nil {
		t.Error("a path that cannot be read hides nothing, and nobody says so")
	}
}

func TestHiderHidesHeadersThatAreNamed(t *testing.T) {
	for _, c := range []struct{ path, name, value, want string }{
		{"headers.token", "token", "secret", "[redacted]"},
		{"TOKEN", "token", "secret", "[redacted]"},
		{"..token", "token", "secret", "[redacted]"},
		{"headers", "token", "secret", "[redacted]"},
		{"headers.other", "token", "a \"b\" \u202e", "a \"b\" \u202e"},
		{"headers.token.inner", "token", `{"inner":"secret"}`, `{"inner":"secret"}`},
	} {
		hide, err := NewHider([]string{c.path})
		if err != nil {
			t.Fatal(err)
		}
		if got := hide.Header(c.name, c.value); got != c.want {
			t.Errorf("%s of %s=%s: %q, want %q", c.path, c.name, c.value, got, c.want)
		}
	}
	hide, err := NewHider(nil)
	if err != nil || hide.Header("token", "x") != "x" {
		t.Errorf("without paths a header is hidden (%v): it is no payload", err)
	}
}
