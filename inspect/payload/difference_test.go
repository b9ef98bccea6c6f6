package payload

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDiffIsEmptyExactlyWhenFormsAreEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawValue(t, 3)
		w := v
		if rapid.Bool().Draw(t, "other") {
			w = drawValue(t, 3)
		}
		checkDiff(t, []byte(v.spell(t)), []byte(w.spell(t)))
	})
}

// checkDiff asks for what must hold for any two payloads.
func checkDiff(t interface{ Fatalf(string, ...any) }, a, b []byte) Difference {
	d := Diff(a, b)
	ca, errA := Canonical(a)
	cb, errB := Canonical(b)
	if (d.A == nil) != (errA == nil) || (d.B == nil) != (errB == nil) {
		t.Fatalf("%q, %q: %v and %v, want %v and %v", a, b, d.A, d.B, errA, errB)
	}
	if (d.FirstByte < 0) != bytes.Equal(a, b) {
		t.Fatalf("%q, %q: first byte %d", a, b, d.FirstByte)
	}
	if d.SharesLock != (UniqueKey("q", "t", a) == UniqueKey("q", "t", b)) {
		t.Fatalf("%q, %q: shares a lock %v", a, b, d.SharesLock)
	}
	if errA == nil && errB == nil {
		if d.Empty() != bytes.Equal(ca, cb) {
			t.Fatalf("%q, %q: empty %v, forms %q and %q", a, b, d.Empty(), ca, cb)
		}
		if d.Empty() != (len(d.Values) == 0) {
			t.Fatalf("%q, %q: empty %v, changes %v", a, b, d.Empty(), d.Values)
		}
		if d.Empty() && d.SharesLock != (len(d.Spellings) == 0) {
			t.Fatalf("%q, %q: shares a lock %v, spellings %v", a, b, d.SharesLock, d.Spellings)
		}
	}
	for _, c := range d.Values {
		if c.A != noRange && (c.A.Start < 0 || c.A.End > len(a)) || c.B != noRange && (c.B.Start < 0 || c.B.End > len(b)) {
			t.Fatalf("%q, %q: change %+v is out of range", a, b, c)
		}
	}
	for _, x := range d.Spellings {
		if x.A.Start < 0 || x.A.End < x.A.Start || x.A.End > len(a) || x.B.Start < 0 || x.B.End < x.B.Start || x.B.End > len(b) {
			t.Fatalf("%q, %q: spelling %+v is out of range", a, b, x)
		}
	}
	return d
}

// An operator who is shown the closing bracket does not see which members moved.
func TestDiffShowsWhereOrdersPart(t *testing.T) {
	a := []byte(`{"id":1,"x":{"to":"b","from":"a","cc":[]}}`)
	b := []byte(`{"id":1,"x":{"to":"b","cc":[],"from":"a"}}`)
	d := Diff(a, b)
	if len(d.Spellings) != 1 || d.Spellings[0].Rule != KeyOrder || d.Spellings[0].Path != "$.x" {
		t.Fatalf("spellings %+v", d.Spellings)
	}
	s := d.Spellings[0]
	if got := string(a[s.A.Start:s.A.End]) + string(b[s.B.Start:s.B.End]); got != `"from""cc"` {
		t.Errorf("marks %s", got)
	}
}

func TestDiffNamesEveryPathThatDiffers(t *testing.T) {
	tests := []struct {
		a, b   string
		values string // kind path a|b
	}{
		{`{"a":1}`, `{"a":2}`, "value $.a 1|2"},
		{`{"a":1,"b":2}`, `{"b":2}`, "removed $.a 1|"},
		{`{"b":2}`, `{"a":{"x":[1]},"b":2}`, `added $.a |{"x":[1]}`},
		{`{"a":[1,2,3]}`, `{"a":[1,3]}`, "value $.a[1] 2|3; removed $.a[2] 3|"},
		{`[1]`, `[1,[2,3],4]`, "added $[1] |[2,3]; added $[2] |4"},
		{`{"a":{"b":{"c":1}}}`, `{"a":{"b":{"c":"1"}}}`, `value $.a.b.c 1|"1"`},
		{`{"a":{}}`, `{"a":[]}`, "value $.a {}|[]"},
		{`1`, `{"a":1}`, `value $ 1|{"a":1}`},
		{`{"z":1,"a":2,"m":3}`, `{"m":3,"z":4,"a":2}`, "value $.z 1|4"},
		{`{"a":true}`, `{"a":false}`, "value $.a true|false"},
		{`{"a":null}`, `{}`, "removed $.a null|"},
		{`{"\u0061":1}`, `{"a":2}`, "value $.a 1|2"},
		{"\ufeff{\"a\":1}\n", `{"a":9007199254740993}`, "value $.a 1|9007199254740993"},
		{`[9007199254740993]`, `[9007199254740992]`, "value $[0] 9007199254740993|9007199254740992"},
		{``, `{}`, `added $ |{}`},
		{`{}`, ``, `removed $ {}|`},
	}
	for _, test := range tests {
		d := checkDiff(t, []byte(test.a), []byte(test.b))
		var got []string
		for _, c := range d.Values {
			a, b := "", ""
			if c.A != noRange {
				a = test.a[c.A.Start:c.A.End]
			}
			if c.B != noRange {
				b = test.b[c.B.Start:c.B.End]
			}
			got = append(got, fmt.Sprintf("%s %s %s|%s", c.Kind, c.Path, a, b))
		}
		if text := strings.Join(got, "; "); text != test.values || d.Work != OtherWork {
			t.Errorf("%s and %s: %v: %s, want %s", test.a, test.b, d.Work, text, test.values)
		}
	}
}

func TestDiffNamesSpellings(t *testing.T) {
	tests := []struct{ a, b, spellings string }{
		{`{"a":1}`, `{"a":1}`, ""},
		{`{"a":1}`, `{"a": 1}`, "whitespace $"},
		{`[1 ,2]`, `[1, 2]`, "whitespace $"},
		{`{"a":1}`, "{\"a\":1}\n", "trailing-newline $"},
		{"{\"a\":1}\n", "{\"a\":1}\r\n", "trailing-newline $"},
		{`{"a":1}`, "\ufeff{\"a\":1}", "bom $"},
		{`{"a":1}`, "\ufeff {\"a\":1}\n", "bom $; trailing-newline $; whitespace $"},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, "key-order $"},
		{`{"b":2,"a":1}`, `{"b":2.0,"a":1}`, "number-format $.b"},
		{`{"x":{"b":2,"c":3,"a":1}}`, `{"x":{"b":2,"a":1,"c":3}}`, "key-order $.x"},
		{`[0]`, `[-0]`, "negative-zero $[0]"},
		{`[0]`, `[0.0]`, "number-format $[0]"},
		{`["<"]`, `["\u003c"]`, "html-escape $[0]"},
		{`["\u003C"]`, `["\u003c"]`, "html-escape $[0]"},
		{`["<a"]`, `["\u003c\u0061"]`, "string-escape $[0]"},
		{`{"a":"/"}`, `{"\u0061":"\/"}`, "string-escape $.a; string-escape $.a"},
		{`[{"a":1e2}]`, `[{"a":100}]`, "number-format $[0].a"},
	}
	for _, test := range tests {
		d := checkDiff(t, []byte(test.a), []byte(test.b))
		var got []string
		for _, s := range d.Spellings {
			got = append(got, s.Rule.String()+" "+s.Path)
		}
		if text := strings.Join(got, "; "); text != test.spellings || d.Work != SameWork {
			t.Errorf("%q and %q: %v: %s, want %s", test.a, test.b, d.Work, text, test.spellings)
		}
	}
}

func TestDiffSaysWhatLooksVolatile(t *testing.T) {
	d := Diff(
		[]byte(`{"order":1,"sent_at":"2024-05-01T12:34:56.1Z","meta":{"trace_id":"a"},"f":1.5,"n":null}`),
		[]byte(`{"order":1,"sent_at":"2024-05-01T12:34:57.2Z","meta":{"trace_id":"b"},"f":2}`),
	)
	want := map[string][]Rule{
		"$.sent_at":       {TimestampSubsecond},
		"$.meta.trace_id": {VolatileName},
		"$.f":             {FloatNumber},
		"$.n":             {NullMember},
	}
	if len(d.Values) != len(want) {
		t.Fatalf("changes %+v", d.Values)
	}
	for _, c := range d.Values {
		if !slices.Equal(c.Rules, want[c.Path]) {
			t.Errorf("%s: %v, want %v", c.Path, c.Rules, want[c.Path])
		}
	}
}

func TestDiffOfUndefinedPayloadsIsUnknown(t *testing.T) {
	tests := []struct {
		a, b string
		work Sameness
	}{
		{`{"a":1,"a":2}`, `{"a":2}`, SamenessUnknown},
		{`{"a":1,"a":2}`, `{"a":1,"a":2}`, SameWork},
		{"\x82\xa1a\x01", "\x82\xa1a\x02", SamenessUnknown},
		{`not json`, `not json`, SameWork},
		{`[1e400]`, `[1e401]`, SamenessUnknown},
	}
	for _, test := range tests {
		d := checkDiff(t, []byte(test.a), []byte(test.b))
		if d.Work != test.work || d.Empty() != (test.work == SameWork) {
			t.Errorf("%q and %q: %v", test.a, test.b, d.Work)
		}
	}
}

func TestNilAndEmptyPayloadsAreTheSameWorkUnderTwoLocks(t *testing.T) {
	d := Diff(nil, []byte{})
	if d.Work != SameWork || d.SharesLock || len(d.Spellings) != 1 || d.Spellings[0].Rule != EmptyPayload {
		t.Errorf("%+v", d)
	}
	if d := Diff(nil, nil); !d.SharesLock || !d.Empty() || len(d.Spellings) != 0 {
		t.Errorf("%+v", d)
	}
}

func TestDiffOfLongPayloadsKeepsABoundedNumberOfChanges(t *testing.T) {
	a := []byte("[" + strings.Repeat("1,", 5000) + "0]")
	b := []byte("[" + strings.Repeat("2,", 5000) + "0]")
	d := Diff(a, b)
	if len(d.Values) != MaxChanges || d.Omitted != 5000-MaxChanges {
		t.Errorf("%d changes, %d omitted", len(d.Values), d.Omitted)
	}
	deep := strings.Repeat(`{"b":1,"a":`, 10_000)
	d = Diff([]byte(deep+"1"+strings.Repeat("}", 10_000)), []byte(deep+"2"+strings.Repeat("}", 10_000)))
	if len(d.Values) != 1 || len(d.Spellings) != 0 {
		t.Errorf("deep: %d changes, %d spellings", len(d.Values), len(d.Spellings))
	}
}
