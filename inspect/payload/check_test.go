package payload

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// rulesOf lists rule and path of every finding, in the order of the payload.
func rulesOf(p string) string {
	var all []string
	for _, f := range Check([]byte(p)).Findings {
		all = append(all, f.Rule.String()+" "+f.Path)
	}
	return strings.Join(all, "; ")
}

func TestCheckPlacesRules(t *testing.T) {
	tests := []struct{ payload, findings string }{
		{`{"a":1}`, ""},
		{"{\"a\":1}\n\n", "whitespace $; trailing-newline $"},
		{"{\"a\":1}\r", "whitespace $"},
		{"{\"a\":1}\n ", "whitespace $"},
		{"42\n", "trailing-newline $"},
		{"\ufeff", "not-json $"},
		{"\ufeff\ufeff1", "not-json $"},
		{"\ufeff{", "not-json $"},
		{`{"\u0061":"\u0062"}`, "string-escape $.a"},
		{`{"a":{"\u003c":"\u003e"}}`, "html-escape $.a['<']"},
		{`{"it's":1.0}`, `number-format $['it\'s']`},
		{`{"a\\b":1.0}`, `number-format $['a\\b']`},
		{`{"":1.0}`, `number-format $['']`},
		{`{"0a":[[1.0]]}`, `number-format $['0a'][0][0]`},
		{`{"_a1":1.0}`, `number-format $._a1`},
		{`[{"b":1,"a":[{"d":1,"c":2}]}]`, "key-order $[0]; key-order $[0].a[0]"},
		{`{"a":1,"b":2,"a":3,"b":4}`, "key-order $; duplicate-key $"},
		{`{"a":1.0,"a":2.0}`, "number-format $.a; duplicate-key $"},
		{`["\ud800\ud800"]`, "lone-surrogate $[0]"},
		{`["\udc00\ud800"]`, "lone-surrogate $[0]"},
		{`["\ud800\u0041"]`, "lone-surrogate $[0]; string-escape $[0]"},
		{`["\ud83d\ude02"]`, "string-escape $[0]"},
		{"[\"\xff\", \"\xfe\"]", "invalid-utf8 $; whitespace $"},
		{"{\"\xff\":1.0}", "invalid-utf8 $; number-format $['\ufffd']"},
		{"\xff", "not-json $"},
		{`{"a":[null],"b":null}`, "null-member $.b"},
		{`"{\"a\":1}"`, "double-encoded $"},
		{`" [1] "`, "double-encoded $"},
		{`"eyJhIjoxfQ"`, "double-encoded $"},
		{`"W10"`, ""},
		{`"{name}"`, ""},
		{`{"a":"{\"b\":1}"}`, ""},
		{`{"a":"\u007b\"b\": 1}"}`, "string-escape $.a; embedded-json $.a"},
		{`{"a":"[1.0]"}`, "embedded-json $.a"},
		{`{"a":"[1]\n"}`, "embedded-json $.a"},
		{`{"a":"{\"b\":1,\"b\":1}"}`, "embedded-json $.a"},
		{`{"a":"[1"}`, ""},
		{`{"nonce":["a",1,"",null,true]}`, "volatile-name $.nonce[0]; volatile-name $.nonce[1]"},
		{`{"nonce":[{"x":"a"}]}`, ""},
		{`{"ts":[[1714567890123]]}`, "timestamp-epoch $.ts[0][0]"},
		{`{"ts":[{"id":1714567890123}]}`, ""},
		{`["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"]`, "volatile-name $[0]"},
		{`{"Request-ID":"01HX3Z8K5QJ6R7S8T9V0W1X2Y3"}`, "volatile-name $['Request-ID']; random-id $['Request-ID']"},
	}
	for _, test := range tests {
		if got := rulesOf(test.payload); !sameFindings(got, test.findings) {
			t.Errorf("%q:\n got %s\nwant %s", test.payload, got, test.findings)
		}
	}
}

func sameFindings(a, b string) bool {
	x, y := strings.Split(a, "; "), strings.Split(b, "; ")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func TestFindingsPointAtTheirBytes(t *testing.T) {
	tests := []struct{ payload, rule, bytes string }{
		{"\ufeff[1]", "bom", "\ufeff"},
		{"[1,  2] \n", "whitespace", "  "},
		{"[1] \r\n", "whitespace", " "},
		{"[1]\r\n", "trailing-newline", "\r\n"},
		{`{"c":1,"b":2,"a":3}`, "key-order", `"b"`},
		{`{"a":1,"b":2,"\u0061":3}`, "duplicate-key", `"\u0061"`},
		{`{"a":"x\u003cy\u003e"}`, "html-escape", `\u003c`},
		{`{"a":"x\ud83d\ude02"}`, "string-escape", `\ud83d\ude02`},
		{`{"a":"x\ud83dz"}`, "lone-surrogate", `\ud83d`},
		{"{\"a\":\"x\xffy\"}", "invalid-utf8", "\xff"},
		{`{"a":[1,1.0]}`, "number-format", `1.0`},
		{`{"a":-0.0}`, "negative-zero", `-0.0`},
		{`{"a":"2024-05-01T12:34:56.1Z"}`, "timestamp-subsecond", `"2024-05-01T12:34:56.1Z"`},
		{`{"a":null}`, "null-member", `null`},
		{`{"a":1,}`, "not-json", `}`},
		{`{"a":1`, "not-json", ""},
		{`{"a":tru}`, "not-json", "}"},
		{`{"a":"\x"}`, "not-json", "x"},
		{`{"a":"\u12G4"}`, "not-json", "G"},
		{`[01]`, "not-json", "1"},
		{`[1]]`, "not-json", "]"},
		{"[\"a\nb\"]", "not-json", "\n"},
	}
	for _, test := range tests {
		found := false
		for _, f := range Check([]byte(test.payload)).Findings {
			if f.Rule.String() == test.rule {
				found = true
				if got := test.payload[f.Start:f.End]; got != test.bytes {
					t.Errorf("%q: %s points at %q, want %q", test.payload, test.rule, got, test.bytes)
				}
			}
		}
		if !found {
			t.Errorf("%q: no %s", test.payload, test.rule)
		}
	}
}

func TestMarshalledPlainStructsAreSilent(t *testing.T) {
	type line struct {
		SKU      string `json:"sku"`
		Quantity int32  `json:"quantity"`
	}
	type order struct {
		Order    int64            `json:"order"`
		Customer uint32           `json:"customer"`
		Day      time.Time        `json:"day"`
		Due      string           `json:"due_date"`
		Open     bool             `json:"open"`
		Notes    []string         `json:"notes"`
		Lines    []line           `json:"lines"`
		Labels   map[string]int16 `json:"labels"`
		Parent   *order           `json:"parent,omitempty"`
	}
	text := rapid.StringMatching(`[A-Za-zäöüßéñ東京 .,;:!?/"'\\(){}%$#@*+=_-]{0,20}`)
	var draw func(t *rapid.T, depth int) *order
	draw = func(t *rapid.T, depth int) *order {
		day := time.Unix(86_400*rapid.Int64Range(0, 40_000).Draw(t, "day"), 0).UTC()
		o := &order{
			Order:    rapid.Int64Range(-1<<53+1, 1<<53-1).Draw(t, "order"),
			Customer: rapid.Uint32().Draw(t, "customer"),
			Day:      day, Due: day.Format(time.DateOnly),
			Open:   rapid.Bool().Draw(t, "open"),
			Notes:  append([]string{}, rapid.SliceOfN(text, 0, 3).Draw(t, "notes")...),
			Lines:  []line{{text.Draw(t, "sku"), rapid.Int32().Draw(t, "quantity")}},
			Labels: rapid.MapOfN(rapid.StringMatching(`[a-zé東]{1,5}`), rapid.Int16(), 0, 4).Draw(t, "labels"),
		}
		if depth > 0 && rapid.Bool().Draw(t, "parent") {
			o.Parent = draw(t, depth-1)
		}
		return o
	}
	rapid.Check(t, func(t *rapid.T) {
		p, err := json.Marshal(draw(t, 3))
		if err != nil {
			t.Fatal(err)
		}
		r := Check(p)
		if !r.Defined() {
			t.Fatalf("%s has no form", p)
		}
		for _, rule := range r.Rules() {
			if rule.Severity() != Info {
				t.Fatalf("%v fires on %s", rule, p)
			}
		}
	})
}

func TestMarshalledHTMLIsWarnedOf(t *testing.T) {
	p, err := json.Marshal(map[string]string{"url": "https://a.test/?b=1&c=<d>"})
	if err != nil {
		t.Fatal(err)
	}
	if got := rulesOf(string(p)); got != "html-escape $.url" {
		t.Errorf("findings %s", got)
	}
}

func TestReportCountsWhatItDoesNotKeep(t *testing.T) {
	r := Check([]byte("[" + strings.Repeat("1.0,", 1000) + "-0]"))
	if len(r.Findings) != MaxFindings+1 || r.Omitted() != 1000-MaxFindings {
		t.Errorf("%d findings, %d omitted", len(r.Findings), r.Omitted())
	}
	if r.Count(NumberFormat) != 1000 || r.Count(NegativeZero) != 1 {
		t.Errorf("number-format %d, negative-zero %d", r.Count(NumberFormat), r.Count(NegativeZero))
	}
	if want := []Rule{NegativeZero, NumberFormat}; !slices.Equal(r.Rules(), want) {
		t.Errorf("rules %v", r.Rules())
	}
	if r.Worst() != Error {
		t.Errorf("worst %v", r.Worst())
	}
	if r := Check([]byte("[1]")); r.Worst() != SeverityUnknown || r.Rules() == nil || len(r.Rules()) != 0 {
		t.Errorf("a canonical payload: %v, %v", r.Worst(), r.Rules())
	}
}

func TestEmptyPayloadIsCanonical(t *testing.T) {
	for _, p := range [][]byte{nil, {}} {
		r := Check(p)
		if !r.Canonical || r.Bytes == nil || len(r.Bytes) != 0 || r.Encoding != EncodingEmpty {
			t.Errorf("%+v", r)
		}
	}
}

func TestMessagesHoldNoValues(t *testing.T) {
	secret := "hunter2"
	for _, p := range []string{
		`{"a":"` + secret + `\u003c\u0041"}`, `{"a":"{\"b\": \"` + secret + `\"}"}`, `["` + secret + "\n\"]", `["` + secret,
		`{"trace_id":"` + secret + `"}`, `{"a":1}` + secret,
	} {
		r := Check([]byte(p))
		if len(r.Findings) == 0 {
			t.Errorf("%s: no findings", p)
		}
		for _, f := range r.Findings {
			if strings.Contains(f.Message+f.Fix(), secret) {
				t.Errorf("%s: %s", f.Rule, f.Message)
			}
		}
	}
}

func TestRulesHaveNamesSeveritiesAndFixes(t *testing.T) {
	seen := map[string]bool{}
	for _, rule := range Rules() {
		name := rule.String()
		if name == "" || seen[name] || rule.Fix() == "" || rule.Severity() == SeverityUnknown || rule.Scope() == ScopeUnknown {
			t.Errorf("%d: %q, %v, %v, %q", rule, name, rule.Severity(), rule.Scope(), rule.Fix())
		}
		seen[name] = true
		if parsed, err := ParseRule(name); err != nil || parsed != rule {
			t.Errorf("%s parses as %v, %v", name, parsed, err)
		}
	}
	if _, err := ParseRule("unknown"); err == nil {
		t.Error("the unknown rule has a name to parse")
	}
	if KeyOrder.Scope() != ScopeForm || RandomID.Scope() != ScopeValue || EncodingMix.Scope() != ScopeCorpus {
		t.Error("scopes are mixed up")
	}
}

func TestUniqueKeyTellsNilFromEmpty(t *testing.T) {
	tests := []struct {
		payload []byte
		want    string
	}{
		{nil, "asynq:{critical}:unique:email:welcome:"},
		{[]byte{}, "asynq:{critical}:unique:email:welcome:d41d8cd98f00b204e9800998ecf8427e"},
		{[]byte(`{"user_id":42}`), "asynq:{critical}:unique:email:welcome:1181f89307fa271072c095747d5813cc"},
	}
	for _, test := range tests {
		if got := UniqueKey("critical", "email:welcome", test.payload); got != test.want {
			t.Errorf("%q: %s, want %s", test.payload, got, test.want)
		}
	}
}
