package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"
)

func FuzzCheck(f *testing.F) {
	for _, c := range givenCases(f) {
		f.Add(c.Payload)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		r := Check(p)
		checkReport(t, p, r)
		form, err := Canonical(p)
		if (err == nil) != r.Defined() || !bytes.Equal(form, r.Bytes) {
			t.Fatalf("%q: Canonical gives %q, %v, Check %q", p, form, err, r.Bytes)
		}
		if err != nil || len(p) == 0 {
			return
		}
		if again := Check(form); !again.Canonical {
			t.Fatalf("%q: the form %q is not canonical: %v", p, form, again.Rules())
		}
		if d := checkDiff(t, p, form); !d.Empty() {
			t.Fatalf("%q differs from its form %q: %+v", p, form, d.Values)
		}
		if a, b, ok := meaningsOf(p, form); ok && a != b {
			t.Fatalf("%q means %s, its form %q means %s", p, a, form, b)
		}
	})
}

// checkReport asks for what must hold for any report.
func checkReport(t *testing.T, p []byte, r Report) {
	t.Helper()
	if r.Canonical != (r.Bytes != nil && bytes.Equal(r.Bytes, p)) {
		t.Fatalf("%q: canonical %v, form %q", p, r.Canonical, r.Bytes)
	}
	text := bytes.TrimPrefix(p, []byte(byteOrderMark))
	if isJSON := r.Count(NotJSON) == 0 && len(p) > 0; isJSON != json.Valid(text) && bytes.Count(p, []byte("{"))+bytes.Count(p, []byte("[")) < 10_000 {
		t.Fatalf("%q: JSON %v", p, isJSON)
	}
	if (r.Encoding == EncodingJSON) != (r.Count(NotJSON) == 0 && len(p) > 0) || r.Encoding == EncodingUnknown {
		t.Fatalf("%q: encoding %v", p, r.Encoding)
	}
	spelled := []Rule{BOM, Whitespace, TrailingNewline, KeyOrder, HTMLEscape, StringEscape, NumberFormat, NegativeZero}
	undefined := []Rule{NotJSON, InvalidUTF8, LoneSurrogate, DuplicateKey, NumberPrecisionLoss, NumberOutOfRange}
	isAny := func(rules []Rule) bool {
		return slices.ContainsFunc(rules, func(rule Rule) bool { return r.Count(rule) > 0 })
	}
	if isAny(undefined) == r.Defined() {
		t.Fatalf("%q: defined %v, rules %v", p, r.Defined(), r.Rules())
	}
	if r.Defined() && isAny(spelled) == r.Canonical {
		t.Fatalf("%q: canonical %v, rules %v", p, r.Canonical, r.Rules())
	}
	for _, finding := range r.Findings {
		if finding.Start < 0 || finding.End < finding.Start || finding.End > len(p) || finding.Path == "" || finding.Message == "" {
			t.Fatalf("%q: %+v", p, finding)
		}
	}
}

// meaningsOf decodes two texts with the standard library, numbers exactly. It is
// not ok if a number is too long for that.
func meaningsOf(a, b []byte) (x, y string, ok bool) {
	a = bytes.TrimPrefix(a, []byte(byteOrderMark))
	if len(a) > 1<<12 {
		return "", "", false
	}
	x, okA := meaningOf(a)
	y, okB := meaningOf(b)
	return x, y, okA && okB
}

func meaningOf(p []byte) (string, bool) {
	decoder := json.NewDecoder(bytes.NewReader(p))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil && err != io.EOF {
		return "", false
	}
	ok := true
	var write func(v any) string
	write = func(v any) string {
		switch v := v.(type) {
		case json.Number:
			if len(v) > 400 || strings.ContainsAny(string(v), "eE") && len(v) > 25 {
				ok = false
				return ""
			}
			if i := strings.IndexAny(string(v), "eE"); i >= 0 && len(v)-i > 5 {
				ok = false
				return ""
			}
			n, _ := new(big.Rat).SetString(string(v))
			return n.RatString()
		case []any:
			parts := make([]string, len(v))
			for i := range v {
				parts[i] = write(v[i])
			}
			return "[" + strings.Join(parts, ",") + "]"
		case map[string]any:
			var parts []string
			for name, e := range v {
				parts = append(parts, fmt.Sprintf("%+q:%s", name, write(e)))
			}
			slices.Sort(parts)
			return "{" + strings.Join(parts, ",") + "}"
		default:
			return fmt.Sprintf("%T %+q", v, fmt.Sprint(v))
		}
	}
	return write(v), ok
}

func FuzzDiff(f *testing.F) {
	cases := givenCases(f)
	for i, c := range cases {
		f.Add(c.Payload, cases[(i+1)%len(cases)].Payload)
		f.Add(c.Payload, c.Form)
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		d, back := checkDiff(t, a, b), checkDiff(t, b, a)
		if d.Work != back.Work || d.SharesLock != back.SharesLock || len(d.Values) != len(back.Values) || len(d.Spellings) != len(back.Spellings) {
			t.Fatalf("%q, %q: %+v forth, %+v back", a, b, d, back)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x82\xa7user_id*\xa1t\xa1x"))
	f.Add([]byte("\x94\xcb\x40\x24\x00\x00\x00\x00\x00\x00\xd6\xff\x66\x32\x35\x70\xc4\x01a\xdc\x00\x01\x90"))
	for _, c := range givenCases(f) {
		f.Add(c.Payload)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		text, err := Decode(p, DecodingMsgpack)
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q becomes %q", p, text)
		}
		if (text[0] == '{' || text[0] == '[') && !isMsgpack(p) {
			t.Fatalf("%q is decoded but not recognised", p)
		}
	})
}

func FuzzCorpus(f *testing.F) {
	for _, corpus := range givenCorpora(f) {
		var all []byte
		for _, e := range corpus.entries[:30] {
			all = append(append(all, e.Payload...), 0)
		}
		f.Add(all)
	}
	f.Add([]byte("{\"a\":[1,2]}\x00{\"a\":[2,1]}\x00{\"a\": [2,1]}\x00\x00{\"a\":[{\"b\":null},{}]}"))
	f.Fuzz(func(t *testing.T, p []byte) {
		var c Corpus
		forms := map[string]map[string]bool{}
		for i, one := range bytes.Split(p, []byte{0}) {
			c.Add(Entry{ID: fmt.Sprint(i), Payload: one})
			if form, err := Canonical(one); err == nil {
				if forms[string(form)] == nil {
					forms[string(form)] = map[string]bool{}
				}
				forms[string(form)][string(one)] = true
			}
		}
		collisions := 0
		for _, spellings := range forms {
			if len(spellings) > 1 {
				collisions++
			}
		}
		r := c.Result()[0]
		if len(r.Collisions) != collisions {
			t.Fatalf("%q: %d collisions, want %d", p, len(r.Collisions), collisions)
		}
		for _, finding := range r.Findings {
			if finding.Path == "" || finding.Count <= 0 || finding.Rule.Scope() != ScopeCorpus || finding.Examples[0].ID == "" {
				t.Fatalf("%q: %+v", p, finding)
			}
		}
	})
}
