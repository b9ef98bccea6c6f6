package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

func TestEqualValuesInAnySpellingShareOneForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawValue(t, 3)
		a, b := v.spell(t), v.spell(t)
		ca, err := Canonical([]byte(a))
		if err != nil {
			t.Fatalf("%q: %v", a, err)
		}
		cb, err := Canonical([]byte(b))
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		if !bytes.Equal(ca, cb) {
			t.Fatalf("%q gives %q\n%q gives %q", a, ca, b, cb)
		}
		again, err := Canonical(ca)
		if err != nil || !bytes.Equal(again, ca) {
			t.Fatalf("the form %q is not its own form: %q, %v", ca, again, err)
		}
		if r := Check(ca); !r.Canonical {
			t.Fatalf("the form %q is not canonical: %v", ca, r.Rules())
		}
		if r := Check([]byte(a)); r.Canonical != (a == string(ca)) || !bytes.Equal(r.Bytes, ca) {
			t.Fatalf("Check of %q: canonical %v, form %q", a, r.Canonical, r.Bytes)
		}
	})
}

// spellShuffled writes canonical tokens without blanks, members in any order.
func (v value) spellShuffled(t *rapid.T) string {
	switch v.kind {
	case '[', '{':
	default:
		form, err := Canonical([]byte(v.spell(t)))
		if err != nil {
			t.Fatal(err)
		}
		return string(form)
	}
	parts := make([]string, len(v.elements))
	for i, e := range v.elements {
		parts[i] = e.spellShuffled(t)
	}
	if v.kind == '[' {
		return "[" + strings.Join(parts, ",") + "]"
	}
	for i, name := range v.names {
		parts[i] = value{kind: '"', text: name}.spellShuffled(t) + ":" + parts[i]
	}
	return "{" + strings.Join(rapid.Permutation(parts).Draw(t, "members"), ",") + "}"
}

func TestReorderingMembersEqualsRespellingTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := []byte(drawValue(t, 5).spellShuffled(t))
		var s parser
		if fault := s.parse(p, nil); fault != nil || s.respelt {
			t.Fatalf("%q: %v, respelt %v", p, fault, s.respelt)
		}
		moved := s.reorder()
		s.respelt = true
		if written := s.canonical(); !bytes.Equal(moved, written) {
			t.Fatalf("%q: moved %q, written %q", p, moved, written)
		}
	})
}

func TestDifferentValuesNeverShareAForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, w := drawValue(t, 2), drawValue(t, 2)
		cv, err := Canonical([]byte(v.spell(t)))
		if err != nil {
			t.Fatal(err)
		}
		cw, err := Canonical([]byte(w.spell(t)))
		if err != nil {
			t.Fatal(err)
		}
		if same := v.meaning() == w.meaning(); same != bytes.Equal(cv, cw) {
			t.Fatalf("%q and %q: same work is %v", cv, cw, same)
		}
	})
}

func TestFormIsValidJSONWithTheSameMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := []byte(drawValue(t, 3).spell(t))
		form, err := Canonical(p)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := json.Unmarshal(p, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(form, &b); err != nil {
			t.Fatalf("%q: %v", form, err)
		}
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%q became %q", p, form)
		}
	})
}

// TestDeparturesFromJCS names each case in which a well-known implementation of
// RFC 8785 gives another result, and why that would be wrong for a lock.
func TestDeparturesFromJCS(t *testing.T) {
	tests := []struct {
		name, payload string
		ours          string // "" if there is no form
		jcs           string // "" if it fails
	}{
		{"two identifiers beyond 2^53 would share a lock", `[9007199254740993]`, `[9007199254740993]`, `[9007199254740992]`},
		{"a power of two would change its digits", `[1152921504606846976]`, `[1152921504606846976]`, `[1152921504606847000]`},
		{"a fraction would be rounded to a neighbour", `[333333333.33333329]`, "", `[333333333.3333333]`},
		{"a printed 0.1 would be rounded", `[0.10000000000000001]`, "", `[0.1]`},
		{"underflow would become nothing", `[1e-400]`, "", `[0]`},
		{"out of range is an error in both", `[1e400]`, "", ""},
		{"a byte order mark can be repaired", "\ufeff[1]", `[1]`, ""},
		{"one of two members would be lost", `{"a":1,"a":2}`, "", ""},
		{"half a character is no text", `["\ud800"]`, "", ""},
		{"bytes that are not UTF-8 are no text", "[\"\xff\"]", "", ""},
		{"no payload is a payload", "", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ours, err := Canonical([]byte(test.payload))
			if err != nil {
				ours = nil
			}
			if string(ours) != test.ours || (test.ours == "" && test.payload != "") != (err != nil) {
				t.Errorf("ours = %q, %v, want %q", ours, err, test.ours)
			}
			theirs, err := jcs.Transform([]byte(test.payload))
			if err != nil {
				theirs = nil
			}
			if string(theirs) != test.jcs {
				t.Errorf("jcs = %q, %v, want %q", theirs, err, test.jcs)
			}
		})
	}
}

// Everything else is RFC 8785: where no departure applies, both must agree.
func TestAgreesWithJCSOnDoubles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawValue(t, 3)
		if !v.isIJSON() {
			return
		}
		p := []byte(strings.TrimSpace(v.spell(t)))
		if p[0] != '{' && p[0] != '[' {
			p = []byte("[" + string(p) + "]")
		}
		ours, err := Canonical(p)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := jcs.Transform(p)
		if err != nil {
			t.Fatalf("jcs of %q: %v", p, err)
		}
		if !bytes.Equal(ours, theirs) {
			t.Fatalf("%q: ours %q, theirs %q", p, ours, theirs)
		}
	})
}

// isIJSON holds if all numbers are doubles whose shortest spelling is exact.
func (v value) isIJSON() bool {
	if v.kind == '0' {
		digits, exp := exactDigitsOf(v.number)
		return len(digits) <= exactDigits && exp > -290 && exp < 290
	}
	return !slices.ContainsFunc(v.elements, func(e value) bool { return !e.isIJSON() })
}

func TestMembersSortByUTF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawText(t), drawText(t)
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := compareNames([]byte(a), []byte(b)); sign(got) != want {
			t.Fatalf("compare %+q with %+q = %d, want %d", a, b, got, want)
		}
	})
}

func TestLongNamesWithCommonPrefixSortByUTF16(t *testing.T) {
	prefix := strings.Repeat("x", 3000)
	names := []string{prefix + "\U0001f602", prefix + "\uffff", prefix + "\ue000", prefix, prefix + "\u07ff"}
	want := []string{prefix, prefix + "\u07ff", prefix + "\U0001f602", prefix + "\ue000", prefix + "\uffff"}
	slices.SortFunc(names, func(a, b string) int { return compareNames([]byte(a), []byte(b)) })
	if !slices.Equal(names, want) {
		t.Errorf("order %+q", names)
	}
}

func TestLoneSurrogateNamesStayApart(t *testing.T) {
	r := Check([]byte(`{"\ud800":1,"\ud801":2,"\ud83d\ude02":3}`))
	if r.Count(DuplicateKey) != 0 || r.Count(KeyOrder) != 0 {
		t.Errorf("rules %v", r.Rules())
	}
	if r := Check([]byte(`{"\ud800":1,"\ud800":2}`)); r.Count(DuplicateKey) != 1 {
		t.Errorf("equal names: rules %v", r.Rules())
	}
}

func TestUndefinedErrorNamesRuleAndPlace(t *testing.T) {
	tests := map[string]struct {
		rule  Rule
		start int
	}{
		`{"a":1,`:                  {NotJSON, 7},
		`{"a":1,"a":2}`:            {DuplicateKey, 7},
		`{"b":1,"a":2,"b":3}`:      {DuplicateKey, 13},
		`["\udead"]`:               {LoneSurrogate, 2},
		"[\"ab\xff\"]":             {InvalidUTF8, 4},
		`[1, 0.10000000000000001]`: {NumberPrecisionLoss, 4},
		`[-1e999]`:                 {NumberOutOfRange, 1},
	}
	for payload, want := range tests {
		_, err := Canonical([]byte(payload))
		var undefined *UndefinedError
		if !errors.As(err, &undefined) {
			t.Errorf("%q: %v", payload, err)
			continue
		}
		if undefined.Rule != want.rule || undefined.Start != want.start || undefined.End <= undefined.Start && want.rule != NotJSON {
			t.Errorf("%q: %v at %d–%d, want %v at %d", payload, undefined.Rule, undefined.Start, undefined.End, want.rule, want.start)
		}
	}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	default:
		return 0
	}
}
