package render

import (
	"encoding/json"
	"strings"
	"testing"
)

func hiding(t testing.TB, paths ...string) redactor {
	t.Helper()
	r, err := newRedactor(paths)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRedactHidesWhatThePathNames(t *testing.T) {
	const payload = `{"card":{"number":"4111","exp":"12/29"},"items":[{"secret":1,"n":2},{"secret":[3],"n":4}],"a.b":5,"big":12345678901234567890}`
	for _, c := range []struct{ path, want string }{
		{"card.number", `{"card":{"number":"[redacted]","exp":"12/29"},"items":[{"secret":1,"n":2},{"secret":[3],"n":4}],"a.b":5,"big":12345678901234567890}`},
		{"$.card", `{"card":"[redacted]","items":[{"secret":1,"n":2},{"secret":[3],"n":4}],"a.b":5,"big":12345678901234567890}`},
		{"CARD.Number", `{"card":{"number":"[redacted]","exp":"12/29"},"items":[{"secret":1,"n":2},{"secret":[3],"n":4}],"a.b":5,"big":12345678901234567890}`},
		{"payload.card.exp", `{"card":{"number":"4111","exp":"[redacted]"},"items":[{"secret":1,"n":2},{"secret":[3],"n":4}],"a.b":5,"big":12345678901234567890}`},
		{"items[*].secret", `{"card":{"number":"4111","exp":"12/29"},"items":[{"secret":"[redacted]","n":2},{"secret":"[redacted]","n":4}],"a.b":5,"big":12345678901234567890}`},
		{"items.secret", `{"card":{"number":"4111","exp":"12/29"},"items":[{"secret":"[redacted]","n":2},{"secret":"[redacted]","n":4}],"a.b":5,"big":12345678901234567890}`},
		{"items[1]", `{"card":{"number":"4111","exp":"12/29"},"items":[{"secret":1,"n":2},"[redacted]"],"a.b":5,"big":12345678901234567890}`},
		{"..secret", `{"card":{"number":"4111","exp":"12/29"},"items":[{"secret":"[redacted]","n":2},{"secret":"[redacted]","n":4}],"a.b":5,"big":12345678901234567890}`},
		{"card.*", `{"card":{"number":"[redacted]","exp":"[redacted]"},"items":[{"secret":1,"n":2},{"secret":[3],"n":4}],"a.b":5,"big":12345678901234567890}`},
		{`["a.b"]`, `{"card":{"number":"4111","exp":"12/29"},"items":[{"secret":1,"n":2},{"secret":[3],"n":4}],"a.b":"[redacted]","big":12345678901234567890}`},
		{"missing.path", payload},
	} {
		shown := hiding(t, c.path).show([]byte(payload))
		if shown.text != c.want || shown.encoding != payloadJSON {
			t.Errorf("%s: %s\n%s, not\n%s", c.path, shown.encoding, shown.text, c.want)
		}
	}
}

func TestRedactHidesTwiceNamedMembers(t *testing.T) {
	shown := hiding(t, "pin").show([]byte(`{"pin":1,"PIN":2,"pin":{"x":[3]}}`))
	if want := `{"pin":"[redacted]","PIN":"[redacted]","pin":"[redacted]"}`; shown.text != want {
		t.Errorf("%s", shown.text)
	}
}

func TestRedactHidesWholeWhatNoPathPointsInto(t *testing.T) {
	for _, payload := range []string{
		"plain secret", "\x0a\x04\xff\x01", `"{\"card\":\"4111\"}"`, "4111111111111111",
		`{"card":1} {"card":2}`, `{"card":1`, strings.Repeat("[", 300) + strings.Repeat("]", 300),
	} {
		shown := hiding(t, "card").show([]byte(payload))
		if shown.encoding != payloadHidden || strings.Contains(shown.text, payload) || !strings.HasPrefix(shown.text, "[redacted") {
			t.Errorf("%q is shown: %+v", payload, shown)
		}
	}
}

func TestUnreadablePathHidesEverything(t *testing.T) {
	o := sampleOptions(FormatJSON, 0, false)
	o.Redact, o.ShowPayload = []string{"card[", "fine"}, true
	var b strings.Builder
	a := NewAudit(&b, o)
	a.Finding(sampleFindings()[1])
	if err := a.Close(sampleReport(t), sampleHeader()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "4111") || strings.Contains(b.String(), "1999") {
		t.Error("the payload is shown")
	}
}

func TestPayloadWithoutRulesIsShownAsItIs(t *testing.T) {
	for payload, want := range map[string]payloadText{
		`{"b":1, "a":[ 1.50 ]}`: {payloadJSON, `{"b":1,"a":[1.50]}`},
		"two\nlines":            {payloadPlain, "two\nlines"},
		"\xff\x00":              {payloadBase64, "/wA="},
		"":                      {payloadPlain, ""},
		`"text"`:                {payloadJSON, `"text"`},
	} {
		if got := (redactor{}).show([]byte(payload)); got != want {
			t.Errorf("%q is shown as %+v, not %+v", payload, got, want)
		}
	}
}

// A payload may nest and repeat names so that a careless matcher needs time
// that doubles with every level.
func TestDeepPathsStayLinear(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 90) + `"x"` + strings.Repeat(`]}`, 90)
	shown := hiding(t, "..a..a..a..a..a..b").show([]byte(deep))
	if shown.encoding != payloadJSON || shown.text != deep {
		t.Errorf("%+v", shown)
	}
}

func TestNoFormatShowsARedactedField(t *testing.T) {
	for _, f := range Formats() {
		for _, tty := range []bool{true, false} {
			o := sampleOptions(f, 160, tty)
			o.ShowPayload, o.Redact = true, []string{"$.card.number", "headers.authorization"}
			out := audited(t, o, sampleReport(t), sampleFindings()...) + listed(t, o, sampleReport(t), sampleTasks(t)...)
			if f == FormatTable || f == FormatJSON {
				out += explained(t, o, sampleDossier(t))
			}
			if strings.Contains(out, "4111111111111111") || strings.Contains(out, "Bearer") {
				t.Errorf("%s (terminal: %v) shows it", f, tty)
			}
		}
	}
}

func TestPayloadIsShownOnlyWhenAskedFor(t *testing.T) {
	for _, f := range Formats() {
		for _, tty := range []bool{true, false} {
			out := audited(t, sampleOptions(f, 160, tty), sampleReport(t), sampleFindings()...)
			if shows := strings.Contains(out, "1999"); shows != (f == FormatWide) {
				t.Errorf("%s (terminal: %v) shows it: %v", f, tty, shows)
			}
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add(`{"card":{"number":"SECRET"}}`, "card.number")
	f.Add(`[{"card":["SECRET"]},1,null,{"x":{}}]`, "..card[0]")
	f.Add(`{"a":{"b":[[{"c":"SECRET"}]]}}`, "a.b.c")
	f.Fuzz(func(t *testing.T, payload, path string) {
		r, err := newRedactor([]string{path})
		if err != nil {
			return
		}
		hidden, err := r.apply([]byte(payload))
		if err != nil {
			return
		}
		if !json.Valid(hidden) {
			t.Fatalf("%q hides %q as %q", path, payload, hidden)
		}
		again, err := r.apply(hidden)
		if err != nil || string(again) != string(hidden) {
			t.Fatalf("%q becomes %q the second time: %v", hidden, again, err)
		}
		plain, err := (redactor{}).apply([]byte(payload))
		if err != nil || json.Valid([]byte(payload)) && !json.Valid(plain) {
			t.Fatalf("%q is shown as %q: %v", payload, plain, err)
		}
	})
}

func FuzzMarshal(f *testing.F) {
	for _, s := range tricks {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, err := marshal(map[string]string{"k": s})
		if err != nil {
			t.Fatal(err)
		}
		unseen(t, string(text))
		var back map[string]string
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if back["k"] != strings.ToValidUTF8(s, "\ufffd") && strings.ToValidUTF8(s, "") == s {
			t.Fatalf("%q came back as %q", s, back["k"])
		}
	})
}

func TestRedactHidesAllOfWhatIsNamedWhole(t *testing.T) {
	r, err := newRedactor([]string{"payload"})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.show([]byte(`{"card":"4111"}`)).text; strings.Contains(got, "4111") {
		t.Errorf("payload: %s", got)
	}
	if got := string(r.headers(map[string]string{"token": "s3"})); got != `{"token":"s3"}` {
		t.Errorf("headers, which payload does not name: %s", got)
	}
	if r, err = newRedactor([]string{"headers"}); err != nil {
		t.Fatal(err)
	}
	if got := string(r.headers(map[string]string{"token": "s3"})); got != `{"token":"[redacted]"}` {
		t.Errorf("headers: %s", got)
	}
	if got := r.show([]byte(`{"card":"4111"}`)).text; got != `{"card":"4111"}` {
		t.Errorf("payload, which headers does not name: %s", got)
	}
	hider, err := NewHider([]string{"payload"})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(hider.Payload([]byte(`{"card":"4111"}`))); got != redacted {
		t.Errorf("in a record: %s", got)
	}
}
